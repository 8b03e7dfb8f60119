//! `tinymlir-expand-math`: write out the math operations for which no upstream lowering is complete.
//!
//! `math.isnormal` becomes two comparisons of the magnitude with the smallest normal number and infinity; `math.ipowi` over
//! `index` is computed over `i64`. Runs first in every lowering. It leaves vectors alone.

use crate::ir::{Op, Pass, PassCx, PassResult};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-expand-math",
    description: "Expand math.isnormal, and math.ipowi over index, which upstream does not lower",
    anchor: "",
    options: &[],
    statistics: &[("expanded", "Operations written out")],
    dialects: &[mlirGetDialectHandle__arith__, mlirGetDialectHandle__math__],
    run,
};

fn run(cx: &PassCx, root: Op) -> PassResult {
    for op in root.find(&["math.isnormal", "math.ipowi"]) {
        let ty = op.operand(0).ty().to_string();
        let (inputs, text) = if op.is("math.isnormal") {
            // The smallest normal number and infinity, as bits.
            let (smallest, infinity) = match ty.as_str() {
                "f16" => ("0x0400", "0x7C00"),
                "bf16" => ("0x0080", "0x7F80"),
                "f32" => ("0x00800000", "0x7F800000"),
                "f64" => ("0x0010000000000000", "0x7FF0000000000000"),
                _ => continue,
            };
            let text = format!(
                "%smallest = arith.constant {smallest} : {ty}\n%infinity = arith.constant {infinity} : {ty}\n\
                 %m = math.absf %a : {ty}\n%low = arith.cmpf oge, %m, %smallest : {ty}\n\
                 %high = arith.cmpf olt, %m, %infinity : {ty}\n%r = arith.andi %low, %high : i1\nreturn %r : i1"
            );
            (vec![("a", op.operand(0))], text)
        } else if ty == "index" {
            let text = "%x = arith.index_cast %a : index to i64\n%y = arith.index_cast %b : index to i64\n\
                        %z = math.ipowi %x, %y : i64\n%r = arith.index_cast %z : i64 to index\nreturn %r : index";
            (vec![("a", op.operand(0)), ("b", op.operand(1))], text.into())
        } else {
            continue;
        };
        let values = cx.check(op, op.build_before(&inputs, "", &text))?;
        op.replace_with(&values);
        cx.count("expanded");
    }
    Ok(())
}
