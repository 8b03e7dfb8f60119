//! What kernels do in subgroups and upstream does not lower for NVIDIA's chips: reductions of types and clusters that no
//! instruction reduces, reductions of a block and shuffles of narrow types, and the number of a thread's subgroup.

use crate::ir::{Op, PassCx, PassResult, Type};

/// Rewrites what [`reduce_by_shuffles`] does not: `gpu.all_reduce` and `gpu.shuffle` of less than 32 bits become those of 32
/// bits, a sum or product of halves in f32, rounded once; a thread's subgroup follows from its place in its block.
pub(crate) fn widen(cx: &PassCx, module: Op) -> PassResult {
    for op in module.find(&WIDENED) {
        let name = op.name();
        let text = match name.as_str() {
            "gpu.subgroup_id" => Some(SUBGROUP.to_owned()),
            "gpu.num_subgroups" => Some(SUBGROUPS.to_owned()),
            "gpu.subgroup_size" => Some("%r = arith.constant 32 : index\nreturn %r : index".to_owned()),
            "gpu.shuffle" => shuffle(op),
            _ => all_reduce(op),
        };
        let Some(text) = text else { continue };
        let names: Vec<String> = (0..op.operands().len()).map(|i| format!("v{i}")).collect();
        let inputs: Vec<_> = names.iter().map(String::as_str).zip(op.operands()).collect();
        let values = cx.check(op, op.build_before(&inputs, "", &text))?;
        op.replace_with(&values);
    }
    Ok(())
}

const WIDENED: [&str; 5] =
    ["gpu.all_reduce", "gpu.shuffle", "gpu.subgroup_id", "gpu.num_subgroups", "gpu.subgroup_size"];
/// A thread's place in its block, by the number of lanes.
const SUBGROUP: &str = "%x = gpu.thread_id x\n%y = gpu.thread_id y\n%z = gpu.thread_id z\n%dx = gpu.block_dim x\n%dy = gpu.block_dim y\n\
    %zy = arith.muli %z, %dy : index\n%row = arith.addi %zy, %y : index\n%rows = arith.muli %row, %dx : index\n\
    %place = arith.addi %rows, %x : index\n%lanes = arith.constant 32 : index\n%r = arith.divui %place, %lanes : index\nreturn %r : index";
const SUBGROUPS: &str = "%dx = gpu.block_dim x\n%dy = gpu.block_dim y\n%dz = gpu.block_dim z\n%xy = arith.muli %dx, %dy : index\n\
    %size = arith.muli %xy, %dz : index\n%more = arith.constant 31 : index\n%sum = arith.addi %size, %more : index\n\
    %lanes = arith.constant 32 : index\n%r = arith.divui %sum, %lanes : index\nreturn %r : index";

/// The bits of a type of 8 or 16 bits.
fn narrow(ty: Type) -> Option<i64> {
    let bits = 8 * ty.bytes().filter(|_| ty.shape().is_none())?;
    (bits < 32 && (ty.is_float() || ty.is(&format!("i{bits}")))).then_some(bits)
}

/// The last word of an attribute, such as `add` of `#gpu<all_reduce_op add>`.
fn word(op: Op, name: &str) -> String {
    let text = op.attr(name).map(|a| a.to_string()).unwrap_or_default();
    text.trim_end_matches('>').rsplit([' ', '<']).next().unwrap_or_default().to_owned()
}

/// A shuffle of 8 or 16 bits in 32.
fn shuffle(op: Op) -> Option<String> {
    let ty = op.operand(0).ty();
    let bits = narrow(ty)?;
    let (to, from) = match ty.is_float() {
        true => (
            format!("%b = arith.bitcast %v0 : {ty} to i{bits}\n"),
            format!("%r = arith.bitcast %n : i{bits} to {ty}\n"),
        ),
        false => (format!("%b = arith.ori %v0, %v0 : {ty}\n"), format!("%r = arith.ori %n, %n : {ty}\n")),
    };
    Some(format!(
        "{to}%w = arith.extui %b : i{bits} to i32\n%s, %ok = gpu.shuffle {} %w, %v1, %v2 : i32\n\
         %n = arith.trunci %s : i32 to i{bits}\n{from}return %r, %ok : {ty}, i1",
        word(op, "mode")
    ))
}

/// A reduction of a block of 8 or 16 bits in 32.
fn all_reduce(op: Op) -> Option<String> {
    let ty = op.operand(0).ty();
    narrow(ty)?;
    let kind = word(op, "op");
    if kind.is_empty() {
        return None;
    }
    let (wide, extend, cut) = match ty.is_float() {
        true => ("f32", "arith.extf", "arith.truncf"),
        false if kind.ends_with("si") => ("i32", "arith.extsi", "arith.trunci"),
        false => ("i32", "arith.extui", "arith.trunci"),
    };
    let uniform = if op.attr("uniform").is_some() { "uniform " } else { "" };
    Some(format!(
        "%w = {extend} %v0 : {ty} to {wide}\n%s = gpu.all_reduce {kind} %w {uniform}{{\n}} : ({wide}) -> ({wide})\n\
         %r = {cut} %s : {wide} to {ty}\nreturn %r : {ty}"
    ))
}

/// Rewrites the reductions of a module's kernels. Uniform ones of `i32` over a whole subgroup stay for `redux.sync` where `redux` says
/// that the chip has it. Refuses vectors and types of other than 8, 16, 32 or 64 bits.
pub(crate) fn reduce_by_shuffles(cx: &PassCx, module: Op, redux: bool) -> PassResult {
    for op in module.find(&["gpu.subgroup_reduce"]) {
        let ty = op.operand(0).ty();
        let cluster = op.attr("cluster_size").and_then(|a| a.as_int());
        let kind = word(op, "op");
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
