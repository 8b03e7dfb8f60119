//! Texts for a chip's own math instructions: what they compute, if not with their last bits.

use crate::ir::Op;

/// The intrinsic for 2^x without denormals, to about two units in the last place on a card.
pub(super) const EX2: &str = "llvm.nvvm.ex2.approx.ftz.f";

/// [`EX2`]: denormal results, and arguments, become zero.
pub(super) const POWER_OF_TWO: &str = "%e = llvm.intr.exp2(%a0) : (f32) -> f32\n\
    %least = llvm.mlir.constant(1.17549435E-38 : f32) : f32\n%none = llvm.mlir.constant(0.0 : f32) : f32\n\
    %small = llvm.fcmp \"olt\" %e, %least : f32\n%r = llvm.select %small, %none, %e : i1, f32\nreturn %r : f32";

/// `nvvm.convert.float.to.tf32` to nearest, ties away from zero; why not where it is another rounding.
pub(super) fn round(op: Op) -> Result<&'static str, &'static str> {
    let text = |name: &str| op.attr(name).map(|a| a.to_string()).unwrap_or_default();
    let plain = text("rnd").contains("rna") && !text("sat").contains("satfinite") && !text("relu").contains("true");
    if !plain {
        return Err("a conversion to tf32 that is not to nearest, ties away from zero, needs a card");
    }
    Ok("%bits = llvm.bitcast %a0 : f32 to i32\n%half = llvm.mlir.constant(4096 : i32) : i32\n\
        %kept = llvm.mlir.constant(-8192 : i32) : i32\n%none = llvm.mlir.constant(2147483647 : i32) : i32\n\
        %up = llvm.add %bits, %half : i32\n%cut = llvm.and %up, %kept : i32\n%nan = llvm.fcmp \"uno\" %a0, %a0 : f32\n\
        %r = llvm.select %nan, %none, %cut : i1, i32\nreturn %r : i32")
}
