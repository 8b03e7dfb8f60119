//! `tinymlir-rank-reductions`: a view that drops one of several dimensions of one element says which.
//!
//! `memref.subview [0, 0, 0] [1, 2, 1]` to `memref<1x2>` keeps the first two dimensions, as the tensor's slice did that it comes
//! from. Where strides are not known, upstream's `expand-strided-metadata` takes any dimension of one element for the one that is
//! dropped, and fails when sizes then differ. Such a view becomes one of the whole rank, and a `memref.collapse_shape` of it.
//! Runs last in the bufferize stage. It refuses nothing, and leaves views alone whose strides are known.

use crate::ir::{MemRef, Op, Pass, PassCx, PassResult};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-rank-reductions",
    description: "Split views that drop dimensions which their strides do not tell",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("split", "Views that became two")],
    dialects: &[mlirGetDialectHandle__memref__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.find(&["memref.subview"]) {
        let Some(text) = text(op) else { continue };
        let names: Vec<String> = (0..op.operands().len()).map(|i| format!("v{i}")).collect();
        let inputs: Vec<_> = names.iter().map(String::as_str).zip(op.operands()).collect();
        let view = cx.check(op, op.build_before(&inputs, "", &text))?;
        op.replace_with(&view);
        cx.count("split");
    }
    Ok(())
}

/// The two operations, on operands `%v0` and so on; `None` where one does.
fn text(op: Op) -> Option<String> {
    let (source, result) = (op.operand(0).ty().memref()?, op.result(0).ty().memref()?);
    let list = |name: &str| op.attr(name).and_then(|a| a.as_static_sizes()).unwrap_or_default();
    let parts = ["static_offsets", "static_sizes", "static_strides"].map(list);
    let [offsets, sizes, steps] = &parts;
    let units = sizes.iter().filter(|size| **size == Some(1)).count();
    let dropped = sizes.len() - result.shape.len();
    if dropped == 0 || units == dropped || source.strides.iter().all(Option::is_some) {
        return None;
    }
    let groups = groups(sizes, &result.shape)?;
    let times = |a: Option<i64>, b: Option<i64>| a?.checked_mul(b?);
    let strides: Vec<Option<i64>> = source.strides.iter().zip(steps).map(|(a, b)| times(*a, *b)).collect();
    let moved = offsets.iter().zip(&source.strides).map(|(a, b)| if *a == Some(0) { Some(0) } else { times(*a, *b) });
    let offset = moved.fold(source.offset, |sum, part| sum?.checked_add(part?));
    let whole = MemRef { shape: sizes.clone(), strides, offset, ..source };

    // Operands that are not constants come in the order of their lists.
    let mut next = 1;
    let mut shown = |values: &[Option<i64>]| {
        let text: Vec<String> = (values.iter())
            .map(|value| {
                value.map(|v| v.to_string()).unwrap_or_else(|| {
                    next += 1;
                    format!("%v{}", next - 1)
                })
            })
            .collect();
        text.join(", ")
    };
    let [offsets, sizes, steps] = [shown(offsets), shown(sizes), shown(steps)];
    let (from, view, to) = (op.operand(0).ty(), written(&whole), op.result(0).ty());
    Some(format!(
        "%s = memref.subview %v0[{offsets}] [{sizes}] [{steps}] : {from} to {view}\n\
         %r = memref.collapse_shape %s [{groups}] : {view} into {to}\nreturn %r : {to}"
    ))
}

/// Which dimensions become one, as collapse_shape lists them: a dimension is kept where its size is the next of the result.
fn groups(sizes: &[Option<i64>], kept: &[Option<i64>]) -> Option<String> {
    let (mut groups, mut left): (Vec<Vec<String>>, Vec<String>) = (vec![], vec![]);
    for (axis, size) in sizes.iter().enumerate() {
        if kept.get(groups.len()) == Some(size) {
            groups.push(std::mem::take(&mut left));
            groups.last_mut()?.push(axis.to_string());
        } else if *size != Some(1) {
            return None;
        } else if let Some(group) = groups.last_mut() {
            group.push(axis.to_string());
        } else {
            left.push(axis.to_string());
        }
    }
    let groups: Vec<String> = groups.iter().map(|group| format!("[{}]", group.join(", "))).collect();
    (groups.len() == kept.len()).then(|| groups.join(", "))
}

/// A buffer's type as MLIR writes it.
fn written(ty: &MemRef) -> String {
    let open = |value: &Option<i64>| value.map_or("?".into(), |v| v.to_string());
    let sizes: String = ty.shape.iter().map(|size| format!("{}x", open(size))).collect();
    let strides: Vec<String> = ty.strides.iter().map(open).collect();
    let offset = if ty.offset == Some(0) { String::new() } else { format!(", offset: {}", open(&ty.offset)) };
    let space = ty.space.as_ref().map(|space| format!(", {space}")).unwrap_or_default();
    format!("memref<{sizes}{}, strided<[{}]{offset}>{space}>", ty.element, strides.join(", "))
}
