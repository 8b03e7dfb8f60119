//! `tinymlir-fuse`: fuse elementwise operations on tensors, leaving every contraction as it is.
//!
//! Upstream's patterns under a control function: a producer with one use is fused into its consumer unless either is a
//! contraction or a convolution, with a name or as a generic. `linalg-fuse-elementwise-ops` alone moves reshapes through
//! them and thereby turns a matmul with reshapes around it, as torch-mlir writes it, into a generic that no target
//! recognises. What is made of an element's place alone by integer arithmetic, such as the numbers of rows and columns that a causal mask
//! compares, is made where it is read, however many read it. Runs in the optimize stage. It refuses nothing.

use crate::ir::{Attr, Block, Op, Pass, PassCx, PassResult, Value};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-fuse",
    description: "Fuse elementwise operations on tensors without touching contractions",
    anchor: "",
    options: &[],
    statistics: &[],
    dialects: &[
        mlirGetDialectHandle__linalg__,
        mlirGetDialectHandle__tensor__,
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
    ],
    run,
};

fn run(cx: &PassCx, root: Op) -> PassResult {
    for op in root.find(&["linalg.generic"]).into_iter().filter(|op| !op.results().is_empty()) {
        for i in 0..op.operands().len() - op.results().len() {
            cx.check(op, make_place(op, i))?;
        }
    }
    root.linalg_fuse();
    Ok(())
}

/// Operations on places that cost nothing.
const CHEAP: [&str; 6] = ["linalg.index", "linalg.yield", "arith.index_cast", "arith.addi", "arith.subi", "arith.muli"];

/// Makes the elements of operand `i` in the body of `op`, where a vector of such values is what it reads, perhaps with axes of one element
/// beside its own.
fn make_place(op: Op, i: usize) -> Result<(), String> {
    let body = op.blocks(0)[0];
    let (argument, first) = (body.arguments()[i], body.ops()[0]);
    let Some((made, axis)) = vector(op.operand(i)).filter(|_| !argument.uses().is_empty()) else { return Ok(()) };
    let map = op.linalg_maps()[i];
    let along = match axis.map(|axis| (map.dims()[axis], map.constants()[axis])) {
        Some((Some(dim), _)) => Some(dim),
        Some((None, Some(0))) | None => None,
        _ => return Ok(()),
    };
    let mut known: Vec<(Value, Value)> = vec![];
    let value = |known: &[(Value, Value)], v: Value| known.iter().find(|(old, _)| *old == v).map_or(v, |(_, new)| *new);
    for step in made.ops() {
        if step.is("linalg.index") {
            known.push((step.result(0), place(step, along, first)?));
        } else if step.is("linalg.yield") {
            argument.replace_all_uses(value(&known, step.operand(0)));
        } else {
            let copy = step.clone_before(first);
            let operands: Vec<Value> = step.operands().into_iter().map(|v| value(&known, v)).collect();
            copy.set_operands(&operands);
            known.push((step.result(0), copy.result(0)));
        }
    }
    Ok(())
}

/// The place that `index` is at, before `first` in another body, where that runs along loop dimension `along`, or is at the first place.
fn place(index: Op, along: Option<usize>, first: Op) -> Result<Value, String> {
    let Some(dim) = along else {
        return Ok(first.build_before(&[], "", "%i = arith.constant 0 : index\nreturn %i : index")?[0]);
    };
    let copy = index.clone_before(first);
    copy.set_attr("dim", Attr::parse(index.ctx(), &format!("{dim} : i64")).ok_or("internal error: a loop dimension")?);
    Ok(copy.result(0))
}

/// The body that makes a vector of nothing but its elements' places, and the axis of `value`, the vector or one with further axes
/// of one element, that runs along it, if it has more than one element.
fn vector(value: Value) -> Option<(Block, Option<usize>)> {
    let reshape = value.def().filter(|d| d.is("tensor.expand_shape"));
    let made = reshape.map_or(value, |r| r.operand(0)).def().filter(|d| d.is("linalg.generic"))?;
    let body = made.blocks(0)[0];
    let cheap = body.ops().iter().all(|op| CHEAP.contains(&op.name().as_str()));
    let alone = made.operands().len() == 1 && made.linalg_num_parallel() == 1 && made.linalg_maps()[0].is_identity();
    let unread = body.arguments().iter().all(|a| a.uses().is_empty());
    let shape = value.ty().shape()?;
    let proper: Vec<usize> = (0..shape.len()).filter(|axis| shape[*axis] != Some(1)).collect();
    (cheap && alone && unread && proper.len() <= 1).then(|| (body, proper.first().copied()))
}
