//! `tinymlir-verify-lowered`: what the lowering for the CPU left is an error that names it.
//!
//! Upstream's conversions pass over what they do not know, and the translation to LLVM IR then fails with a message about
//! casts. Runs last in the lowering for the CPU and refuses every operation that is not of the LLVM dialect.

use crate::ir::{Op, Pass, PassCx, PassResult};

pub static PASS: Pass = Pass {
    argument: "tinymlir-verify-lowered",
    description: "Refuse operations that the lowering for the CPU left",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let left: Vec<Op> = module
        .walk()
        .into_iter()
        .filter(|op| {
            let name = op.name();
            !name.starts_with("llvm.") && name != "builtin.module" && op.parent_named("gpu.module").is_none()
        })
        .collect();
    // What runs on a device says more than a cast that its operands needed.
    let Some(op) = left
        .iter()
        .find(|op| op.name().starts_with("gpu.launch"))
        .or_else(|| left.iter().find(|op| op.name() != "builtin.unrealized_conversion_cast").or(left.first()))
    else {
        return Ok(());
    };
    Err(if op.name().starts_with("gpu.") {
        cx.error(*op, "does not run on the CPU (compile the module for a GPU: --gpu)")
    } else {
        cx.error(*op, "has no lowering for the CPU")
    })
}
