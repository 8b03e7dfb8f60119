//! `tinymlir-merge-kernels`: one gpu.module for all outlined kernels, each once, under a name that says what it computes.
//!
//! Outlining makes a gpu.module a launch. This pass inlines the private functions that hold a template's launch (attribute
//! `tinymlir.kernel`), moves every kernel into `@kernels`, drops those whose text occurred before (twelve equal layers
//! share theirs), and renames them: `matmul_2d_f32` after its template, `add_mul_exp_64x256_f32` after the operations in
//! it and the buffer that it writes. Names are valid PTX identifiers. One module halves lowering and cuts the driver's work.
//! A gpu.module with the attribute `tinymlir.keep`, with attributes that outlining does not set, or with kernels in the LLVM
//! dialect is left alone.

use crate::ir::{Attr, Failed, Op, Pass, PassCx, PassResult};
use mlir_sys::*;
use std::collections::HashMap;

pub static PASS: Pass = Pass {
    argument: "tinymlir-merge-kernels",
    description: "Merge outlined kernels into one gpu.module, equal ones once, with names that say what they compute",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("kernels", "Distinct kernels"), ("shared", "Kernels that occurred before")],
    dialects: &[mlirGetDialectHandle__gpu__],
    run,
};

/// Keeps a gpu.module out of this pass.
pub const KEEP: &str = "tinymlir.keep";

fn run(cx: &PassCx, module: Op) -> PassResult {
    let templates = inline_wrappers(module)?;
    let outlined: Vec<_> = module
        .body()
        .into_iter()
        .filter(|m| m.is("gpu.module") && m.attr(KEEP).is_none() && m.attr("targets").is_none() && !is_lowered(*m))
        .collect();
    if outlined.is_empty() {
        return Ok(());
    }
    let name = module.unique_symbol("kernels");
    cx.check(module, module.declare(&format!("gpu.module @{name} {{}}")))?;
    let target = module.lookup(&name).ok_or(Failed)?;
    // Where each kernel went, by its module and name; and what is there, by its text without the name.
    let mut places: HashMap<(String, String), String> = HashMap::new();
    let mut known: HashMap<String, String> = HashMap::new();
    for source in &outlined {
        let source_name = source.symbol().ok_or(Failed)?;
        merge_helpers(*source, target, &mut known);
        for kernel in source.body().into_iter().filter(|k| k.is("gpu.func")) {
            let old = kernel.symbol().ok_or(Failed)?;
            kernel.set_attr("sym_name", Attr::string(kernel.ctx(), "kernel"));
            let text = kernel.local_text();
            let new = match known.get(&text) {
                Some(there) => {
                    cx.count("shared");
                    there.clone()
                }
                None => {
                    let base = templates.get(&(source_name.clone(), old.clone())).cloned();
                    let new = target.unique_symbol(&base.unwrap_or_else(|| describe(kernel)));
                    target.append_clone(kernel).set_attr("sym_name", Attr::string(kernel.ctx(), &new));
                    known.insert(text, new.clone());
                    cx.count("kernels");
                    new
                }
            };
            places.insert((source_name.clone(), old), new);
        }
    }
    for launch in module.find(&["gpu.launch_func"]) {
        if let Some(new) = launched(launch).and_then(|k| places.get(&k)) {
            launch.set_attr("kernel", Attr::symbol_in(module.ctx(), &name, new));
        }
    }
    outlined.into_iter().for_each(|m| m.erase());
    Ok(())
}

/// Whether a gpu.module has a kernel in the LLVM dialect.
fn is_lowered(module: Op) -> bool {
    let kernel = |op: &Op| ["gpu.kernel", "nvvm.kernel"].iter().any(|name| op.attr(name).is_some());
    module.body().iter().any(|op| op.is("llvm.func") && kernel(op))
}

/// The gpu.module and the kernel of a launch.
pub fn launched(launch: Op) -> Option<(String, String)> {
    launch.attr("kernel")?.as_symbol_path()
}

/// Inlines every call of a function marked `tinymlir.kernel` and erases the function. Returns the names that the functions
/// ask for, by the kernel that they launch.
fn inline_wrappers(module: Op) -> Result<HashMap<(String, String), String>, Failed> {
    let mut names = HashMap::new();
    for wrapper in module.body().into_iter().filter(|f| f.is("func.func") && f.is_private()) {
        let Some(name) = wrapper.attr("tinymlir.kernel").and_then(|a| a.as_str()) else { continue };
        for launch in wrapper.find(&["gpu.launch_func"]) {
            names.extend(launched(launch).map(|k| (k, name.clone())));
        }
        let symbol = wrapper.symbol().ok_or(Failed)?;
        let calls = module.find(&["func.call"]);
        for call in
            calls.into_iter().filter(|c| c.attr("callee").and_then(|a| a.as_symbol()).as_deref() == Some(&symbol))
        {
            let copy = wrapper.clone_before(wrapper);
            let block = copy.blocks(0)[0];
            for (argument, value) in block.arguments().into_iter().zip(call.operands()) {
                argument.replace_all_uses(value);
            }
            let mut ops = block.ops();
            let end = ops.pop().ok_or(Failed)?;
            for op in ops {
                op.move_before(call);
                // A launch comes from what asked for the kernel, not from the template's text.
                op.walk().into_iter().for_each(|inner| inner.set_loc(call.loc()));
            }
            end.erase();
            call.erase();
            copy.erase();
        }
        wrapper.erase();
    }
    Ok(names)
}

/// Moves what kernels call or read into `target`. A symbol whose name is taken by another text gets a new one.
fn merge_helpers(source: Op, target: Op, known: &mut HashMap<String, String>) {
    for helper in source.body().into_iter().filter(|h| !h.is("gpu.func")) {
        let Some(old) = helper.symbol() else { continue };
        let text = helper.local_text();
        let new = known.get(&text).cloned().unwrap_or_else(|| {
            let new = target.unique_symbol(&old);
            target.append_clone(helper).set_attr("sym_name", Attr::string(helper.ctx(), &new));
            known.insert(text, new.clone());
            new
        });
        if new != old {
            for user in source.walk() {
                for attribute in ["callee", "name"] {
                    let names = user.attr(attribute).filter(|_| user.is("func.call") || user.is("memref.get_global"));
                    if names.and_then(|a| a.as_symbol()).as_deref() == Some(&old) {
                        user.set_attr(attribute, Attr::symbol(user.ctx(), &new));
                    }
                }
            }
        }
    }
}

/// A name for a kernel: the first operations of its arithmetic, then the shape and the element type of what it writes last.
fn describe(kernel: Op) -> String {
    const MOST: usize = 4;
    let mut verbs: Vec<String> = vec![];
    let mut written = None;
    for op in kernel.walk() {
        let name = op.name();
        if ["memref.store", "vector.store"].contains(&name.as_str()) {
            written = Some(op.operand(1).ty());
            continue;
        }
        let Some((dialect @ ("arith" | "math"), verb)) = name.split_once('.') else { continue };
        let computes = op.results().first().is_some_and(|r| !r.ty().is("index") && !r.ty().is("i1"));
        if !computes || verb == "constant" || verb.starts_with("index_cast") {
            continue;
        }
        let verb = if dialect == "arith" { verb.trim_end_matches(['f', 'i']) } else { verb };
        if !verbs.iter().any(|v| v == verb) && verbs.len() < MOST {
            verbs.push(verb.to_string());
        }
    }
    if verbs.is_empty() {
        let reads = !kernel.find(&["memref.load", "vector.load"]).is_empty();
        verbs.push(if reads { "copy" } else { "fill" }.into());
    }
    let mut name = verbs.join("_");
    if let Some(ty) = written {
        let sizes: Vec<_> =
            ty.shape().unwrap_or_default().iter().map(|s| s.map_or("n".into(), |s| s.to_string())).collect();
        if !sizes.is_empty() {
            name += &format!("_{}", sizes.join("x"));
        }
        name += &format!("_{}", ty.element().map(|e| e.to_string()).unwrap_or_default());
    }
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}
