//! `tinymlir-device-copies`: give every copy and every reduction to a scalar the form that a kernel can be made of.
//!
//! A `memref.copy` between buffers of identity layout becomes `gpu.memcpy`; any other, for which `gpu.memcpy` has no lowering, becomes
//! a `linalg.generic` and thereby a kernel. A linalg operation without a parallel dimension would become a sequential loop
//! on the host: it gets a parallel loop of one iteration around it. One whose parallel dimensions stand behind a reduction
//! gets them outermost, since upstream maps no parallel loop inside a sequential one. Runs in outline before linalg
//! becomes loops. Copies of unranked memrefs stay on the host.
//!
//! With `vectors` a copy between contiguous buffers becomes a parallel loop whose every iteration copies 16 bytes, where both begin at
//! multiples of 16 bytes and hold a multiple of 1,024.

use crate::{
    ir::{Op, Opt, Pass, PassCx, PassResult, Value},
    memory::is_aligned,
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-device-copies",
    description: "Turn copies into device copies or kernels, and put scalar reductions into parallel loops",
    anchor: "builtin.module",
    options: &[Opt::boolean("vectors", "false", "Copy contiguous buffers 16 bytes at a time")],
    statistics: &[
        ("copied", "Contiguous copies"),
        ("kernels", "Copies that became kernels"),
        ("host", "Copies left on the host"),
    ],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__linalg__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__vector__,
    ],
    run,
};

/// What runs on the device: inside these an operation is part of a kernel already, or will be.
const DEVICE: [&str; 4] = ["scf.parallel", "scf.forall", "gpu.launch", "gpu.module"];

fn on_device(op: Op) -> bool {
    DEVICE.iter().any(|around| op.parent_named(around).is_some())
}

/// Iterations of the inner loop of a copy by vectors.
const INNER: i64 = 64;

/// The first element and the number of elements of a contiguous buffer of whole vectors of `group` elements.
fn contiguous(buffer: Value, group: i64) -> Option<(i64, i64)> {
    let memref = buffer.ty().memref().filter(|m| m.space.is_none())?;
    let shape: Vec<i64> = memref.shape.iter().copied().collect::<Option<_>>()?;
    let mut reach = 1;
    for (size, stride) in shape.iter().zip(&memref.strides).rev() {
        if *size != 1 && *stride != Some(reach) {
            return None;
        }
        reach *= size;
    }
    let offset = memref.offset?;
    (reach > 0 && reach % (group * INNER) == 0 && offset % group == 0 && is_aligned(buffer)).then_some((offset, reach))
}

/// A copy by 16 bytes an iteration.
fn by_vectors(source: Value, target: Value) -> Option<String> {
    let element = source.ty().element()?.to_string();
    let bits: i64 = element.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
    let group = [8, 16, 32, 64].contains(&bits).then(|| 128 / bits)?;
    let ((from, count), (to, _)) = (contiguous(source, group)?, contiguous(target, group)?);
    let view = |name: &str, buffer: Value, offset: i64| {
        let ty = format!("memref<{count}x{element}, strided<[1], offset: {offset}>>");
        let from = buffer.ty();
        (
            format!(
                "%{name}_row = memref.reinterpret_cast %{name} to offset: [{offset}], sizes: [{count}], strides: [1] : {from} to {ty}\n"
            ),
            ty,
        )
    };
    let ((source_row, source_type), (target_row, target_type)) =
        (view("source", source, from), view("target", target, to));
    Some(format!(
        "{source_row}{target_row}%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n\
         %rows = arith.constant {} : index\n%inner = arith.constant {INNER} : index\n\
         scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %inner) step (%one, %one) {{\n\
         %at = affine.apply affine_map<(i, j) -> ({} * i + {group} * j)>(%i, %j)\n\
         %v = vector.load %source_row[%at] {{alignment = 16 : i64}} : {source_type}, vector<{group}x{element}>\n\
         vector.store %v, %target_row[%at] {{alignment = 16 : i64}} : {target_type}, vector<{group}x{element}>\nscf.reduce\n}}",
        count / (group * INNER),
        group * INNER
    ))
}

fn run(cx: &PassCx, module: Op) -> PassResult {
    let vectors = cx.boolean("vectors");
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
        } else if let Some(text) = by_vectors(source, target).filter(|_| vectors && !on_device(op)) {
            cx.count("kernels");
            text
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
