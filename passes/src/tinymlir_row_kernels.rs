//! `tinymlir-row-kernels`: one kernel for reductions over columns and the elementwise operations around them.
//!
//! A softmax or a layer norm is a chain of operations on the same rows: maximum, exponential, sum, quotient. Each becomes one
//! kernel, in which a block computes a row: it reads every operand once, 16 bytes at a time where the operand allows it,
//! keeps what is between in registers, reduces by shuffles (`templates/row_reduce.mlir`) in a fixed order, and writes only
//! what is read later. [`crate::rows`] says what joins a group.
//!
//! Runs on memrefs with static sizes, f32 or i32, and f16 or bf16 where nothing is summed up in them, at most 16,384 columns; a group without a reduction, or one that reads no
//! neighbouring elements, is left to the loop path.

use crate::{
    device::source,
    ir::{Failed, Op, Pass, PassCx, PassResult, Value},
    kernels::Kernels,
    memory::{erase_unread, outputs},
    row_text::{self, Kernel, module_text, set_operations},
    rows::{Group, Kind, move_definition},
    schedule::ROW_REDUCE,
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-row-kernels",
    description: "Compute reductions over columns and the elementwise operations around them in one kernel",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("kernels", "Groups that became a kernel"), ("operations", "Operations in them")],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__vector__,
    ],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut kernels = Kernels::default();
    for function in module.find(&["func.func"]) {
        // Blocks on the host only: those of the operations themselves go with them.
        let inside = ["scf.parallel", "scf.forall", "gpu.launch"];
        let on_host = |op: &Op| !op.is_linalg() && !inside.iter().any(|n| op.is(n) || op.parent_named(n).is_some());
        let holders = function.walk().into_iter().filter(on_host);
        let blocks = holders.flat_map(|op| (0..op.num_regions()).flat_map(move |r| op.blocks(r)));
        for block in blocks.collect::<Vec<_>>() {
            // Found one at a time: a group takes its operations out of the block.
            while let Some(group) = block.ops().into_iter().find_map(Group::starting_at) {
                emit(cx, module, &mut kernels, group)?;
            }
        }
    }
    Ok(())
}

fn emit(cx: &PassCx, module: Op, kernels: &mut Kernels, group: Group) -> PassResult {
    let at = group.place();
    let first = group.members[0].op;
    for member in &group.members {
        member.op.operands().into_iter().for_each(|v| move_definition(v, at));
    }
    let kernel = row_text::kernel(&group);
    let text = cx.check(first, module_text(module.ctx(), &kernel))?;
    let parsed = Op::parse(module.ctx(), &text, ROW_REDUCE.file).ok_or(Failed);
    let parsed = parsed.map_err(|_| cx.error(first, &format!("internal error: no kernel of\n{text}")))?;
    let symbol = kernels
        .place_parsed(cx, first, module, parsed, ("rows", &kernel.name), |kernels| set_operations(kernels, &group))?;
    let names: Vec<String> = (0..kernel.buffers.len()).map(|i| format!("b{i}")).collect();
    let inputs: Vec<(&str, Value)> = names.iter().map(String::as_str).zip(kernel.buffers.iter().copied()).collect();
    let types = kernel.buffers.iter().map(|b| b.ty().to_string()).collect::<Vec<_>>().join(", ");
    let arguments = names.iter().map(|n| format!("%{n}")).collect::<Vec<_>>().join(", ");
    let declaration = format!("func.func private @{symbol}({types})");
    tell(cx, &group, &kernel);
    at.stand_for(group.members.iter().map(|m| m.op));
    cx.check(
        first,
        at.build_before(&inputs, &declaration, &format!("func.call @{symbol}({arguments}) : ({types}) -> ()"))
            .map(|_| ()),
    )?;
    cx.count("kernels");
    let written: Vec<Value> = group.members.iter().flat_map(|m| outputs(m.op)).map(source).collect();
    group.fills().for_each(|f| f.erase());
    for member in &group.members {
        member.op.erase();
        cx.count("operations");
    }
    let mut erased: Vec<Value> = vec![];
    for buffer in written {
        if !erased.contains(&buffer) && buffer.def().is_some_and(|d| d.is("memref.alloc")) && erase_unread(buffer) {
            erased.push(buffer);
        }
    }
    Ok(())
}

/// The remark: what the kernel computes, and how a block shares a row.
fn tell(cx: &PassCx, group: &Group, kernel: &Kernel) {
    let (first, others) = (group.members[0].op, group.members.len() - 1);
    let joined = match others {
        0 => "becomes".to_owned(),
        1 => "and one operation after it become".to_owned(),
        _ => format!("and {others} operations after it become"),
    };
    let message =
        format!("{joined} {} ({}): a block of {} threads computes a row", kernel.name, ROW_REDUCE.file, kernel.threads);
    let threads = kernel.threads.to_string();
    let reductions = group.members.iter().filter(|m| matches!(m.kind, Kind::Reduce { .. })).count();
    let why = format!("{reductions} reductions over columns among {} operations on the same rows", group.members.len());
    let facts = [("kernel", kernel.name.as_str()), ("template", ROW_REDUCE.file), ("threads", &threads), ("why", &why)];
    cx.passed_with(first, &message, &facts);
}
