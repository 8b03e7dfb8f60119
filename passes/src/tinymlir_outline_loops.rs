//! `tinymlir-outline-loops`: linalg operations and parallel loops become calls of functions, equal ones of the same function.
//!
//! Twelve equal layers hold every loop nest twelve times, and a compiler's time grows faster than the size of a function.
//! This moves each linalg operation on memrefs and each `scf.forall` into a private function of the values that it uses;
//! those that differ in nothing but these values share one. Constants move along, so that they stay visible where they fold. Runs on bufferized
//! functions after contractions have been substituted and before linalg becomes loops.
//!
//! A buffer that the function around allocates, and that no other argument is a view of, is marked `tinymlir.distinct`.
//!
//! It leaves alone operations inside a `gpu.module` or inside a region of another such operation, and whole functions
//! that hold a single operation, where nothing would be gained.

use crate::{
    captures::{captured, rewire},
    device::source,
    ir::{Attr, Op, Pass, PassCx, PassResult, Value},
    tinymlir_hoist_accumulators::DISTINCT,
};
use std::collections::{HashMap, HashSet};

pub static PASS: Pass = Pass {
    argument: "tinymlir-outline-loops",
    description: "Move linalg operations and parallel loops into functions that equal ones share",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("operations", "Operations that became calls"), ("functions", "Functions that were made")],
    dialects: &[mlir_sys::mlirGetDialectHandle__func__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    // From the text of a function, and the place of what it may complain about, to its name.
    let mut functions: HashMap<(String, String), String> = HashMap::new();
    let mut taken: HashSet<String> = module.body().into_iter().filter_map(|op| op.symbol()).collect();
    for function in module.body().into_iter().filter(|op| op.is("func.func")) {
        let ops: Vec<Op> = function.walk().into_iter().filter(|op| outlinable(*op)).collect();
        if ops.len() < 2 {
            continue;
        }
        for op in ops {
            let inside = op.walk();
            let inputs = captured(&inside, &inside);
            let base = base_name(op);
            let name =
                std::iter::once(base.clone()).chain((0..).map(|i| format!("{base}_{i}"))).find(|n| !taken.contains(n));
            let name = name.unwrap_or(base);
            let outlined = cx.check(op, outline(module, op, &inputs, &name))?;
            let place = outlined.find(&["cf.assert"]).iter().map(|a| a.loc().to_string()).collect();
            let key = (outlined.to_string().replacen(&format!("@{name}("), "@(", 1), place);
            let name = match functions.get(&key) {
                Some(shared) => {
                    outlined.erase();
                    shared.clone()
                }
                None => {
                    cx.count("functions");
                    taken.insert(name.clone());
                    functions.insert(key, name.clone());
                    name
                }
            };
            cx.check(op, call(op, &inputs, &name))?;
            cx.count("operations");
        }
    }
    Ok(())
}

/// A linalg operation or an `scf.forall` without results, in host code, inside no other one.
fn outlinable(op: Op) -> bool {
    let is_loop = |op: Op| op.is_linalg() || op.is("scf.forall");
    let inside_another = || std::iter::successors(op.parent(), |p| p.parent()).any(is_loop);
    is_loop(op)
        && op.results().is_empty()
        && op.operands().iter().all(|v| !v.ty().is_tensor())
        && !inside_another()
        && op.parent_named("gpu.launch").is_none()
}

/// The operation and what its body computes, as far as a name of reasonable length goes.
fn base_name(op: Op) -> String {
    let body: Vec<String> = op
        .walk()
        .into_iter()
        .skip(1)
        .map(|inner| inner.name())
        .filter(|name| name.starts_with("math.") || name.starts_with("arith."))
        .filter_map(|name| name.split_once('.').map(|(_, op)| op.to_string()))
        .take(3)
        .collect();
    let (_, kind) = op.name().split_once('.').map_or((String::new(), op.name()), |(d, n)| (d.into(), n.into()));
    std::iter::once(kind).chain(body).collect::<Vec<_>>().join("_")
}

/// Makes a function of `inputs` around a copy of `op`.
fn outline(module: Op, op: Op, inputs: &[Value], name: &str) -> Result<Op, String> {
    let parameters: Vec<_> = inputs.iter().enumerate().map(|(i, v)| format!("%a{i}: {}", v.ty())).collect();
    let function = module.define(&format!(
        "func.func private @{name}({}) attributes {{passthrough = [\"noinline\"]}} {{ return }}",
        parameters.join(", ")
    ))?;
    function.set_loc(op.loc());
    for (i, input) in inputs.iter().enumerate().filter(|(_, v)| v.ty().is_memref()) {
        let root = source(*input);
        let others = inputs.iter().enumerate().filter(|(j, v)| *j != i && source(**v) == root).count();
        if others == 0 && root.def().is_some_and(|d| d.is("memref.alloc") || d.is("memref.alloca")) {
            function.set_arg_attr(i, DISTINCT, Attr::unit(module.ctx()));
        }
    }
    let entry = function.blocks(0).first().copied().ok_or("internal error: an outlined function is empty")?;
    let arguments = entry.arguments();
    let copy = op.clone_before(entry.terminator());
    rewire(&copy.walk(), inputs, &arguments, copy);
    Ok(function)
}

/// Replaces `op` by a call.
fn call(op: Op, inputs: &[Value], name: &str) -> Result<(), String> {
    let names: Vec<String> = (0..inputs.len()).map(|i| format!("a{i}")).collect();
    let types = inputs.iter().map(|v| v.ty().to_string()).collect::<Vec<_>>().join(", ");
    let arguments = names.iter().map(|n| format!("%{n}")).collect::<Vec<_>>().join(", ");
    let pairs: Vec<_> = names.iter().map(String::as_str).zip(inputs.iter().copied()).collect();
    let declaration = format!("func.func private @{name}({types})");
    op.build_before(&pairs, &declaration, &format!("func.call @{name}({arguments}) : ({types}) -> ()"))?;
    op.erase();
    Ok(())
}
