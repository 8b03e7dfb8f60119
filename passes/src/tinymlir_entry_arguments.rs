//! `tinymlir-entry-arguments`: a caller's arrays are not written to unless it says so.
//!
//! One-shot bufferization takes the arguments of public functions for its own and computes in place in them. This sets
//! `bufferization.writable = false` on every tensor argument of a public function that has no `tinymlir.writable`, and
//! `true` on the others; what a user already set stays. It also marks each function that holds tensors with
//! `tinymlir.bufferized`, which tells `tinymlir-deallocate` where buffers are the compiler's, and turns unstructured
//! control flow in those into structured, which deallocation needs. Runs first in the bufferize stage.
//!
//! It refuses what `lift-cf-to-scf` refuses, and branches that never lead to a return: structured control flow has no endless
//! loops, and the lifted function would return at once.

use crate::ir::{Attr, Block, Op, Pass, PassCx, PassResult};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-entry-arguments",
    description: "Protect the tensor arguments of public functions from being written to",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[
        mlirGetDialectHandle__bufferization__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__tensor__,
        mlirGetDialectHandle__ub__,
    ],
    run,
};

/// The mark on a function that the bufferize stage bufferizes.
pub const BUFFERIZED: &str = "tinymlir.bufferized";

fn run(cx: &PassCx, module: Op) -> PassResult {
    for function in module.find(&["func.func"]) {
        let Some(entry) = function.blocks(0).first().copied() else { continue };
        if !has_tensors(function) {
            continue;
        }
        function.set_attr(BUFFERIZED, Attr::unit(module.ctx()));
        if function.blocks(0).len() > 1 {
            if let Some(end) = endless(function) {
                return Err(cx.error(end, "leads to no return: the loop has no way out (give it one)"));
            }
            cx.run_pipeline("lift-cf-to-scf", function)?;
            poison_to_empty(cx, function)?;
        }
        if function.is_private() {
            continue;
        }
        for (i, argument) in entry.arguments().into_iter().enumerate() {
            if argument.ty().is_tensor() && function.arg_attr(i, "bufferization.writable").is_none() {
                let writable = function.arg_attr(i, "tinymlir.writable").is_some();
                function.set_arg_attr(i, "bufferization.writable", Attr::boolean(module.ctx(), writable));
            }
        }
    }
    Ok(())
}

/// A branch of a function from which no block without successors can be reached.
fn endless(function: Op) -> Option<Op> {
    let ends: Vec<Op> = function.blocks(0).into_iter().map(|block| block.terminator()).collect();
    let mut leads: Vec<bool> = ends.iter().map(|end| end.successors().is_empty()).collect();
    let place = |block: &Block| ends.iter().position(|end| *end == block.terminator());
    loop {
        let more: Vec<usize> = (0..ends.len())
            .filter(|i| !leads[*i] && ends[*i].successors().iter().filter_map(place).any(|to| leads[to]))
            .collect();
        if more.is_empty() {
            return ends.into_iter().zip(leads).find(|(_, leads)| !leads).map(|(end, _)| end);
        }
        more.into_iter().for_each(|i| leads[i] = true);
    }
}

/// Where a lifted branch has no value for a tensor it yields poison, which cannot be bufferized: an empty one serves.
fn poison_to_empty(cx: &PassCx, function: Op) -> PassResult {
    for op in function.find(&["ub.poison"]) {
        let ty = op.result(0).ty();
        let Some(shape) = ty.shape().filter(|_| ty.is_tensor()) else { continue };
        let sizes = vec!["%c0"; shape.iter().filter(|size| size.is_none()).count()].join(", ");
        let text = format!("%c0 = arith.constant 0 : index\n%e = tensor.empty({sizes}) : {ty}\nreturn %e : {ty}");
        let empty = cx.check(op, op.build_before(&[], "", &text))?;
        op.replace_with(&empty);
    }
    Ok(())
}

/// Whether a function has a tensor anywhere.
fn has_tensors(function: Op) -> bool {
    let tensors = |types: Vec<crate::ir::Type>| types.into_iter().any(|t| t.is_tensor());
    let signature = function.attr("function_type").and_then(|t| t.as_type()).and_then(|t| t.function());
    signature.is_some_and(|(inputs, results)| tensors(inputs) || tensors(results))
        || function.walk().into_iter().any(|op| tensors(op.results().into_iter().map(|r| r.ty()).collect()))
}
