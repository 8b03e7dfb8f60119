//! `tinymlir-lower-asserts`: a failed `cf.assert` ends the program with its message and place.
//!
//! Upstream lowers it to a print and `abort()`, which loses the text where the output is a pipe and leaves a core dump.
//! On the host this makes it a call of the runtime's `tinymlir_fail(pointer, length)`, which prints
//! `error: file:line:column: message` and exits with code 1. `{0}` and `{1}` in a message stand for the two indices that the
//! condition compares, and go to `tinymlir_fail_values` with it.
//!
//! A kernel module gets two globals for the runtime. `tinymlir_messages` holds the same texts, each ended by a zero byte.
//! `tinymlir_failure` is three words of 64 bits: the address of a report in host memory and the code of the first message, which
//! the runtime fills in when it loads the module, and a lock. The first thread that fails writes the code of its message and the
//! two values to the report, and traps. Runs after linalg has become loops. It refuses nothing.

use crate::ir::{Op, Pass, PassCx, PassResult, Value};
use mlir_sys::*;
use std::collections::HashMap;

pub static PASS: Pass = Pass {
    argument: "tinymlir-lower-asserts",
    description: "Lower cf.assert to a call that reports its message and location",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__llvm__,
        mlirGetDialectHandle__scf__,
    ],
    run,
};

/// What does not return lets LLVM move a check out of a loop.
const FAIL: &str = "func.func private @tinymlir_fail(!llvm.ptr, i64) attributes {passthrough = [\"noreturn\", \"cold\"]}\n\
    func.func private @tinymlir_fail_values(!llvm.ptr, i64, i64, i64) attributes {passthrough = [\"noreturn\", \"cold\"]}";

/// What the first thread that fails does; the others end.
const FAIL_IN_KERNEL: &str = "
llvm.mlir.global external @tinymlir_failure(dense<0> : tensor<3xi64>) {addr_space = 1 : i32} : !llvm.array<3 x i64>
llvm.func internal @tinymlir_fail(%index: i64, %a: i64, %b: i64) attributes {no_inline, passthrough = [\"cold\"]} {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %state = llvm.mlir.addressof @tinymlir_failure : !llvm.ptr<1>
  %lock = llvm.getelementptr inbounds %state[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %taken = llvm.cmpxchg %lock, %zero, %one monotonic monotonic : !llvm.ptr<1>, i64
  %first = llvm.extractvalue %taken[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %first, ^first, ^other
^first:
  %address = llvm.load %state : !llvm.ptr<1> -> i64
  %known = llvm.icmp \"ne\" %address, %zero : i64
  llvm.cond_br %known, ^report, ^trap
^report:
  %base_at = llvm.getelementptr inbounds %state[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %base = llvm.load %base_at : !llvm.ptr<1> -> i64
  %code = llvm.add %base, %index : i64
  %report = llvm.inttoptr %address : i64 to !llvm.ptr
  %a_at = llvm.getelementptr %report[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %b_at = llvm.getelementptr %report[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store volatile %a, %a_at : i64, !llvm.ptr
  llvm.store volatile %b, %b_at : i64, !llvm.ptr
  llvm.fence seq_cst
  llvm.store volatile %code, %report : i64, !llvm.ptr
  llvm.fence seq_cst
  llvm.br ^trap
^trap:
  \"llvm.intr.trap\"() : () -> ()
  llvm.unreachable
^other:
  llvm.inline_asm has_side_effects \"exit;\", \"\" : () -> ()
  llvm.unreachable
}";

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut globals: HashMap<String, Vec<(Op, String)>> = HashMap::new();
    for op in module.find(&["cf.assert"]) {
        let module = op.parent_named("builtin.module").unwrap_or(module);
        if op.parent_named("gpu.module").is_some() {
            continue;
        }
        let (text, comparison) = text(op);
        let holders = globals.entry(text.clone()).or_default();
        let known = holders.iter().find(|(holder, _)| *holder == module).map(|(_, name)| name.clone());
        let fresh = known.is_none();
        let name = known.unwrap_or_else(|| module.unique_symbol("tinymlir_message"));
        let global = format!(
            "llvm.mlir.global private constant @{name}(\"{}\") {{addr_space = 0 : i32}} : !llvm.array<{} x i8>",
            escaped(&text),
            text.len()
        );
        if fresh {
            holders.push((module, name.clone()));
            cx.check(op, module.declare(&global))?;
            cx.check(op, module.declare(FAIL))?;
        }
        let call = match comparison {
            None => "func.call @tinymlir_fail(%text, %length) : (!llvm.ptr, i64) -> ()",
            Some(_) => "func.call @tinymlir_fail_values(%text, %length, %x, %y) : (!llvm.ptr, i64, i64, i64) -> ()",
        };
        let place =
            format!("%text = llvm.mlir.addressof @{name} : !llvm.ptr\n%length = arith.constant {} : i64", text.len());
        replace(cx, op, comparison, &format!("{global}\n{FAIL}"), &format!("{place}\n{call}"))?;
    }
    for kernels in module.find(&["gpu.module"]) {
        let mut texts: Vec<String> = vec![];
        for op in kernels.find(&["cf.assert"]) {
            let (text, comparison) = text(op);
            let index = texts.iter().position(|t| *t == text).unwrap_or(texts.len());
            if index == texts.len() {
                texts.push(text);
            }
            let values = if comparison.is_some() { "%x, %y" } else { "%index, %index" };
            let call = format!(
                "%index = arith.constant {index} : i64\nllvm.call @tinymlir_fail(%index, {values}) : (i64, i64, i64) -> ()"
            );
            replace(cx, op, comparison, "llvm.func @tinymlir_fail(i64, i64, i64)", &call)?;
        }
        if !texts.is_empty() {
            let all: String = texts.iter().map(|text| escaped(text) + "\\00").collect();
            let bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
            let messages = format!(
                "llvm.mlir.global external constant @tinymlir_messages(\"{all}\") {{addr_space = 1 : i32}} : !llvm.array<{bytes} x i8>"
            );
            cx.check(kernels, kernels.declare(&format!("{messages}\n{FAIL_IN_KERNEL}")))?;
        }
    }
    Ok(())
}

/// What a failed assertion says, with its place in front, and the values that it names.
fn text(op: Op) -> (String, Option<(Value, Value)>) {
    let message = op.attr("msg").and_then(|m| m.as_str()).unwrap_or_default();
    let comparison = compared(op.operand(0)).filter(|_| message.contains("{0}"));
    let message = if comparison.is_some() { message } else { without_values(&message) };
    let place = op.loc().file().map(|(f, l, c)| format!("{f}:{l}:{c}: ")).unwrap_or_default();
    (format!("{place}{message}"), comparison)
}

/// Puts `call`, text over `%x` and `%y` where values are compared, in the place of an assertion, for when it fails.
fn replace(cx: &PassCx, op: Op, comparison: Option<(Value, Value)>, declarations: &str, call: &str) -> PassResult {
    let mut inputs = vec![("ok", op.operand(0))];
    let mut casts = "";
    if let Some((a, b)) = comparison {
        inputs.extend([("a", a), ("b", b)]);
        casts = "%x = arith.index_cast %a : index to i64\n%y = arith.index_cast %b : index to i64\n";
    }
    let body =
        format!("%true = arith.constant true\n%bad = arith.xori %ok, %true : i1\nscf.if %bad {{\n{casts}{call}\n}}");
    cx.check(op, op.build_before(&inputs, declarations, &body))?;
    op.erase();
    Ok(())
}

/// The two indices that a condition compares.
fn compared(condition: Value) -> Option<(Value, Value)> {
    let comparison = condition.def().filter(|def| def.is("arith.cmpi"))?;
    let (a, b) = (comparison.operand(0), comparison.operand(1));
    a.ty().is("index").then_some((a, b))
}

/// A message for where values cannot be told: without what follows the last colon before the first place of a value.
fn without_values(message: &str) -> String {
    match message.split_once("{0}") {
        Some((before, _)) => before.rsplit_once(':').map_or(before, |(fact, _)| fact).trim_end().into(),
        None => message.into(),
    }
}

/// The bytes of a text in a string of MLIR.
fn escaped(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_graphic() && b != b'"' && b != b'\\' || b == b' ';
    text.bytes().map(|b| if plain(b) { (b as char).to_string() } else { format!("\\{b:02X}") }).collect()
}
