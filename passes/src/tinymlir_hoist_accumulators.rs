//! `tinymlir-hoist-accumulators`: a sum over a sequential loop stays in a register.
//!
//! Linalg's loops load and store the output in every iteration of a reduction, and LLVM cannot keep it in a register, since
//! another buffer might be the same memory. Here it is known: where the buffer is an allocation of the function, and
//! everything else that the loop touches is another one or an argument, or where it is an argument marked
//! `tinymlir.distinct` (by `tinymlir-outline-loops`: no other one is the same memory), the element is loaded before the loop, carried
//! through it, and stored after. Runs in outline once linalg has become loops, innermost loops first.
//!
//! It leaves a loop alone in which the buffer is touched otherwise, the access is conditional, or an operation is unknown.

use crate::{
    device::source,
    ir::{Op, Pass, PassCx, PassResult, Type, Value},
};
use mlir_sys::*;
use std::collections::HashSet;

/// The attribute of an argument that shares memory with no other one.
pub const DISTINCT: &str = "tinymlir.distinct";

pub static PASS: Pass = Pass {
    argument: "tinymlir-hoist-accumulators",
    description: "Carry an element that a sequential loop updates through the loop instead of through memory",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("hoisted", "Elements carried by a loop")],
    dialects: &[mlirGetDialectHandle__memref__, mlirGetDialectHandle__scf__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    for found in module.find(&["scf.for"]).into_iter().rev() {
        let pairs = updates(found);
        if pairs.is_empty() || !found.results().is_empty() {
            continue;
        }
        cx.check(found, carry(found, &pairs))?;
        pairs.iter().for_each(|_| cx.count("hoisted"));
    }
    Ok(())
}

/// An element that every iteration loads and stores.
struct Update {
    load: Op,
    store: Op,
}

fn updates(found: Op) -> Vec<Update> {
    let inside = found.walk();
    let mut defined: HashSet<Value> = HashSet::new();
    for op in &inside {
        defined.extend(op.results());
        defined.extend((0..op.num_regions()).flat_map(|r| op.blocks(r)).flat_map(|b| b.arguments()));
    }
    // What each operation accesses, by the buffer at its root.
    let mut touched: Vec<Value> = vec![];
    for op in inside.iter().skip(1) {
        let name = op.name();
        match name.as_str() {
            "memref.load" => touched.push(source(op.operand(0))),
            "memref.store" => touched.push(source(op.operand(1))),
            "memref.dim" | "memref.subview" | "memref.cast" | "cf.assert" => {}
            _ if ["arith.", "math.", "affine.apply", "scf.", "index."].iter().any(|known| name.starts_with(known)) => {}
            _ => return vec![],
        }
    }
    let distinct = |v: Value| {
        let parameter = v.block_argument().filter(|(block, _)| block.parent().is("func.func"));
        parameter.is_some_and(|(block, i)| block.parent().arg_attr(i, DISTINCT).is_some())
    };
    let fresh = |v: Value| distinct(v) || v.def().is_some_and(|d| d.is("memref.alloc") || d.is("memref.alloca"));
    // An argument of the function cannot be what the function allocates; a value from anywhere else might be.
    let argument = |v: Value| v.block_argument().is_some_and(|(block, _)| block.parent().is("func.func"));
    if !touched.iter().all(|v| fresh(*v) || argument(*v) || v.def().is_some_and(|d| d.is("memref.get_global"))) {
        return vec![];
    }
    let body = found.body();
    let invariant = |values: &[Value]| values.iter().all(|v| !defined.contains(v));
    let mut pairs = vec![];
    for load in body.iter().filter(|op| op.is("memref.load") && invariant(&op.operands())) {
        let root = source(load.operand(0));
        let store = body.iter().find(|op| op.is("memref.store") && op.operands()[1..] == load.operands()[..]);
        let Some(store) = store else { continue };
        let order = |op: &Op| body.iter().position(|o| o == op);
        if fresh(root) && touched.iter().filter(|v| **v == root).count() == 2 && order(load) < order(store) {
            pairs.push(Update { load: *load, store: *store });
        }
    }
    pairs
}

/// Puts a loop that carries the elements in the place of `found`.
fn carry(found: Op, pairs: &[Update]) -> Result<(), String> {
    let mut names: Vec<(String, Value)> = vec![];
    for (name, value) in ["lower", "upper", "step"].into_iter().zip(found.operands()) {
        names.push((name.into(), value));
    }
    let (mut before, mut after, mut carried, mut types) = (String::new(), String::new(), vec![], vec![]);
    for (i, update) in pairs.iter().enumerate() {
        let operands = update.load.operands();
        let element: Type = update.load.result(0).ty();
        names.extend(operands.iter().enumerate().map(|(j, v)| (format!("m{i}_{j}"), *v)));
        let indices = (1..operands.len()).map(|j| format!("%m{i}_{j}")).collect::<Vec<_>>().join(", ");
        let ty = operands[0].ty();
        before += &format!("%first{i} = memref.load %m{i}_0[{indices}] : {ty}\n");
        let result = if pairs.len() == 1 { "%last".to_string() } else { format!("%last#{i}") };
        after += &format!("memref.store {result}, %m{i}_0[{indices}] : {ty}\n");
        carried.push(format!("%sum{i} = %first{i}"));
        types.push(element.to_string());
    }
    let types = types.join(", ");
    let sums = (0..pairs.len()).map(|i| format!("%sum{i}")).collect::<Vec<_>>().join(", ");
    let results = if pairs.len() == 1 { "%last".to_string() } else { format!("%last:{}", pairs.len()) };
    let text = format!(
        "{before}{results} = scf.for %i = %lower to %upper step %step iter_args({}) -> ({types}) {{\n\
         scf.yield {sums} : {types}\n}}\n{after}",
        carried.join(", ")
    );
    let inputs: Vec<_> = names.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    found.build_before(&inputs, "", &text)?;
    let ops = found.block().ok_or("internal error: a loop outside a block")?.ops();
    let place = ops.iter().position(|op| *op == found).unwrap_or_default();
    let new = ops[..place].iter().rev().find(|op| op.is("scf.for")).copied().ok_or("internal error: no new loop")?;
    let (old_block, new_block) = (found.blocks(0)[0], new.blocks(0)[0]);
    let (arguments, end) = (new_block.arguments(), new_block.terminator());
    old_block.arguments()[0].replace_all_uses(arguments[0]);
    let mut ops = old_block.ops();
    ops.pop();
    ops.into_iter().for_each(|op| op.move_before(end));
    for (i, update) in pairs.iter().enumerate() {
        end.set_operand(i, update.store.operand(0));
        update.store.erase();
        update.load.replace_with(&[arguments[1 + i]]);
    }
    found.erase();
    Ok(())
}
