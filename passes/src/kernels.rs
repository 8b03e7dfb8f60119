//! Instances of templates that bring kernels of their own: placed in a module once each, with what the pass supplies.
//!
//! Such a template is a module of one `gpu.module`, which holds a `gpu.func` and the private functions that it calls, and
//! of functions that launch it. A pass may give a private function another body, such as an epilogue. When an instance is
//! placed, those functions are inlined and loops of a constant trip count are unrolled.

use crate::{
    ir::{Attr, Block, Failed, Op, PassCx, Value},
    template::Template,
};
use std::collections::HashMap;

/// The instances in a module, by their text.
#[derive(Default)]
pub struct Kernels {
    known: HashMap<String, String>,
}

const UNROLL: &str = "gpu.func(affine-loop-unroll{unroll-factor=-1 unroll-num-reps=6}),\
                      func.func(affine-loop-unroll{unroll-factor=-1 unroll-num-reps=6})";
const CLEAN: &str = "canonicalize,cse,symbol-dce";

/// What is to be placed.
pub struct Instance<'a> {
    pub template: &'a Template,
    /// Names with their sigils, and values.
    pub parameters: &'a [(&'a str, &'a str)],
    /// The function of the template that launches.
    pub launcher: &'a str,
    /// What the kernel is called.
    pub name: &'a str,
}

impl Kernels {
    /// The symbol of the launching function of an instance, after `change` was made to its gpu.module.
    pub fn place(
        &mut self,
        cx: &PassCx,
        at: Op,
        module: Op,
        instance: Instance,
        change: impl FnOnce(Op) -> Result<(), String>,
    ) -> Result<String, Failed> {
        let parsed = cx.check(at, instance.template.instantiate(module.ctx(), instance.parameters))?;
        self.place_parsed(cx, at, module, parsed, (instance.launcher, instance.name), change)
    }

    /// The same for a module that was parsed: it is consumed.
    pub fn place_parsed(
        &mut self,
        cx: &PassCx,
        at: Op,
        module: Op,
        parsed: Op,
        (launcher, name): (&str, &str),
        change: impl FnOnce(Op) -> Result<(), String>,
    ) -> Result<String, Failed> {
        let missing = || format!("internal error: {name} has no gpu.module or no @{launcher}");
        let kernels = cx.check(at, parsed.find(&["gpu.module"]).first().copied().ok_or_else(missing))?;
        cx.check(at, change(kernels))?;
        let text = parsed.to_string();
        if let Some(symbol) = self.known.get(&text) {
            parsed.destroy();
            return Ok(symbol.clone());
        }
        let function = cx.check(at, parsed.lookup(launcher).ok_or_else(missing))?;
        let holder = module.unique_symbol(&format!("{name}_kernels"));
        let ctx = module.ctx();
        for launch in function.find(&["gpu.launch_func"]) {
            let (_, kernel) = launch.attr("kernel").and_then(|k| k.as_symbol_path()).ok_or(Failed)?;
            launch.set_attr("kernel", Attr::symbol_in(ctx, &holder, &kernel));
        }
        module.set_attr("gpu.container_module", Attr::unit(ctx));
        let placed = module.append_clone(kernels);
        placed.set_attr("sym_name", Attr::string(ctx, &holder));
        let symbol = module.unique_symbol(name);
        let function = module.append_clone(function);
        function.set_attr("sym_name", Attr::string(ctx, &symbol));
        function.set_attr("tinymlir.kernel", Attr::string(ctx, name));
        parsed.destroy();
        cx.run_pipeline(UNROLL, placed)?;
        cx.check(at, inline(placed))?;
        cx.run_pipeline(CLEAN, placed)?;
        self.known.insert(text, symbol.clone());
        Ok(symbol)
    }
}

/// Inlines every call in the kernels of a gpu.module. (Upstream's inliner takes no `gpu.func` for a caller.)
fn inline(kernels: Op) -> Result<(), String> {
    let functions: HashMap<String, Op> =
        kernels.body().into_iter().filter(|f| f.is("func.func")).filter_map(|f| f.symbol().map(|s| (s, f))).collect();
    let mut left: Vec<Op> =
        kernels.body().into_iter().filter(|k| k.is("gpu.func")).flat_map(|k| k.find(&["func.call"])).collect();
    while let Some(call) = left.pop() {
        let callee = call.attr("callee").and_then(|a| a.as_symbol()).unwrap_or_default();
        let function = functions.get(&callee).ok_or_else(|| format!("internal error: a kernel calls @{callee}"))?;
        let copy = function.clone_before(*function);
        let [block] = copy.blocks(0)[..] else { return Err(format!("internal error: @{callee} has several blocks")) };
        for (argument, value) in block.arguments().into_iter().zip(call.operands()) {
            argument.replace_all_uses(value);
        }
        let mut ops = block.ops();
        let end = ops.pop().ok_or("internal error: an empty function")?;
        for op in ops {
            op.move_before(call);
            left.extend(op.walk().into_iter().filter(|o| o.is("func.call")));
        }
        let results = end.operands();
        end.erase();
        call.replace_with(&results);
        copy.erase();
    }
    Ok(())
}

/// Replaces the body of the private function `name` of a template's gpu.module by that of `block`, as far as it makes
/// `results`, which become the function's.
///
/// `bind` gives for each value that the block's operations read from elsewhere (its arguments, the results of `linalg.index`)
/// the one to read instead, given the function's arguments and its terminator, before which it may build operations.
/// Operations all of whose results are bound are left out. Constants from outside of the block are copied; any other value from outside fails.
pub fn set_body(
    kernels: Op,
    name: &str,
    block: Block,
    results: &[Value],
    bind: impl FnOnce(&[Value], Op) -> Result<Vec<(Value, Value)>, String>,
) -> Result<(), String> {
    let missing = || format!("internal error: the template has no function @{name}");
    let function = kernels.lookup(name).ok_or_else(missing)?;
    let body = *function.blocks(0).first().ok_or_else(missing)?;
    let end = body.terminator();
    let map = bind(&body.arguments(), end)?.into_iter().collect();
    clone_body(block, results, map, end)
}

/// Copies the operations of `block`, as far as they are not in `map`, before `end`, whose operands become `results`. Values are
/// replaced as `map` says; constants from outside of the block are copied; any other value from outside fails.
pub fn clone_body(block: Block, results: &[Value], mut map: HashMap<Value, Value>, end: Op) -> Result<(), String> {
    let mut ops = block.ops();
    ops.pop();
    for op in ops.into_iter().filter(|o| !o.is("linalg.index")) {
        // What the map stands for is not computed.
        if !op.results().is_empty() && op.results().iter().all(|r| map.contains_key(r)) {
            continue;
        }
        map_operands(&op.operands(), &mut map, end)?;
        let copy = op.clone_before(end);
        redirect(copy, &map);
        map.extend(op.results().into_iter().zip(copy.results()));
    }
    map_operands(results, &mut map, end)?;
    let results: Vec<Value> = results.iter().map(|v| map.get(v).copied().unwrap_or(*v)).collect();
    end.set_operands(&results);
    Ok(())
}

/// [`set_body`] with all of a block: each of the values of `inputs` becomes the function's argument of its place.
pub fn set_whole_body(kernels: Op, name: &str, block: Block, inputs: &[Value]) -> Result<(), String> {
    set_body(kernels, name, block, &block.terminator().operands(), |arguments, _| {
        Ok(inputs.iter().copied().zip(arguments.iter().copied()).collect())
    })
}

/// Gives the private function `name`, of one argument and one result, the body that is this conversion, such as `arith.truncf`;
/// where both have one type it is left alone.
pub fn set_conversion(kernels: Op, name: &str, operation: &str) -> Result<(), String> {
    let missing = || format!("internal error: the template has no function @{name}");
    let body = *kernels.lookup(name).ok_or_else(missing)?.blocks(0).first().ok_or_else(missing)?;
    let (argument, end) = (*body.arguments().first().ok_or_else(missing)?, body.terminator());
    let (from, to) = (argument.ty().to_string(), end.operand(0).ty().to_string());
    if from != to {
        let line = format!("%r = {operation} %v : {from} to {to}\nreturn %r : {to}");
        let made = end.build_before(&[("v", argument)], "", &line)?;
        end.set_operands(&made);
    }
    Ok(())
}

/// Adds copies of the constants among values from outside to the map.
fn map_operands(values: &[Value], map: &mut HashMap<Value, Value>, end: Op) -> Result<(), String> {
    for operand in values.iter().copied() {
        if map.contains_key(&operand) {
            continue;
        }
        let constant = operand.def().filter(|d| d.is("arith.constant"));
        let constant = constant.ok_or("internal error: an epilogue reads a value from outside")?;
        let copy = constant.clone_before(end);
        map.insert(operand, copy.result(0));
    }
    Ok(())
}

fn redirect(op: Op, map: &HashMap<Value, Value>) {
    for (i, operand) in op.operands().into_iter().enumerate() {
        if let Some(new) = map.get(&operand) {
            op.set_operand(i, *new);
        }
    }
}
