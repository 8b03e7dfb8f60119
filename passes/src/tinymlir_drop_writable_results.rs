//! `tinymlir-drop-writable-results`: an array that is updated in place is not returned as well.
//!
//! A function that takes a cache and returns the updated one ends, after bufferization, in returning its own argument.
//! Deallocation would clone that buffer, since a result belongs to the caller; upstream's `drop-equivalent-buffer-results`
//! skips public functions. This drops each result that is an argument marked `tinymlir.writable`, and writes to
//! `tinymlir.results` what each original result is: the number of such an argument, or -1 for the next result that
//! remains. Calls inside the module use the argument instead. Runs after bufferization and before deallocation.
//! It refuses nothing: a result that is such an argument on some paths only is left, and cloned.

use crate::ir::{Attr, Op, Pass, PassCx, PassResult, Type, Value};

pub static PASS: Pass = Pass {
    argument: "tinymlir-drop-writable-results",
    description: "Drop results that are writable arguments themselves, and record which",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("dropped", "Results that were dropped")],
    dialects: &[mlir_sys::mlirGetDialectHandle__func__, mlir_sys::mlirGetDialectHandle__memref__],
    run,
};

/// The attribute on a function: for each original result the argument that it is, or -1.
pub const RESULTS: &str = "tinymlir.results";

fn run(cx: &PassCx, module: Op) -> PassResult {
    for function in module.body().into_iter().filter(|op| op.is("func.func")) {
        let mapping = mapping(function);
        if mapping.iter().all(Option::is_none) {
            continue;
        }
        let keep = |values: Vec<Value>| -> Vec<Value> {
            values.into_iter().zip(&mapping).filter(|(_, m)| m.is_none()).map(|(v, _)| v).collect()
        };
        for block in function.blocks(0) {
            let terminator = block.terminator();
            if terminator.is("func.return") {
                terminator.set_operands(&keep(terminator.operands()));
            }
        }
        cx.check(function, retype(function, &mapping))?;
        let name = function.symbol().unwrap_or_default();
        for call in module.find(&["func.call"]) {
            if call.attr("callee").and_then(|c| c.as_symbol()).as_deref() == Some(&name) {
                cx.check(call, update_call(call, function, &name, &mapping))?;
            }
        }
        mapping.iter().flatten().for_each(|_| cx.count("dropped"));
    }
    Ok(())
}

/// For each result the writable argument that every return gives for it.
fn mapping(function: Op) -> Vec<Option<usize>> {
    let blocks = function.blocks(0);
    let Some(entry) = blocks.first() else { return vec![] };
    let returned: Vec<Vec<Option<usize>>> = blocks
        .iter()
        .map(|b| b.terminator())
        .filter(|t| t.is("func.return"))
        .map(|t| {
            t.operands()
                .into_iter()
                .map(|value| {
                    let argument =
                        source(value).block_argument().filter(|(block, _)| block == entry).map(|(_, i)| i)?;
                    let same = entry.arguments()[argument].ty() == value.ty();
                    (same && function.arg_attr(argument, "tinymlir.writable").is_some()).then_some(argument)
                })
                .collect()
        })
        .collect();
    let Some(first) = returned.first() else { return vec![] };
    (0..first.len()).map(|i| first[i].filter(|_| returned.iter().all(|r| r[i] == first[i]))).collect()
}

/// The value that a chain of casts starts from.
fn source(value: Value) -> Value {
    match value.def() {
        Some(def) if def.is("memref.cast") => source(def.operand(0)),
        _ => value,
    }
}

fn retype(function: Op, mapping: &[Option<usize>]) -> Result<(), String> {
    let ctx = function.ctx();
    let ty = function.attr("function_type").and_then(|t| t.as_type()).and_then(|t| t.function());
    let (inputs, results) = ty.ok_or("internal error: a function without a type")?;
    let list = |types: &[Type]| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    let kept: Vec<Type> = results.into_iter().zip(mapping).filter(|(_, m)| m.is_none()).map(|(t, _)| t).collect();
    let ty = Type::parse(ctx, &format!("({}) -> ({})", list(&inputs), list(&kept)))
        .ok_or("internal error: a function type")?;
    function.set_attr("function_type", Attr::of_type(ty));
    if let Some(attributes) = function.attr("res_attrs").and_then(|a| a.elements()) {
        let kept: Vec<Attr> =
            attributes.into_iter().zip(mapping).filter(|(_, m)| m.is_none()).map(|(a, _)| a).collect();
        function.set_attr("res_attrs", Attr::array(ctx, &kept));
    }
    let numbers: Vec<String> = mapping.iter().map(|m| m.map_or("-1".into(), |i| i.to_string())).collect();
    let record =
        Attr::parse(ctx, &format!("[{}]", numbers.join(", "))).ok_or("internal error: an array of integers")?;
    function.set_attr(RESULTS, record);
    Ok(())
}

/// Replaces a call by one with fewer results.
fn update_call(call: Op, function: Op, name: &str, mapping: &[Option<usize>]) -> Result<(), String> {
    let operands = call.operands();
    let kept: Vec<Value> =
        call.results().into_iter().zip(mapping).filter(|(_, m)| m.is_none()).map(|(v, _)| v).collect();
    let names: Vec<String> = (0..operands.len()).map(|i| format!("a{i}")).collect();
    let types = |values: &[Value]| values.iter().map(|v| v.ty().to_string()).collect::<Vec<_>>().join(", ");
    let signature = format!("({}) -> ({})", types(&operands), types(&kept));
    let arguments = names.iter().map(|n| format!("%{n}")).collect::<Vec<_>>().join(", ");
    let text = if kept.is_empty() {
        format!("func.call @{name}({arguments}) : {signature}")
    } else {
        let values = (0..kept.len()).map(|i| format!("%r#{i}")).collect::<Vec<_>>().join(", ");
        format!("%r:{} = func.call @{name}({arguments}) : {signature}\nreturn {values} : {}", kept.len(), types(&kept))
    };
    let inputs: Vec<_> = names.iter().map(String::as_str).zip(operands.iter().copied()).collect();
    let declaration = format!(
        "func.func private @{name}{}",
        function.attr("function_type").map(|t| t.to_string()).unwrap_or_default()
    );
    let mut fresh = call.build_before(&inputs, &declaration, &text)?.into_iter();
    let replacement: Vec<Value> =
        mapping.iter().filter_map(|m| m.map(|argument| operands[argument]).or_else(|| fresh.next())).collect();
    call.replace_with(&replacement);
    Ok(())
}
