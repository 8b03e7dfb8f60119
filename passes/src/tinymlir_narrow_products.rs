//! `tinymlir-narrow-products`: round the factors of matrix products to bf16, for tensor cores; sums stay in f32.
//!
//! On tensors, after fusion. Every product of two matrices with a result of f32 then reads bf16: an operand of f32 is rounded
//! to nearest by an operation of its own, one of bf16 is read as it is. A factor is off by 2^-9 of itself at most, so that a sum is off
//! by 2^-8 of the sum of its terms' magnitudes. An elementwise operation on a product's result, such as bias and activation,
//! writes bf16 itself when fusion runs again; before what else makes an operand comes a copy, which is not fused: kernels of
//! rows and of attention write f32.
//!
//! It leaves batches of matrices, products of 32 rows or fewer, which are bound by reading a matrix, operands whose rows would
//! not begin at multiples of 16 bytes, which kernels for bf16 want, and dynamic sizes.

use crate::{
    contraction::{Body, body_of},
    ir::{Op, Pass, PassCx, PassResult, Value},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-narrow-products",
    description: "Round the factors of matrix products on tensors to bf16 and sum up in f32",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("narrowed", "Products whose factors are bf16")],
    dialects: &[mlirGetDialectHandle__arith__, mlirGetDialectHandle__linalg__, mlirGetDialectHandle__tensor__],
    run,
};

/// Fewer rows, or columns, are bound by reading a matrix.
const LEAST: i64 = 33;
/// Elements of bf16 in 16 bytes.
const CHUNK: i64 = 8;

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.walk().into_iter().filter(|op| op.is_linalg()).collect::<Vec<_>>() {
        let Some(text) = narrowed(op) else { continue };
        let operands = op.operands();
        let inputs = [("a", operands[0]), ("b", operands[1]), ("c", operands[2])];
        let made = cx.check(op, op.build_before(&inputs, "", &text))?;
        op.replace_with(&made);
        cx.count("narrowed");
    }
    Ok(())
}

/// Whether a value is made by an elementwise operation that joins a product's store.
fn joins(value: Value) -> bool {
    let is_product = |v: Value| v.def().is_some_and(|d| d.is_linalg() && body_of(d).is_ok() && d.operands().len() == 3);
    value.def().is_some_and(|d| d.is("linalg.generic") && d.operands().into_iter().any(is_product))
}

/// The same product of rounded factors, of `%a`, `%b` and `%c`; nothing where it is none of two large matrices in f32.
fn narrowed(op: Op) -> Option<String> {
    let operands = op.operands();
    if operands.len() != 3 || op.results().len() != 1 {
        return None;
    }
    // One operand may be bf16 already; both are no product of f32.
    let types: Vec<String> = operands.iter().map(|v| v.ty().element().map(|e| e.to_string())).collect::<Option<_>>()?;
    let mixed = matches!(body_of(op).ok()?, Body::MultiplyAdd | Body::ConvertMultiplyAdd(_));
    let factors = |e: &String| e == "f32" || e == "bf16";
    if !mixed || types[2] != "f32" || !types[..2].iter().all(factors) {
        return None;
    }
    let maps = op.linalg_maps();
    let dims: Vec<Vec<usize>> = maps.iter().map(|m| m.dims().into_iter().collect()).collect::<Option<_>>()?;
    let [a, b, c] = &dims[..] else { return None };
    let shapes: Vec<Vec<i64>> =
        operands.iter().map(|v| v.ty().shape()?.into_iter().collect::<Option<Vec<_>>>()).collect::<Option<_>>()?;
    let matrices = [a, b, c].iter().all(|d| d.len() == 2 && d[0] != d[1]) && maps[0].num_dims() == 3;
    let summed = (0..3).find(|d| a.contains(d) && b.contains(d) && !c.contains(d))?;
    let large = shapes[2].iter().all(|size| *size >= LEAST);
    let aligned = shapes[..2].iter().all(|shape| shape.get(1).is_some_and(|size| size % CHUNK == 0));
    if !matrices || !large || !aligned || !a.iter().chain(b).all(|d| *d == summed || c.contains(d)) || a == b {
        return None;
    }
    let mut text = String::new();
    let mut sides = vec![];
    for (i, name) in ["a", "b"].into_iter().enumerate() {
        let [rows, columns] = shapes[i][..] else { return None };
        let narrow = format!("tensor<{rows}x{columns}xbf16>");
        sides.push((if types[i] == "bf16" { format!("%{name}") } else { format!("%{name}_rounded") }, narrow.clone()));
        if types[i] == "bf16" {
            continue;
        }
        let same = "affine_map<(i, j) -> (i, j)>";
        text += &format!("%{name}_empty = tensor.empty() : {narrow}\n");
        if !joins(operands[i]) {
            let ty = operands[i].ty();
            text += &format!(
                "%{name}_rounded = linalg.copy ins(%{name} : {ty}) outs(%{name}_empty : {narrow}) -> {narrow}\n"
            );
            continue;
        }
        text += &format!(
            "%{name}_rounded = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [\"parallel\", \"parallel\"]}} \
             ins(%{name} : {}) outs(%{name}_empty : {narrow}) {{\n^bb0(%x: f32, %o: bf16):\n%r = arith.truncf %x : f32 to bf16\n\
             linalg.yield %r : bf16\n}} -> {narrow}\n",
            operands[i].ty()
        );
    }
    let maps = dims.iter().map(|d| format!("affine_map<(d0, d1, d2) -> (d{}, d{})>", d[0], d[1])).collect::<Vec<_>>();
    let kinds =
        (0..3).map(|d| if d == summed { "\"reduction\"" } else { "\"parallel\"" }).collect::<Vec<_>>().join(", ");
    let ((x, x_type), (y, y_type), result) = (&sides[0], &sides[1], op.result(0).ty());
    text += &format!(
        "%p = linalg.generic {{indexing_maps = [{}], iterator_types = [{kinds}]}} ins({x}, {y} : {x_type}, {y_type}) outs(%c : {result}) {{\n\
         ^bb0(%x: bf16, %y: bf16, %o: f32):\n%xe = arith.extf %x : bf16 to f32\n%ye = arith.extf %y : bf16 to f32\n\
         %m = arith.mulf %xe, %ye : f32\n%s = arith.addf %o, %m : f32\nlinalg.yield %s : f32\n}} -> {result}\n\
         return %p : {result}",
        maps.join(", ")
    );
    Some(text)
}
