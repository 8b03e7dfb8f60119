//! What `tinymlir-reduction` tries: parts of a module in the order of its text, and edits that leave some of them out.
//!
//! An edit may leave a module that does not verify; the pass then takes it back.

use crate::ir::{self, Attr, Op, Type, Value};

/// What an edit must make less of: operations, then those that only give a value, then arguments and results.
pub fn weight(module: Op) -> (usize, usize, usize) {
    let ops = module.walk();
    let leaves = ops.iter().filter(|op| is_leaf(**op)).count();
    let bodies: usize = ops.iter().filter(|op| op.num_regions() > 0).map(|op| op.blocks(0).len()).sum();
    let signature: usize = functions(module)
        .into_iter()
        .filter_map(|f| f.attr("function_type")?.as_type()?.function())
        .map(|(inputs, results)| inputs.len() + results.len())
        .sum();
    (ops.len() - leaves + bodies, leaves, signature)
}

/// Whether it makes a value of nothing.
fn is_leaf(op: Op) -> bool {
    const LEAVES: [&str; 6] =
        ["arith.constant", "ub.poison", "tensor.empty", "memref.alloc", "llvm.mlir.constant", "llvm.mlir.poison"];
    op.operands().is_empty() && LEAVES.contains(&op.name().as_str())
}

fn functions(module: Op) -> Vec<Op> {
    module.find(&["func.func", "llvm.func", "gpu.func"])
}

/// Functions, globals and whatever else stands in a module, also one inside.
pub fn symbols(module: Op) -> Vec<Op> {
    let holds = |op: &Op| op.parent().is_some_and(|p| p.is("builtin.module") || p.is("gpu.module"));
    module.walk().into_iter().filter(|op| holds(op)).collect()
}

/// Functions with a body.
pub fn bodies(module: Op) -> Vec<Op> {
    module.find(&["func.func"]).into_iter().filter(|f| !f.blocks(0).is_empty()).collect()
}

/// Every operation in a function's body but leaves and the ends of blocks.
pub fn inner(module: Op) -> Vec<Op> {
    let goes = |op: &Op| !is_leaf(*op) && op.block().is_some_and(|b| b.terminator() != *op);
    functions(module).into_iter().flat_map(|f| f.walk().into_iter().skip(1)).filter(goes).collect()
}

/// Every leaf in a function.
pub fn leaves(module: Op) -> Vec<Op> {
    functions(module).into_iter().flat_map(Op::walk).filter(|op| is_leaf(*op)).collect()
}

/// Every result of a function of dialect func.
pub fn results(module: Op) -> Vec<(Op, usize)> {
    let count = |f: Op| f.attr("function_type").and_then(|t| t.as_type()?.function()).map_or(0, |(_, r)| r.len());
    module.find(&["func.func"]).into_iter().flat_map(|f| (0..count(f)).map(move |i| (f, i))).collect()
}

/// Every argument that a function of dialect func does not use.
pub fn unused_arguments(module: Op) -> Vec<(Op, usize)> {
    let unused = |f: Op| {
        let arguments = f.blocks(0).first().map(|b| b.arguments()).unwrap_or_default();
        arguments.into_iter().enumerate().filter(|(_, a)| a.uses().is_empty()).map(move |(i, _)| (f, i))
    };
    module.find(&["func.func"]).into_iter().flat_map(unused).collect()
}

/// Erases an operation of `going`, whose later ones are gone. It stays where nothing can stand in for what it makes.
pub fn bypass(op: Op, going: &[Op]) {
    // What is inside of another one goes with it.
    if std::iter::successors(op.parent(), |p| p.parent()).any(|p| going.contains(&p)) {
        return;
    }
    for result in op.results() {
        if result.uses().is_empty() {
            continue;
        }
        match substitute(op, result.ty()).or_else(|| zeros(op, result.ty())) {
            Some(value) => result.replace_all_uses(value),
            None => return,
        }
    }
    op.erase();
}

/// A value of this type from before an operation: its own operand, an earlier operation's, an argument.
fn substitute(op: Op, ty: Type) -> Option<Value> {
    let fits = |value: &Value| value.ty() == ty;
    if let Some(operand) = op.operands().into_iter().find(fits) {
        return Some(operand);
    }
    let mut at = op;
    loop {
        let block = at.block()?;
        let earlier = block.ops().into_iter().take_while(|other| *other != at);
        let mut values = block.arguments();
        values.extend(earlier.flat_map(Op::results));
        if let Some(value) = values.into_iter().rev().find(fits) {
            return Some(value);
        }
        at = at.parent().filter(|p| !p.name().ends_with(".func"))?;
    }
}

/// A new value of this type, before an operation.
fn zeros(op: Op, ty: Type) -> Option<Value> {
    let number = |ty: Type| ty.is_float() || ty.is_integer_or_index();
    let zero = |ty: Type| if ty.is_float() { "0.0" } else { "0" };
    let is_static = ty.shape().is_some_and(|s| s.iter().all(Option::is_some));
    let text = match ty.element() {
        None if number(ty) => format!("arith.constant {} : {ty}", zero(ty)),
        Some(element) if is_static && ty.is_tensor() && number(element) => {
            format!("arith.constant dense<{}> : {ty}", zero(element))
        }
        Some(_) if is_static && ty.has_identity_map() => format!("memref.alloc() : {ty}"),
        _ => format!("ub.poison : {ty}"),
    };
    let built = ir::quietly(op.ctx(), || op.build_before(&[], "", &format!("%z = {text}\nreturn %z : {ty}")));
    built.ok()?.first().copied()
}

/// Erases a leaf, where nothing uses it or an earlier value will do.
pub fn drop_leaf(op: Op) {
    let result = op.result(0);
    if !result.uses().is_empty() {
        let Some(value) = substitute(op, result.ty()) else { return };
        result.replace_all_uses(value);
    }
    op.erase();
}

/// Erases the last operations of a function and returns what the one before them makes.
pub fn cut_tail(function: Op, count: usize) {
    let [block] = function.blocks(0)[..] else { return };
    let end = block.terminator();
    let mut ops = block.ops();
    ops.pop();
    let tail = ops.split_off(ops.len().saturating_sub(count));
    let made = |op: &Op| !is_leaf(*op) && !op.results().is_empty();
    let Some(last) = ops.into_iter().rev().find(made).filter(|_| end.is("func.return")) else { return };
    end.set_operands(&last.results());
    tail.into_iter().rev().for_each(Op::erase);
    let Some((inputs, _)) = function.attr("function_type").and_then(|t| t.as_type()?.function()) else { return };
    set_type(function, inputs, last.results().iter().map(|r| r.ty()).collect());
    function.remove_attr("res_attrs");
}

/// Leaves of a function only that there is one.
pub fn declare_only(function: Op) {
    let (Some(name), Some(ty), Some(module)) = (function.symbol(), function.attr("function_type"), function.parent())
    else {
        return;
    };
    let signature = ty.to_string();
    let (inputs, results) = signature.split_once(" -> ").unwrap_or((&signature, "()"));
    let ctx = function.ctx();
    function.erase();
    let text = format!("func.func private @\"{name}\"{inputs} -> {results}");
    // A type that does not parse by itself leaves a module without the function, which callers will not take.
    let _ = ir::quietly(ctx, || module.define(&text));
}

/// Drops results of functions. Callers then do not fit, where there are any.
pub fn drop_results(items: &[(Op, usize)]) {
    for (function, gone) in by_function(items) {
        for block in function.blocks(0) {
            let end = block.terminator();
            if end.is("func.return") {
                end.set_operands(&without(end.operands(), &gone));
            }
        }
        retype(function, &[], &gone);
    }
}

/// Drops arguments of functions that nothing uses.
pub fn drop_arguments(items: &[(Op, usize)]) {
    for (function, gone) in by_function(items) {
        let Some(block) = function.blocks(0).first().copied() else { continue };
        gone.iter().rev().for_each(|i| block.erase_argument(*i));
        retype(function, &gone, &[]);
    }
}

/// The numbers of each function's items, in order.
fn by_function(items: &[(Op, usize)]) -> Vec<(Op, Vec<usize>)> {
    let mut out: Vec<(Op, Vec<usize>)> = vec![];
    for (function, i) in items {
        match out.last_mut().filter(|(f, _)| f == function) {
            Some((_, numbers)) => numbers.push(*i),
            None => out.push((*function, vec![*i])),
        }
    }
    out
}

fn without<T>(all: Vec<T>, gone: &[usize]) -> Vec<T> {
    all.into_iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, v)| v).collect()
}

fn set_type(function: Op, inputs: Vec<Type>, results: Vec<Type>) {
    let list = |types: Vec<Type>| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    let ty = Type::parse(function.ctx(), &format!("({}) -> ({})", list(inputs), list(results)));
    // A type that does not parse leaves a function that does not fit its return.
    if let Some(ty) = ty {
        function.set_attr("function_type", Attr::of_type(ty));
    }
}

/// Takes arguments and results out of a function's type and of the attributes that go along with them.
fn retype(function: Op, arguments: &[usize], results: &[usize]) {
    let ctx = function.ctx();
    let Some((inputs, outputs)) = function.attr("function_type").and_then(|t| t.as_type()?.function()) else { return };
    set_type(function, without(inputs, arguments), without(outputs, results));
    for (name, gone) in [("arg_attrs", arguments), ("res_attrs", results)] {
        if let Some(attributes) = function.attr(name).and_then(|a| a.elements()) {
            let kept = without(attributes, gone);
            match kept.is_empty() {
                true => drop(function.remove_attr(name)),
                false => function.set_attr(name, Attr::array(ctx, &kept)),
            }
        }
    }
}
