//! `tinymlir-lower-gpu`: kernels to PTX or cubin embedded in the module, host code to LLVM that launches them.
//!
//! A list of upstream's passes with checks in between, since upstream fails late or not at all: an unknown chip, a missing
//! libdevice, more workgroup memory than a block can have, an operation without a device lowering, and a gpu operation left
//! on the host are diagnostics here, never an unresolved symbol when the module is loaded. Math functions are linked
//! from libdevice, in `toolkit`, by default `$TINYMLIR_CUDA_TOOLKIT`, what tools/setup laid down, or an installed toolkit.
//! Takes what `tinymlir-gpu-outline` makes.

use crate::{
    ir::{Attr, Failed, Op, Opt, Pass, PassCx, PassResult, Type, Value},
    pipelines::HOST_TO_LLVM,
    subgroups,
    tinymlir_merge_kernels::launched,
};
use std::path::PathBuf;

pub static PASS: Pass = Pass {
    argument: "tinymlir-lower-gpu",
    description: "Lower kernels to PTX or cubin, embedded as gpu.binary, and host code to LLVM",
    anchor: "builtin.module",
    options: &[
        Opt::string("chip", "sm_80", "The target chip, such as sm_75 or sm_90a"),
        Opt::string(
            "format",
            "isa",
            "What is embedded: isa (PTX), bin (cubin, by the toolkit's ptxas), or nothing: nvvm leaves gpu.module",
        ),
        Opt::string("toolkit", "", "The folder that holds nvvm/libdevice and bin/ptxas"),
    ],
    statistics: &[],
    dialects: crate::dialects::EVERY,
    run,
};

/// The chips that LLVM 22 knows, from Turing on, with the PTX version to ask for: 8.1 lifts the limit on a kernel's
/// parameters from 4 KiB, and newer chips imply a newer version.
const CHIPS: [(&str, &str); 17] = [
    ("sm_75", "+ptx81"),
    ("sm_80", "+ptx81"),
    ("sm_86", "+ptx81"),
    ("sm_87", "+ptx81"),
    ("sm_89", "+ptx81"),
    ("sm_90", "+ptx81"),
    ("sm_90a", "+ptx81"),
    ("sm_100", ""),
    ("sm_100a", ""),
    ("sm_101", ""),
    ("sm_101a", ""),
    ("sm_103", ""),
    ("sm_103a", ""),
    ("sm_120", ""),
    ("sm_120a", ""),
    ("sm_121", ""),
    ("sm_121a", ""),
];
/// The first chip that has an instruction, by the start of its operation's name; the longest start comes first. Upstream
/// checks those that a single chip has.
const INSTRUCTIONS: [(&str, u32); 17] = [
    ("nvvm.cp.async.bulk", 90),
    ("nvvm.cp.async", 80),
    ("nvvm.mbarrier.try_wait", 90),
    ("nvvm.mbarrier.arrive.expect_tx", 90),
    ("nvvm.mbarrier", 80),
    ("nvvm.redux", 80),
    ("nvvm.stmatrix", 90),
    ("nvvm.clusterlaunchcontrol", 100),
    ("nvvm.cluster", 90),
    ("nvvm.read.ptx.sreg.cluster", 90),
    ("nvvm.read.ptx.sreg.nclusterid", 90),
    ("nvvm.fence.sc.cluster", 90),
    ("nvvm.elect", 90),
    ("nvvm.fence.proxy", 90),
    ("nvvm.fence.mbarrier", 90),
    ("nvvm.griddepcontrol", 90),
    ("nvvm.mapa", 90),
];
/// The most workgroup memory that a block may have without asking the driver for more.
const WORKGROUP_BYTES: i64 = 48 * 1024;

/// A kernel module's body to LLVM. Math goes to libdevice first; what libdevice lacks is generic LLVM, or expanded.
const DEVICE: &str = "gpu.module(canonicalize,cse,convert-nvgpu-to-nvvm,canonicalize,cse,convert-vector-to-scf,memref-expand,expand-strided-metadata,lower-affine,convert-scf-to-cf,\
                      convert-complex-to-standard,math-expand-ops{ops=clampf},arith-expand,convert-gpu-to-nvvm,\
                      convert-vector-to-llvm{vector-contract-lowering=outerproduct vector-transpose-lowering=eltwise},convert-nvvm-to-llvm,convert-math-to-llvm,\
                      convert-complex-to-llvm,convert-index-to-llvm,convert-arith-to-llvm,convert-ub-to-llvm,\
                      reconcile-unrealized-casts,canonicalize,cse)";

fn run(cx: &PassCx, module: Op) -> PassResult {
    let chip = cx.string("chip");
    let Some((_, features)) = CHIPS.iter().find(|(name, _)| *name == chip) else {
        let known = CHIPS.map(|(name, _)| name).join(", ");
        return Err(cx.error(module, &format!("cannot be lowered: chip '{chip}' is none of {known}")));
    };
    let format = cx.string("format");
    if !["isa", "bin", "nvvm"].contains(&format.as_str()) {
        return Err(cx.error(module, &format!("cannot be lowered: format '{format}' is none of isa, bin, nvvm")));
    }
    let embeds = format != "nvvm";
    let toolkit = if embeds { cx.check(module, toolkit(&cx.string("toolkit"), &format))? } else { PathBuf::new() };
    module.find(&["gpu.func"]).into_iter().try_for_each(|kernel| check_workgroup_memory(cx, kernel))?;

    legalize_names(module);
    let modules: Vec<_> = module.find(&["gpu.module"]);
    let untargeted: Vec<_> =
        modules.iter().filter(|m| m.attr("targets").is_none()).filter_map(|m| m.symbol()).collect();
    if !untargeted.is_empty() {
        let features = if features.is_empty() { String::new() } else { format!(" features={features}") };
        // A regular expression, and an option's value, which ends at a space: other characters stand as any one.
        let word =
            |name: &String| name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '.' }).collect();
        let names = untargeted.iter().map(word).collect::<Vec<String>>().join("|");
        cx.run_pipeline(&format!("nvvm-attach-target{{module=^({names})$ chip={chip}{features} O=3}}"), module)?;
    }
    narrow_exponents(cx, module)?;
    if let Some(kernels) = modules.iter().find(|kernels| !kernels.lower_vector_reductions()) {
        return Err(cx.error(*kernels, "internal error: reductions of vectors cannot be lowered"));
    }
    subgroups::reduce_by_shuffles(cx, module, number(&chip) >= 80)?;
    subgroups::widen(cx, module)?;
    cx.run_pipeline(
        &format!(
            "tinymlir-record-signatures,tinymlir-expand-math,tinymlir-device-math,tinymlir-lower-asserts,{DEVICE}"
        ),
        module,
    )?;
    for kernels in module.find(&["gpu.module"]) {
        exact_roots(cx, kernels)?;
        if embeds && number(&chip) >= 90 {
            opaque_negations(cx, kernels)?;
        }
        check_lowered(cx, kernels)?;
        if let Some(name) = kernels.symbol().filter(|name| untargeted.contains(name)) {
            check_chip(cx, kernels, &chip)?;
            check_clusters(cx, module, kernels, &name, &chip)?;
        }
    }
    // Tensor maps are made on the host.
    cx.run_pipeline("convert-nvgpu-to-nvvm", module)?;
    let host = HOST_TO_LLVM.replace("convert-index-to-llvm", "gpu-to-llvm,convert-index-to-llvm");
    cx.run_pipeline(&host, module)?;
    check_host(cx, module)?;
    if !embeds {
        return Ok(());
    }
    cx.run_pipeline(&format!("gpu-module-to-binary{{format={format} toolkit={}}}", toolkit.display()), module)
}

/// The folder with libdevice, and with ptxas where a cubin is wanted: the one that is named, by option or environment, else
/// the first that has them of our cache, `$CUDA_HOME` and `/usr/local/cuda`.
fn toolkit(given: &str, format: &str) -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|f| !f.is_empty()).map(PathBuf::from);
    let named = Some(PathBuf::from(given)).filter(|_| !given.is_empty()).or_else(|| variable("TINYMLIR_CUDA_TOOLKIT"));
    let home = || variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|h| h.join(".cache")));
    let cache = || variable("TINYMLIR_CACHE").or_else(|| home().map(|h| h.join("tinymlir")));
    let folders = match named {
        Some(folder) => vec![folder],
        None => {
            let cached = cache().map(|c| c.join("cuda-12.6.85"));
            cached.into_iter().chain(variable("CUDA_HOME")).chain([PathBuf::from("/usr/local/cuda")]).collect()
        }
    };
    let needed = &["nvvm/libdevice/libdevice.10.bc", "bin/ptxas"][..if format == "bin" { 2 } else { 1 }];
    if let Some(folder) = folders.iter().find(|folder| needed.iter().all(|file| folder.join(file).is_file())) {
        return Ok(folder.clone());
    }
    let missing = |folder: &PathBuf| needed.iter().find(|file| !folder.join(file).is_file()).copied();
    let file = folders.iter().find_map(missing).unwrap_or_default();
    let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    Err(format!("cannot be lowered: there is no {file} in {} (run tools/setup, or give toolkit=)", folders.join(", ")))
}

/// The bytes of an element, rounded up.
fn bytes(ty: Type) -> i64 {
    let text = ty.to_string();
    if text == "index" {
        return 8;
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse::<i64>().map_or(8, |bits| (bits + 7) / 8)
}

fn check_workgroup_memory(cx: &PassCx, kernel: Op) -> PassResult {
    let Some(block) = kernel.blocks(0).first().copied() else { return Ok(()) };
    let attributions = block.arguments().into_iter().map(|a| a.ty());
    let globals = kernel.find(&["memref.get_global"]).into_iter().map(|g| g.result(0).ty());
    let mut total = 0i64;
    for ty in attributions.chain(globals) {
        let Some(memref) = ty.memref() else { continue };
        let space = memref.space.map(|s| s.to_string()).unwrap_or_default();
        if !(space.contains("workgroup") || space.starts_with('3')) {
            continue;
        }
        let elements = memref.shape.iter().try_fold(bytes(memref.element), |n, size| n.checked_mul((*size)?));
        total = total.saturating_add(elements.unwrap_or(0));
    }
    if total > WORKGROUP_BYTES {
        let fact = format!("needs {total} bytes of static workgroup memory: a block has {WORKGROUP_BYTES}");
        return Err(cx.error(kernel, &format!("{fact} (use smaller tiles)")));
    }
    Ok(())
}

/// Brings the exponents of `math.fpowi` to 32 bits, which is what libdevice's function takes; upstream passes any width to it.
/// A wider one is clamped and keeps its parity, which gives the same power: past 2^31 only 0, 1 and infinity are left.
fn narrow_exponents(cx: &PassCx, module: Op) -> PassResult {
    for power in module.find(&["math.fpowi"]).into_iter().filter(|op| op.parent_named("gpu.module").is_some()) {
        let exponent = power.operand(1);
        let ty = exponent.ty().to_string();
        let text = match ty.strip_prefix('i').and_then(|bits| bits.parse::<u32>().ok()) {
            None => {
                return Err(
                    cx.error(power, &format!("has no lowering for a GPU: its exponent is of type {ty} (unroll it)"))
                );
            }
            Some(32) => continue,
            Some(..32) => format!("%n = arith.extsi %e : {ty} to i32\nreturn %n : i32"),
            Some(_) => format!(
                "%least = arith.constant -2147483646 : {ty}\n%most = arith.constant 2147483646 : {ty}\n%one = arith.constant 1 : {ty}\n\
                 %a = arith.maxsi %e, %least : {ty}\n%b = arith.minsi %a, %most : {ty}\n%odd = arith.andi %e, %one : {ty}\n\
                 %c = arith.ori %b, %odd : {ty}\n%n = arith.trunci %c : {ty} to i32\nreturn %n : i32"
            ),
        };
        let narrow = cx.check(power, power.build_before(&[("e", exponent)], "", &text))?;
        power.set_operand(1, narrow[0]);
    }
    Ok(())
}

/// Renames what kernel modules hold under names that PTX has no identifiers for: LLVM ends the program at one.
fn legalize_names(module: Op) {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    for kernels in module.find(&["gpu.module"]) {
        let holder = kernels.symbol().unwrap_or_default();
        for symbol in kernels.body() {
            let Some(old) = symbol.symbol() else { continue };
            let legal: String = old.chars().map(|c| if fits(c) { c } else { '_' }).collect();
            let legal = if legal.starts_with(|c: char| c.is_ascii_alphabetic()) { legal } else { format!("k{legal}") };
            if legal == old {
                continue;
            }
            let new = kernels.unique_symbol(&legal);
            symbol.set_attr("sym_name", Attr::string(module.ctx(), &new));
            for user in kernels.walk() {
                for name in ["callee", "name", "global_name"] {
                    let same = user.attr(name).and_then(|a| a.as_symbol()).is_some_and(|s| s == old);
                    if same {
                        user.set_attr(name, Attr::symbol(module.ctx(), &new));
                    }
                }
            }
            for launch in module.find(&["gpu.launch_func"]) {
                let Some((_, kernel)) = launched(launch).filter(|(h, _)| *h == holder) else { continue };
                if kernel == old {
                    launch.set_attr("kernel", Attr::symbol_in(module.ctx(), &holder, &new));
                }
            }
        }
    }
}

/// Takes square roots by the instruction that rounds correctly: libdevice's function asks the compiler for the choice, and
/// LLVM's answer is the approximate one.
fn exact_roots(cx: &PassCx, kernels: Op) -> PassResult {
    for call in kernels.find(&["llvm.call"]) {
        let callee = call.attr("callee").and_then(|a| a.as_symbol());
        if !callee.is_some_and(|c| c == "__nv_sqrtf" || c == "__nv_sqrt") {
            continue;
        }
        let ty = call.operand(0).ty();
        let text = format!("%r = llvm.intr.sqrt(%x) : ({ty}) -> {ty}\nreturn %r : {ty}");
        let root = cx.check(call, call.build_before(&[("x", call.operand(0))], "", &text))?;
        call.replace_with(&root);
    }
    Ok(())
}

/// Hides integer negations from ptxas in functions that take maxima or minima: for chips from sm_90 on, ptxas 12.6 to 13.0 joins
/// `max(max(a, -b), c)` over 16 and 32 signed bits to one instruction and loses the sign of `b`.
fn opaque_negations(cx: &PassCx, kernels: Op) -> PassResult {
    let constant =
        |value: Value| value.def().filter(|d| d.is("llvm.mlir.constant")).and_then(|d| d.attr("value")?.as_int());
    let functions = kernels.find(&["llvm.func"]);
    let affected = |f: &&Op| !f.find(&["llvm.intr.smax", "llvm.intr.smin", "llvm.select"]).is_empty();
    for op in functions.iter().filter(affected).flat_map(|f| f.find(&["llvm.sub", "llvm.mul"])) {
        let (a, b) = (op.operand(0), op.operand(1));
        let negated = match op.is("llvm.sub") {
            true => (constant(a) == Some(0)).then_some(b),
            false => (constant(b) == Some(-1)).then_some(a).or_else(|| (constant(a) == Some(-1)).then_some(b)),
        };
        let Some(value) = negated else { continue };
        let ty = value.ty().to_string();
        let (bits, class) = match ty.as_str() {
            "i16" => (16, 'h'),
            "i32" => (32, 'r'),
            _ => continue,
        };
        let code = format!("not.b{bits} $0, $1; add.s{bits} $0, $0, 1;");
        let text =
            format!("%r = llvm.inline_asm \"{code}\", \"={class},{class}\" %x : ({ty}) -> {ty}\nreturn %r : {ty}");
        let result = cx.check(op, op.build_before(&[("x", value)], "", &text))?;
        op.replace_with(&result);
    }
    Ok(())
}

/// The compute capability of a chip's name, times ten.
fn number(chip: &str) -> u32 {
    chip.trim_start_matches("sm_").trim_end_matches('a').parse().unwrap_or(0)
}

/// Nothing but LLVM is left in a kernel module.
fn check_lowered(cx: &PassCx, kernels: Op) -> PassResult {
    let mut result = Ok(());
    for op in kernels.walk().into_iter().skip(1) {
        let name = op.name();
        if name.starts_with("llvm.") || name.starts_with("nvvm.") {
            continue;
        }
        // The cast beside an operation that was not lowered is a consequence.
        if name != "builtin.unrealized_conversion_cast" {
            result = Err(cx.error(op, "has no lowering for a GPU (expand it, or compute it on the host)"));
        }
    }
    let casts = kernels.find(&["builtin.unrealized_conversion_cast"]);
    match (result, casts.first()) {
        (Ok(()), Some(cast)) => Err(cx.error(*cast, "is left: a type has no form on a GPU")),
        (result, _) => result,
    }
}

/// Every instruction is one that the chip has: LLVM ends the program at any other.
fn check_chip(cx: &PassCx, kernels: Op, chip: &str) -> PassResult {
    let number = number(chip);
    let mut result = Ok(());
    for op in kernels.walk().into_iter().skip(1) {
        let name = op.name();
        let Some((_, first)) = INSTRUCTIONS.iter().find(|(prefix, _)| name.starts_with(prefix)) else { continue };
        if number < *first {
            let fact = format!("is an instruction of sm_{first} or newer, and the target is {chip}");
            result = Err(cx.error(op, &format!("{fact} (give tinymlir-gpu-outline the same chip)")));
        }
    }
    result
}

/// Clusters are launched on chips that have them: others ignore them, or fail when the kernel is launched.
fn check_clusters(cx: &PassCx, module: Op, kernels: Op, name: &str, chip: &str) -> PassResult {
    if number(chip) >= 90 {
        return Ok(());
    }
    let refused = |op: Op| {
        Err(cx.error(op, &format!("has clusters, which chips from sm_90 on have, and the target is {chip} (give one of those, as chip=sm_90)")))
    };
    let sizes = |op: &Op| op.attr("operandSegmentSizes").and_then(|s| s.as_i32_array()).unwrap_or_default();
    let clustered = |op: &Op| sizes(op).get(7..10).is_some_and(|sizes| sizes.contains(&1));
    let launches = module.find(&["gpu.launch_func"]).into_iter();
    let mut launches = launches.filter(|l| launched(*l).is_some_and(|(holder, _)| holder == name));
    if let Some(launch) = launches.find(clustered) {
        return refused(launch);
    }
    match kernels.body().into_iter().find(|kernel| kernel.attr("nvvm.cluster_dim").is_some()) {
        Some(kernel) => refused(kernel),
        None => Ok(()),
    }
}

/// No gpu operation but launches and binaries is left on the host.
fn check_host(cx: &PassCx, module: Op) -> PassResult {
    let mut result: Result<(), Failed> = Ok(());
    for op in module.walk().into_iter().filter(|op| op.parent_named("gpu.module").is_none()) {
        let name = op.name();
        let kept = ["gpu.module", "gpu.binary", "gpu.launch_func"].contains(&name.as_str());
        if (name.starts_with("gpu.") && !kept) || name == "builtin.unrealized_conversion_cast" {
            result =
                Err(cx.error(op, "has no lowering on the host (run tinymlir-verify-outlined before, which says why)"));
        }
    }
    result
}
