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
    norm_view(work).is_some()
}

/// The form in which such a reduction reads it.
pub fn norm_view(work: &Work) -> Option<Value> {
    let mut left = vec![source(work.target.buffer)];
    while let Some(value) = left.pop() {
        for (user, _) in value.uses() {
            let reduces = user.is("linalg.generic") && user.linalg_num_parallel() < user.linalg_maps()[0].num_dims();
            if reduces && Contraction::of(user).is_err() && user != work.op {
                return Some(value);
            }
            if VIEWS.contains(&user.name().as_str()) {
                left.extend(user.results().into_iter().filter(|r| r.ty().is_memref()));
            }
        }
    }
    None
}

/// Whether a buffer is one dense row of `n` elements, its last axis.
pub fn is_row(buffer: Value, n: i64) -> bool {
    let Some(memref) = buffer.ty().memref().filter(|m| m.is_identity()) else { return false };
    let others = memref.shape.len().saturating_sub(1);
    memref.shape.last() == Some(&Some(n)) && memref.shape[..others].iter().all(|size| *size == Some(1))
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
    let sum = sum(text, work.splits);
    // Rounded first to what the product is of.
    let product = epilogue.sum.ty().to_string();
    if product != "f32" {
        text.line(&format!("%rounded = arith.truncf {sum} : f32 to {product}"));
    }
    text.line(&format!("linalg.yield %o : {}", element(last)));
    text.line("}");
    Ok(())
}

/// The same for a product of one row, whose result is `%row` with the type of `view`, in which the parts lie one behind another
/// from the first element of `base` on.
pub fn write_row(text: &mut Text, work: &Work, base: &str, view: Value) -> Result<(), String> {
    let epilogue = work.epilogue.as_ref().ok_or("internal error: no operation after a product")?;
    let [_, _, n, _] = work.size;
    let loops = view.ty().shape().map_or(0, |shape| shape.len());
    let dims = (0..loops).map(|d| format!("d{d}")).collect::<Vec<_>>().join(", ");
    let (whole, column) =
        (format!("affine_map<({dims}) -> ({dims})>"), format!("affine_map<({dims}) -> (d{})>", loops - 1));
    let (mut names, mut types, mut arguments) = (vec![], vec![], vec![]);
    let mut row = |text: &mut Text, name: String, base: &str, offset: i64, step: i64| {
        let ty = format!("memref<{n}xf32, strided<[{step}], offset: {offset}>>");
        text.line(&format!(
            "%{name} = memref.reinterpret_cast {base} to offset: [{offset}], sizes: [{n}], strides: [{step}] : memref<f32> to {ty}"
        ));
        names.push(format!("%{name}"));
        types.push(ty);
    };
    for part in 0..work.splits {
        row(text, format!("part{part}"), base, part * n, 1);
        arguments.push(format!("%s{part}: f32"));
    }
    let last = epilogue.op.operands().len() - 1;
    let places = (0..last).filter(|i| *i != epilogue.place);
    for (i, (extra, _)) in places.zip(&epilogue.extras) {
        let (base, _) = text.operand(&format!("e{i}"), extra);
        row(text, format!("extra{i}"), &base, extra.offset, extra.strides[2]);
        arguments.push(format!("%y{i}: f32"));
    }
    let maps = vec![column; names.len()].join(", ");
    let kinds = vec!["\"parallel\""; loops].join(", ");
    text.line(&format!(
        "linalg.generic {{indexing_maps = [{maps}, {whole}], iterator_types = [{kinds}]}} ins({} : {}) outs(%row : {}) attrs = {{{PARTS}}} {{",
        names.join(", "),
        types.join(", "),
        view.ty()
    ));
    text.line(&format!("^bb0({}, %o: f32):", arguments.join(", ")));
    sum(text, work.splits);
    text.line("linalg.yield %o : f32");
    text.line("}");
    Ok(())
}

/// The sum of the arguments `%s0` and so on, in their order, and its name.
fn sum(text: &mut Text, parts: i64) -> String {
    let mut sum = "%s0".to_string();
    for part in 1..parts {
        text.line(&format!("%t{part} = arith.addf {sum}, %s{part} : f32"));
        sum = format!("%t{part}");
    }
    sum
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
    // The sum is what was computed last, or the one part.
    let inside = to.ops();
    let last = inside.len().checked_sub(2).map(|i| inside[i].result(0));
    let sum = last.or_else(|| to.arguments().first().copied()).ok_or(missing)?;
    let (given, taken) = (from.arguments(), to.arguments());
    let others = (0..given.len() - 1).filter(|i| *i != epilogue.place).map(|i| given[i]);
    let mut map: Vec<(Value, Value)> = others.zip(taken[work.splits as usize..].iter().copied()).collect();
    map.push((epilogue.sum, sum));
    clone_body(from, &from.terminator().operands(), map.into_iter().collect(), end)?;
    made.set_attr(PARTS, Attr::unit(made.ctx()));
    Ok(())
}
