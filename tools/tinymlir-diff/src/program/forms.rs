//! What users' modules contain and the frontend does not make: operations of its own kind, and other spellings of its operations.

use super::{Id, Op};
use serde::{Deserialize, Serialize};
use tinymlir::{DType, frontend::Type};

/// Another text for an operation of the frontend.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Spelling {
    /// In a private function that is called.
    Call,
    /// As TOSA has it.
    Tosa,
    /// Operations of arith and math on whole tensors.
    Elementwise,
    /// Named operations of linalg and tensor.
    Named,
    /// The same on dynamic sizes, in a private function that is called.
    Dynamic,
}

/// How a constant is written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Constant {
    /// `dense` with all its elements.
    Dense,
    /// A constant `memref.global`.
    Global,
}

/// A pack's tiles: of each dimension in `dims` one of that size, the outer dimensions in the order of `outer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Tiles {
    pub dims: Vec<usize>,
    pub sizes: Vec<usize>,
    pub outer: Vec<usize>,
}

impl Tiles {
    /// The shape of what is packed into, from that of what is packed.
    pub fn packed(&self, shape: &[usize]) -> Vec<usize> {
        let tile = |d: usize| self.dims.iter().position(|x| *x == d).map_or(1, |i| self.sizes[i]);
        self.outer.iter().map(|&d| shape[d].div_ceil(tile(d))).chain(self.sizes.iter().copied()).collect()
    }
}

/// An operation that the frontend does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Form {
    /// `tensor.pad` by as many elements before and after each dimension; less than nothing cuts off.
    Pad { low: Vec<i64>, high: Vec<i64>, value: f64 },
    /// `linalg.pack` with padding.
    Pack { tiles: Tiles, value: f64 },
    /// `linalg.unpack` to this shape.
    Unpack { tiles: Tiles, shape: Vec<usize> },
    /// Of the product of two complex tensors, given as real and imaginary parts, the imaginary part or the real one.
    ComplexProduct { imaginary: bool },
    /// Elements that the module holds.
    Constant { kind: Constant, dtype: DType, shape: Vec<usize>, seed: u64 },
    /// Running sums along the first dimension: an `scf.for` over rows that carries the result and the last sum.
    Cumulate,
    /// Each row twice itself: an `scf.forall` that inserts in parallel.
    Rows,
    /// The first operand as often to itself as the second one's only element says: an `scf.while`.
    While,
    /// The sum of the last two where the first element of the first one is set, else the second operand itself: an `scf.if`.
    If,
    /// The operand, of whose elements each is asserted to be at least this.
    Assert { least: i64 },
}

impl Form {
    /// The type of the result; `None` where it does not apply.
    pub fn infer(&self, operands: &[Type]) -> Option<Type> {
        let number = |t: &&Type| t.dtype != DType::I1;
        let rows = |t: &&Type| t.dtype != DType::I1 && t.shape.first().is_some_and(|n| *n > 0);
        match (self, operands) {
            (Form::Pad { low, high, .. }, [t]) => {
                let sized = low.len() == t.shape.len() && high.len() == t.shape.len();
                let shape = (t.shape.iter().zip(low).zip(high))
                    .map(|((&n, l), h)| usize::try_from(n as i64 + l + h).ok())
                    .collect::<Option<Vec<_>>>()?;
                // What is cut off must be there.
                let cuts = t.shape.iter().zip(low).zip(high).all(|((&n, &l), &h)| n as i64 + l.min(0) + h.min(0) >= 0);
                (sized && cuts && !t.shape.is_empty()).then(|| Type::new(t.dtype, &shape))
            }
            (Form::Pack { tiles, .. }, [t]) => {
                let fits = tiles.outer.len() == t.shape.len() && tiles.dims.iter().all(|d| *d < t.shape.len());
                (fits && !t.shape.contains(&0)).then(|| Type::new(t.dtype, &tiles.packed(&t.shape)))
            }
            (Form::Unpack { tiles, shape }, [t]) => {
                let fits = tiles.outer.len() == shape.len() && tiles.packed(shape) == t.shape && !shape.contains(&0);
                fits.then(|| Type::new(t.dtype, shape))
            }
            (Form::ComplexProduct { .. }, [a, rest @ ..]) => {
                let real = matches!(a.dtype, DType::F32 | DType::F64);
                (real && rest.len() == 3 && rest.iter().all(|t| t == a)).then(|| a.clone())
            }
            (Form::Constant { dtype, shape, .. }, []) => Some(Type::new(*dtype, shape)),
            (Form::Cumulate | Form::Rows, [t]) => Some(t).filter(rows).cloned(),
            (Form::While, [t, n]) => {
                let counts = matches!(n.dtype, DType::I32 | DType::I64) && n.shape.is_empty();
                Some(t).filter(number).filter(|_| counts).cloned()
            }
            (Form::If, [c, a, b]) => {
                let fits = c.dtype == DType::I1 && !c.shape.contains(&0) && a == b;
                Some(a).filter(number).filter(|_| fits).cloned()
            }
            (Form::Assert { .. }, [t]) => Some(t).filter(|t| matches!(t.dtype, DType::I32 | DType::I64)).cloned(),
            _ => None,
        }
    }
}

/// Whether the frontend does not write an operation itself.
pub fn is_written(op: &Op) -> bool {
    matches!(op, Op::Form(..) | Op::Spelled(..))
}

/// The same operation on other operands, the first of them number 0.
pub fn on_operands(op: &Op) -> Op {
    let mut op = op.clone();
    let mut next: Id = 0;
    op.map_operands(&mut |_| {
        next += 1;
        next - 1
    });
    op
}
