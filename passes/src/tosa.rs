//! What `tinymlir-decompose` asks of TOSA before upstream's conversions, which say little or nothing about it.

use crate::ir::{Failed, Op, PassCx, PassResult, Value};

/// The passes that turn TOSA into linalg, tensor, arith, scf and ml_program operations.
pub(crate) const PIPELINE: &str = "func.func(tosa-optional-decompositions,canonicalize,tosa-infer-shapes,tosa-make-broadcastable,\
    tosa-to-scf,tosa-to-linalg-named,canonicalize,tosa-layerwise-constant-fold,tosa-make-broadcastable,tosa-to-linalg,tosa-to-tensor,\
    tosa-to-arith{include-apply-rescale=true})";

/// Variables become globals of ml_program, which is no function's pass.
pub(crate) const VARIABLES: &str = "tosa-to-mlprogram";

/// Refuses operands of unknown rank and slices that are not what their type says. A cast between the two half types, neither of
/// which holds the other, goes by way of f32.
pub(crate) fn prepare(cx: &PassCx, op: Op) -> PassResult {
    let values = op.operands().into_iter().chain(op.results());
    if let Some(value) = values.into_iter().find(|v| v.ty().is_tensor() && v.ty().shape().is_none()) {
        let ty = value.ty();
        return Err(cx.error(op, &format!("has a value of unknown rank, {ty} (give it one with tensor.cast)")));
    }
    if op.is("tosa.slice") {
        return slice(cx, op);
    }
    let element = |value: Value| value.ty().element().map(|ty| ty.to_string()).unwrap_or_default();
    let (operand, result) = (op.operands().first().copied(), op.results().first().copied());
    if let (true, Some(operand), Some(result)) = (op.is("tosa.cast"), operand, result)
        && matches!((element(operand).as_str(), element(result).as_str()), ("f16", "bf16") | ("bf16", "f16"))
    {
        let (from, to) = (operand.ty().to_string(), result.ty().to_string());
        let wide = format!("{}f32>", to.strip_suffix(&format!("{}>", element(result))).unwrap_or_default());
        let text =
            format!("%w = tosa.cast %x : ({from}) -> {wide}\n%r = tosa.cast %w : ({wide}) -> {to}\nreturn %r : {to}");
        let value = cx.check(op, op.build_before(&[("x", operand)], "", &text))?;
        op.replace_with(&value);
    }
    Ok(())
}

/// The elements of a constant shape.
fn constants(value: Value) -> Option<Vec<i64>> {
    value.def().filter(|def| def.is("tosa.const_shape"))?.attr("values")?.as_dense_ints()
}

fn slice(cx: &PassCx, op: Op) -> Result<(), Failed> {
    let (Some(whole), Some(result)) = (op.operand(0).ty().shape(), op.result(0).ty().shape()) else { return Ok(()) };
    let (starts, sizes) = (constants(op.operand(1)), constants(op.operand(2)));
    for axis in 0..whole.len().min(result.len()) {
        let at = |list: &Option<Vec<i64>>| list.as_ref().and_then(|list| list.get(axis).copied());
        let (start, size) = (at(&starts), at(&sizes));
        let fault = match (start, size, whole[axis], result[axis]) {
            (Some(start), ..) if start < 0 => format!("starts at {start}"),
            // The rest of the dimension.
            (_, Some(-1), ..) => continue,
            (_, Some(size), ..) if size < 0 => format!("takes {size} elements"),
            (Some(start), Some(size), Some(whole), _) if start + size > whole => {
                format!("takes {size} elements from {start} on of {whole}")
            }
            (_, Some(size), _, Some(result)) if size != result => {
                format!("takes {size} elements where its result has {result}")
            }
            _ => continue,
        };
        return Err(cx.error(op, &format!("{fault}, along dimension {axis} (correct its start, size or type)")));
    }
    Ok(())
}
