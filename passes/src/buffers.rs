//! What `tinymlir-decompose` does for hand-written buffers: layouts that are no strides, and atomic updates.

use crate::ir::{Op, PassCx, PassResult, Type};

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

/// An atomic product of integers, which no target has an instruction for, as a loop that compares and swaps. Refuses updates
/// of floating-point numbers that would take such a loop, which upstream builds for integers only.
pub(crate) fn atomic(op: Op) -> Result<(), String> {
    let float = "updates a floating-point number as no target does atomically (use add, a maximum or a minimum)";
    if op.is("memref.generic_atomic_rmw") {
        return if op.result(0).ty().is_float() { Err(float.into()) } else { Ok(()) };
    }
    // mulf and muli of mlir::arith::AtomicRMWKind.
    match op.attr("kind").and_then(|kind| kind.as_int()) {
        Some(12) => return Err(float.into()),
        Some(13) => {}
        _ => return Ok(()),
    }
    let (value, buffer) = (op.operand(0), op.operand(1));
    let element = value.ty();
    let indices = &op.operands()[2..];
    let names: Vec<String> = (0..indices.len()).map(|i| format!("i{i}")).collect();
    let mut inputs = vec![("value", value), ("buffer", buffer)];
    inputs.extend(names.iter().map(String::as_str).zip(indices.iter().copied()));
    let place = names.iter().map(|name| format!("%{name}")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "%r = memref.generic_atomic_rmw %buffer[{place}] : {} {{\n^bb0(%old: {element}):\n\
         %new = arith.muli %old, %value : {element}\nmemref.atomic_yield %new : {element}\n}}\nreturn %r : {element}",
        buffer.ty()
    );
    let values = op.build_before(&inputs, "", &text)?;
    op.replace_with(&values);
    Ok(())
}
