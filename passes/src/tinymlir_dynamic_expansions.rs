//! `tinymlir-dynamic-expansions`: a dimension that becomes several of dynamic sizes is a view with computed strides.
//!
//! `memref.expand_shape %x [[0, 1]] output_shape [%n, %m]` becomes a `memref.reinterpret_cast` whose first stride is `%m` times the last one:
//! upstream's `expand-strided-metadata` takes at most one dynamic size of a dimension, and crashes on more. Runs last in the bufferize stage, after
//! `tinymlir-rank-reductions`. It refuses nothing, and leaves other expansions alone.

use crate::{
    ir::{Op, Pass, PassCx, PassResult},
    permutations::reassociation,
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-dynamic-expansions",
    description: "Make views with computed strides of dimensions that become several of dynamic sizes",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("expansions", "Expansions that became views with computed strides")],
    dialects: &[mlirGetDialectHandle__arith__, mlirGetDialectHandle__memref__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.find(&["memref.expand_shape"]) {
        let Some(text) = text(op) else { continue };
        let names: Vec<String> = (0..op.operands().len()).map(|i| format!("v{i}")).collect();
        let inputs: Vec<_> = names.iter().map(String::as_str).zip(op.operands()).collect();
        let view = cx.check(op, op.build_before(&inputs, "", &text))?;
        op.replace_with(&view);
        cx.count("expansions");
    }
    Ok(())
}

/// The view, of operands `%v0`, the buffer, and `%v1` and so on, the dynamic sizes; `None` where upstream takes the operation.
fn text(op: Op) -> Option<String> {
    let (source, result) = (op.operand(0).ty().memref()?, op.result(0).ty().memref()?);
    let groups = reassociation(op)?;
    let open = |group: &Vec<usize>| group.iter().filter(|axis| result.shape[**axis].is_none()).count();
    if groups.iter().all(|group| open(group) < 2) {
        return None;
    }
    let rank = source.shape.len();
    let list = |name: &str| (0..rank).map(|i| format!("%{name}{i}")).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "%base, %offset, {}, {} = memref.extract_strided_metadata %v0 : {} -> memref<{}{}>{}\n",
        list("size"),
        list("stride"),
        op.operand(0).ty(),
        source.element,
        source.space.as_ref().map(|space| format!(", {space}")).unwrap_or_default(),
        ", index".repeat(1 + 2 * rank)
    );
    // Dynamic sizes come in the order of the dimensions.
    let mut next = 0;
    let mut sizes = vec![];
    for (axis, size) in result.shape.iter().enumerate() {
        match size {
            Some(n) => text += &format!("%n{axis} = arith.constant {n} : index\n"),
            None => next += 1,
        }
        sizes.push(if size.is_some() { format!("%n{axis}") } else { format!("%v{next}") });
    }
    let mut strides = vec![String::new(); sizes.len()];
    for (dim, group) in groups.iter().enumerate() {
        let mut stride = format!("%stride{dim}");
        for axis in group.iter().rev() {
            strides[*axis] = stride.clone();
            text += &format!("%step{axis} = arith.muli {stride}, {} : index\n", sizes[*axis]);
            stride = format!("%step{axis}");
        }
    }
    // What the type tells stands in the operation.
    let shown = |known: &[Option<i64>], computed: &[String]| -> String {
        let one = |(known, computed): (&Option<i64>, &String)| known.map_or(computed.clone(), |n| n.to_string());
        known.iter().zip(computed).map(one).collect::<Vec<_>>().join(", ")
    };
    let to = op.result(0).ty();
    text += &format!(
        "%r = memref.reinterpret_cast %v0 to offset: [{}], sizes: [{}], strides: [{}] : {} to {to}\nreturn %r : {to}",
        shown(&[result.offset], &["%offset".to_string()]),
        shown(&result.shape, &sizes),
        shown(&result.strides, &strides),
        op.operand(0).ty()
    );
    Some(text)
}
