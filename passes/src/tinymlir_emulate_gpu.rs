//! `tinymlir-emulate-gpu`: kernels become functions of the host, and launches calls of an emulator that runs them.
//!
//! For their numbers where there is no card: in tests, and to learn from. Runs on what `tinymlir-lower-gpu{format=nvvm}`
//! leaves, kernels in the NVVM dialect and host code in LLVM's. Each `gpu.launch_func` becomes a call of the runtime's
//! `tinymlirEmulatedLaunch`, which runs each thread of a block by itself; what threads do together, and what tells them apart,
//! are calls of the runtime (`runtime/src/emulate`), matrix instructions of a warp among them; functions of libdevice become libm's of the same name. The host's memory
//! is the device's. Shared memory is what the runtime gives a block: an access outside of it, and one of several elements that is
//! not aligned, end the program; so does one through `!llvm.ptr<7>` to what no running block of the cluster has.
//!
//! Refuses instructions of warpgroups, tensor maps and memory barriers (`mbarrier`), inline assembly, and calls of functions that
//! nothing defines: those need a card.

use crate::{
    emulation::{RUNTIME, Rewriter, SharedMemory, declare_called},
    ir::{Attr, Op, Pass, PassCx, PassResult},
    tinymlir_merge_kernels::launched,
};
use mlir_sys::*;
use std::collections::HashMap;

pub static PASS: Pass = Pass {
    argument: "tinymlir-emulate-gpu",
    description: "Turn kernels into functions that the runtime's emulator of a GPU runs on the CPU",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("kernels", "Kernels that became functions"), ("launches", "Launches that became calls")],
    dialects: &[mlirGetDialectHandle__func__, mlirGetDialectHandle__llvm__],
    run,
};

/// The bytes of an argument where a launch keeps it.
const SLOT: usize = 16;
/// Functions of a card's that the runtime has for the host's memory, under another name; the rest of `mgpu*` needs a card.
const HOST: [&str; 13] = [
    "mgpuMemAlloc",
    "mgpuMemFree",
    "mgpuMemcpy",
    "mgpuMemset32",
    "mgpuMemset16",
    "mgpuStreamCreate",
    "mgpuStreamDestroy",
    "mgpuStreamSynchronize",
    "mgpuStreamWaitEvent",
    "mgpuEventCreate",
    "mgpuEventDestroy",
    "mgpuEventSynchronize",
    "mgpuEventRecord",
];
/// Of a kernel: the size of the clusters that it is compiled for.
const CLUSTER: &str = "nvvm.cluster_dim";

/// A kernel as a function of the host.
struct Kernel {
    /// What takes the arguments from where a launch put them.
    entry: String,
    /// A text: how the kernel is called.
    name: String,
    shared_bytes: u64,
    /// The size of the clusters that it is compiled for; zeros where it is for any.
    cluster: [i32; 3],
}

fn run(cx: &PassCx, module: Op) -> PassResult {
    let before = module.copy();
    let result = emulate(cx, module);
    if result.is_err() {
        // A module of which some kernels and launches are rewritten is of no use.
        module.take_body(before);
    }
    before.destroy();
    result
}

fn emulate(cx: &PassCx, module: Op) -> PassResult {
    let mut kernels = HashMap::new();
    for launch in module.find(&["gpu.launch_func"]) {
        let lowered = launched(launch).and_then(|(holder, name)| module.lookup(&holder)?.lookup(&name));
        if lowered.is_none_or(|kernel| !is_kernel(kernel)) {
            let name = launch.attr("kernel").map(|name| name.to_string()).unwrap_or_default();
            return Err(cx.error(
                launch,
                &format!("cannot be emulated: {name} is no kernel in the NVVM dialect (run tinymlir-lower-gpu{{format=nvvm}} first)"),
            ));
        }
    }
    for holder in module.body().into_iter().filter(|op| op.is("gpu.module")) {
        adopt(cx, module, holder, &mut kernels)?;
    }
    for launch in module.find(&["gpu.launch_func"]) {
        replace_launch(cx, module, launch, &kernels)?;
        cx.count("launches");
    }
    let declared = |op: &Op| op.is("llvm.func") && op.blocks(0).is_empty();
    for function in module.body().into_iter().filter(declared) {
        let Some(name) = function.symbol().filter(|name| name.starts_with("mgpu")) else { continue };
        if !HOST.contains(&name.as_str()) {
            return Err(cx.error(function, &format!("cannot be emulated: @{name} needs a card")));
        }
        module.rename(function, &name.replace("mgpu", "tinymlirEmulated"));
    }
    module.remove_attr("gpu.container_module");
    Ok(())
}

/// Whether it is a kernel in LLVM's dialect.
fn is_kernel(op: Op) -> bool {
    op.is("llvm.func") && ["nvvm.kernel", "gpu.kernel"].iter().any(|name| op.attr(name).is_some())
}

/// Moves what a gpu.module holds to the module around it, its kernels rewritten, and erases it.
fn adopt(cx: &PassCx, module: Op, holder: Op, kernels: &mut HashMap<(String, String), Kernel>) -> PassResult {
    let holder_name = holder.symbol().unwrap_or_default();
    let mut found = Vec::new();
    for symbol in holder.body() {
        let Some(old) = symbol.symbol() else { continue };
        let declared = symbol.is("llvm.func") && symbol.blocks(0).is_empty();
        if declared || ["tinymlir_fail", "tinymlir_failure"].contains(&old.as_str()) {
            continue;
        }
        let free = |name: &String| module.lookup(name).is_none() && (*name == old || holder.lookup(name).is_none());
        let new = std::iter::once(old.clone()).chain((0..).map(|i| format!("{old}_{i}"))).find(free);
        let new = new.unwrap_or_default();
        if new != old {
            holder.rename(symbol, &new);
        }
        if symbol.is("llvm.func") {
            found.push((symbol, old));
        }
    }
    let shared = SharedMemory::of(cx, holder)?;
    for (function, old) in found {
        let (symbol, is_kernel) = (function.symbol().unwrap_or_default(), is_kernel(function));
        Rewriter::new(cx, module, holder, function, &shared.offsets).run()?;
        let cluster = function.attr(CLUSTER).and_then(|a| a.as_i32_array());
        let cluster = cluster.and_then(|sizes| sizes.try_into().ok()).unwrap_or_default();
        make_private(function);
        if is_kernel {
            let entry = cx.check(function, define_entry(module, function, &symbol))?;
            let name = declare_text(cx, module, function, &format!("{symbol}_name"), &old)?;
            let shared_bytes = shared.bytes.get(&symbol).copied().unwrap_or(0);
            kernels.insert((holder_name.clone(), old), Kernel { entry, name, shared_bytes, cluster });
            cx.count("kernels");
        }
    }
    for symbol in holder.body() {
        let name = symbol.symbol().unwrap_or_default();
        let shared = symbol.attr("addr_space").and_then(|a| a.as_int()) == Some(3);
        let defined = !symbol.is("llvm.func") || !symbol.blocks(0).is_empty();
        if symbol.is("llvm.func") | symbol.is("llvm.mlir.global")
            && defined
            && !shared
            && !["tinymlir_fail", "tinymlir_failure"].contains(&name.as_str())
        {
            symbol.move_before(holder);
        }
    }
    holder.erase();
    Ok(())
}

/// Makes a kernel's function one of the host's, which nothing else calls.
fn make_private(function: Op) {
    for name in function.attr_names() {
        if name.starts_with("nvvm.") || name.starts_with("gpu.") || name == "arg_attrs" {
            function.remove_attr(&name);
        }
    }
    let ctx = function.ctx();
    if let Some(linkage) = Attr::parse(ctx, "#llvm.linkage<internal>") {
        function.set_attr("linkage", linkage);
    }
    function.set_attr("sym_visibility", Attr::string(ctx, "private"));
}

/// Defines the function that takes a kernel's arguments from where a launch put them.
fn define_entry(module: Op, kernel: Op, symbol: &str) -> Result<String, String> {
    let arguments = kernel.blocks(0).first().map(|b| b.arguments()).unwrap_or_default();
    let types: Vec<String> = arguments.iter().map(|a| a.ty().to_string()).collect();
    let load = |(i, ty): (usize, &String)| {
        format!(
            "%p{i} = llvm.getelementptr %arguments[{}] : (!llvm.ptr) -> !llvm.ptr, i8\n%a{i} = llvm.load %p{i} : !llvm.ptr -> {ty}\n",
            i * SLOT
        )
    };
    let loads: String = types.iter().enumerate().map(load).collect();
    let names: Vec<String> = (0..types.len()).map(|i| format!("%a{i}")).collect();
    let entry = module.unique_symbol(&format!("{symbol}_entry"));
    let function = module.define(&format!(
        "llvm.func internal @{entry}(%arguments: !llvm.ptr) attributes {{sym_visibility = \"private\"}} {{\n{loads}\
         llvm.call @{symbol}({}) : ({}) -> ()\nllvm.return\n}}\nllvm.func @{symbol}({})",
        names.join(", "),
        types.join(", "),
        types.join(", "),
    ))?;
    function.set_loc(kernel.loc());
    Ok(entry)
}

/// Adds a constant text to the module, which ends with a zero byte; its symbol.
pub(crate) fn declare_text(
    cx: &PassCx,
    module: Op,
    at: Op,
    base: &str,
    text: &str,
) -> Result<String, crate::ir::Failed> {
    let symbol = module.unique_symbol(base);
    let bytes: String = text.bytes().map(|b| format!("\\{b:02X}")).collect();
    let global = format!(
        "llvm.mlir.global private constant @{symbol}(\"{bytes}\\00\") {{addr_space = 0 : i32}} : !llvm.array<{} x i8>",
        text.len() + 1
    );
    cx.check(at, module.define(&global))?;
    Ok(symbol)
}

/// Replaces a launch by a call of the emulator.
fn replace_launch(cx: &PassCx, module: Op, launch: Op, kernels: &HashMap<(String, String), Kernel>) -> PassResult {
    let kernel = launched(launch).and_then(|key| kernels.get(&key));
    let kernel = cx.check(launch, kernel.ok_or("launches what is no kernel of this module".to_string()))?;
    let segments = launch.attr("operandSegmentSizes").and_then(|s| s.as_i32_array()).unwrap_or_default();
    let operands = launch.operands();
    let [asynchronous, _, _, _, _, _, _, x, y, z, dynamic, count, _] = segments[..] else {
        return Err(cx.error(launch, "cannot be emulated: its operands are of an unknown form"));
    };
    let mut rest = operands.into_iter().skip(asynchronous as usize);
    let sizes: Vec<_> = rest.by_ref().take(6 + (x + y + z) as usize).collect();
    let dynamic = rest.by_ref().take(dynamic as usize).next();
    let arguments: Vec<_> = rest.take(count as usize).collect();

    let function = cx.check(launch, launch.parent_named("llvm.func").ok_or("is outside of a function".to_string()))?;
    let first = function.blocks(0).first().and_then(|b| b.ops().first().copied());
    let first = cx.check(launch, first.ok_or("is in an empty function".to_string()))?;
    let bytes = arguments.len().max(1) * SLOT;
    let text = format!(
        "%n = llvm.mlir.constant({bytes} : i64) : i64\n%p = llvm.alloca %n x i8 {{alignment = 16 : i64}} : (i64) -> !llvm.ptr\nreturn %p : !llvm.ptr"
    );
    let slots = cx.check(launch, first.build_before(&[], "", &text))?[0];

    let mut inputs = vec![("slots", slots)];
    let names: Vec<String> = (0..sizes.len() + arguments.len()).map(|i| format!("a{i}")).collect();
    inputs.extend(names.iter().map(String::as_str).zip(sizes.iter().chain(&arguments).copied()));
    let mut text = String::new();
    for (i, argument) in arguments.iter().enumerate() {
        let ty = argument.ty().to_string();
        text += &format!(
            "%p{i} = llvm.getelementptr %slots[{}] : (!llvm.ptr) -> !llvm.ptr, i8\nllvm.store %a{}, %p{i} : {ty}, !llvm.ptr\n",
            i * SLOT,
            i + sizes.len()
        );
    }
    let mut wide = Vec::new();
    for (i, size) in sizes.iter().enumerate() {
        if size.ty().is("i32") {
            text += &format!("%w{i} = llvm.sext %a{i} : i32 to i64\n");
            wide.push(format!("%w{i}"));
        } else {
            wide.push(format!("%a{i}"));
        }
    }
    text += "%none = llvm.mlir.constant(0 : i64) : i64\n";
    wide.resize(9, "%none".into());
    for (i, size) in kernel.cluster.iter().enumerate() {
        text += &format!("%own{i} = llvm.mlir.constant({size} : i64) : i64\n");
        wide.push(format!("%own{i}"));
    }
    text += &format!(
        "%kernel = llvm.mlir.addressof @{} : !llvm.ptr\n%name = llvm.mlir.addressof @{} : !llvm.ptr\n%static = llvm.mlir.constant({} : i64) : i64\n",
        kernel.entry, kernel.name, kernel.shared_bytes
    );
    match dynamic {
        Some(bytes) => {
            inputs.push(("bytes", bytes));
            text += "%dynamic = llvm.sext %bytes : i32 to i64\n";
        }
        None => text += "%dynamic = llvm.mlir.constant(0 : i64) : i64\n",
    }
    text += &format!(
        "llvm.call @tinymlirEmulatedLaunch(%kernel, %name, {}, %static, %dynamic, %slots) : (!llvm.ptr, !llvm.ptr, {}, !llvm.ptr) -> ()",
        wide.join(", "),
        ["i64"; 14].join(", ")
    );
    let declarations = format!(
        "{RUNTIME}\nllvm.func @{}(!llvm.ptr)\nllvm.mlir.global external constant @{}() {{addr_space = 0 : i32}} : !llvm.array<{} x i8>",
        kernel.entry, kernel.name, 1
    );
    cx.check(launch, launch.build_before(&inputs, &declarations, &text))?;
    cx.check(launch, declare_called(module, &text))?;
    launch.erase();
    Ok(())
}

#[cfg(test)]
mod tests {
    /// The second kernel is refused when the first one is a function of the host already.
    #[test]
    fn what_is_refused_stays_as_it_was() {
        let context = crate::context();
        let kernel = |name: &str, body: &str| {
            format!(
                "gpu.module @{name} {{ llvm.func @f() attributes {{gpu.kernel, nvvm.kernel}} {{ {body} llvm.return }} }}\n"
            )
        };
        let launch = |name: &str| {
            format!("gpu.launch_func @{name}::@f blocks in (%one, %one, %one) threads in (%one, %one, %one) : i64\n")
        };
        let text = format!(
            "module attributes {{gpu.container_module}} {{\n{}{}llvm.func @main() {{ %one = llvm.mlir.constant(1 : i64) : i64\n{}{}llvm.return }} }}",
            kernel("good", "nvvm.barrier0"),
            kernel("bad", "nvvm.barrier0 llvm.inline_asm has_side_effects \"exit;\", \"\" : () -> ()"),
            launch("good"),
            launch("bad"),
        );
        // Outside of a function values may stand behind their uses.
        let outside = format!(
            "module attributes {{gpu.container_module}} {{\n{}{}%one = llvm.mlir.constant(1 : i64) : i64\n}}",
            kernel("good", "nvvm.barrier0"),
            launch("good"),
        );
        for (text, why) in [(text, "inline assembly needs a card"), (outside, "is outside of a function")] {
            let mut module = crate::parse(&context, text.as_bytes(), "-").unwrap();
            let before = module.to_string();
            let message =
                crate::run_pipeline(&context, &mut module, "builtin.module(tinymlir-emulate-gpu)").unwrap_err();
            assert!(message.contains(why), "{message}");
            assert!(module.op().verify());
            assert_eq!(module.to_string(), before);
        }
    }
}
