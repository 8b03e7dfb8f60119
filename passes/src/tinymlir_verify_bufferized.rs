//! `tinymlir-verify-bufferized`: the lowering for the CPU takes memrefs, and says so where it meets tensors.
//!
//! Upstream's conversions would rewrite the bodies of operations on tensors and then fail to verify what they made. Runs
//! first in the lowering for the CPU and refuses every operation with a value of tensor type, and launches of kernels, which
//! run on no CPU.

use crate::ir::{Op, Pass, PassCx, PassResult};

pub static PASS: Pass = Pass {
    argument: "tinymlir-verify-bufferized",
    description: "Refuse operations on tensors, and launches of kernels",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    if let Some(launch) = module.find(&["gpu.launch", "gpu.launch_func"]).first() {
        return Err(cx.error(*launch, "does not run on the CPU (compile the module for a GPU: --gpu)"));
    }
    let tensor = |op: &Op| op.results().into_iter().chain(op.operands()).map(|v| v.ty()).find(|ty| ty.is_tensor());
    match module.walk().into_iter().find_map(|op| Some((op, tensor(&op)?))) {
        Some((op, ty)) => {
            Err(cx.error(op, &format!("has a value of type {ty}: bufferize the module first (tinymlir-bufferize)")))
        }
        None => Ok(()),
    }
}
