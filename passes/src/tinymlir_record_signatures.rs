//! `tinymlir-record-signatures`: keep what a caller must know about a function that is about to be lowered to LLVM.
//!
//! A lowered function takes pointers and sizes; element types, ranks and names are gone. This writes each public
//! function's type to `tinymlir.signature`, and to `tinymlir.arg_attrs` and `tinymlir.res_attrs` a dictionary of attributes
//! for each argument and result when any has one of ours, on the function, where `convert-func-to-llvm` keeps them. Runs first in every lowering to LLVM.
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
        if function.blocks(0).is_empty() || function.is_private() || function.attr("tinymlir.signature").is_some() {
            continue;
        }
        if let Some(ty) = function.attr("function_type") {
            function.set_attr("tinymlir.signature", ty);
        }
        for (list, record) in [("arg_attrs", "tinymlir.arg_attrs"), ("res_attrs", "tinymlir.res_attrs")] {
            let ours: Vec<Attr> = (function.attr(list).and_then(|a| a.elements()).unwrap_or_default().iter())
                .map(|dictionary| {
                    let entries = dictionary.entries().into_iter().filter(|(name, _)| name.starts_with("tinymlir."));
                    Attr::dictionary(ctx, &entries.collect::<Vec<_>>())
                })
                .collect();
            if ours.iter().any(|dictionary| !dictionary.entries().is_empty()) {
                function.set_attr(record, Attr::array(ctx, &ours));
            }
        }
    }
    Ok(())
}
