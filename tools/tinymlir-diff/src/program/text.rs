//! Forms as MLIR: bodies of functions of `%x0`, `%x1` and so on.

use super::{Constant, Fill, Form, Tiles};
use crate::interpret::{Array, Data, fill};
use std::fmt::Write;
use tinymlir::{DType, frontend::Type};

/// The body of a function that computes `form`, and what the module holds beside it. Names of the latter begin with `name`.
pub fn text(form: &Form, name: &str, operands: &[Type], result: &Type) -> (String, String) {
    let r = result.mlir();
    let (mut globals, mut body) = (String::new(), String::new());
    let at = operands.first().unwrap_or(result);
    let (t, dtype) = (at.mlir(), at.dtype);
    let line = |body: &mut String, text: String| {
        let _ = writeln!(body, "{text}");
    };
    match form {
        Form::Pad { low, high, value } => {
            let indices: Vec<String> = (0..low.len()).map(|i| format!("%i{i}: index")).collect();
            line(&mut body, number("v", dtype, *value));
            line(
                &mut body,
                format!(
                    "%r = tensor.pad %x0 low[{}] high[{}] {{\n^bb0({}):\n  tensor.yield %v : {dtype}\n}} : {t} to {r}",
                    join(low),
                    join(high),
                    indices.join(", ")
                ),
            );
        }
        Form::Pack { tiles, value } => {
            line(&mut body, number("v", dtype, *value));
            line(&mut body, format!("%e = tensor.empty() : {r}"));
            line(
                &mut body,
                format!("%r = linalg.pack %x0 padding_value(%v : {dtype}) {} into %e : {t} -> {r}", tiling(tiles)),
            );
        }
        Form::Unpack { tiles, .. } => {
            line(&mut body, format!("%e = tensor.empty() : {r}"));
            line(&mut body, format!("%r = linalg.unpack %x0 {} into %e : {t} -> {r}", tiling(tiles)));
        }
        Form::ComplexProduct { imaginary } => {
            let complex = format!("complex<{dtype}>");
            let sizes: String = at.shape.iter().map(|n| format!("{n}x")).collect();
            let c = format!("tensor<{sizes}{complex}>");
            let make = format!("complex.create %p, %q : {complex}");
            let part = if *imaginary { "im" } else { "re" };
            body += &map("a", &["%x0", "%x1"], at, (&t, &dtype.to_string()), (&c, &complex), &make);
            body += &map("b", &["%x2", "%x3"], at, (&t, &dtype.to_string()), (&c, &complex), &make);
            body += &map(
                "c",
                &["%a", "%b"],
                at,
                (&c, &complex),
                (&c, &complex),
                &format!("complex.mul %p, %q : {complex}"),
            );
            let take = format!("complex.{part} %p : {complex}");
            body += &map("r", &["%c"], at, (&c, &complex), (&t, &dtype.to_string()), &take);
        }
        Form::Constant { kind, seed, .. } => {
            let elements = elements(&fill(result.clone(), *seed, Fill::Grid));
            match kind {
                Constant::Dense => line(&mut body, format!("%r = arith.constant dense<{elements}> : {r}")),
                Constant::Global => {
                    let m = r.replacen("tensor", "memref", 1);
                    let _ = writeln!(globals, "memref.global \"private\" constant @{name} : {m} = dense<{elements}>");
                    line(&mut body, format!("%m = memref.get_global @{name} : {m}"));
                    line(&mut body, format!("%r = bufferization.to_tensor %m restrict : {m} to {r}"));
                }
            }
        }
        Form::Cumulate => {
            let (add, rows) = (add(dtype), Rows::of(at));
            let zero = if dtype.is_float() { "0.0" } else { "0" };
            let row = &rows.ty;
            line(&mut body, rows.bounds());
            line(&mut body, format!("%e = tensor.empty() : {t}\n%z = arith.constant dense<{zero}> : {row}"));
            line(
                &mut body,
                format!("%l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%o = %e, %s = %z) -> ({t}, {row}) {{"),
            );
            line(&mut body, format!("  %y = {}", rows.extract("%x0")));
            line(
                &mut body,
                format!("  %w = {add} %s, %y : {row}\n  %u = {}", rows.insert("tensor.insert_slice", "%w", "%o")),
            );
            line(&mut body, format!("  scf.yield %u, %w : {t}, {row}\n}}"));
            return (body + &format!("return %l#0 : {r}\n"), globals);
        }
        Form::Rows => {
            let (add, rows) = (add(dtype), Rows::of(at));
            line(&mut body, rows.bounds());
            line(&mut body, format!("%e = tensor.empty() : {t}"));
            line(&mut body, format!("%r = scf.forall (%i) in ({}) shared_outs(%o = %e) -> ({t}) {{", at.shape[0]));
            line(&mut body, format!("  %y = {}\n  %w = {add} %y, %y : {}", rows.extract("%x0"), rows.ty));
            line(
                &mut body,
                format!("  scf.forall.in_parallel {{\n    {}", rows.insert("tensor.parallel_insert_slice", "%w", "%o")),
            );
            line(&mut body, "  }\n}".into());
        }
        Form::While => {
            let (n, int) = (operands[1].mlir(), operands[1].dtype);
            line(
                &mut body,
                format!(
                    "%n = tensor.extract %x1[] : {n}\n%z = arith.constant 0 : {int}\n%one = arith.constant 1 : {int}"
                ),
            );
            line(&mut body, format!("%l:2 = scf.while (%y = %x0, %i = %z) : ({t}, {int}) -> ({t}, {int}) {{"));
            line(
                &mut body,
                format!("  %c = arith.cmpi slt, %i, %n : {int}\n  scf.condition(%c) %y, %i : {t}, {int}\n}} do {{"),
            );
            line(&mut body, format!("^bb0(%v: {t}, %j: {int}):\n  %w = {} %v, %x0 : {t}", add(dtype)));
            line(&mut body, format!("  %k = arith.addi %j, %one : {int}\n  scf.yield %w, %k : {t}, {int}\n}}"));
            return (body + &format!("return %l#0 : {r}\n"), globals);
        }
        Form::If => {
            let places = vec!["%c0"; at.shape.len()].join(", ");
            line(&mut body, format!("%c0 = arith.constant 0 : index\n%p = tensor.extract %x0[{places}] : {t}"));
            line(&mut body, format!("%r = scf.if %p -> ({r}) {{\n  %s = {} %x1, %x2 : {r}", add(result.dtype)));
            line(&mut body, format!("  scf.yield %s : {r}\n}} else {{\n  scf.yield %x1 : {r}\n}}"));
        }
        Form::Assert { least } => {
            let (element, check) = (dtype.to_string(), "arith.cmpi sge, %p, %low");
            line(&mut body, format!("%low = arith.constant {least} : {dtype}"));
            let inner = format!("arith.ori %p, %p : {dtype}");
            let assert = format!("  %ok = {check} : {dtype}\n  cf.assert %ok, \"an element is too small\"\n");
            let text = map("r", &["%x0"], at, (&t, &element), (&t, &element), &inner);
            body += &text.replacen("  %w = ", &format!("{assert}  %w = "), 1);
        }
    }
    (body + &format!("return %r : {r}\n"), globals)
}

fn add(dtype: DType) -> &'static str {
    if dtype.is_float() { "arith.addf" } else { "arith.addi" }
}

fn number(name: &str, dtype: DType, value: f64) -> String {
    match dtype {
        d if d.is_float() => format!("%{name} = arith.constant {value:?} : {dtype}"),
        DType::I1 => format!("%{name} = arith.constant {}", value != 0.0),
        _ => format!("%{name} = arith.constant {} : {dtype}", value as i64),
    }
}

fn join(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn tiling(tiles: &Tiles) -> String {
    let Tiles { dims, sizes, outer } = tiles;
    format!("outer_dims_perm = [{}] inner_dims_pos = [{}] inner_tiles = [{}]", join(outer), join(dims), join(sizes))
}

/// `%name`, a generic of one result over operands of one shape, whose elements are `%p` and `%q`. Types are a tensor and its element.
fn map(name: &str, operands: &[&str], shape: &Type, from: (&str, &str), to: (&str, &str), op: &str) -> String {
    let dims: Vec<String> = (0..shape.shape.len()).map(|i| format!("d{i}")).collect();
    let maps = vec![format!("affine_map<({0}) -> ({0})>", dims.join(", ")); operands.len() + 1].join(", ");
    let parallel = vec!["\"parallel\""; dims.len()].join(", ");
    let types = vec![from.0; operands.len()].join(", ");
    let arguments: Vec<String> = ["%p", "%q"][..operands.len()]
        .iter()
        .map(|a| format!("{a}: {}", from.1))
        .chain([format!("%old: {}", to.1)])
        .collect();
    format!(
        "%e_{name} = tensor.empty() : {}\n%{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{parallel}]}} \
         ins({} : {types}) outs(%e_{name} : {}) {{\n^bb0({}):\n  %w = {op}\n  linalg.yield %w : {}\n}} -> {}\n",
        to.0,
        operands.join(", "),
        to.0,
        arguments.join(", "),
        to.1,
        to.0
    )
}

/// The rows of a tensor, along its first dimension.
struct Rows<'a> {
    whole: &'a Type,
    ty: String,
}

impl Rows<'_> {
    fn of(whole: &Type) -> Rows<'_> {
        Rows { whole, ty: Type::new(whole.dtype, &whole.shape[1..]).mlir() }
    }

    fn bounds(&self) -> String {
        format!(
            "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%n = arith.constant {} : index",
            self.whole.shape[0]
        )
    }

    /// Offsets, sizes and strides of row `%i`.
    fn place(&self) -> String {
        let rest = &self.whole.shape[1..];
        let zeros: String = rest.iter().map(|_| ", 0").collect();
        let sizes: String = rest.iter().map(|n| format!(", {n}")).collect();
        let ones: String = rest.iter().map(|_| ", 1").collect();
        format!("[%i{zeros}] [1{sizes}] [1{ones}]")
    }

    fn extract(&self, from: &str) -> String {
        format!("tensor.extract_slice {from}{} : {} to {}", self.place(), self.whole.mlir(), self.ty)
    }

    fn insert(&self, op: &str, row: &str, into: &str) -> String {
        format!("{op} {row} into {into}{} : {} into {}", self.place(), self.ty, self.whole.mlir())
    }
}

/// The elements as `dense` lists them.
fn elements(array: &Array) -> String {
    let texts: Vec<String> = match &array.data {
        Data::Float(v) => v.iter().map(|x| format!("{:?}", x.lowest())).collect(),
        Data::Int(v) if array.ty.dtype == DType::I1 => v.iter().map(|x| (*x == Some(1)).to_string()).collect(),
        Data::Int(v) => v.iter().map(|x| x.unwrap_or(0).to_string()).collect(),
    };
    fn nested(shape: &[usize], texts: &[String]) -> String {
        match shape {
            [] => texts[0].clone(),
            [n, rest @ ..] => {
                let size = texts.len() / n;
                let parts: Vec<String> = texts.chunks(size).map(|part| nested(rest, part)).collect();
                format!("[{}]", parts.join(", "))
            }
        }
    }
    if texts.is_empty() { String::new() } else { nested(&array.ty.shape, &texts) }
}
