//! Floating-point numbers as NumPy prints them: one by itself, and several in columns.

use crate::{DType, Tensor};

/// Digits after the point, at most.
const PRECISION: usize = 8;

/// A floating-point number and how many of its digits mean something.
#[derive(Clone, Copy)]
pub(super) struct Float {
    pub(super) value: f64,
    dtype: DType,
}

/// The elements; the two parts of a complex one after each other.
pub(super) fn floats(tensor: &Tensor) -> Vec<Float> {
    let (dtype, parts) = match tensor.dtype() {
        DType::C64 => (DType::F32, Tensor::from_bytes(DType::F32, &[2 * tensor.len()], tensor.bytes()).ok()),
        DType::C128 => (DType::F64, Tensor::from_bytes(DType::F64, &[2 * tensor.len()], tensor.bytes()).ok()),
        dtype => (dtype, Some(tensor.clone())),
    };
    let values = parts.and_then(|t| t.to_f64()).unwrap_or_default();
    values.into_iter().map(|value| Float { value, dtype }).collect()
}

impl Float {
    /// The shortest decimal that reads back as this number: its digits, and the power of ten of the first.
    fn shortest(self) -> (String, i32) {
        let text = match self.dtype {
            DType::F64 => format!("{:e}", self.value),
            DType::F32 => format!("{:e}", self.value as f32),
            _ => {
                let reads_back = |text: &String| match (text.parse::<f64>(), self.dtype) {
                    (Ok(v), DType::F16) => half::f16::from_f64(v).to_f64() == self.value,
                    (Ok(v), _) => half::bf16::from_f64(v).to_f64() == self.value,
                    (Err(_), _) => false,
                };
                let digits = (0..12).map(|d| format!("{:.*e}", d, self.value)).find(reads_back);
                digits.unwrap_or_else(|| format!("{:e}", self.value))
            }
        };
        let text = text.trim_start_matches('-');
        let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
        (digits.replace('.', ""), exponent.parse().unwrap_or(0))
    }

    /// Digits before and after the point, at most `precision` after it, none of them trailing zeros.
    fn positional(self, precision: usize) -> (String, String) {
        let (digits, exponent) = self.shortest();
        let decimals = (digits.len() as i32 - 1 - exponent).max(0) as usize;
        let text = if decimals > precision {
            format!("{:.precision$}", self.value.abs())
        } else if exponent < 0 {
            format!("0.{}{digits}", "0".repeat(-exponent as usize - 1))
        } else {
            let digits = format!("{digits:0<width$}", width = exponent as usize + 1);
            format!("{}.{}", &digits[..=exponent as usize], &digits[exponent as usize + 1..])
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        (whole.to_owned(), fraction.trim_end_matches('0').to_owned())
    }

    /// The first digit, at most `precision` digits after it, and the exponent with its sign and at least two digits.
    fn scientific(self, precision: usize) -> (String, String, String) {
        let (digits, exponent) = self.shortest();
        let (digits, exponent) = if digits.len() - 1 > precision {
            let text = format!("{:.precision$e}", self.value.abs());
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            (digits.replace('.', ""), exponent.parse().unwrap_or(0))
        } else {
            (digits, exponent)
        };
        let sign = if exponent < 0 { '-' } else { '+' };
        (digits[..1].to_owned(), digits[1..].trim_end_matches('0').to_owned(), format!("{sign}{:02}", exponent.abs()))
    }

    /// From where on an array has exponents: a power of ten with as many digits as the type holds, at most 8.
    fn limit(self) -> f64 {
        match self.dtype {
            DType::F16 => 1e3,
            DType::F64 => 1e8,
            _ => 1e6,
        }
    }

    fn sign(self, plus: bool) -> &'static str {
        match self.value.is_sign_negative() {
            true => "-",
            false if plus => "+",
            false => "",
        }
    }

    /// `nan` or an infinity with its sign.
    fn special(self, plus: bool) -> String {
        match self.value.is_nan() {
            true => format!("{}nan", if plus { "+" } else { "" }),
            false => format!("{}inf", self.sign(plus)),
        }
    }

    /// As a scalar of its own.
    pub(super) fn scalar(self) -> String {
        let magnitude = self.value.abs();
        if !self.value.is_finite() {
            return self.special(false);
        }
        let limit = match self.dtype {
            DType::F64 => 1e16,
            _ => self.limit(),
        };
        if magnitude == 0.0 || (1e-4..limit).contains(&magnitude) {
            let (whole, fraction) = self.positional(usize::MAX);
            let fraction = if fraction.is_empty() { "0" } else { &fraction };
            return format!("{}{whole}.{fraction}", self.sign(false));
        }
        let (whole, fraction, exponent) = self.scientific(usize::MAX);
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{}{whole}{point}{fraction}e{exponent}", self.sign(false))
    }
}

/// How an array's floating-point numbers are aligned at their points.
pub(super) struct Columns {
    exponents: bool,
    precision: usize,
    left: usize,
    right: usize,
    exponent_width: usize,
    plus: bool,
}

impl Columns {
    /// `plus`: positive numbers get a sign.
    pub(super) fn of(values: &[Float], plus: bool) -> Columns {
        let finite: Vec<Float> = values.iter().copied().filter(|v| v.value.is_finite()).collect();
        let magnitudes = || finite.iter().map(|v| v.value.abs()).filter(|v| *v != 0.0);
        let (max, min) = (magnitudes().fold(0.0, f64::max), magnitudes().fold(f64::INFINITY, f64::min));
        let limit = values.first().map_or(f64::INFINITY, |v| v.limit());
        let ratio = match finite.first().map(|v| v.dtype) {
            Some(DType::F32) => f64::from(max as f32 / min as f32),
            Some(DType::F16) => half::f16::from_f64(max / min).to_f64(),
            _ => max / min,
        };
        let exponents = max > 0.0 && (max >= limit || min < 1e-4 || ratio > 1000.0);
        let mut columns = Columns { exponents, precision: PRECISION, left: 0, right: 0, exponent_width: 0, plus };
        if exponents {
            columns.precision = 0;
            for v in &finite {
                let (whole, fraction, exponent) = v.scientific(PRECISION);
                columns.left = columns.left.max(v.sign(plus).len() + whole.len());
                columns.precision = columns.precision.max(fraction.len());
                columns.exponent_width = columns.exponent_width.max(exponent.len() - 1);
            }
            columns.right = columns.exponent_width + 2 + columns.precision;
        } else {
            for v in &finite {
                let (whole, fraction) = v.positional(PRECISION);
                columns.left = columns.left.max(v.sign(plus).len() + whole.len());
                columns.right = columns.right.max(fraction.len());
            }
        }
        if finite.len() != values.len() {
            let negative = values.iter().any(|v| v.value == f64::NEG_INFINITY) || plus;
            let offset = columns.right + 1;
            columns.left = columns.left.max(3usize.saturating_sub(offset));
            columns.left = columns.left.max((3 + usize::from(negative)).saturating_sub(offset));
        }
        columns
    }

    pub(super) fn word(&self, value: Float) -> String {
        let Columns { precision, left, right, .. } = *self;
        if !value.value.is_finite() {
            return format!("{:>width$}", value.special(self.plus), width = left + right + 1);
        }
        let sign = value.sign(self.plus);
        if self.exponents {
            // Further digits than the shortest ones are the number's own, not zeros.
            let text = format!("{:.precision$e}", value.value.abs());
            let (digits, _) = text.split_once('e').unwrap_or((&text, ""));
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let (_, _, exponent) = value.scientific(precision);
            let power = format!("{}{:0>width$}", &exponent[..1], &exponent[1..], width = self.exponent_width);
            return format!("{:>left$}.{fraction}e{power}", format!("{sign}{whole}"));
        }
        let (whole, fraction) = value.positional(precision);
        format!("{:>left$}.{fraction:<right$}", format!("{sign}{whole}"))
    }
}
