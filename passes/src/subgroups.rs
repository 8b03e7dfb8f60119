//! `gpu.subgroup_reduce` as shuffles, for the types and clusters that no instruction of a chip's reduces.

use crate::ir::{Op, PassCx, PassResult, Type};

/// Rewrites the reductions of a module's kernels. Uniform ones of `i32` over a whole subgroup stay for `redux.sync` where `redux` says
/// that the chip has it. Refuses vectors and types of other than 8, 16, 32 or 64 bits.
pub(crate) fn reduce_by_shuffles(cx: &PassCx, module: Op, redux: bool) -> PassResult {
    for op in module.find(&["gpu.subgroup_reduce"]) {
        let ty = op.operand(0).ty();
        let cluster = op.attr("cluster_size").and_then(|a| a.as_int());
        let kind = op.attr("op").map(|a| a.to_string()).unwrap_or_default();
        let kind = kind.trim_end_matches('>').rsplit([' ', '<']).next().unwrap_or_default().to_owned();
        let whole = cluster.is_none() && op.attr("uniform").is_some();
        if redux && whole && ty.is("i32") && kind != "mul" {
            continue;
        }
        let stride = op.attr("cluster_stride").and_then(|a| a.as_int()).unwrap_or(1);
        let text = text(ty, &kind, cluster.unwrap_or(32 / stride.max(1)), stride);
        let value = cx.check(op, text.and_then(|text| op.build_before(&[("v0", op.operand(0))], "", &text)))?;
        op.replace_with(&value);
    }
    Ok(())
}

/// Each lane takes in turn what the lanes have whose number differs in one bit: after the last one all of a cluster have the same.
fn text(ty: Type, kind: &str, size: i64, stride: i64) -> Result<String, String> {
    let bits = ty.bytes().filter(|_| ty.shape().is_none()).map_or(0, |bytes| 8 * bytes);
    if ![8, 16, 32, 64].contains(&bits) || !ty.is_float() && !ty.is(&format!("i{bits}")) {
        return Err(format!("of {ty} has no lowering for a GPU (use integers or floats of 8 to 64 bits)"));
    }
    let name = match kind {
        "add" | "mul" => format!("{kind}{}", if ty.is_float() { "f" } else { "i" }),
        "and" | "or" | "xor" => format!("{kind}i"),
        _ => kind.into(),
    };
    let mut text = "%width = arith.constant 32 : i32\n".to_owned();
    let (mut offset, mut n) = (stride, 0);
    while offset < size * stride {
        text += &format!("%o{n} = arith.constant {offset} : i32\n");
        let from = if ty.is_float() { format!("arith.bitcast %v{n} : {ty} to i{bits}") } else { String::new() };
        let bits_of = if from.is_empty() { format!("%v{n}") } else { format!("%b{n}") };
        if !from.is_empty() {
            text += &format!("%b{n} = {from}\n");
        }
        let shuffle =
            |to: &str, of: &str| format!("{to}, %ok{} = gpu.shuffle xor {of}, %o{n}, %width : i32\n", &to[1..]);
        let got = format!("%g{n}");
        match bits {
            64 => {
                text += &format!(
                    "%half{n} = arith.constant 32 : i64\n%low{n} = arith.trunci {bits_of} : i64 to i32\n\
                     %up{n} = arith.shrui {bits_of}, %half{n} : i64\n%high{n} = arith.trunci %up{n} : i64 to i32\n"
                );
                text += &shuffle(&format!("%sl{n}"), &format!("%low{n}"));
                text += &shuffle(&format!("%sh{n}"), &format!("%high{n}"));
                text += &format!(
                    "%el{n} = arith.extui %sl{n} : i32 to i64\n%eh{n} = arith.extui %sh{n} : i32 to i64\n\
                     %hh{n} = arith.shli %eh{n}, %half{n} : i64\n{got} = arith.ori %hh{n}, %el{n} : i64\n"
                );
            }
            32 => text += &shuffle(&got, &bits_of),
            _ => {
                text += &format!("%e{n} = arith.extui {bits_of} : i{bits} to i32\n");
                text += &shuffle(&format!("%s{n}"), &format!("%e{n}"));
                text += &format!("{got} = arith.trunci %s{n} : i32 to i{bits}\n");
            }
        }
        let other = if ty.is_float() {
            text += &format!("%f{n} = arith.bitcast {got} : i{bits} to {ty}\n");
            format!("%f{n}")
        } else {
            got
        };
        text += &format!("%v{} = arith.{name} %v{n}, {other} : {ty}\n", n + 1);
        (offset, n) = (2 * offset, n + 1);
    }
    Ok(text + &format!("return %v{n} : {ty}"))
}
