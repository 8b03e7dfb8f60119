//! What `tinymlir-decompose` does for hand-written buffers: layouts that are no strides, atomic updates, reshapes to no rank;
//! and for globals of ml_program.

use crate::ir::{Op, PassCx, PassResult, Type, Value};

/// Rewrites buffers whose layout is no strides, as tiled ones, to the shape that they have in memory. Refuses those of
/// functions' arguments and results, whose shape a caller sees, and those beside operations that upstream does not rewrite.
pub(crate) fn normalize_layouts(cx: &PassCx, module: Op) -> PassResult {
    let odd = |module: Op| {
        module.walk().into_iter().find_map(|op| Some((op, op.results().into_iter().map(|v| v.ty()).find(is_odd)?)))
    };
    for function in module.find(&["func.func"]) {
        let signature = function.attr("function_type").and_then(|t| t.as_type()).and_then(|t| t.function());
        let (inputs, results) = signature.unwrap_or_default();
        if let Some(ty) = inputs.into_iter().chain(results).find(is_odd) {
            let remedy = "whose layout is no strides (use the shape in memory)";
            return Err(cx.error(function, &format!("has an argument or result of type {ty}, {remedy}")));
        }
    }
    if odd(module).is_none() {
        return Ok(());
    }
    cx.run_pipeline("normalize-memrefs", module)?;
    match odd(module) {
        Some((op, ty)) => {
            let remedy =
                "whose layout is no strides, and is used by more than loads and stores (use the shape in memory)";
            Err(cx.error(op, &format!("makes a buffer of type {ty}, {remedy}")))
        }
        None => Ok(()),
    }
}

/// Whether a buffer's layout has several results and is not the identity.
fn is_odd(ty: &Type) -> bool {
    if !ty.is_memref() || ty.has_identity_map() {
        return false;
    }
    let text = ty.to_string();
    let Some((_, results)) = text.split_once("affine_map<").and_then(|(_, map)| map.split_once("-> (")) else {
        return false;
    };
    let mut depth = 0;
    for c in results.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            ',' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// An atomic product of integers, which no target has an instruction for, as a loop that compares and swaps; the other way round,
/// a body that is one sum, maximum or minimum of floating-point numbers as the instruction for it. Refuses other updates of
/// floating-point numbers: upstream builds such a loop for integers only.
pub(crate) fn atomic(op: Op) -> Result<(), String> {
    let float = "updates a floating-point number as no target does atomically (use one add, maximum or minimum)";
    if op.is("memref.generic_atomic_rmw") {
        if !op.result(0).ty().is_float() {
            return Ok(());
        }
        let (kind, value) = instruction(op).ok_or(float)?;
        return rebuild(op, value, op.operand(0), &op.operands()[1..], |place| {
            let (element, buffer) = (value.ty(), op.operand(0).ty());
            format!("%r = memref.atomic_rmw {kind} %value, %buffer[{place}] : ({element}, {buffer}) -> {element}")
        });
    }
    // mulf and muli of mlir::arith::AtomicRMWKind.
    match op.attr("kind").and_then(|kind| kind.as_int()) {
        Some(12) => return Err(float.into()),
        Some(13) => {}
        _ => return Ok(()),
    }
    let (value, buffer) = (op.operand(0), op.operand(1));
    let element = value.ty();
    rebuild(op, value, buffer, &op.operands()[2..], |place| {
        format!(
            "%r = memref.generic_atomic_rmw %buffer[{place}] : {} {{\n^bb0(%old: {element}):\n\
             %new = arith.muli %old, %value : {element}\nmemref.atomic_yield %new : {element}\n}}",
            buffer.ty()
        )
    })
}

/// The instruction that does what the body of a `memref.generic_atomic_rmw` does, and its operand.
fn instruction(op: Op) -> Option<(&'static str, Value)> {
    let block = op.blocks(0).first().copied()?;
    let (old, [update, end]) = (block.arguments()[0], block.ops()[..].try_into().ok()?);
    let (update, end): (Op, Op) = (update, end);
    let kind = ["addf", "maximumf", "minimumf", "maxnumf", "minnumf"]
        .into_iter()
        .find(|kind| update.name().strip_prefix("arith.") == Some(kind))?;
    let [a, b] = update.operands()[..].try_into().ok()?;
    let (other, value) = if a == old { (a, b) } else { (b, a) };
    (other == old && value != old && end.operand(0) == update.result(0)).then_some((kind, value))
}

/// Puts what `text` makes of `%value`, `%buffer` and a place in it, a value `%r`, in the place of an atomic update.
fn rebuild(
    op: Op,
    value: Value,
    buffer: Value,
    indices: &[Value],
    text: impl Fn(&str) -> String,
) -> Result<(), String> {
    let names: Vec<String> = (0..indices.len()).map(|i| format!("i{i}")).collect();
    let mut inputs = vec![("value", value), ("buffer", buffer)];
    inputs.extend(names.iter().map(String::as_str).zip(indices.iter().copied()));
    let place = names.iter().map(|name| format!("%{name}")).collect::<Vec<_>>().join(", ");
    let values = op.build_before(&inputs, "", &format!("{}\nreturn %r : {}", text(&place), value.ty()))?;
    op.replace_with(&values);
    Ok(())
}

/// A reshape to an unranked type by a number of sizes that is known, as one to that rank and a cast: upstream's lowering makes
/// a ranked view of it.
pub(crate) fn ranked_reshape(op: Op) -> Option<String> {
    let (source, sizes, result) = (op.operand(0).ty(), op.operand(1).ty(), op.result(0).ty().to_string());
    let rank = sizes.shape()?.first().copied()??;
    let (dialect, element) = result.strip_suffix('>')?.split_once("<*x")?;
    let ranked = format!("{dialect}<{}{element}>", "?x".repeat(usize::try_from(rank).ok()?));
    Some(format!(
        "%s = {dialect}.reshape %source(%sizes) : ({source}, {sizes}) -> {ranked}\n\
         %r = {dialect}.cast %s : {ranked} to {result}\nreturn %r : {result}"
    ))
}

/// Copies what is loaded from a global of ml_program, and what is stored to one: upstream's bufferization hands out the global's
/// own buffer, which the next store changes, and stores an empty one where the value is used again.
pub(crate) fn copy_of_global(op: Op) -> Result<(), String> {
    let load = op.is("ml_program.global_load");
    let value = if load { op.result(0) } else { op.operand(0) };
    let is_copy = |op: Op| op.is("bufferization.alloc_tensor");
    let uses = value.uses();
    let copied = if load { uses.iter().all(|(user, _)| is_copy(*user)) } else { value.def().is_some_and(is_copy) };
    if copied || !value.ty().is_tensor() {
        return Ok(());
    }
    let ty = value.ty();
    let text = format!("%r = bufferization.alloc_tensor() copy(%v) : {ty}\nreturn %r : {ty}");
    let place = if load { op.next().ok_or("ends a block")? } else { op };
    let copy = place.build_before(&[("v", value)], "", &text)?[0];
    if load {
        uses.into_iter().for_each(|(user, operand)| user.set_operand(operand, copy));
    } else {
        op.set_operand(0, copy);
    }
    Ok(())
}
