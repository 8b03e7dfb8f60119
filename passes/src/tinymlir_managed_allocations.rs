//! `tinymlir-managed-allocations`: let host and device read the same buffers.
//!
//! Kernels cannot read what `memref.alloc` returns. Every host allocation becomes `gpu.alloc`, with `host_shared` (managed
//! memory) unless `memory=device` is given and nothing but kernels and device copies touch the buffer; its `memref.dealloc`
//! becomes `gpu.dealloc`. A small `memref.alloca` that a kernel may read becomes an allocation for its scope. A constant
//! global that a kernel may read is copied at the function's entry. With `memory=device` an argument of a
//! public function that the host touches is marked `tinymlir.host`: the caller may place the others in device memory. Runs near the end of outline: fusion
//! and deallocation have already removed what they can.
//!
//! It refuses a mutable global that a kernel may touch, which would be two variables, one on each side, and an allocation
//! or a constant with a layout of its own or in a memory space.

use crate::{
    device::{Access, on_host, source},
    ir::{Attr, Op, Opt, Pass, PassCx, PassResult, Value},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-managed-allocations",
    description: "Place buffers where kernels can read them: allocations, constants, and small stack buffers",
    anchor: "builtin.module",
    options: &[Opt::string("memory", "managed", "managed, or device for buffers that only kernels touch")],
    statistics: &[
        ("managed", "Allocations that host and device share"),
        ("device", "Allocations in device memory"),
        ("constants", "Constants copied for kernels"),
    ],
    dialects: &[mlirGetDialectHandle__gpu__, mlirGetDialectHandle__memref__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let device = match cx.string("memory").as_str() {
        "managed" => false,
        "device" => true,
        other => {
            let fact = format!("memory={other} is neither managed nor device");
            return Err(cx.error(module, &format!("cannot place buffers: {fact}")));
        }
    };
    for function in module.find(&["func.func"]).into_iter().filter(|f| on_host(*f)) {
        globals(cx, module, function, device)?;
        stack(cx, function)?;
        heap(cx, module, function, device)?;
        if device {
            arguments(function);
        }
    }
    Ok(())
}

/// Tells the caller which arguments the host touches, so that they cannot lie in device memory.
fn arguments(function: Op) {
    let Some(entry) = function.blocks(0).first().copied().filter(|_| !function.is_private()) else { return };
    for (i, argument) in entry.arguments().into_iter().enumerate() {
        if !(argument.ty().is_memref() || argument.ty().is_unranked_memref()) {
            continue;
        }
        let access = Access::of(argument);
        if access.host || access.escapes {
            function.set_arg_attr(i, "tinymlir.host", Attr::unit(function.ctx()));
        }
    }
}

fn heap(cx: &PassCx, module: Op, function: Op, device: bool) -> PassResult {
    for dealloc in function.find(&["memref.dealloc"]).into_iter().filter(|op| on_host(*op)) {
        let buffer = dealloc.operand(0);
        if !buffer.ty().is_memref() || is_foreign(module, buffer) {
            continue;
        }
        cx.check(dealloc, dealloc.build_before(&[("m", buffer)], "", &format!("gpu.dealloc %m : {}", buffer.ty())))?;
        dealloc.erase();
    }
    for alloc in function.find(&["memref.alloc"]).into_iter().filter(|op| on_host(*op)) {
        let buffer = alloc.result(0);
        plain(cx, alloc)?;
        let access = Access::of(buffer);
        let shared = !device || access.host || access.escapes;
        cx.count(if shared { "managed" } else { "device" });
        allocate(cx, alloc, &alloc.operands(), buffer, shared)?;
        alloc.erase();
    }
    Ok(())
}

/// Refuses a memory space, and a layout of its own, which upstream lowers for no `gpu.alloc` or `gpu.memcpy`.
fn plain(cx: &PassCx, op: Op) -> PassResult {
    if let Some(space) = op.result(0).ty().memref().and_then(|memref| memref.space) {
        return Err(cx.error(op, &format!("is in memory space {space}, which host code has not (leave the space out)")));
    }
    if op.result(0).ty().has_identity_map() {
        return Ok(());
    }
    Err(cx.error(op, "cannot be shared with a device: its layout is not the identity (copy it to one that is)"))
}

/// Puts a `gpu.alloc` of the buffer's type before `at` and gives it the buffer's uses.
fn allocate(cx: &PassCx, at: Op, sizes: &[Value], buffer: Value, shared: bool) -> Result<Value, crate::ir::Failed> {
    let names: Vec<_> = (0..sizes.len()).map(|i| format!("n{i}")).collect();
    let inputs: Vec<_> = names.iter().map(String::as_str).zip(sizes.iter().copied()).collect();
    let list = names.iter().map(|n| format!("%{n}")).collect::<Vec<_>>().join(", ");
    let (kind, ty) = (if shared { "host_shared " } else { "" }, buffer.ty());
    let text = format!("%m = gpu.alloc {kind}({list}) : {ty}\nreturn %m : {ty}");
    let new = cx.check(at, at.build_before(&inputs, "", &text))?[0];
    buffer.replace_all_uses(new);
    Ok(new)
}

/// Whether a buffer comes from a function that is only declared: such memory is not ours to free.
fn is_foreign(module: Op, buffer: Value) -> bool {
    source(buffer)
        .def()
        .filter(|d| d.is("func.call"))
        .and_then(|d| d.attr("callee"))
        .and_then(|a| a.as_symbol())
        .is_some_and(|callee| module.lookup(&callee).is_none_or(|f| f.body().is_empty()))
}

fn stack(cx: &PassCx, function: Op) -> PassResult {
    for alloca in function.find(&["memref.alloca"]).into_iter().filter(|op| on_host(*op)) {
        let buffer = alloca.result(0);
        let access = Access::of(buffer);
        if !(access.kernels || access.escapes) {
            continue;
        }
        plain(cx, alloca)?;
        let new = allocate(cx, alloca, &alloca.operands(), buffer, true)?;
        let end = alloca.block().ok_or(crate::ir::Failed)?.terminator();
        cx.check(end, end.build_before(&[("m", new)], "", &format!("gpu.dealloc %m : {}", new.ty())))?;
        alloca.erase();
    }
    Ok(())
}

fn globals(cx: &PassCx, module: Op, function: Op, device: bool) -> PassResult {
    for get in function.find(&["memref.get_global"]).into_iter().filter(|op| on_host(*op)) {
        let access = Access::of(get.result(0));
        if !(access.kernels || access.escapes) {
            continue;
        }
        let name = get.attr("name").and_then(|a| a.as_symbol()).unwrap_or_default();
        let constant = module.lookup(&name).is_some_and(|g| g.attr("constant").is_some());
        if !constant {
            if access.kernels {
                return Err(cx.error(
                    get,
                    &format!("cannot be read by a kernel: @{name} is not constant (pass it as an argument)"),
                ));
            }
            continue;
        }
        plain(cx, get)?;
        // At the entry, so that a loop does not copy it again.
        let (entry, global) = (function.blocks(0)[0], get.result(0));
        let Some(first) = entry.ops().into_iter().find(|op| *op != get) else { continue };
        get.move_before(first);
        let ty = global.ty();
        let kind = if device && !access.host && !access.escapes { "" } else { "host_shared " };
        let text = format!("%m = gpu.alloc {kind}() : {ty}\nreturn %m : {ty}");
        let new = cx.check(first, first.build_before(&[], "", &text))?[0];
        global.replace_all_uses(new);
        // By the device's copy, which moves no page of shared memory to the host and back.
        let copy = format!("gpu.memcpy %m, %global : {ty}, {ty}");
        cx.check(first, first.build_before(&[("global", global), ("m", new)], "", &copy))?;
        for end in function.find(&["func.return"]) {
            cx.check(end, end.build_before(&[("m", new)], "", &format!("gpu.dealloc %m : {ty}")))?;
        }
        cx.count("constants");
    }
    Ok(())
}
