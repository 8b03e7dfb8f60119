//! `tinymlir-lower-asserts`: a failed `cf.assert` ends the program with its message and place.
//!
//! Upstream lowers it to a print and `abort()`, which loses the text where the output is a pipe and leaves a core dump.
//! On the host this makes it a call of the runtime's `tinymlir_fail(pointer, length)`, which prints
//! `error: file:line:column: message` and exits with code 1. `{0}` and `{1}` in a message stand for the two indices that the
//! condition compares, and go to `tinymlir_fail_values` with it. Assertions of a kernel are left to the device's own
//! lowering, which knows no values: the part of the message that would hold them is cut off. Runs after linalg has become
//! loops. It refuses nothing.

use crate::ir::{Attr, Op, Pass, PassCx, PassResult, Value};
use mlir_sys::*;
use std::collections::HashMap;

pub static PASS: Pass = Pass {
    argument: "tinymlir-lower-asserts",
    description: "Lower cf.assert on the host to a call that reports its message and location",
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

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut globals: HashMap<String, String> = HashMap::new();
    for op in module.find(&["cf.assert"]) {
        let message = op.attr("msg").and_then(|m| m.as_str()).unwrap_or_default();
        if op.parent_named("gpu.module").is_some() || op.parent_named("gpu.launch").is_some() {
            op.set_attr("msg", Attr::string(module.ctx(), &without_values(&message)));
            continue;
        }
        let comparison = compared(op.operand(0)).filter(|_| message.contains("{0}"));
        let message = if comparison.is_some() { message } else { without_values(&message) };
        let place = op.loc().file().map(|(f, l, c)| format!("{f}:{l}:{c}: ")).unwrap_or_default();
        let text = format!("{place}{message}");
        let fresh = !globals.contains_key(&text);
        let name = globals.entry(text.clone()).or_insert_with(|| module.unique_symbol("tinymlir_message")).clone();
        let global = global(&name, &text);
        if fresh {
            cx.check(op, module.declare(&global))?;
            cx.check(op, module.declare(FAIL))?;
        }
        let mut inputs = vec![("ok", op.operand(0))];
        let call = match comparison {
            None => "func.call @tinymlir_fail(%text, %length) : (!llvm.ptr, i64) -> ()",
            Some((a, b)) => {
                inputs.extend([("a", a), ("b", b)]);
                "%x = arith.index_cast %a : index to i64\n%y = arith.index_cast %b : index to i64\n\
                 func.call @tinymlir_fail_values(%text, %length, %x, %y) : (!llvm.ptr, i64, i64, i64) -> ()"
            }
        };
        let body = format!(
            "%true = arith.constant true\n%bad = arith.xori %ok, %true : i1\nscf.if %bad {{\n\
             %text = llvm.mlir.addressof @{name} : !llvm.ptr\n%length = arith.constant {} : i64\n{call}\n}}",
            text.len()
        );
        cx.check(op, op.build_before(&inputs, &format!("{global}\n{FAIL}"), &body))?;
        op.erase();
    }
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

/// A constant of the message's bytes.
fn global(name: &str, text: &str) -> String {
    let escaped: String = text
        .bytes()
        .map(|b| if b.is_ascii_graphic() && b != b'"' && b != b'\\' || b == b' ' { (b as char).to_string() } else { format!("\\{b:02X}") })
        .collect();
    format!(
        "llvm.mlir.global private constant @{name}(\"{escaped}\") {{addr_space = 0 : i32}} : !llvm.array<{} x i8>",
        text.len()
    )
}
