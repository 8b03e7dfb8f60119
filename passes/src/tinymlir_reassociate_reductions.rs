//! `tinymlir-reassociate-reductions`: sums and products of a linalg reduction may be computed in any order.
//!
//! Linalg says that a dimension is reduced, not in which order, while the loops that it becomes fix one; LLVM then adds up one
//! element at a time. The operation that combines the output's element with a new one gets the flag `reassoc`, so that a
//! vector of partial results is kept, as a rule with a smaller error. Minima and maxima need no flag. Runs on bufferized
//! functions before linalg becomes loops; loops that the user wrote keep their order.
//!
//! It leaves a body alone that uses the output's element otherwise.

use crate::ir::{Attr, Op, Pass, PassCx, PassResult};
use mlir_sys::mlirGetDialectHandle__arith__;

pub static PASS: Pass = Pass {
    argument: "tinymlir-reassociate-reductions",
    description: "Let sums and products of linalg reductions be computed in any order",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("reductions", "Reductions whose order is free")],
    dialects: &[mlirGetDialectHandle__arith__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let on_host = |op: &Op| op.is_linalg() && op.parent_named("gpu.module").is_none();
    for op in module.walk().into_iter().filter(on_host) {
        if op.linalg_maps().first().is_none_or(|map| map.num_dims() == op.linalg_num_parallel()) {
            continue;
        }
        for combiner in combiners(op) {
            if let Some(flag) = Attr::parse(module.ctx(), "#arith.fastmath<reassoc>") {
                combiner.set_attr("fastmath", flag);
                cx.count("reductions");
            }
        }
    }
    Ok(())
}

/// The sums and products that a body yields, of an output's element and something else.
fn combiners(op: Op) -> Vec<Op> {
    let Some(block) = op.blocks(0).first().copied() else { return vec![] };
    let yielded = block.terminator().operands();
    let arguments = block.arguments();
    let outputs = &arguments[arguments.len().saturating_sub(yielded.len())..];
    let combines = |(value, output): (&crate::ir::Value, &crate::ir::Value)| {
        let def = value.def().filter(|d| d.is("arith.addf") || d.is("arith.mulf"))?;
        let once = output.uses().len() == 1 && def.operands().contains(output);
        let plain = def.attr("fastmath").is_none_or(|flags| flags.to_string().contains("none"));
        (once && plain).then_some(def)
    };
    yielded.iter().zip(outputs).filter_map(combines).collect()
}
