//! `tinymlir-device-copies`: give every copy and every reduction to a scalar the form that a kernel can be made of.
//!
//! A `memref.copy` between buffers of identity layout becomes `gpu.memcpy`; any other, for which `gpu.memcpy` has no lowering, becomes
//! a `linalg.generic` and thereby a kernel. A linalg operation without a parallel dimension would become a sequential loop
//! on the host: it gets a parallel loop of one iteration around it. One whose parallel dimensions stand behind a reduction
//! gets them outermost, since upstream maps no parallel loop inside a sequential one. Runs in outline before linalg
//! becomes loops. Copies of unranked memrefs stay on the host.

use crate::ir::{Op, Pass, PassCx, PassResult};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-device-copies",
    description: "Turn copies into device copies or kernels, and put scalar reductions into parallel loops",
    anchor: "builtin.module",
    options: &[],
    statistics: &[
        ("copied", "Contiguous copies"),
        ("kernels", "Copies that became kernels"),
        ("host", "Copies left on the host"),
    ],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__linalg__,
        mlirGetDialectHandle__scf__,
    ],
    run,
};

/// What runs on the device: inside these an operation is part of a kernel already, or will be.
const DEVICE: [&str; 4] = ["scf.parallel", "scf.forall", "gpu.launch", "gpu.module"];

fn on_device(op: Op) -> bool {
    DEVICE.iter().any(|around| op.parent_named(around).is_some())
}

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.find(&["memref.copy"]) {
        let (source, target) = (op.operand(0), op.operand(1));
        let (Some(from), Some(_)) = (source.ty().memref(), target.ty().memref()) else {
            cx.missed(op, "stays on the host: its operands have no strides");
            cx.count("host");
            continue;
        };
        let inputs = [("source", source), ("target", target)];
        let text = if [source, target].iter().all(|v| v.ty().has_identity_map()) && !on_device(op) {
            cx.count("copied");
            format!("gpu.memcpy %target, %source : {}, {}", target.ty(), source.ty())
        } else {
            cx.count("kernels");
            let dims = (0..from.shape.len()).map(|i| format!("d{i}")).collect::<Vec<_>>().join(", ");
            let map = format!("affine_map<({dims}) -> ({dims})>");
            let iterators = vec!["\"parallel\""; from.shape.len()].join(", ");
            format!(
                "linalg.generic {{indexing_maps = [{map}, {map}], iterator_types = [{iterators}]}} ins(%source : {}) \
                 outs(%target : {}) {{\n^bb0(%a: {e}, %b: {e}):\nlinalg.yield %a : {e}\n}}",
                source.ty(),
                target.ty(),
                e = from.element
            )
        };
        cx.check(op, op.build_before(&inputs, "", &text))?;
        op.erase();
    }
    let on_host = |op: &Op| op.is_linalg() && op.results().is_empty() && !on_device(*op);
    let found: Vec<_> = module.walk().into_iter().filter(on_host).collect();
    found.into_iter().for_each(|op| op.linalg_parallel_first());
    for op in module.walk() {
        if on_host(&op) && op.linalg_num_parallel() == 0 {
            let text = "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n\
                        scf.parallel (%i) = (%zero) to (%one) step (%one) {\nscf.reduce\n}";
            cx.check(op, op.build_before(&[], "", text))?;
            let block = op.block().ok_or(crate::ir::Failed)?;
            let ops = block.ops();
            let loop_ = ops.iter().position(|o| *o == op).and_then(|i| i.checked_sub(1)).map(|i| ops[i]);
            let Some(end) = loop_.map(|l| l.blocks(0)[0].terminator()) else {
                return Err(cx.error(op, "internal error: no loop around it"));
            };
            op.move_before(end);
        }
    }
    Ok(())
}
