//! `tinymlir-wide-accumulators`: products of half precision sum in single precision and round once.
//!
//! Taken literally, a matmul over f16 or bf16 rounds after every addition: a sum of 4,096 ones in f16 sticks at 2,048. Like
//! every library, this computes it from copies of the operands in f32 and rounds the sums when they are stored. A
//! contraction or a convolution that multiplies and adds over f16 or bf16, or that extends its inputs (also from
//! i8) first, becomes conversions around one over a single type, which `tinymlir-blas` can turn into a call. Other reductions stay as they are
//! written. Runs on bufferized functions in the lowering for the CPU. It refuses nothing.

use crate::{
    contraction::body_of,
    ir::{AffineMap, Op, Pass, PassCx, PassResult, Type},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-wide-accumulators",
    description: "Compute contractions and convolutions over f16 and bf16 in f32 and round once",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("widened", "Operations computed in a wider type")],
    dialects: &[mlirGetDialectHandle__arith__, mlirGetDialectHandle__linalg__, mlirGetDialectHandle__memref__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.walk().into_iter().filter(|op| op.is_linalg()).collect::<Vec<_>>() {
        let operands = op.operands();
        let ([a, b, c], Ok(_)) = (&operands[..], body_of(op)) else { continue };
        let types = [a, b, c].map(|v| v.ty());
        let elements = types.map(|ty| ty.memref().map(|m| m.element.to_string()).unwrap_or_default());
        let wide = match elements[2].as_str() {
            "f16" | "bf16" | "f32" => "f32",
            "f64" => "f64",
            _ => continue,
        };
        let narrower = |e: &str| matches!(e, "f16" | "bf16" | "i8") || e == "f32" && wide == "f64";
        if elements.iter().all(|e| e == wide) || !elements.iter().all(|e| e == wide || narrower(e)) {
            continue;
        }
        let text = widened(&op.linalg_maps(), types, &elements, wide);
        cx.check(op, op.build_before(&[("v0", *a), ("v1", *b), ("v2", *c)], "", &text))?;
        op.erase();
        cx.count("widened");
    }
    Ok(())
}

/// The operation over `wide` elements, with conversions before and after it.
fn widened(maps: &[AffineMap], types: [Type; 3], elements: &[String; 3], wide: &str) -> String {
    let mut text = String::new();
    let mut used: Vec<(String, String)> = vec![];
    for i in 0..3 {
        if elements[i] == wide {
            used.push((format!("%v{i}"), types[i].to_string()));
            continue;
        }
        let shape = types[i].shape().unwrap_or_default();
        let mut sizes = vec![];
        for axis in (0..shape.len()).filter(|axis| shape[*axis].is_none()) {
            text += &format!("%c{i}_{axis} = arith.constant {axis} : index\n");
            text += &format!("%d{i}_{axis} = memref.dim %v{i}, %c{i}_{axis} : {}\n", types[i]);
            sizes.push(format!("%d{i}_{axis}"));
        }
        let dims: String = shape.iter().map(|s| s.map_or("?x".into(), |s| format!("{s}x"))).collect();
        let ty = format!("memref<{dims}{wide}>");
        text += &format!("%w{i} = memref.alloc({}) {{alignment = 64 : i64}} : {ty}\n", sizes.join(", "));
        text += &convert(
            if elements[i] == "i8" { "arith.sitofp" } else { "arith.extf" },
            &format!("%v{i}"),
            &types[i].to_string(),
            &elements[i],
            &format!("%w{i}"),
            &ty,
            wide,
            shape.len(),
        );
        used.push((format!("%w{i}"), ty));
    }
    let output = maps[2].dims();
    let iterators: Vec<&str> = (0..maps[2].num_dims())
        .map(|d| if output.contains(&Some(d)) { "\"parallel\"" } else { "\"reduction\"" })
        .collect();
    let maps: Vec<String> = maps.iter().map(|m| m.to_string()).collect();
    text += &format!(
        "linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} ins({}, {} : {}, {}) outs({} : {}) {{\n\
         ^bb0(%x: {wide}, %y: {wide}, %z: {wide}):\n%p = arith.mulf %x, %y : {wide}\n%s = arith.addf %z, %p : {wide}\n\
         linalg.yield %s : {wide}\n}}\n",
        maps.join(", "),
        iterators.join(", "),
        used[0].0,
        used[1].0,
        used[0].1,
        used[1].1,
        used[2].0,
        used[2].1
    );
    if elements[2] != wide {
        let rank = types[2].shape().unwrap_or_default().len();
        text +=
            &convert("arith.truncf", &used[2].0, &used[2].1, wide, "%v2", &types[2].to_string(), &elements[2], rank);
    }
    for (value, ty) in used.iter().filter(|(value, _)| value.starts_with("%w")) {
        text += &format!("memref.dealloc {value} : {ty}\n");
    }
    text
}

/// Converts every element of one buffer into another.
#[allow(clippy::too_many_arguments)]
fn convert(
    op: &str,
    from: &str,
    from_type: &str,
    from_element: &str,
    to: &str,
    to_type: &str,
    to_element: &str,
    rank: usize,
) -> String {
    let dims = (0..rank).map(|d| format!("d{d}")).collect::<Vec<_>>().join(", ");
    let map = format!("affine_map<({dims}) -> ({dims})>");
    format!(
        "linalg.generic {{indexing_maps = [{map}, {map}], iterator_types = [{}]}} ins({from} : {from_type}) outs({to} : {to_type}) {{\n\
         ^bb0(%x: {from_element}, %y: {to_element}):\n%r = {op} %x : {from_element} to {to_element}\nlinalg.yield %r : {to_element}\n}}\n",
        vec!["\"parallel\""; rank].join(", ")
    )
}
