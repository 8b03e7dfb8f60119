//! Real numbers that are known up to an interval: what a correct compiler may compute.
//!
//! Every operation takes the endpoints' images and rounds them to the element type, so that an operation which IEEE 754
//! rounds correctly, on operands that are known exactly, has one right result. What may differ between correct
//! compilations (the order of a sum, the last bits of `exp`) widens the interval, and what depends on it follows.

use tinymlir::DType;

/// An element of a floating-point array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Real {
    /// NaN for certain.
    Nan,
    /// Anything, NaN included: the operands do not tell.
    Any,
    /// A number between both, included; a point where they are equal.
    In(f64, f64),
}
use Real::*;

/// Bits of the significand, the implicit one included, and the smallest exponent of a normal number.
fn format(dtype: DType) -> (i32, i32) {
    match dtype {
        DType::F16 => (11, -14),
        DType::BF16 => (8, -126),
        DType::F32 => (24, -126),
        _ => (53, -1022),
    }
}

/// The distance from 1 to the next larger number.
pub fn epsilon(dtype: DType) -> f64 {
    2f64.powi(1 - format(dtype).0)
}

/// The nearest number of the type, ties to even; infinity past the largest.
pub fn round(dtype: DType, x: f64) -> f64 {
    let (bits, least) = format(dtype);
    if dtype == DType::F64 || x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = (((x.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(least);
    // The step between neighbours there; scaling by a power of two is exact.
    let step = 2f64.powi(exponent - (bits - 1));
    let rounded = (x / step).round_ties_even() * step;
    if rounded.abs() > largest(dtype) { f64::INFINITY.copysign(x) } else { rounded }
}

impl Real {
    /// Exactly this, or NaN.
    pub fn point(x: f64) -> Real {
        if x.is_nan() { Nan } else { In(x, x) }
    }

    /// Whether `x` may be computed here.
    pub fn admits(self, x: f64) -> bool {
        match self {
            Any => true,
            Nan => x.is_nan(),
            In(low, high) => low <= x && x <= high,
        }
    }

    /// Rounds the endpoints to the type after moving them apart by `ulps` units in the last place.
    pub fn rounded(self, dtype: DType, ulps: f64) -> Real {
        self.widened(dtype, |x| if ulps > 0.0 { ulps * epsilon(dtype) * x.abs() + least_normal(dtype) } else { 0.0 })
    }

    /// Rounds the endpoints to the type after moving each apart by `slack` of it.
    pub fn widened(self, dtype: DType, slack: impl Fn(f64) -> f64) -> Real {
        match self {
            In(low, high) => {
                let move_by = |x: f64, sign: f64| if x.is_finite() { x + sign * slack(x) } else { x };
                spanned(&[round(dtype, move_by(low, -1.0)), round(dtype, move_by(high, 1.0))], false)
            }
            other => other,
        }
    }

    /// Through a function that grows with its argument, or falls with it.
    pub fn monotone(self, f: impl Fn(f64) -> f64) -> Real {
        match self {
            In(low, high) => spanned(&[f(low), f(high)], low == high),
            other => other,
        }
    }

    /// Through a function between -1 and 1 whose slope is too.
    pub fn wave(self, f: impl Fn(f64) -> f64) -> Real {
        match self {
            In(low, high) if low == high => Real::point(f(low)),
            In(low, high) if low.is_finite() && high.is_finite() => {
                let middle = low / 2.0 + high / 2.0;
                let reach = (high - low) / 2.0 + middle.abs() * 1e-15;
                In((f(middle) - reach).max(-1.0), (f(middle) + reach).min(1.0))
            }
            Nan => Nan,
            _ => Any,
        }
    }

    /// Both endpoints of both through a function that is monotone in each operand.
    fn corners(self, other: Real, f: impl Fn(f64, f64) -> f64) -> Real {
        match (self, other) {
            (Any, _) | (_, Any) => Any,
            (Nan, _) | (_, Nan) => Nan,
            (In(a, b), In(c, d)) => spanned(&[f(a, c), f(a, d), f(b, c), f(b, d)], a == b && c == d),
        }
    }

    /// The sum.
    pub fn plus(self, other: Real) -> Real {
        self.corners(other, |a, b| a + b)
    }

    /// The difference.
    pub fn minus(self, other: Real) -> Real {
        self.corners(other, |a, b| a - b)
    }

    /// The product.
    pub fn times(self, other: Real) -> Real {
        let infinite = |x: Real| matches!(x, In(a, b) if a != b && (a.is_infinite() || b.is_infinite()));
        let zero = |x: Real| matches!(x, In(a, b) if a <= 0.0 && b >= 0.0);
        if (infinite(self) && zero(other)) || (infinite(other) && zero(self)) {
            return Any;
        }
        if matches!((self, other), (In(a, b), In(c, _)) if a < 0.0 && b > 0.0 && c.is_infinite()) {
            return Any;
        }
        if matches!((self, other), (In(a, _), In(c, d)) if c < 0.0 && d > 0.0 && a.is_infinite()) {
            return Any;
        }
        self.corners(other, |a, b| a * b)
    }

    /// The quotient; anything where the divisor may be zero.
    pub fn over(self, other: Real) -> Real {
        match other {
            In(low, high) if low <= 0.0 && high >= 0.0 => Any,
            _ => self.corners(other, |a, b| a / b),
        }
    }

    /// The power, of a positive base or of numbers that are known; else anything.
    pub fn power(self, other: Real) -> Real {
        match (self, other) {
            (In(a, b), In(c, d)) if a > 0.0 || (a == b && c == d && a != 0.0) => self.corners(other, f64::powf),
            _ => Any,
        }
    }

    /// The larger, NaN if either is.
    pub fn larger(self, other: Real) -> Real {
        self.corners(other, f64::max)
    }

    /// The smaller, NaN if either is.
    pub fn smaller(self, other: Real) -> Real {
        self.corners(other, f64::min)
    }

    /// Without its sign.
    pub fn magnitude(self) -> Real {
        match self {
            In(low, high) if low <= 0.0 && high >= 0.0 => In(0.0, high.max(-low)),
            _ => self.monotone(f64::abs),
        }
    }

    /// The least that it may be, or NaN.
    pub fn lowest(self) -> f64 {
        if let In(low, _) = self { low } else { f64::NAN }
    }

    /// The most that it may be, where that is a number.
    pub fn largest(self) -> Option<f64> {
        if let In(_, high) = self { Some(high) } else { None }
    }

    /// Either of both.
    pub fn or(self, other: Real) -> Real {
        match (self, other) {
            (In(a, b), In(c, d)) => In(a.min(c), b.max(d)),
            (Nan, Nan) => Nan,
            _ => Any,
        }
    }

    /// Whether it is less than `other`; `None` where the intervals do not tell.
    pub fn is_less(self, other: Real) -> Option<bool> {
        match (self, other) {
            (Any, _) | (_, Any) => None,
            (In(_, b), In(c, _)) if b < c => Some(true),
            (In(a, _), In(_, d)) if a < d => None,
            _ => Some(false),
        }
    }

    /// Whether both are the same number; `None` where the intervals do not tell.
    pub fn is_equal(self, other: Real) -> Option<bool> {
        match (self, other) {
            (Any, _) | (_, Any) => None,
            (Nan, _) | (_, Nan) => Some(false),
            (In(a, b), In(c, d)) if b < c || d < a => Some(false),
            (In(a, b), In(c, d)) if a == b && c == d => Some(true),
            _ => None,
        }
    }
}

/// The least interval around `values`. A NaN among them is certain where the operands were.
fn spanned(values: &[f64], certain: bool) -> Real {
    if values.iter().any(|v| v.is_nan()) {
        return if certain { Nan } else { Any };
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    In(low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// The largest finite number.
pub fn largest(dtype: DType) -> f64 {
    (2.0 - epsilon(dtype)) * 2f64.powi(1 - format(dtype).1)
}

/// The smallest normal number: library functions may take what lies below for zero.
pub fn least_normal(dtype: DType) -> f64 {
    2f64.powi(format(dtype).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use DType::*;

    #[test]
    fn rounding_agrees_with_the_formats() {
        for bits in 0..=u16::MAX {
            let (h, b) = (half::f16::from_bits(bits).to_f64(), half::bf16::from_bits(bits).to_f64());
            for (dtype, x) in [(F16, h), (BF16, b)] {
                assert!(round(dtype, x) == x || x.is_nan(), "{dtype} {x}");
            }
        }
        for x in [0.1, -3.7e-39, 1e-46, 3.5e38, 16_777_217.0, 1.0 + 3.0 * 2f64.powi(-24)] {
            assert_eq!(round(F32, x), f64::from(x as f32), "{x}");
        }
        assert_eq!((round(F16, 65519.9), round(F16, 65520.0)), (65504.0, f64::INFINITY));
        // Half of the least number goes to zero, the even one.
        assert_eq!((round(F16, 2f64.powi(-25)), round(F16, 1.5 * 2f64.powi(-25))), (0.0, 2f64.powi(-24)));
    }

    #[test]
    fn what_is_unknown_stays_unknown() {
        assert_eq!(Real::point(f64::INFINITY).minus(Real::point(f64::INFINITY)), Nan);
        assert_eq!(In(1.0, f64::INFINITY).minus(Real::point(f64::INFINITY)), Any);
        assert_eq!(Real::point(1.0).over(In(-1.0, 1.0)), Any);
        assert_eq!(In(-1.0, 2.0).times(In(1.0, f64::INFINITY)), Any);
        assert_eq!(Real::point(0.0).times(Real::point(f64::INFINITY)), Nan);
        assert_eq!((largest(F16), largest(F32), largest(F64)), (65504.0, f64::from(f32::MAX), f64::MAX));
        assert_eq!(In(1.0, 2.0).is_less(In(1.5, 3.0)), None);
        assert_eq!((Nan.is_less(In(0.0, 0.0)), Nan.is_equal(Nan)), (Some(false), Some(false)));
        assert!(Nan.admits(f64::NAN) && !In(0.0, 1.0).admits(f64::NAN));
    }
}
