//! `tinymlir-hoist-copies`: make a copy to new memory as soon as what it copies is there.
//!
//! Bufferization copies what a function returns at its end: keys and values of every layer, say. By then the source has left the
//! caches, and was kept until then. A `memref.copy` from memory of the function itself to an allocation that nothing uses before is
//! moved right behind the last operation that may write its source. Runs on bufferized host code before the fast kernels are chosen,
//! while every operation still tells what it writes.

use crate::{
    device::{leaves_memory_alone, source},
    ir::{Op, Pass, PassCx, PassResult},
    memory::writes,
    rows::move_definition,
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-hoist-copies",
    description: "Move copies to new memory behind the operation that writes what they copy",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("hoisted", "Copies that were moved")],
    dialects: &[mlirGetDialectHandle__memref__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.find(&["memref.copy"]) {
        let Some(writer) = writer(op) else { continue };
        let mut next = writer.next();
        while let Some(between) = next.filter(|o| leaves_memory_alone(*o)) {
            next = between.next();
        }
        if next == Some(op) {
            continue;
        }
        op.move_after(writer);
        op.operands().into_iter().for_each(|v| move_definition(v, op));
        cx.count("hoisted");
    }
    Ok(())
}

/// The last operation before a copy that may write what it copies; nothing where either buffer is not the block's own, or
/// something uses the target before.
fn writer(op: Op) -> Option<Op> {
    let (from, to) = (op.operand(0), op.operand(1));
    let block = op.block()?;
    let own = |def: Op| def.is("memref.alloc") && def.operands().is_empty() && def.block() == Some(block);
    source(from).def().filter(|d| own(*d))?;
    to.def().filter(|d| own(*d))?;
    let ops = block.ops();
    let place = ops.iter().position(|o| *o == op)?;
    // What stands in a loop counts as before, wherever the loop is.
    let later = |user: Op| user.block() == Some(block) && !ops[..place].contains(&user);
    let unused = to.uses().into_iter().all(|(user, _)| later(user));
    let last = ops[..place].iter().rev().find(|o| writes(**o, from) || Some(**o) == source(from).def())?;
    (unused && Some(*last) != source(from).def()).then_some(*last)
}
