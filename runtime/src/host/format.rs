//! Elements as C++ iostreams print them by default: `%g` for floating point, `(re,im)` for complex
//! numbers, and a character for each i8.

use half::{bf16, f16};

/// A memref element that can be printed and compared the way LLVM's runner utilities do.
pub(super) trait Element: Copy {
    /// Appends the element's text.
    fn show(self, out: &mut Vec<u8>);
    /// Equal, or close within the tolerance of LLVM's verifier: relative 1e-6 in f32, 1e-12 in f64.
    fn agrees(self, expected: Self) -> bool;
}

/// `value` with six significant digits, trailing zeros dropped.
pub(super) fn show_float(value: f64, out: &mut Vec<u8>) {
    let mut buffer = [0u8; 32];
    // SAFETY: the buffer's length bounds what is written; `%g` takes one double.
    let len = unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), buffer.len(), c"%g".as_ptr(), value) };
    out.extend_from_slice(&buffer[..usize::try_from(len).unwrap_or(0).min(buffer.len() - 1)]);
}

fn close(actual: f64, expected: f64, epsilon: f64) -> bool {
    actual.is_finite() && expected.is_finite() && (actual - expected).abs() <= epsilon * expected.abs()
}

macro_rules! integer_element {
    ($($type:ty),*) => {$(
        impl Element for $type {
            fn show(self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.to_string().as_bytes());
            }
            fn agrees(self, expected: Self) -> bool {
                self == expected
            }
        }
    )*};
}
integer_element!(i16, i32, i64, u64);

impl Element for i8 {
    fn show(self, out: &mut Vec<u8>) {
        out.push(self as u8);
    }
    fn agrees(self, expected: Self) -> bool {
        self == expected
    }
}

macro_rules! float_element {
    ($($type:ty, $agrees:expr);*) => {$(
        impl Element for $type {
            fn show(self, out: &mut Vec<u8>) {
                show_float(f64::from(self), out);
            }
            fn agrees(self, expected: Self) -> bool {
                let agrees: fn(Self, Self) -> bool = $agrees;
                agrees(self, expected)
            }
        }
    )*};
}
float_element!(
    f16, |a, b| a == b;
    bf16, |a, b| a == b;
    f32, |a, b| close(f64::from(a), f64::from(b), 1e-6);
    f64, |a, b| close(a, b, 1e-12)
);

impl<T: Element + PartialEq> Element for [T; 2] {
    fn show(self, out: &mut Vec<u8>) {
        out.push(b'(');
        self[0].show(out);
        out.push(b',');
        self[1].show(out);
        out.push(b')');
    }
    fn agrees(self, expected: Self) -> bool {
        self == expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: impl Element) -> String {
        let mut out = Vec::new();
        value.show(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_have_six_significant_digits() {
        assert_eq!(shown(0.1f32), "0.1");
        assert_eq!(shown(123456789f32), "1.23457e+08");
        assert_eq!(shown(1e-5f64), "1e-05");
        assert_eq!(shown(-0.0f64), "-0");
        assert_eq!(shown(f32::NEG_INFINITY), "-inf");
        assert_eq!(shown(f64::NAN), "nan");
        assert_eq!(shown(bf16::from_f32(0.1)), "0.100098");
        assert_eq!(shown([1.5f32, -2.0]), "(1.5,-2)");
    }

    #[test]
    fn tolerances_are_relative_and_refuse_nan() {
        assert!(1.0f32.agrees(1.0 + f32::EPSILON));
        assert!(!1.0f32.agrees(1.00001));
        assert!(!f32::NAN.agrees(f32::NAN));
        assert!(!3i32.agrees(4));
    }
}
