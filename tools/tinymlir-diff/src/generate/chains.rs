//! Chains that compilers have kernels for, at the sizes where those begin: attention, norms, products with what follows them.

use super::State;
use crate::program::{Binary, Fill, Id, Op, Reduction, Unary};
use tinymlir::DType;

/// The elements that a chain's values have at most.
const MOST: usize = 1 << 15;

/// The element types of chains.
const TYPES: [DType; 6] = [DType::F32, DType::F32, DType::F32, DType::F32, DType::F16, DType::BF16];

impl State {
    /// Begins every sixth program with a chain, and returns its last step.
    pub(super) fn begin(&mut self) -> Option<Id> {
        if self.rng.usize(..6) > 0 {
            return None;
        }
        (self.most, self.dtype) = (MOST, self.of(&TYPES));
        let chain = self.chain();
        // Kernels are for chains of which nothing else reads what lies between.
        self.first = chain.filter(|_| self.rng.usize(..4) > 0).unwrap_or(0);
        chain
    }

    /// Pushes a chain and returns its last step; `None` where a step of it does not apply.
    fn chain(&mut self) -> Option<Id> {
        match self.rng.usize(..5) {
            0..=1 => self.attention(),
            2 => self.norm(),
            _ => self.layer(),
        }
    }

    /// The step that was pushed, if it was.
    fn then(&mut self, op: Op) -> Option<Id> {
        self.push(op).then(|| self.steps.len() - 1)
    }

    fn operand(&mut self, shape: &[usize]) -> Option<Id> {
        let fill = self.of(&[Fill::Grid, Fill::Dense]);
        let (dtype, seed) = (self.dtype, self.rng.u64(..));
        self.then(Op::Input { dtype, shape: shape.to_vec(), seed, fill })
    }

    fn number(&mut self, op: Binary, a: Id, x: f64) -> Option<Id> {
        self.then(Op::Number(op, a, x, false))
    }

    /// Softmax of scaled and perhaps masked scores, times values.
    fn attention(&mut self) -> Option<Id> {
        let batch = self.of(&[&[][..], &[1], &[2], &[3], &[2, 2]]);
        let (rows, keys) = (self.of(&[1, 4, 9, 17, 32, 33, 64, 65]), self.of(&[1, 16, 31, 33, 64, 96]));
        let (depth, width) = (self.of(&[8, 16, 24, 32, 64]), self.of(&[8, 16, 64]));
        let of = |sizes: [usize; 2]| [batch, &sizes[..]].concat();
        let width = if self.rng.usize(..4) > 0 { depth } else { width };
        let values = self.operand(&of([keys, width]))?;
        let query = self.operand(&of([rows, depth]))?;
        let transposed = match self.rng.usize(..5) {
            0 => self.operand(&of([depth, keys]))?,
            _ => {
                let key = self.operand(&of([keys, depth]))?;
                let mut permutation: Vec<usize> = (0..batch.len() + 2).collect();
                permutation.swap(batch.len(), batch.len() + 1);
                self.then(Op::Transpose(key, permutation))?
            }
        };
        // What is scaled is the query or the scores.
        let scale = self.of(&[0.125, 0.1, 1.0 / 8f64.sqrt()]);
        let early = self.rng.bool();
        let query = if early { self.number(Binary::Mul, query, scale)? } else { query };
        let mut scores = self.then(Op::Matmul(query, transposed))?;
        if !early {
            scores = self.number(Binary::Mul, scores, scale)?;
        }
        match self.rng.usize(..4) {
            0..=1 => scores = self.then(Op::Causal(scores, f64::NEG_INFINITY))?,
            2 => {
                let mask = self.operand(&[rows, keys])?;
                scores = self.then(Op::Binary(Binary::Add, scores, mask))?;
            }
            _ => {}
        }
        let weights = self.then(Op::Softmax(scores, batch.len() + 1))?;
        self.then(Op::Matmul(weights, values))
    }

    /// A layer norm or an RMS norm of rows, often before a product.
    fn norm(&mut self) -> Option<Id> {
        let (rows, columns) = (self.of(&[1, 1, 2, 5, 8, 17, 33, 64]), self.of(&[16, 20, 31, 64, 96, 128, 256, 384]));
        let x = self.operand(&[rows, columns])?;
        let mean = |state: &mut State, a: Id| state.then(Op::Reduce(Reduction::Mean, a, vec![1], true));
        let centred = match self.rng.bool() {
            true => {
                let mean = mean(self, x)?;
                self.then(Op::Binary(Binary::Sub, x, mean))?
            }
            false => x,
        };
        let squares = self.then(Op::Binary(Binary::Mul, centred, centred))?;
        let variance = mean(self, squares)?;
        let least = self.of(&[1e-5, 0.01]);
        let variance = self.number(Binary::Add, variance, least)?;
        let root = self.then(Op::Unary(Unary::Sqrt, variance))?;
        let mut y = self.then(Op::Binary(Binary::Div, centred, root))?;
        let weight = self.operand(&[columns])?;
        y = self.then(Op::Binary(Binary::Mul, y, weight))?;
        if self.rng.bool() {
            let bias = self.operand(&[columns])?;
            y = self.then(Op::Binary(Binary::Add, y, bias))?;
        }
        if self.rng.bool() { self.projected(y) } else { Some(y) }
    }

    /// A product of rows and a matrix with what a layer does after it.
    fn layer(&mut self) -> Option<Id> {
        let rows = self.of(&[1, 1, 2, 5, 8, 16, 31, 33, 48, 64, 96, 128]);
        let inner = self.of(&[16, 32, 60, 64, 72, 128, 256]);
        let x = self.operand(&[rows, inner])?;
        let y = self.projected(x)?;
        if self.rng.bool() { self.projected(y) } else { Some(y) }
    }

    /// A product with a matrix, which may lie transposed, then bias, activation and residual, each or not.
    fn projected(&mut self, x: Id) -> Option<Id> {
        let &[rows, inner] = &self.values[x].ty.shape[..] else { return None };
        let columns = self.of(&[8, 16, 24, 30, 64, 96, 128, 136]);
        let matrix = match self.rng.usize(..3) {
            0 => {
                let matrix = self.operand(&[columns, inner])?;
                self.then(Op::Transpose(matrix, vec![1, 0]))?
            }
            _ => self.operand(&[inner, columns])?,
        };
        let mut y = self.then(Op::Matmul(x, matrix))?;
        if self.rng.bool() {
            let bias = self.operand(&[columns])?;
            y = self.then(Op::Binary(Binary::Add, y, bias))?;
        }
        match self.rng.usize(..4) {
            0 => y = self.number(Binary::Maximum, y, 0.0)?,
            1 => {
                // x / 2 times 1 + tanh(x + x^3 / 22), or erf.
                let function = self.of(&[Unary::Tanh, Unary::Erf]);
                let scaled = self.number(Binary::Mul, y, 0.044715)?;
                let inside = self.then(Op::Unary(function, scaled))?;
                let inside = self.number(Binary::Add, inside, 1.0)?;
                let half = self.number(Binary::Mul, y, 0.5)?;
                y = self.then(Op::Binary(Binary::Mul, half, inside))?;
            }
            _ => {}
        }
        if self.rng.usize(..3) == 0 {
            let residual = self.operand(&[rows, columns])?;
            y = self.then(Op::Binary(Binary::Add, residual, y))?;
        }
        Some(y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most do; a score that overflows f16 is unknown, for one.
    #[test]
    fn chains_apply() {
        let chains: [fn(&mut State) -> Option<Id>; 3] = [State::attention, State::norm, State::layer];
        for (i, chain) in chains.into_iter().enumerate() {
            let applied = (0..30).filter(|seed| {
                let (rng, dtype) = (fastrand::Rng::with_seed(*seed), TYPES[*seed as usize % TYPES.len()]);
                chain(&mut State::new(rng, dtype, MOST)).is_some()
            });
            assert!(applied.count() >= 25, "chain {i}");
        }
    }
}
