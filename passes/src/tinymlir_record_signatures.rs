//! `tinymlir-record-signatures`: keep what a caller must know about a function that is about to be lowered to LLVM.
//!
//! A lowered function takes pointers and sizes; element types, ranks and names are gone. This writes each public
//! function's type to `tinymlir.signature`, and to `tinymlir.arg_attrs` a dictionary of attributes for each argument when
//! any has one of ours, on the function, where `convert-func-to-llvm` keeps them. Runs first in every lowering to LLVM.
//! It refuses nothing.

use crate::ir::{Attr, Op, Pass, PassCx, PassResult};

pub static PASS: Pass = Pass {
    argument: "tinymlir-record-signatures",
    description: "Record the signatures of public functions before they are lowered to LLVM",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[],
    run,
};

fn run(_: &PassCx, module: Op) -> PassResult {
    let ctx = module.ctx();
    for function in module.body().into_iter().filter(|op| op.is("func.func")) {
        let Some(entry) = function.blocks(0).first().copied() else { continue };
        if function.is_private() || function.attr("tinymlir.signature").is_some() {
            continue;
        }
        if let Some(ty) = function.attr("function_type") {
            function.set_attr("tinymlir.signature", ty);
        }
        let attributes: Vec<String> = (0..entry.arguments().len())
            .map(|i| {
                let ours = function.arg_attrs(i).into_iter().filter(|(name, _)| name.starts_with("tinymlir."));
                format!("{{{}}}", ours.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", "))
            })
            .collect();
        if attributes.iter().any(|a| a != "{}")
            && let Some(array) = Attr::parse(ctx, &format!("[{}]", attributes.join(", ")))
        {
            function.set_attr("tinymlir.arg_attrs", array);
        }
    }
    Ok(())
}
