//! `tinymlir-host-math`: math operations that upstream lowers inaccurately, or so that no loop around them is vectorised.
//!
//! - `math.exp` over f32 becomes arithmetic, which LLVM vectorises, within 1 unit in the last place and the same for one
//!   element as for a vector: the reduction and polynomial of Cephes' `expf`. glibc's vector function calls the scalar one for each
//!   element whose result is zero, as of masked scores.
//! - `math.tanh` over f32 becomes arithmetic around `math.exp`; it is within 4 units in the last
//!   place, where upstream's expansion loses every digit near zero. Below 0.625 it is the odd polynomial of Cephes' `tanhf`.
//! - `math.expm1` becomes a call of libm; upstream subtracts 1 from the exponential.
//! - `math.fpowi` becomes a power in double precision, since products would add up their roundings.
//! - `math.isinf`, `math.isfinite` and `math.isnan` become comparisons; upstream lowers two of the three.
//! - Conversions between float types lose the flag `contract`, which upstream's extension of narrow types sets: LLVM
//!   would keep in f32 what f16 and bf16 round between two operations.
//! - `arith.extf` from bf16 to f32 becomes a shift, which LLVM vectorises where it takes the conversion apart.
//! - `arith.truncf` to bf16 becomes integer arithmetic: processors' own instruction flushes subnormal numbers to zero.
//!
//! Runs on the host's code before `convert-math-to-llvm`, after narrower types have been extended to f32. It leaves what is
//! inside a `gpu.module` and of named linalg operations alone, and tensors.

use crate::ir::{Op, Pass, PassCx, PassResult, Type};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-host-math",
    description: "Expand math operations on the host that upstream lowers inaccurately or slowly",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__vector__,
    ],
    run,
};

const OPERATIONS: [&str; 8] =
    ["arith.extf", "arith.truncf", "math.exp", "math.expm1", "math.fpowi", "math.isfinite", "math.isinf", "math.isnan"];

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.find(&["arith.extf", "arith.truncf"]) {
        if op.attr("fastmath").is_some_and(|a| a.to_string().contains("contract")) {
            op.remove_attr("fastmath");
        }
    }
    expand(cx, module, &["math.tanh"])?;
    // Those of tanh among them.
    expand(cx, module, &OPERATIONS)
}

fn expand(cx: &PassCx, module: Op, names: &[&str]) -> PassResult {
    for op in module.find(names) {
        // The bodies of named linalg operations are what the names say.
        let named = op.parent().is_some_and(|p| {
            p.is_linalg() && !["linalg.generic", "linalg.map", "linalg.reduce"].contains(&p.name().as_str())
        });
        if named || op.parent_named("gpu.module").is_some() {
            continue;
        }
        let ty = op.result(0).ty();
        if ty.is_tensor() {
            continue;
        }
        let element = ty.element().unwrap_or(ty).to_string();
        let (declaration, text) = match op.name().as_str() {
            "math.exp" if element == "f32" => (String::new(), exp(ty)),
            "math.tanh" if element == "f32" => (String::new(), tanh(ty)),
            "math.expm1" if element == "f32" || element == "f64" => expm1(ty, &element),
            "math.fpowi" if element == "f32" || element == "f64" => {
                (String::new(), fpowi(ty, op.operand(1).ty(), &element))
            }
            "math.isinf" | "math.isfinite" | "math.isnan" => (String::new(), classify(&op.name(), op.operand(0).ty())),
            "arith.extf" if element == "f32" && op.operand(0).ty().to_string().contains("bf16") => {
                (String::new(), from_bf16(op.operand(0).ty(), ty))
            }
            "arith.truncf" if element == "bf16" => (String::new(), to_bf16(op.operand(0).ty(), ty)),
            _ => continue,
        };
        if !declaration.is_empty() {
            cx.check(op, module.declare(&declaration))?;
        }
        let names = ["x", "n"];
        let inputs: Vec<_> = names.into_iter().zip(op.operands()).collect();
        let value = cx.check(op, op.build_before(&inputs, &declaration, &format!("{text}return %r : {ty}")))?;
        op.replace_with(&value);
    }
    Ok(())
}

/// `%{name}`: a constant, a splat for a vector.
fn constant(name: &str, value: &str, ty: Type) -> String {
    match ty.element() {
        Some(_) => format!("%{name} = arith.constant dense<{value}> : {ty}\n"),
        None => format!("%{name} = arith.constant {value} : {ty}\n"),
    }
}

/// The type behind a selection of f32: between vectors it says that of the condition too.
fn condition_and(ty: Type) -> String {
    if ty.element().is_some() { format!("{}, {ty}", ty.to_string().replace("f32", "i1")) } else { ty.to_string() }
}

/// 2^n P(r) with x = n ln 2 + r, for x between what rounds to zero and what overflows. Adding 1.5 * 2^23 rounds to an integer,
/// which the sum's bits hold. The power of two comes in two factors: subnormal results are rounded once, the largest stay finite.
fn exp(ty: Type) -> String {
    let integers = ty.to_string().replace("f32", "i32");
    let integer = |name: &str, value: i64| match ty.element() {
        Some(_) => format!("%{name} = arith.constant dense<{value}> : {integers}\n"),
        None => format!("%{name} = arith.constant {value} : {integers}\n"),
    };
    let multiply_add = |to: &str, a: &str, b: &str, c: &str| {
        format!(
            "%{to}_product = arith.mulf %{a}, %{b} fastmath<contract> : {ty}\n\
             %{to} = arith.addf %{to}_product, %{c} fastmath<contract> : {ty}\n"
        )
    };
    let chosen = condition_and(ty);
    let mut text =
        constant("least", "-104.0", ty) + &constant("most", "89.0", ty) + &constant("log2e", "1.44269504", ty);
    // ln 2 in two parts, of which the first has few enough bits for an exact product.
    text += &(constant("high", "-0.693359375", ty) + &constant("low", "2.12194440e-4", ty));
    text += &(constant("round", "12582912.0", ty) + &constant("one", "1.0", ty));
    text +=
        &(integer("rounded", 0x4B40_0000) + &integer("bias", 127) + &integer("fraction", 23) + &integer("halve", 1));
    text += &format!(
        "%under = arith.cmpf olt, %x, %least : {ty}\n%above = arith.select %under, %least, %x : {chosen}\n\
         %over = arith.cmpf ogt, %above, %most : {ty}\n%inside = arith.select %over, %most, %above : {chosen}\n"
    );
    text += &multiply_add("sum", "inside", "log2e", "round");
    text += &format!("%n = arith.subf %sum, %round : {ty}\n");
    text += &(multiply_add("most_of_it", "n", "high", "inside") + &multiply_add("rest", "n", "low", "most_of_it"));
    let coefficients = [
        "1.9875691500e-4",
        "1.3981999507e-3",
        "8.3334519073e-3",
        "4.1665795894e-2",
        "1.6666665459e-1",
        "5.0000001201e-1",
    ];
    text += &constant("p0", coefficients[0], ty);
    for (i, value) in coefficients.iter().enumerate().skip(1) {
        text += &constant(&format!("c{i}"), value, ty);
        text += &multiply_add(&format!("p{i}"), &format!("p{}", i - 1), "rest", &format!("c{i}"));
    }
    text += &format!("%square = arith.mulf %rest, %rest : {ty}\n");
    text += &multiply_add("less_one", "p5", "square", "rest");
    text += &format!(
        "%power = arith.addf %less_one, %one : {ty}\n\
         %bits = arith.bitcast %sum : {ty} to {integers}\n%exponent = arith.subi %bits, %rounded : {integers}\n\
         %exponent0 = arith.shrsi %exponent, %halve : {integers}\n%exponent1 = arith.subi %exponent, %exponent0 : {integers}\n"
    );
    for i in 0..2 {
        text += &format!(
            "%biased{i} = arith.addi %exponent{i}, %bias : {integers}\n%shifted{i} = arith.shli %biased{i}, %fraction : {integers}\n\
             %scale{i} = arith.bitcast %shifted{i} : {integers} to {ty}\n"
        );
    }
    text + &format!("%scaled = arith.mulf %power, %scale0 : {ty}\n%r = arith.mulf %scaled, %scale1 : {ty}\n")
}

/// sign(x) (1 - 2 / (exp(2 |x|) + 1)), or x + x^3 P(x^2) for |x| < 0.625. The sign goes on last, so that -0 stays -0.
fn tanh(ty: Type) -> String {
    let mut text = constant("one", "1.0", ty) + &constant("two", "2.0", ty) + &constant("limit", "0.625", ty);
    let coefficients =
        ["-5.70498872745e-3", "2.06390887954e-2", "-5.37397155531e-2", "1.33314422036e-1", "-3.33332819422e-1"];
    for (i, value) in coefficients.iter().enumerate() {
        text += &constant(&format!("c{i}"), value, ty);
    }
    let chosen = condition_and(ty);
    text += &format!(
        "%a = math.absf %x : {ty}\n%z = arith.mulf %a, %a : {ty}\n\
         %p0 = arith.mulf %c0, %z : {ty}\n%q0 = arith.addf %p0, %c1 : {ty}\n\
         %p1 = arith.mulf %q0, %z : {ty}\n%q1 = arith.addf %p1, %c2 : {ty}\n\
         %p2 = arith.mulf %q1, %z : {ty}\n%q2 = arith.addf %p2, %c3 : {ty}\n\
         %p3 = arith.mulf %q2, %z : {ty}\n%q3 = arith.addf %p3, %c4 : {ty}\n\
         %p4 = arith.mulf %q3, %z : {ty}\n%p5 = arith.mulf %p4, %a : {ty}\n%near = arith.addf %p5, %a : {ty}\n\
         %d = arith.addf %a, %a : {ty}\n%e = math.exp %d : {ty}\n%f = arith.addf %e, %one : {ty}\n\
         %g = arith.divf %two, %f : {ty}\n%far = arith.subf %one, %g : {ty}\n\
         %small = arith.cmpf olt, %a, %limit : {ty}\n%m = arith.select %small, %near, %far : {chosen}\n\
         %r = math.copysign %m, %x : {ty}\n"
    );
    text
}

/// The declaration and the calls, one for each element of a vector.
fn expm1(ty: Type, element: &str) -> (String, String) {
    let name = if element == "f32" { "expm1f" } else { "expm1" };
    let declaration = format!("func.func private @{name}({element}) -> {element}");
    let call = |to: &str, from: &str| format!("%{to} = func.call @{name}(%{from}) : ({element}) -> {element}\n");
    let Some(shape) = ty.shape() else { return (declaration, call("r", "x")) };
    let count = shape.iter().flatten().product::<i64>();
    let mut text = format!("%e:{count} = vector.to_elements %x : {ty}\n");
    let mut results = vec![];
    for i in 0..count {
        text += &call(&format!("r{i}"), &format!("e#{i}"));
        results.push(format!("%r{i}"));
    }
    text += &format!("%r = vector.from_elements {} : {ty}\n", results.join(", "));
    (declaration, text)
}

/// pow(x, n) in f64, which holds every 32-bit exponent.
fn fpowi(ty: Type, exponent: Type, element: &str) -> String {
    let wide = ty.to_string().replace(element, "f64");
    let mut text = match exponent.to_string().contains("index") {
        true => {
            let integer = exponent.to_string().replace("index", "i64");
            format!("%i = arith.index_cast %n : {exponent} to {integer}\n%m = arith.sitofp %i : {integer} to {wide}\n")
        }
        false => format!("%m = arith.sitofp %n : {exponent} to {wide}\n"),
    };
    if element == "f64" {
        return text + &format!("%r = math.powf %x, %m : {ty}\n");
    }
    text += &format!("%w = arith.extf %x : {ty} to {wide}\n%p = math.powf %w, %m : {wide}\n");
    text + &format!("%r = arith.truncf %p : {wide} to {ty}\n")
}

/// A comparison of the magnitude with infinity, or of the number with itself.
fn classify(name: &str, ty: Type) -> String {
    let element = ty.element().unwrap_or(ty);
    let infinity = match element.to_string().as_str() {
        "f16" => "0x7C00",
        "bf16" => "0x7F80",
        "f32" => "0x7F800000",
        _ => "0x7FF0000000000000",
    };
    let predicate = match name {
        "math.isnan" => return format!("%r = arith.cmpf uno, %x, %x : {ty}\n"),
        "math.isinf" => "oeq",
        _ => "olt",
    };
    constant("infinity", infinity, ty)
        + &format!("%m = math.absf %x : {ty}\n%r = arith.cmpf {predicate}, %m, %infinity : {ty}\n")
}

/// The upper half of the bits.
fn from_bf16(from: Type, to: Type) -> String {
    let of = |element: &str| from.to_string().replace("bf16", element);
    let (i16s, i32s) = (of("i16"), of("i32"));
    let shift = match to.element() {
        Some(_) => format!("%shift = arith.constant dense<16> : {i32s}\n"),
        None => format!("%shift = arith.constant 16 : {i32s}\n"),
    };
    format!(
        "{shift}%short = arith.bitcast %x : {from} to {i16s}\n%wide = arith.extui %short : {i16s} to {i32s}\n\
         %bits = arith.shli %wide, %shift : {i32s}\n%r = arith.bitcast %bits : {i32s} to {to}\n"
    )
}

/// To nearest, ties to even, subnormals kept, NaN quiet. A double goes through the f32 nearest to it on the side of zero,
/// with its last bit set where that is not exact, so that it does not round twice.
fn to_bf16(from: Type, to: Type) -> String {
    let of = |element: &str| to.to_string().replace("bf16", element);
    let (f32s, i32s, i16s) = (of("f32"), of("i32"), of("i16"));
    let constant = |name: &str, value: &str, ty: &str| match to.element() {
        Some(_) => format!("%{name} = arith.constant dense<{value}> : {ty}\n"),
        None => format!("%{name} = arith.constant {value} : {ty}\n"),
    };
    let select = |ty: &str| if to.element().is_some() { format!("{}, {ty}", of("i1")) } else { ty.to_owned() };
    let mut text = constant("one", "1", &i32s) + &constant("half", "32767", &i32s) + &constant("shift", "16", &i32s);
    text += &constant("nan", "0x7FC0", &i16s);
    if from.to_string() == f32s {
        text += &format!("%bits = arith.bitcast %x : {f32s} to {i32s}\n");
    } else if from.element().unwrap_or(from).is("f64") {
        text += &format!(
            "%y = arith.truncf %x : {from} to {f32s}\n%z = arith.extf %y : {f32s} to {from}\n\
             %near = arith.bitcast %y : {f32s} to {i32s}\n%below = arith.subi %near, %one : {i32s}\n\
             %mx = math.absf %x : {from}\n%mz = math.absf %z : {from}\n%over = arith.cmpf ogt, %mz, %mx : {from}\n\
             %zero = arith.select %over, %below, %near : {0}\n%odd = arith.ori %zero, %one : {i32s}\n\
             %inexact = arith.cmpf one, %mz, %mx : {from}\n%bits = arith.select %inexact, %odd, %near : {0}\n",
            select(&i32s)
        );
    } else {
        text += &format!("%y = arith.extf %x : {from} to {f32s}\n%bits = arith.bitcast %y : {f32s} to {i32s}\n");
    }
    text + &format!(
        "%high = arith.shrui %bits, %shift : {i32s}\n%last = arith.andi %high, %one : {i32s}\n\
         %up = arith.addi %last, %half : {i32s}\n%sum = arith.addi %bits, %up : {i32s}\n\
         %top = arith.shrui %sum, %shift : {i32s}\n%short = arith.trunci %top : {i32s} to {i16s}\n\
         %unordered = arith.cmpf uno, %x, %x : {from}\n%chosen = arith.select %unordered, %nan, %short : {}\n\
         %r = arith.bitcast %chosen : {i16s} to {to}\n",
        select(&i16s)
    )
}
