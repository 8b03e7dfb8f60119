//! Conversions between floating-point types that LLVM leaves to the compiler's runtime, which no process exports.
//!
//! A 16-bit float is passed and returned in the low bits of a vector register, where an `f32` is too.

use half::{bf16, f16};

use crate::{Symbol, symbol_table};

/// A register with a 16-bit float in it.
type Half = f32;

fn pack(bits: u16) -> Half {
    f32::from_bits(bits.into())
}

/// The `f32` next to a value on the side of zero, with its last bit set unless it is the value: what rounds it further
/// rounds as if from the value itself.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if near.is_nan() || f64::from(near) == value {
        return near;
    }
    let past = f64::from(near.abs()) > value.abs();
    f32::from_bits((near.to_bits() - u32::from(past)) | 1)
}

/// `f32` to bf16: nearest, ties to even.
#[unsafe(no_mangle)]
pub extern "C" fn __truncsfbf2(value: f32) -> Half {
    pack(bf16::from_f32(value).to_bits())
}

/// `f64` to bf16, rounded once.
#[unsafe(no_mangle)]
pub extern "C" fn __truncdfbf2(value: f64) -> Half {
    pack(bf16::from_f32(to_odd(value)).to_bits())
}

/// `f32` to f16: nearest, ties to even.
#[unsafe(no_mangle)]
pub extern "C" fn __truncsfhf2(value: f32) -> Half {
    pack(f16::from_f32(value).to_bits())
}

/// `f64` to f16, rounded once.
#[unsafe(no_mangle)]
pub extern "C" fn __truncdfhf2(value: f64) -> Half {
    pack(f16::from_f32(to_odd(value)).to_bits())
}

/// f16 to `f32`, exact.
#[unsafe(no_mangle)]
pub extern "C" fn __extendhfsf2(value: Half) -> f32 {
    // Above the 16 bits the register may hold anything.
    f16::from_bits(value.to_bits() as u16).to_f32()
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![__truncsfbf2, __truncdfbf2, __truncsfhf2, __truncdfhf2, __extendhfsf2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_once_and_keeps_subnormals() {
        assert_eq!(__truncsfbf2(f32::from_bits(0x007f_0000)).to_bits(), 0x007f);
        assert_eq!(__truncsfbf2(1.0 + 1.0 / 256.0).to_bits(), 0x3f80);
        assert!(bf16::from_bits(__truncsfbf2(f32::NAN).to_bits() as u16).is_nan());
        // Just above the middle of two f16; rounded to f32 first it would be the middle, and then even.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(__truncdfhf2(above).to_bits(), 0x3c01);
        assert_eq!(__truncdfbf2(1.0 + 2f64.powi(-8) + 2f64.powi(-40)).to_bits(), 0x3f81);
        assert_eq!(__truncsfhf2(65504.0).to_bits(), 0x7bff);
        assert_eq!(__extendhfsf2(f32::from_bits(0xffff_3c00)), 1.0);
    }
}
