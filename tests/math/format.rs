//! Floating-point formats: their bits, values and rounding.

use half::{bf16, f16};

/// A floating-point format: how wide it is, how many bits of it are the fraction, and how arrays name it.
#[derive(Clone, Copy)]
pub struct Format {
    pub name: &'static str,
    pub width: u32,
    pub fraction: u32,
    pub numpy: &'static str,
}

pub const FORMATS: [Format; 4] = [
    Format { name: "f16", width: 16, fraction: 10, numpy: "<f2" },
    Format { name: "bf16", width: 16, fraction: 7, numpy: "<u2" },
    Format { name: "f32", width: 32, fraction: 23, numpy: "<f4" },
    Format { name: "f64", width: 64, fraction: 52, numpy: "<f8" },
];

impl Format {
    pub fn magnitude(self, bits: u64) -> u64 {
        bits & (u64::MAX >> (65 - self.width))
    }
    pub fn infinity(self) -> u64 {
        (1 << (self.width - 1)) - (1 << self.fraction)
    }
    pub fn is_nan(self, bits: u64) -> bool {
        self.magnitude(bits) > self.infinity()
    }
    /// How many numbers of the format apart two are; `None` where one is NaN, or a zero has another sign.
    pub fn distance(self, a: u64, b: u64) -> Option<u64> {
        if self.is_nan(a) || self.is_nan(b) {
            return (self.is_nan(a) && self.is_nan(b)).then_some(0);
        }
        let place = |bits: u64| {
            let m = i128::from(self.magnitude(bits));
            if m == i128::from(bits) { m } else { -m }
        };
        (self.magnitude(a) != 0 || self.magnitude(b) != 0 || a == b)
            .then(|| (place(a) - place(b)).unsigned_abs() as u64)
    }
    pub fn value(self, bits: u64) -> f64 {
        match self.name {
            "f16" => f16::from_bits(bits as u16).to_f64(),
            "bf16" => bf16::from_bits(bits as u16).to_f64(),
            "f32" => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits),
        }
    }
    /// The bits of a double rounded to the format. What is exact in a double rounds once.
    pub fn round(self, value: f64) -> u64 {
        match self.name {
            "f16" => f16::from_f32(to_odd(value)).to_bits().into(),
            "bf16" => bf16::from_f32(to_odd(value)).to_bits().into(),
            "f32" => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        }
    }
}

/// The f32 next to a value on the side of zero, its last bit set unless it is the value; rounding that rounds once.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if near.is_nan() || f64::from(near) == value {
        return near;
    }
    let past = f64::from(near.abs()) > value.abs();
    f32::from_bits((near.to_bits() - u32::from(past)) | 1)
}
