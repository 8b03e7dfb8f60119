//! `tinymlir-device-math`: math functions of kernels without the branches of libdevice's.
//!
//! `math.tanh` over f32 becomes what libdevice's `tanhf` computes, 1 - 2 / (exp(2 |x|) + 1) and an odd polynomial near zero, with
//! both sides for every element and the sign last: within 4 units in the last place. A branch makes the lanes of a warp take turns
//! and keeps a thread from computing several elements at a time, which costs more than the side that is not wanted.
//! Runs on kernels before their math goes to libdevice. It leaves vectors and other types alone.

use crate::ir::{Op, Pass, PassCx, PassResult};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-device-math",
    description: "Expand math operations of kernels that libdevice computes with branches",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("expanded", "Operations written out")],
    dialects: &[mlirGetDialectHandle__arith__, mlirGetDialectHandle__math__],
    run,
};

/// The division and the exponential are the chip's own, as in libdevice: their errors are of 2 / (e + 1), a part of the result.
const TANH: &str = "\
%one = arith.constant 1.0 : f32
%two = arith.constant 2.0 : f32
%limit = arith.constant 0.6 : f32
%c0 = arith.constant 1.573920e-2 : f32
%c1 = arith.constant -5.2303962e-2 : f32
%c2 = arith.constant 1.3315298e-1 : f32
%c3 = arith.constant -3.3332768e-1 : f32
%a = math.absf %x : f32
%d = arith.addf %a, %a : f32
%e = math.exp %d fastmath<afn> : f32
%f = arith.addf %e, %one : f32
%g = arith.divf %two, %f fastmath<afn> : f32
%far = arith.subf %one, %g : f32
%z = arith.mulf %a, %a : f32
%q0 = math.fma %z, %c0, %c1 : f32
%q1 = math.fma %z, %q0, %c2 : f32
%q2 = math.fma %z, %q1, %c3 : f32
%q3 = arith.mulf %z, %q2 : f32
%near = math.fma %a, %q3, %a : f32
%small = arith.cmpf olt, %a, %limit : f32
%m = arith.select %small, %near, %far : f32
%r = math.copysign %m, %x : f32
return %r : f32";

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.find(&["math.tanh"]) {
        if op.parent_named("gpu.module").is_none() || !op.operand(0).ty().is("f32") {
            continue;
        }
        let made = cx.check(op, op.build_before(&[("x", op.operand(0))], "", TANH))?;
        op.replace_with(&made);
        cx.count("expanded");
    }
    Ok(())
}
