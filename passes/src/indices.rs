//! What is known of an index: its range, where it comes from, and whether what it reads is used.

use crate::ir::{Op, Value};

/// The least and the largest value of an index, where constants and static sizes tell.
pub fn range(index: Value) -> Option<(i64, i64)> {
    if let Some((block, number)) = index.block_argument() {
        let around = block.parent();
        if around.is("scf.forall") {
            // Results follow the indices; steps are positive.
            let bound = |name: &str| *around.attr(name)?.as_static_sizes()?.get(number)?;
            let (low, high) = (bound("staticLowerBound")?, bound("staticUpperBound")?);
            return Some((low, (high - 1).max(low)));
        }
        if !around.is("scf.for") || number != 0 {
            return None;
        }
        let (low, high) = (range(around.operand(0))?, range(around.operand(1))?);
        return Some((low.0, (high.1 - 1).max(low.0)));
    }
    let def = index.def()?;
    let two = || Some((range(def.operand(0))?, range(def.operand(1))?));
    match def.name().as_str() {
        "arith.constant" => def.attr("value")?.as_int().map(|v| (v, v)),
        "linalg.index" => {
            let dim = usize::try_from(def.attr("dim")?.as_int()?).ok()?;
            let linalg = def.block()?.parent();
            let size = linalg.linalg_maps().iter().zip(linalg.operands()).find_map(|(map, operand)| {
                let axis = map.dims().iter().position(|d| *d == Some(dim))?;
                operand.ty().shape()?[axis]
            })?;
            Some((0, (size - 1).max(0)))
        }
        "arith.addi" => two().and_then(|(a, b)| Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))),
        "arith.subi" => two().and_then(|(a, b)| Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?))),
        "arith.muli" => two().and_then(|(a, b)| {
            let ends = [a.0.checked_mul(b.0)?, a.0.checked_mul(b.1)?, a.1.checked_mul(b.0)?, a.1.checked_mul(b.1)?];
            Some((*ends.iter().min()?, *ends.iter().max()?))
        }),
        // One side is enough to bound the result on that side.
        "arith.maxsi" | "arith.minsi" => {
            let side = |i: usize| range(def.operand(i)).unwrap_or((i64::MIN, i64::MAX));
            let (a, b) = (side(0), side(1));
            Some(if def.is("arith.maxsi") { (a.0.max(b.0), a.1.max(b.1)) } else { (a.0.min(b.0), a.1.min(b.1)) })
        }
        "arith.remui" => two().and_then(|(_, b)| (b.0 > 0).then_some((0, b.1 - 1))),
        "arith.divui" | "arith.divsi" | "arith.floordivsi" => {
            two().and_then(|(a, b)| (a.0 >= 0 && b.0 > 0).then(|| (a.0 / b.1, a.1 / b.0)))
        }
        _ => None,
    }
}

/// Whether an index is computed from what memory or a caller holds, rather than from loops and sizes.
pub fn from_data(index: Value) -> bool {
    if let Some((block, number)) = index.block_argument() {
        return match block.parent().name().as_str() {
            "scf.for" => number != 0,
            "scf.parallel" | "scf.forall" | "affine.for" | "affine.parallel" => false,
            _ => true,
        };
    }
    index.def().is_none_or(|def| match def.name().as_str() {
        "arith.constant" | "linalg.index" | "memref.dim" => false,
        name if name.starts_with("arith.") || name.starts_with("affine.") || name.starts_with("index.") => {
            def.operands().into_iter().any(from_data)
        }
        _ => true,
    })
}

/// The condition on which a selection uses what `load` read, and the value that it then has. `None` where the element is
/// used in any other way, or the condition comes from it.
pub fn used_when(load: Op) -> Option<(Value, bool)> {
    let mut value = load.result(0);
    loop {
        let [(user, place)] = value.uses()[..] else { return None };
        if user.is("arith.select") {
            let condition = user.operand(0);
            return (place > 0 && condition.ty().is("i1") && !depends(condition, load))
                .then_some((condition, place == 1));
        }
        let name = user.name();
        if user.results().len() != 1 || !(name.starts_with("arith.") || name.starts_with("math.")) {
            return None;
        }
        value = user.result(0);
    }
}

/// Whether a value is computed from the result of `op`.
fn depends(value: Value, op: Op) -> bool {
    value
        .def()
        .is_some_and(|def| def == op || def.block() == op.block() && def.operands().into_iter().any(|v| depends(v, op)))
}

/// Moves what a value is computed from before `op`, if that is arithmetic that may run at any time; whether it is there.
pub fn make_available(value: Value, op: Op) -> bool {
    let Some(block) = op.block() else { return false };
    let ops = block.ops();
    let Some(at) = ops.iter().position(|o| *o == op) else { return false };
    let mut later = vec![];
    if !collect(value, &ops[at..], &mut later) {
        return false;
    }
    later.into_iter().for_each(|def| def.move_before(op));
    true
}

/// The operations among `after` that a value is computed from, in order; false where one may not be moved.
fn collect(value: Value, after: &[Op], out: &mut Vec<Op>) -> bool {
    let Some(def) = value.def().filter(|def| after.contains(def)) else { return true };
    let name = def.name();
    if out.contains(&def) {
        return true;
    }
    if !name.starts_with("arith.") || name.contains("div") || name.contains("rem") {
        return false;
    }
    let available = def.operands().into_iter().all(|v| collect(v, after, out));
    out.push(def);
    available
}
