//! The sum of the parts that a split K leaves, with the elementwise operation after the product, as one elementwise operation
//! that reads every part: `tinymlir-row-kernels` computes it together with a norm of the same rows, or alone.

use crate::{
    contraction::Contraction,
    device::{VIEWS, source},
    host::Text,
    ir::{Attr, Op, Value},
    kernels::clone_body,
    products::Work,
};

/// The mark of such an operation.
pub const PARTS: &str = "tinymlir.parts";

/// Whether the parts of a product can be summed up so: it is no batch, has an elementwise operation after it, and reads nothing of C.
pub fn joins(work: &Work) -> bool {
    work.size[0] == 1 && work.fill.is_some() && work.epilogue.is_some()
}

/// Whether a reduction of rows, such as a norm, reads what a product and the operation after it leave.
pub fn norm_follows(work: &Work) -> bool {
    let mut left = vec![source(work.target.buffer)];
    while let Some(value) = left.pop() {
        for (user, _) in value.uses() {
            let reduces = user.is("linalg.generic") && user.linalg_num_parallel() < user.linalg_maps()[0].num_dims();
            if reduces && Contraction::of(user).is_err() && user != work.op {
                return true;
            }
            if VIEWS.contains(&user.name().as_str()) {
                left.extend(user.results().into_iter().filter(|r| r.ty().is_memref()));
            }
        }
    }
    false
}

/// The operation as text: the parts lie one behind another from element `first` of `base` on, and its operands are called as
/// [`inputs`] does. Its body sums them up in their order; [`set_body`] makes it what the elementwise operation computes.
pub fn write(text: &mut Text, work: &Work, base: &str, first: i64) -> Result<(), String> {
    let epilogue = work.epilogue.as_ref().ok_or("internal error: no operation after a product")?;
    let [_, m, n, _] = work.size;
    let (op, place) = (epilogue.op, epilogue.place);
    let (operands, maps) = (op.operands(), op.linalg_maps());
    let last = operands.len() - 1;
    let shape: Vec<i64> = operands[place]
        .ty()
        .shape()
        .unwrap_or_default()
        .into_iter()
        .collect::<Option<_>>()
        .ok_or("a size is dynamic")?;
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let sizes: String = shape.iter().map(|s| format!("{s}x")).collect();
    let (mut all, mut names, mut types, mut arguments) = (vec![], vec![], vec![], vec![]);
    for part in 0..work.splits {
        let offset = first + part * m * n;
        let ty = format!("memref<{sizes}f32, strided<{strides:?}, offset: {offset}>>");
        text.line(&format!(
            "%part{part} = memref.reinterpret_cast {base} to offset: [{offset}], sizes: {shape:?}, strides: {strides:?} : memref<f32> to {ty}"
        ));
        all.push(maps[place].to_string());
        names.push(format!("%part{part}"));
        types.push(ty);
        arguments.push(format!("%s{part}: f32"));
    }
    let element = |i: usize| operands[i].ty().element().map(|e| e.to_string()).unwrap_or_default();
    for i in (0..last).filter(|i| *i != place) {
        all.push(maps[i].to_string());
        names.push(format!("%e{i}"));
        types.push(operands[i].ty().to_string());
        arguments.push(format!("%x{i}: {}", element(i)));
    }
    all.push(maps[last].to_string());
    let kinds = vec!["\"parallel\""; op.linalg_num_parallel()].join(", ");
    text.line(&format!(
        "linalg.generic {{indexing_maps = [{}], iterator_types = [{kinds}]}} ins({} : {}) outs(%e{last} : {}) attrs = {{{PARTS}}} {{",
        all.join(", "),
        names.join(", "),
        types.join(", "),
        operands[last].ty()
    ));
    text.line(&format!("^bb0({}, %o: {}):", arguments.join(", "), element(last)));
    let mut sum = "%s0".to_string();
    for part in 1..work.splits {
        text.line(&format!("%t{part} = arith.addf {sum}, %s{part} : f32"));
        sum = format!("%t{part}");
    }
    // Rounded first to what the product is of.
    let product = epilogue.sum.ty().to_string();
    if product != "f32" {
        text.line(&format!("%rounded = arith.truncf {sum} : f32 to {product}"));
    }
    text.line(&format!("linalg.yield %o : {}", element(last)));
    text.line("}");
    Ok(())
}

/// The names and values of the operands of [`write()`]'s text.
pub fn inputs(work: &Work) -> Vec<(String, Value)> {
    let operands = work.epilogue.iter().flat_map(|e| e.op.operands());
    operands.enumerate().map(|(i, value)| (format!("e{i}"), value)).collect()
}

/// Gives what was built of [`write()`]'s text, which stands before the product's elementwise operation, the body of the latter.
pub fn set_body(work: &Work) -> Result<(), String> {
    let missing = "internal error: no sum of parts";
    let epilogue = work.epilogue.as_ref().ok_or(missing)?;
    let ops = epilogue.op.block().ok_or(missing)?.ops();
    let place = ops.iter().position(|o| *o == epilogue.op).and_then(|i| i.checked_sub(1)).ok_or(missing)?;
    let made: Op = ops[place];
    if made.attr(PARTS).is_none() {
        return Err(missing.into());
    }
    let (from, to) = (epilogue.op.blocks(0)[0], made.blocks(0)[0]);
    let end = to.terminator();
    // The sum is what was computed last.
    let inside = to.ops();
    let sum = inside[inside.len() - 2].result(0);
    let (given, taken) = (from.arguments(), to.arguments());
    let others = (0..given.len() - 1).filter(|i| *i != epilogue.place).map(|i| given[i]);
    let mut map: Vec<(Value, Value)> = others.zip(taken[work.splits as usize..].iter().copied()).collect();
    map.push((epilogue.sum, sum));
    clone_body(from, &from.terminator().operands(), map.into_iter().collect(), end)?;
    made.set_attr(PARTS, Attr::unit(made.ctx()));
    Ok(())
}
