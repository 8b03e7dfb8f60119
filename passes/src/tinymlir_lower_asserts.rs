//! `tinymlir-lower-asserts`: a failed `cf.assert` ends the program with its message and place.
//!
//! Upstream lowers it to a print and `abort()`, which loses the text where the output is a pipe and leaves a core dump.
//! On the host this makes it a call of the runtime's `tinymlir_fail(pointer, length)`, which prints
//! `error: file:line:column: message` and exits with code 1. Assertions inside a `gpu.module` are left to the device's
//! own lowering. Runs after linalg has become loops. It refuses nothing.

use crate::ir::{Op, Pass, PassCx, PassResult};
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

const FAIL: &str = "func.func private @tinymlir_fail(!llvm.ptr, i64)";

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut globals: HashMap<String, String> = HashMap::new();
    for op in module.find(&["cf.assert"]) {
        if op.parent_named("gpu.module").is_some() || op.parent_named("gpu.launch").is_some() {
            continue;
        }
        let message = op.attr("msg").and_then(|m| m.as_str()).unwrap_or_default();
        let place = op.loc().file().map(|(f, l, c)| format!("{f}:{l}:{c}: ")).unwrap_or_default();
        let text = format!("{place}{message}");
        let fresh = !globals.contains_key(&text);
        let name = globals.entry(text.clone()).or_insert_with(|| module.unique_symbol("tinymlir_message")).clone();
        let global = global(&name, &text);
        if fresh {
            cx.check(op, module.declare(&global))?;
            cx.check(op, module.declare(FAIL))?;
        }
        let body = format!(
            "%true = arith.constant true\n%bad = arith.xori %ok, %true : i1\nscf.if %bad {{\n\
             %text = llvm.mlir.addressof @{name} : !llvm.ptr\n%length = arith.constant {} : i64\n\
             func.call @tinymlir_fail(%text, %length) : (!llvm.ptr, i64) -> ()\n}}",
            text.len()
        );
        cx.check(op, op.build_before(&[("ok", op.operand(0))], &format!("{global}\n{FAIL}"), &body))?;
        op.erase();
    }
    Ok(())
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
