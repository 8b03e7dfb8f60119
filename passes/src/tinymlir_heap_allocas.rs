//! `tinymlir-heap-allocas`: stack buffers that the stack may not hold go to the heap.
//!
//! A thread's stack has 8 MiB as a rule; `memref.alloca` of more ends in a segmentation fault. One of more than `max-bytes`
//! bytes, or of dynamic size, becomes `memref.alloc` with a `memref.dealloc` at the end of its block. A smaller one inside a
//! loop, which would take new space in every iteration until the function returns, moves to the start of the function.
//! Kernels are left alone. Runs in the lowering for the CPU once threads have their parts of parallel loops, so that a buffer
//! inside of one is each thread's own.
//!
//! It refuses a large or dynamic one that is passed out of its block, since nothing says there where it ends.

use crate::ir::{Op, Opt, Pass, PassCx, PassResult, Type, Value};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-heap-allocas",
    description: "Move large stack buffers to the heap, and small ones out of loops",
    anchor: "builtin.module",
    options: &[Opt::integer("max-bytes", "65536", "The largest buffer that stays on the stack, in bytes")],
    statistics: &[("heap", "Buffers moved to the heap"), ("hoisted", "Buffers moved out of loops")],
    dialects: &[mlirGetDialectHandle__memref__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.find(&["memref.alloca"]) {
        if op.parent_named("gpu.module").is_some() || op.parent_named("gpu.launch").is_some() {
            continue;
        }
        let (Some(block), Some(function)) = (op.block(), op.parent_named("func.func")) else { continue };
        let ty = op.result(0).ty();
        let small = bytes(ty).is_some_and(|bytes| bytes <= cx.integer("max-bytes"));
        let leaves = escapes(op.result(0));
        if small {
            let in_loop = ["scf.for", "scf.while", "scf.parallel", "scf.forall"]
                .iter()
                .any(|name| op.parent_named(name).is_some());
            let first = function.blocks(0).first().and_then(|b| b.ops().first().copied());
            if let (true, false, true, Some(first)) = (in_loop, leaves, op.operands().is_empty(), first) {
                op.move_before(first);
                cx.count("hoisted");
            }
            continue;
        }
        if leaves {
            return Err(cx.error(
                op,
                "takes more of the stack than it holds, and is passed out of its block (use memref.alloc)",
            ));
        }
        let alignment = op.attr("alignment").map(|a| format!(" {{alignment = {a}}}")).unwrap_or_default();
        let operands = op.operands();
        let names: Vec<String> = (0..operands.len()).map(|i| format!("n{i}")).collect();
        let inputs: Vec<(&str, Value)> = names.iter().map(String::as_str).zip(operands).collect();
        let sizes: Vec<String> = names.iter().map(|n| format!("%{n}")).collect();
        let text = format!("%m = memref.alloc({}){alignment} : {ty}\nreturn %m : {ty}", sizes.join(", "));
        let buffer = cx.check(op, op.build_before(&inputs, "", &text))?;
        op.replace_with(&buffer);
        let end = block.terminator();
        cx.check(end, end.build_before(&[("m", buffer[0])], "", &format!("memref.dealloc %m : {ty}")))?;
        cx.count("heap");
    }
    Ok(())
}

/// The size of a buffer of static shape.
fn bytes(ty: Type) -> Option<i64> {
    let memref = ty.memref()?;
    memref.shape.iter().try_fold(memref.element.bytes()?, |bytes, size| bytes.checked_mul((*size)?))
}

/// Whether a buffer, or a view of it, is an operand of a terminator.
fn escapes(buffer: Value) -> bool {
    let mut left = vec![buffer];
    while let Some(value) = left.pop() {
        for (user, operand) in value.uses() {
            // The sizes of a reshape are read, not viewed.
            if user.is("memref.reshape") && operand == 1 {
                continue;
            }
            if user.block().is_some_and(|block| block.terminator() == user) {
                return true;
            }
            left.extend(user.results().into_iter().filter(|r| r.ty().is_memref() || r.ty().is_unranked_memref()));
        }
    }
    false
}
