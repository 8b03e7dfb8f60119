//! `tinymlir-alignment-checks`: a kernel that reads or writes several elements at once gets arguments that are aligned for it.
//!
//! Fast kernels access 16 bytes at a time, at addresses that are multiples of 16 where the buffer begins at one. What the
//! compiler allocates does; an argument is wherever the caller has it. This finds the arguments of public functions that reach
//! such an access, through views and private functions, and asserts at the function's entry that they begin at a multiple of
//! the widest one. The check is one branch for all arguments; it runs on the host and touches no memory. Runs when kernels are
//! outlined. It refuses nothing, and finds nothing in simple kernels.

use crate::{
    device::{on_host, source},
    ir::{Op, Pass, PassCx, PassResult, Value},
    tinymlir_dependent_launches::arguments,
    tinymlir_merge_kernels::launched,
};
use mlir_sys::*;
use std::collections::HashMap;

pub static PASS: Pass = Pass {
    argument: "tinymlir-alignment-checks",
    description: "Assert at the entry that arguments which kernels access several elements at a time are aligned for it",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("checked", "Arguments that are checked")],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__cf__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
    ],
    run,
};

/// What a tensor map's base is aligned to.
const TENSOR_MAP: i64 = 16;

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut wanted: HashMap<Value, i64> = HashMap::new();
    let mut left: Vec<(Value, i64)> = accesses(module);
    while let Some((value, bytes)) = left.pop() {
        let root = source(value);
        let Some((block, number)) = root.block_argument().filter(|(b, _)| b.parent().is("func.func")) else { continue };
        if wanted.get(&root).is_some_and(|known| *known >= bytes) {
            continue;
        }
        wanted.insert(root, bytes);
        let calls = block.parent().symbol().map(|name| callers(module, &name)).unwrap_or_default();
        left.extend(calls.into_iter().filter_map(|call| Some((*call.operands().get(number)?, bytes))));
    }
    for function in module.find(&["func.func"]).into_iter().filter(|f| !f.is_private()) {
        check(cx, function, &wanted)?;
    }
    Ok(())
}

/// What launches and tensor maps on the host access by several elements at once, and by how many bytes.
fn accesses(module: Op) -> Vec<(Value, i64)> {
    let kernels = module.find(&["gpu.func"]).into_iter().filter_map(|kernel| {
        let name = (kernel.parent_named("gpu.module")?.symbol()?, kernel.symbol()?);
        Some((name, (kernel, widest(kernel))))
    });
    let kernels: HashMap<(String, String), (Op, HashMap<usize, i64>)> = kernels.collect();
    let mut found = vec![];
    for launch in module.find(&["gpu.launch_func"]).into_iter().filter(|l| on_host(*l)) {
        let Some((kernel, widest)) = launched(launch).and_then(|name| kernels.get(&name)) else { continue };
        let operands = arguments(launch, *kernel).into_iter().enumerate();
        found.extend(operands.filter_map(|(i, operand)| Some((operand, *widest.get(&i)?))));
    }
    let maps = module.find(&["nvgpu.tma.create.descriptor"]).into_iter().filter(|m| on_host(*m));
    found.extend(maps.filter_map(|m| Some((*m.operands().first()?, TENSOR_MAP))));
    found
}

/// The widest access, in bytes, to each parameter of a kernel that has one of more than an element.
fn widest(kernel: Op) -> HashMap<usize, i64> {
    let mut widest = HashMap::new();
    for op in kernel.find(&["vector.load", "vector.store", "nvgpu.device_async_copy"]) {
        let Some((buffer, bytes)) = access(op) else { continue };
        let parameter = source(buffer).block_argument().filter(|(block, _)| block.parent() == kernel);
        if let Some((_, number)) = parameter {
            let known = widest.entry(number).or_insert(bytes);
            *known = bytes.max(*known);
        }
    }
    widest
}

/// The memory outside of the block that an operation accesses, and the alignment that it is promised.
fn access(op: Op) -> Option<(Value, i64)> {
    let operands = op.operands();
    if op.is("nvgpu.device_async_copy") {
        let from = operands.into_iter().filter(|v| v.ty().is_memref()).nth(1)?;
        let size = match from.ty().element()?.to_string().as_str() {
            "f64" | "i64" => 8,
            "f32" | "i32" => 4,
            "f16" | "bf16" | "i16" => 2,
            _ => 1,
        };
        return Some((from, size * op.attr("dstElements")?.as_int()?));
    }
    let buffer = operands.into_iter().find(|v| v.ty().is_memref())?;
    Some((buffer, op.attr("alignment")?.as_int()?))
}

fn callers(module: Op, name: &str) -> Vec<Op> {
    let calls = |op: &Op| op.attr("callee").and_then(|a| a.as_symbol()).is_some_and(|symbol| symbol == name);
    module.find(&["func.call"]).into_iter().filter(calls).collect()
}

/// Asserts at a function's entry what is wanted of its arguments.
fn check(cx: &PassCx, function: Op, wanted: &HashMap<Value, i64>) -> PassResult {
    let Some(entry) = function.blocks(0).first().copied() else { return Ok(()) };
    let arguments = entry.arguments().into_iter().enumerate();
    let checked: Vec<(usize, Value, i64)> =
        arguments.filter_map(|(i, value)| Some((i, value, *wanted.get(&value)?))).collect();
    let Some(first) = entry.ops().first().copied().filter(|_| !checked.is_empty()) else { return Ok(()) };
    let names: Vec<String> = checked.iter().map(|(i, ..)| format!("a{i}")).collect();
    let mut text = "%zero = arith.constant 0 : index\n".to_string();
    let mut any = "zero".to_string();
    let mut asserts = String::new();
    for (i, value, bytes) in &checked {
        let name = function.arg_attr(*i, "tinymlir.name").and_then(|n| n.as_str());
        let name = name.map_or_else(|| format!("argument {i}"), |n| format!("argument '{n}'"));
        let symbol = function.symbol().unwrap_or_default();
        text += &format!(
            "%at{i} = memref.extract_aligned_pointer_as_index %a{i} : {} -> index\n\
             %mask{i} = arith.constant {} : index\n\
             %past{i} = arith.andi %at{i}, %mask{i} : index\n\
             %any{i} = arith.ori %{any}, %past{i} : index\n",
            value.ty(),
            bytes - 1
        );
        any = format!("any{i}");
        asserts += &format!(
            "%ok{i} = arith.cmpi eq, %past{i}, %zero : index\n\
             cf.assert %ok{i}, \"{name} of @{symbol} is not aligned: it begins {{0}} bytes behind a multiple of {bytes} \
             (pass memory that is aligned, or compile with schedule=simple)\"\n"
        );
        cx.count("checked");
    }
    text += &format!("%bad = arith.cmpi ne, %{any}, %zero : index\nscf.if %bad {{\n{asserts}}}\n");
    let inputs: Vec<_> = names.iter().map(String::as_str).zip(checked.iter().map(|(_, value, _)| *value)).collect();
    cx.check(first, first.build_before(&inputs, "", &text).map(|_| ()))
}
