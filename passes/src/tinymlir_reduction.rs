//! `tinymlir-reduction`: make a module smaller while a script still finds it interesting.
//!
//! For `tinymlir-reduce`. Upstream's `reduction-tree` erases what has no uses, so that the operations of a chain stay. Here an
//! operation goes, too, when something of the same type can stand in for its results: one of its operands, an earlier
//! value, zeros, `ub.poison`. The same is tried with whole functions, with bodies of functions that are called, with results and
//! with arguments: first with all of them, then with halves, down to single ones (delta debugging; Zeller and Hildebrandt,
//! 2002), and anew until nothing more goes.
//!
//! What a candidate computes is not kept, only that it is valid and that the script says so. A script that does not find the module as it is
//! interesting, or that cannot be run, is an error.

use crate::{
    dialects::EVERY,
    ir::{self, Attr, Failed, Op, Opt, Pass, PassCx, PassResult, Type, Value},
};
use std::{
    collections::HashSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{IsTerminal, Write},
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

pub static PASS: Pass = Pass {
    argument: "tinymlir-reduction",
    description: "Make a module smaller while a script still finds it interesting",
    anchor: "builtin.module",
    options: &[Opt::string(
        "test",
        "",
        "A program that is called with a file's name; its exit status is 0 for a module that does not matter",
    )],
    statistics: &[("tests", "Modules that the script was asked about"), ("smaller", "Those of them that were kept")],
    dialects: EVERY,
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let script = cx.string("test");
    let found = find_script(&script).map_err(|message| cx.error(module, &message))?;
    let file = std::env::temp_dir().join(format!("tinymlir-reduction-{}.mlir", std::process::id()));
    let mut search = Search { cx, script: found, file: Scratch(file), current: module.copy(), boring: HashSet::new() };
    let result = search.whole(module);
    if result.is_ok() {
        module.body().into_iter().rev().for_each(Op::erase);
        search.current.body().iter().for_each(|op| _ = module.append_clone(*op));
    }
    search.current.destroy();
    result
}

/// The program's file, as one may name it beside one or on PATH.
fn find_script(script: &str) -> Result<PathBuf, String> {
    use std::os::unix::fs::PermissionsExt;
    if script.is_empty() {
        return Err("is not reduced: no script says what is interesting (give test=SCRIPT)".into());
    }
    let path = std::env::var_os("PATH").filter(|_| !script.contains('/')).unwrap_or_default();
    let mut places = vec![PathBuf::from(script)];
    places.extend(std::env::split_paths(&path).map(|folder| folder.join(script)));
    let file =
        places.into_iter().find(|p| p.is_file()).ok_or(format!("is not reduced: there is no script {script}"))?;
    match fs::metadata(&file).is_ok_and(|m| m.permissions().mode() & 0o111 != 0) {
        true => file.canonicalize().map_err(|e| format!("is not reduced: {script}: {e}")),
        false => Err(format!("is not reduced: the script {script} is not executable (chmod +x {script})")),
    }
}

/// A file that goes away.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What is known of the way down.
struct Search<'a> {
    cx: &'a PassCx,
    script: PathBuf,
    file: Scratch,
    /// The smallest interesting module.
    current: Op,
    /// Hashes of the texts that were not interesting.
    boring: HashSet<u64>,
}

impl Search<'_> {
    fn whole(&mut self, module: Op) -> PassResult {
        if !self.interests(self.current)? {
            let script = self.script.display();
            return Err(self.cx.error(
                module,
                &format!("is not reduced: {script} exits with 0 for it as it is (interesting is any other status)"),
            ));
        }
        loop {
            let mut smaller = self.sweep(symbols, |ops| ops.iter().rev().for_each(|op| op.erase()))?;
            smaller |= self.sweep(results, drop_results)?;
            smaller |= self.sweep(bodies, |functions| functions.iter().for_each(|f| declare_only(*f)))?;
            smaller |= self.sweep(inner, |ops| ops.iter().rev().for_each(|op| bypass(*op, ops)))?;
            smaller |= self.sweep(leaves, |ops| ops.iter().rev().for_each(|op| drop_leaf(*op)))?;
            smaller |= self.sweep(unused_arguments, drop_arguments)?;
            if !smaller {
                return self.tell("\n");
            }
        }
    }

    /// Tries an edit of all items, then of halves, down to each alone, last ones first, since what uses something comes later.
    fn sweep<T>(&mut self, items: fn(Op) -> Vec<T>, edit: impl Fn(&[T])) -> Result<bool, Failed> {
        let mut smaller = false;
        let mut size = items(self.current).len();
        while size > 0 {
            let mut end = items(self.current).len();
            while end > 0 {
                let range = end.saturating_sub(size)..end;
                end = range.start;
                if self.attempt(items, &edit, range)? {
                    smaller = true;
                    end = end.min(items(self.current).len());
                }
            }
            size /= 2;
        }
        Ok(smaller)
    }

    /// Makes an edit of some items; keeps it where the module is valid, not the same, and interesting.
    fn attempt<T>(
        &mut self,
        items: fn(Op) -> Vec<T>,
        edit: &impl Fn(&[T]),
        range: Range<usize>,
    ) -> Result<bool, Failed> {
        let copy = self.current.copy();
        let before = weight(copy);
        edit(&items(copy)[range]);
        let fits = weight(copy) < before && ir::quietly(copy.ctx(), || copy.verify());
        if fits && self.interests(copy)? {
            std::mem::replace(&mut self.current, copy).destroy();
            self.cx.count("smaller");
            self.tell("\r")?;
            return Ok(true);
        }
        copy.destroy();
        Ok(false)
    }

    fn interests(&mut self, module: Op) -> Result<bool, Failed> {
        let text = module.to_string();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        if self.boring.contains(&hasher.finish()) {
            return Ok(false);
        }
        self.cx.count("tests");
        let interesting = ask(&self.script, &self.file.0, &text).map_err(|message| self.cx.error(module, &message))?;
        if !interesting {
            self.boring.insert(hasher.finish());
        }
        Ok(interesting)
    }

    /// Progress, where someone watches.
    fn tell(&self, end: &str) -> PassResult {
        let mut out = std::io::stderr();
        if out.is_terminal() {
            let left = inner(self.current).len();
            let _ = write!(out, "{left} operations left, {} candidates refused    {end}", self.boring.len());
        }
        Ok(())
    }
}

/// Whether the script finds a text interesting.
fn ask(script: &Path, file: &Path, text: &str) -> Result<bool, String> {
    fs::write(file, text).map_err(|e| format!("is not reduced: cannot write {}: {e}", file.display()))?;
    let mut command = Command::new(script);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status =
        command.status().map_err(|e| format!("is not reduced: cannot run the script {}: {e}", script.display()))?;
    Ok(status.code().is_some_and(|code| code != 0))
}

/// What an edit must make less of: operations, then those that only give a value, then arguments and results.
fn weight(module: Op) -> (usize, usize, usize) {
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
fn symbols(module: Op) -> Vec<Op> {
    let holds = |op: &Op| op.parent().is_some_and(|p| p.is("builtin.module") || p.is("gpu.module"));
    module.walk().into_iter().filter(|op| holds(op)).collect()
}

/// Functions with a body.
fn bodies(module: Op) -> Vec<Op> {
    module.find(&["func.func"]).into_iter().filter(|f| !f.blocks(0).is_empty()).collect()
}

/// Every operation in a function's body but leaves and the ends of blocks.
fn inner(module: Op) -> Vec<Op> {
    let goes = |op: &Op| !is_leaf(*op) && op.block().is_some_and(|b| b.terminator() != *op);
    functions(module).into_iter().flat_map(|f| f.walk().into_iter().skip(1)).filter(goes).collect()
}

fn leaves(module: Op) -> Vec<Op> {
    functions(module).into_iter().flat_map(Op::walk).filter(|op| is_leaf(*op)).collect()
}

/// Every result of a function of dialect func.
fn results(module: Op) -> Vec<(Op, usize)> {
    let count = |f: Op| f.attr("function_type").and_then(|t| t.as_type()?.function()).map_or(0, |(_, r)| r.len());
    module.find(&["func.func"]).into_iter().flat_map(|f| (0..count(f)).map(move |i| (f, i))).collect()
}

/// Every argument that a function of dialect func does not use.
fn unused_arguments(module: Op) -> Vec<(Op, usize)> {
    let unused = |f: Op| {
        let arguments = f.blocks(0).first().map(|b| b.arguments()).unwrap_or_default();
        arguments.into_iter().enumerate().filter(|(_, a)| a.uses().is_empty()).map(move |(i, _)| (f, i))
    };
    module.find(&["func.func"]).into_iter().flat_map(unused).collect()
}

/// Erases an operation of `going`, whose later ones are gone. It stays where nothing can stand in for what it makes.
fn bypass(op: Op, going: &[Op]) {
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
fn drop_leaf(op: Op) {
    let result = op.result(0);
    if !result.uses().is_empty() {
        let Some(value) = substitute(op, result.ty()) else { return };
        result.replace_all_uses(value);
    }
    op.erase();
}

/// Leaves of a function only that there is one.
fn declare_only(function: Op) {
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
fn drop_results(items: &[(Op, usize)]) {
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
fn drop_arguments(items: &[(Op, usize)]) {
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

/// Takes arguments and results out of a function's type and of the attributes that go along with them.
fn retype(function: Op, arguments: &[usize], results: &[usize]) {
    let ctx = function.ctx();
    let Some((inputs, outputs)) = function.attr("function_type").and_then(|t| t.as_type()?.function()) else { return };
    let list = |types: Vec<Type>| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!("({}) -> ({})", list(without(inputs, arguments)), list(without(outputs, results)));
    let Some(ty) = Type::parse(ctx, &text) else { return };
    function.set_attr("function_type", Attr::of_type(ty));
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
