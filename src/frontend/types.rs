//! Tensor types, NumPy's broadcasting rule, and what happens when element types meet.

use crate::DType;
use anyhow::{Result, bail, ensure};

/// A shape without unknown sizes, and an element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The element type.
    pub dtype: DType,
    /// The sizes, outermost first.
    pub shape: Vec<usize>,
}

impl Type {
    /// `dtype` elements of the given sizes.
    pub fn new(dtype: DType, shape: &[usize]) -> Type {
        Type { dtype, shape: shape.to_vec() }
    }

    /// The type as MLIR writes it, such as `tensor<2x3xf32>`.
    pub fn mlir(&self) -> String {
        let sizes: String = self.shape.iter().map(|n| format!("{n}x")).collect();
        format!("tensor<{sizes}{}>", self.dtype)
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}{:?}", self.dtype, self.shape)
    }
}

/// What the graph does when one operation gets operands of two element types.
///
/// A Rust number has no type of its own under either policy: it takes the other operand's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promotion {
    /// An error: the model says where it converts.
    #[default]
    Strict,
    /// NumPy's table: the smallest type that holds every value of both, so `f32` and `i32`, or `f32` and `f64`, make `f64`.
    NumPy,
}

impl Promotion {
    /// The element type that operands of types `a` and `b` are converted to.
    pub fn resolve(self, a: DType, b: DType) -> Result<DType> {
        use DType::*;
        if a == b {
            return Ok(a);
        }
        if self == Promotion::Strict {
            bail!("element types {a} and {b} differ (cast one, or switch NumPy's promotion on)");
        }
        Ok(match (a, b) {
            (I1, other) | (other, I1) => other,
            (I8, other) | (other, I8) => other,
            (I32, I64) | (I64, I32) => I64,
            // A float holds an integer only when its significand does; f64 is where NumPy stops.
            (I32 | I64, _) | (_, I32 | I64) | (F64, _) | (_, F64) => F64,
            // Two of f16, bf16 and f32 that differ.
            _ => F32,
        })
    }
}

/// Refuses element types that the frontend has no operations for.
pub(super) fn check_dtype(dtype: DType) -> Result<()> {
    use DType::*;
    ensure!(
        matches!(dtype, I1 | I8 | I32 | I64 | F16 | BF16 | F32 | F64),
        "element type {dtype} is not one of i1, i8, i32, i64, f16, bf16, f32, f64"
    );
    Ok(())
}

/// The shape that operands of shapes `a` and `b` are broadcast to: aligned at the last axis, sizes equal or 1.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], i: usize| (i + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (m, n) if m == n || n == 1 => Ok(m),
            (1, n) => Ok(n),
            (m, n) => bail!("shapes {a:?} and {b:?} do not broadcast: sizes {m} and {n} differ"),
        })
        .collect()
}

/// `axis` of an array with `rank` axes, counted from the end when negative.
pub(super) fn resolve_axis(axis: isize, rank: usize) -> Result<usize> {
    let resolved = if axis < 0 { axis + rank as isize } else { axis };
    ensure!((0..rank as isize).contains(&resolved), "axis {axis} is out of range for {rank} axes");
    Ok(resolved as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use DType::*;

    #[test]
    fn broadcasting_aligns_last_axes() {
        assert_eq!(broadcast(&[4, 1, 3], &[5, 1]).unwrap(), [4, 5, 3]);
        assert_eq!(broadcast(&[], &[2]).unwrap(), [2]);
        assert_eq!(broadcast(&[1], &[0]).unwrap(), [0]);
        let error = broadcast(&[2, 3], &[4]).unwrap_err().to_string();
        assert!(error.contains("[2, 3]") && error.contains("[4]"), "{error}");
    }

    #[test]
    fn promotion_follows_numpy() {
        for (a, b, expected) in [
            (F32, F64, F64),
            (I32, F32, F64),
            (I64, F16, F64),
            (F16, F32, F32),
            (F16, BF16, F32),
            (I32, I64, I64),
            (I1, BF16, BF16),
            (I1, I8, I8),
            (I8, F16, F16),
            (I8, I64, I64),
        ] {
            assert_eq!(Promotion::NumPy.resolve(a, b).unwrap(), expected, "{a} and {b}");
            assert_eq!(Promotion::NumPy.resolve(b, a).unwrap(), expected, "{b} and {a}");
        }
        assert!(Promotion::Strict.resolve(F32, F64).is_err());
    }

    #[test]
    fn axes_count_from_either_end() {
        assert_eq!(resolve_axis(-1, 3).unwrap(), 2);
        assert!(resolve_axis(3, 3).is_err() && resolve_axis(-4, 3).is_err());
    }
}
