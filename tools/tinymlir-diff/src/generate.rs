//! Random programs. A step is kept when it applies and few of its elements become unknown, so that divisions by almost
//! zero and overflowing exponentials stay rare and what is computed can be compared.

mod chains;
mod forms;

use crate::{
    interpret::{self, Array, Tolerance},
    program::{Binary, Fill, Id, Op, Program, Reduction, Unary},
};
use fastrand::Rng;
use tinymlir::{DType, frontend::Type};

const SIZES: [usize; 18] = [1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33];
const TYPES: [DType; 12] = {
    use DType::*;
    [F32, F32, F32, F32, F32, F64, F16, F16, BF16, BF16, I32, I64]
};
/// More elements are not made, but where a chain is.
const MOST: usize = 4096;

/// Program `index` of the sequence that `seed` starts.
pub fn program(seed: u64, index: u64) -> Program {
    let mut rng = Rng::with_seed(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(index));
    let dtype = TYPES[rng.usize(..TYPES.len())];
    let mut state = State::new(rng, dtype, MOST);
    let chain = state.begin();
    for _ in 0..state.rng.usize(1..4) {
        let shape = state.shape();
        state.input(shape);
    }
    // Half of the programs are the frontend's alone, the others as users write them.
    let written = state.rng.bool();
    let wanted = state.steps.len() + state.rng.usize(2..14);
    for _ in 0..200 {
        if state.steps.len() >= wanted {
            break;
        }
        let form = written && state.rng.usize(..3) == 0;
        let proposed = if form { state.form() } else { state.propose() };
        if let Some(mut op) = proposed {
            if written && state.rng.bool() {
                op = state.spelled(op);
            }
            state.push(op);
        }
    }
    let memrefs = written && state.rng.usize(..4) == 0;
    Program { memrefs, ..state.finish(written, chain) }
}

struct State {
    rng: Rng,
    steps: Vec<Op>,
    values: Vec<Array>,
    /// The first step that others are picked from.
    first: Id,
    /// The element type that most inputs have.
    dtype: DType,
    /// The elements that a value has at most.
    most: usize,
}

impl State {
    fn new(rng: Rng, dtype: DType, most: usize) -> State {
        State { steps: Vec::new(), values: Vec::new(), first: 0, dtype, most, rng }
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.usize(..list.len())]
    }

    fn shape(&mut self) -> Vec<usize> {
        let rank = self.of(&[0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4]);
        loop {
            let mut shape: Vec<usize> = (0..rank).map(|_| self.of(&SIZES)).collect();
            if rank > 0 && self.rng.usize(..60) == 0 {
                let axis = self.rng.usize(..rank);
                shape[axis] = 0;
            }
            if shape.iter().product::<usize>() <= MOST {
                return shape;
            }
        }
    }

    /// A new input, of the main element type or rarely another one.
    fn input(&mut self, shape: Vec<usize>) -> Id {
        let dtype = if self.rng.usize(..8) == 0 { self.of(&TYPES) } else { self.dtype };
        self.input_of(dtype, shape)
    }

    fn input_of(&mut self, dtype: DType, shape: Vec<usize>) -> Id {
        let fill = self.of(&[Fill::Grid, Fill::Grid, Fill::Grid, Fill::Dense, Fill::Dense, Fill::Dense, Fill::Special]);
        let seed = self.rng.u64(..);
        self.push(Op::Input { dtype, shape, seed, fill });
        self.steps.len() - 1
    }

    fn push(&mut self, op: Op) -> bool {
        let types: Vec<Type> = self.values.iter().map(|v| v.ty.clone()).collect();
        let Some(ty) = op.infer(&types) else { return false };
        if ty.shape.len() > 5 || ty.shape.iter().product::<usize>() > self.most {
            return false;
        }
        let Some(value) = interpret::step(&op, &self.values, Tolerance::GPU) else { return false };
        let unknown: usize = op.operands().iter().map(|&a| self.values[a].unknown()).sum();
        if value.unknown() > unknown && value.unknown() * 8 > value.len() {
            return false;
        }
        self.steps.push(op);
        self.values.push(value);
        true
    }

    /// A step's result, late ones rather, that `wanted` accepts.
    fn pick(&mut self, wanted: impl Fn(&Type) -> bool) -> Option<Id> {
        for _ in 0..12 {
            let (a, b) = (self.rng.usize(self.first..self.steps.len()), self.rng.usize(self.first..self.steps.len()));
            let id = a.max(b);
            if wanted(&self.values[id].ty) {
                return Some(id);
            }
        }
        None
    }

    /// Something that broadcasts with a step's result.
    fn partner(&mut self, id: Id) -> Id {
        let Type { dtype, shape } = self.values[id].ty.clone();
        let fits = |t: &Type| t.dtype == dtype && crate::program::broadcast(&t.shape, &shape).is_some();
        if self.rng.usize(..3) > 0
            && let Some(other) = self.pick(fits)
        {
            return other;
        }
        let mut own: Vec<usize> = shape.iter().map(|&n| if self.rng.usize(..4) == 0 { 1 } else { n }).collect();
        let dropped = if self.rng.bool() { self.rng.usize(..=own.len()) } else { 0 };
        own.drain(..dropped);
        if self.rng.usize(..12) == 0 && own.len() < 4 {
            let size = self.of(&[1, 2, 3]);
            own.insert(0, size);
        }
        self.input_of(dtype, own)
    }

    fn axis(&mut self, rank: usize) -> Option<usize> {
        (rank > 0).then(|| self.rng.usize(..rank))
    }

    fn propose(&mut self) -> Option<Op> {
        let number = |t: &Type| t.dtype != DType::I1;
        let float = |t: &Type| t.dtype.is_float();
        let any = |_: &Type| true;
        use Binary::*;
        Some(match self.rng.usize(..43) {
            0..=3 => {
                use Unary::*;
                let a = self.pick(float)?;
                Op::Unary(self.of(&[Exp, Log, Sqrt, Tanh, Erf, Sin, Cos, Neg, Abs]), a)
            }
            4 => {
                let a = self.pick(number)?;
                Op::Unary(self.of(&[Unary::Neg, Unary::Abs]), a)
            }
            5..=11 => {
                let a = self.pick(number)?;
                let b = self.partner(a);
                let (a, b) = if self.rng.bool() { (a, b) } else { (b, a) };
                Op::Binary(self.of(&[Add, Add, Sub, Sub, Mul, Mul, Mul, Div, Maximum, Minimum, Pow]), a, b)
            }
            12..=15 => {
                let a = self.pick(number)?;
                let is_float = self.values[a].ty.dtype.is_float();
                let op = self.of(&[Add, Sub, Mul, Mul, Div, Maximum, Minimum, Pow]);
                let x = match (op, is_float) {
                    (Pow, true) => self.of(&[2.0, 3.0, 0.5, 1.5, -1.0]),
                    (Pow, false) => self.of(&[0.0, 1.0, 2.0, 3.0]),
                    (_, true) => self.of(&[0.5, 0.1, 1.0, -1.0, 2.0, 1e-5, 0.0, 0.044715, 100.0]),
                    _ => self.of(&[1.0, 2.0, 3.0, -1.0, 0.0, 7.0]),
                };
                Op::Number(op, a, x, self.rng.bool())
            }
            16..=17 => {
                let a = self.pick(any)?;
                let op = self.of(&[Lt, Le, Gt, Ge, Eq, Ne]);
                let b = self.partner(a);
                Op::Binary(op, a, b)
            }
            18 => {
                let a = self.pick(|t| t.dtype == DType::I1)?;
                if self.rng.usize(..3) == 0 {
                    return Some(Op::Unary(Unary::Not, a));
                }
                let b = self.partner(a);
                Op::Binary(self.of(&[And, Or]), a, b)
            }
            19..=20 => {
                let c = self.pick(|t| t.dtype == DType::I1)?;
                let shape = self.values[c].ty.shape.clone();
                let a = self.pick(|t| crate::program::broadcast(&t.shape, &shape).is_some())?;
                let b = self.partner(a);
                Op::Select(c, a, b)
            }
            21..=22 => {
                let a = self.pick(any)?;
                use DType::*;
                Op::Cast(a, self.of(&[F32, F32, F64, F16, BF16, I32, I64, I1]))
            }
            23 => {
                let a = self.pick(|t| t.shape.len() >= 2)?;
                Op::Causal(a, self.of(&[0.0, -1.0, f64::NEG_INFINITY]))
            }
            24..=26 => {
                let a = self.pick(number)?;
                let rank = self.values[a].ty.shape.len();
                let mut axes: Vec<usize> = (0..rank).filter(|_| self.rng.usize(..5) < 2).collect();
                if axes.is_empty() {
                    axes.push(self.axis(rank)?);
                }
                let kind = self.of(&[Reduction::Sum, Reduction::Sum, Reduction::Max, Reduction::Mean]);
                Op::Reduce(kind, a, axes, self.rng.bool())
            }
            27 => {
                let a = self.pick(float)?;
                let axis = self.axis(self.values[a].ty.shape.len())?;
                Op::Softmax(a, axis)
            }
            28..=31 => self.product()?,
            32 => {
                let a = self.pick(any)?;
                let shape = self.reshaped(a);
                Op::Reshape(a, shape)
            }
            33..=34 => {
                let a = self.pick(|t| t.shape.len() > 1)?;
                let mut permutation: Vec<usize> = (0..self.values[a].ty.shape.len()).collect();
                self.rng.shuffle(&mut permutation);
                Op::Transpose(a, permutation)
            }
            35..=36 => {
                let arg = self.pick(|t| !t.shape.is_empty())?;
                let axis = self.axis(self.values[arg].ty.shape.len())?;
                let size = self.values[arg].ty.shape[axis];
                let start = self.rng.usize(..=size);
                let end = self.rng.usize(start..=size);
                // Rarely an empty one.
                if start == end && self.rng.usize(..10) > 0 {
                    return None;
                }
                Op::Slice { arg, axis, start, end, step: self.of(&[1, 1, 1, 2, 3]) }
            }
            37 => {
                let a = self.pick(|t| t.shape.iter().any(|&n| n > 0))?;
                let axis = self.axis(self.values[a].ty.shape.len())?;
                let size = self.values[a].ty.shape[axis];
                Op::Index(a, axis, self.rng.usize(..size.max(1)))
            }
            38 => {
                let a = self.pick(|t| !t.shape.is_empty())?;
                let ty = self.values[a].ty.clone();
                let axis = self.axis(ty.shape.len())?;
                let mut all = vec![a];
                for _ in 0..self.rng.usize(1..3) {
                    let mut shape = ty.shape.clone();
                    shape[axis] = self.of(&SIZES);
                    let same = |t: &Type| {
                        let sizes = |s: &[usize]| [&s[..axis.min(s.len())], &s[(axis + 1).min(s.len())..]].concat();
                        t.dtype == ty.dtype && t.shape.len() == ty.shape.len() && sizes(&t.shape) == sizes(&ty.shape)
                    };
                    let other = self.pick(same).unwrap_or_else(|| self.input_of(ty.dtype, shape));
                    let at = self.rng.usize(..=all.len());
                    all.insert(at, other);
                }
                Op::Concat(all, axis)
            }
            39 => {
                let table = self.pick(|t| t.shape.iter().any(|&n| n > 0))?;
                let axis = self.axis(self.values[table].ty.shape.len())?;
                let size = self.values[table].ty.shape[axis];
                let shape = self.of(&[&[][..], &[1], &[3], &[7], &[2, 3]]).to_vec();
                let (dtype, seed) = (self.of(&[DType::I32, DType::I64]), self.rng.u64(..));
                self.push(Op::Input { dtype, shape, seed, fill: Fill::Below(size as i64) });
                Op::Gather { table, ids: self.steps.len() - 1, axis }
            }
            40 => {
                let a = self.pick(any)?;
                let mut shape = self.values[a].ty.shape.clone();
                for n in shape.iter_mut().filter(|n| **n == 1) {
                    *n = self.of(&[1, 2, 5]);
                }
                if shape.len() < 4 {
                    let size = self.of(&[1, 2, 3]);
                    shape.insert(0, size);
                }
                Op::Broadcast(a, shape)
            }
            41 => {
                let target = self.pick(|t| t.shape.iter().any(|&n| n > 0))?;
                let Type { dtype, mut shape } = self.values[target].ty.clone();
                let axis = self.axis(shape.len())?;
                let size = shape[axis];
                shape[axis] = self.rng.usize(..=size);
                let bound = (size - shape[axis] + 1) as i64;
                let same = |t: &Type| t.dtype == dtype && t.shape == shape;
                let rows = self.pick(same).unwrap_or_else(|| self.input_of(dtype, shape.clone()));
                let (dtype, seed) = (self.of(&[DType::I32, DType::I64]), self.rng.u64(..));
                let shape = self.of(&[&[][..], &[1], &[1, 1]]).to_vec();
                self.push(Op::Input { dtype, shape, seed, fill: Fill::Below(bound) });
                Op::Update { target, rows, position: self.steps.len() - 1, axis }
            }
            _ => {
                let dtype = self.dtype;
                let shape = self.shape();
                match self.axis(shape.len()) {
                    Some(axis) => Op::Iota(dtype, shape, axis),
                    None => Op::Scalar(dtype, self.of(&[1.0, 3.0, -2.0])),
                }
            }
        })
    }

    /// A matrix product, often of a transpose.
    fn product(&mut self) -> Option<Op> {
        let a = self.pick(|t| t.dtype != DType::I1 && !t.shape.is_empty())?;
        let ty = self.values[a].ty.clone();
        let fits = |t: &Type| t.dtype == ty.dtype && Op::Matmul(0, 1).infer(&[ty.clone(), t.clone()]).is_some();
        if self.rng.bool()
            && let Some(b) = self.pick(fits)
        {
            return Some(Op::Matmul(a, b));
        }
        let (inner, columns) = (ty.shape[ty.shape.len() - 1], self.of(&SIZES));
        let mut shape = match self.rng.usize(..8) {
            0 => vec![inner],
            1..=5 => vec![inner, columns],
            _ => [&ty.shape[..ty.shape.len().saturating_sub(2)], &[inner, columns]].concat(),
        };
        let rank = shape.len();
        if rank < 2 || self.rng.usize(..3) > 0 {
            let b = self.input_of(ty.dtype, shape);
            return Some(Op::Matmul(a, b));
        }
        shape.swap(rank - 2, rank - 1);
        let b = self.input_of(ty.dtype, shape);
        let mut permutation: Vec<usize> = (0..rank).collect();
        permutation.swap(rank - 2, rank - 1);
        self.push(Op::Transpose(b, permutation));
        Some(Op::Matmul(a, self.steps.len() - 1))
    }

    /// Another shape of as many elements: sizes merged, split, and ones that come and go.
    fn reshaped(&mut self, a: Id) -> Vec<usize> {
        let mut shape = self.values[a].ty.shape.clone();
        for _ in 0..self.rng.usize(1..4) {
            match self.rng.usize(..4) {
                0 if shape.len() > 1 => {
                    let i = self.rng.usize(..shape.len() - 1);
                    shape[i] *= shape[i + 1];
                    shape.remove(i + 1);
                }
                1 if shape.len() < 4 => {
                    let i = self.rng.usize(..=shape.len());
                    shape.insert(i, 1);
                }
                2 => {
                    if let Some(i) = shape.iter().position(|&n| n == 1) {
                        shape.remove(i);
                    }
                }
                _ if shape.len() < 4 => {
                    let factor = self.of(&[2, 3]);
                    if let Some(i) = shape.iter().position(|&n| n > factor && n % factor == 0) {
                        shape[i] /= factor;
                        shape.insert(i + 1, factor);
                    }
                }
                _ => {}
            }
        }
        shape
    }

    /// Returns what a chain gave and what nothing uses, three at most, sometimes what is used; written, also arguments and one twice.
    fn finish(mut self, written: bool, chain: Option<Id>) -> Program {
        let mut used = vec![false; self.steps.len()];
        self.steps.iter().flat_map(|op| op.operands()).for_each(|a| used[a] = true);
        let mut results: Vec<Id> = (0..used.len()).filter(|&i| !used[i]).rev().take(3).collect();
        results.extend(chain.filter(|id| !results.contains(id)));
        if self.rng.usize(..4) == 0 {
            results.push(self.rng.usize(self.first..self.steps.len()));
        }
        if written && self.rng.usize(..4) == 0 {
            results.push(0);
            results.push(results[0]);
        }
        Program { steps: self.steps, results, memrefs: false }.pruned()
    }
}
