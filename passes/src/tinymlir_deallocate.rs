//! `tinymlir-deallocate`: free what the bufferize stage allocated, and nothing else.
//!
//! Runs upstream's ownership-based deallocation on the functions that `tinymlir-entry-arguments` marked. Upstream's own
//! pipeline runs on whole modules and stops at any `memref.dealloc`, so that a module with one hand-written function on
//! memrefs could not be compiled. Runs last in the bufferize stage, once for every target, and replaces the marks by
//! `tinymlir.read_only`: arguments of such a function that lack `tinymlir.writable` are not written to.
//!
//! A `memref.dealloc` that such a function holds already goes away, since what it frees is freed here, later. It refuses one
//! of a function's argument, and what `ownership-based-buffer-deallocation` refuses.

use crate::{
    ir::{Attr, Op, Pass, PassCx, PassResult, Value},
    tinymlir_entry_arguments::BUFFERIZED,
};
use mlir_sys::*;

/// On a function: its arguments without `tinymlir.writable` are not written to.
pub const READ_ONLY: &str = "tinymlir.read_only";

pub static PASS: Pass = Pass {
    argument: "tinymlir-deallocate",
    description: "Insert deallocations into the functions that were bufferized",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[
        mlirGetDialectHandle__bufferization__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
    ],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut any = false;
    for function in module.find(&["func.func"]) {
        if !function.remove_attr(BUFFERIZED) {
            continue;
        }
        any = true;
        function.set_attr(READ_ONLY, Attr::unit(module.ctx()));
        for dealloc in function.find(&["memref.dealloc"]) {
            if is_argument(dealloc.operand(0), function) {
                let fact = "frees an argument of a function on tensors, which its caller owns (leave it to the caller)";
                return Err(cx.error(dealloc, fact));
            }
            dealloc.erase();
        }
        cx.run_pipeline(
            "expand-realloc{emit-deallocs=false},canonicalize,ownership-based-buffer-deallocation,canonicalize,buffer-deallocation-simplification",
            function,
        )?;
    }
    if any { cx.run_pipeline("bufferization-lower-deallocations,cse,canonicalize", module) } else { Ok(()) }
}

/// Whether a buffer is an argument of the function, or a view of one.
fn is_argument(buffer: Value, function: Op) -> bool {
    match buffer.def() {
        None => buffer.block_argument().is_some_and(|(block, _)| block.parent() == function),
        Some(def) => VIEWS.contains(&def.name().as_str()) && is_argument(def.operand(0), function),
    }
}

/// Operations whose result is the buffer of their first operand.
const VIEWS: [&str; 8] = [
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.reinterpret_cast",
    "memref.reshape",
    "memref.subview",
    "memref.transpose",
    "memref.view",
];
