//! Results against expected arrays.

use crate::{DType, Tensor};
use anyhow::{Context, Result, ensure};
use std::fmt;

/// How two arrays differ.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Whether |got - expected| <= atol + rtol |expected| everywhere, with NaN equal to NaN.
    pub close: bool,
    /// The largest |got - expected|.
    pub largest: f64,
    /// How many elements are past the tolerance.
    pub outside: usize,
    count: usize,
    /// The element that is furthest past its tolerance, or nearest to it: index, got, expected.
    worst: Option<(Vec<usize>, f64, f64)>,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.worst {
            None => f.write_str("equal"),
            Some((index, got, expected)) => {
                if !self.close {
                    write!(f, "{} of {} elements differ; ", self.outside, self.count)?;
                }
                write!(
                    f,
                    "largest difference {:e}; worst at {index:?}: got {got:?}, expected {expected:?}",
                    self.largest
                )
            }
        }
    }
}

/// Compares arrays of the same shape and any real or complex element types; uint16 expected of a bf16 array is its bit
/// patterns. Fails when the shapes differ, or when one array is complex and the other is not.
pub fn compare(got: &Tensor, expected: &Tensor, rtol: f64, atol: f64) -> Result<Comparison> {
    if (got.dtype(), expected.dtype()) == (DType::BF16, DType::U16) {
        let expected = Tensor::from_bytes(DType::BF16, expected.shape(), expected.bytes())?;
        return compare(got, &expected, rtol, atol);
    }
    ensure!(
        got.shape() == expected.shape(),
        "got {} of shape {:?}, expected {} of shape {:?}",
        got.dtype(),
        got.shape(),
        expected.dtype(),
        expected.shape()
    );
    let mismatch = || format!("cannot compare {} with {}", got.dtype(), expected.dtype());
    let parts = |t: &Tensor| parts(t).with_context(mismatch);
    let complex = matches!(got.dtype(), DType::C64 | DType::C128);
    ensure!(complex == matches!(expected.dtype(), DType::C64 | DType::C128), mismatch());
    let per_element = if complex { 2 } else { 1 };
    let exact = got.to_i64().zip(expected.to_i64()); // 64-bit integers do not fit f64
    let mut result = Comparison { close: true, largest: 0.0, outside: 0, count: got.len(), worst: None };
    let mut worst_excess = f64::NEG_INFINITY;
    for (i, (a, b)) in parts(got)?.into_iter().zip(parts(expected)?).enumerate() {
        let difference = match &exact {
            Some((a, b)) => (i128::from(a[i]) - i128::from(b[i])).unsigned_abs() as f64,
            None if a == b || (a.is_nan() && b.is_nan()) => 0.0,
            None if a.is_nan() || b.is_nan() => f64::INFINITY,
            None => (a - b).abs(),
        };
        if difference == 0.0 {
            continue;
        }
        let tolerance = atol + rtol * b.abs();
        let inside = difference <= tolerance && difference.is_finite();
        let excess = if inside { difference / tolerance - 1.0 } else { difference - tolerance + 1.0 };
        let excess = if excess.is_nan() { f64::INFINITY } else { excess };
        result.largest = result.largest.max(difference);
        result.outside += usize::from(!inside);
        result.close &= inside;
        if excess > worst_excess {
            worst_excess = excess;
            result.worst = Some((index_of(i / per_element, got.shape()), a, b));
        }
    }
    Ok(result)
}

/// The elements as `f64`, a complex one as two.
fn parts(tensor: &Tensor) -> Option<Vec<f64>> {
    let real = match tensor.dtype() {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        _ => return tensor.to_f64(),
    };
    Tensor::from_bytes(real, &[2 * tensor.len()], tensor.bytes()).ok()?.to_f64()
}

fn index_of(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|n| {
            let i = place % n;
            place /= n;
            i
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(values: &[f32]) -> Tensor {
        Tensor::from_slice(&[values.len()], values)
    }

    #[test]
    fn tolerances_are_numpys() {
        let check = |a: &[f32], b: &[f32]| compare(&f32s(a), &f32s(b), 1e-2, 1e-3).unwrap();
        assert!(check(&[1.0, f32::NAN, f32::INFINITY], &[1.009, f32::NAN, f32::INFINITY]).close);
        assert!(!check(&[1.0], &[1.02]).close);
        assert!(!check(&[f32::INFINITY], &[f32::NEG_INFINITY]).close);
        assert!(!check(&[f32::INFINITY], &[1.0]).close);
        assert!(!check(&[1.0], &[f32::INFINITY]).close);
        assert!(!check(&[f32::NAN], &[1.0]).close);
        assert!(check(&[], &[]).close);
        assert!(compare(&f32s(&[1.0]), &f32s(&[1.0, 2.0]), 1.0, 1.0).is_err());
    }

    #[test]
    fn bf16_may_come_as_bits() {
        let got = Tensor::from_slice(&[1], &[half::bf16::from_f32(1.5)]);
        assert!(compare(&got, &Tensor::from_slice(&[1], &[0x3fc0u16]), 0.0, 0.0).unwrap().close);
    }

    #[test]
    fn the_worst_element_is_named() {
        let a = Tensor::from_slice(&[2, 2], &[1f32, 2.0, 3.0, 1000.0]);
        let b = Tensor::from_slice(&[2, 2], &[1f64, 2.5, 3.0, 1001.0]);
        let c = compare(&a, &b, 1e-2, 0.0).unwrap();
        assert_eq!(
            c.to_string(),
            "1 of 4 elements differ; largest difference 1e0; worst at [0, 1]: got 2.0, expected 2.5"
        );
        assert_eq!(compare(&a, &a, 0.0, 0.0).unwrap().to_string(), "equal");
    }

    #[test]
    fn large_integers_are_compared_exactly() {
        let a = Tensor::from_slice(&[1], &[i64::MAX]);
        let b = Tensor::from_slice(&[1], &[i64::MAX - 1]);
        assert!(!compare(&a, &b, 0.0, 0.0).unwrap().close);
        assert!(compare(&a, &a, 0.0, 0.0).unwrap().close);
    }
}
