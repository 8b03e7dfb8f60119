//! `tinymlir-verify-input`: refuse at once what would fail late, or be wrong without a word.
//!
//! - A constant whose elements are not in the file: IR that was printed with large constants left out still parses, and
//!   upstream finds out when it translates to LLVM IR.
//! - A constant whose resource has more or fewer bytes than its type takes. Booleans are taken out of their resource: upstream
//!   translates none there.
//! - A tensor with an encoding, such as a sparse one: everything after would take it for dense.
//! - A constant with more bytes than the machine has memory.
//! - `ml_program.global` of anything but a tensor, at which upstream's bufferization ends the program.
//! - Floats of less than 16 bits in host code: no target has an arithmetic for them.
//! - A function with an argument or result of a type that has no form in memory here (a tuple, `none`, `tf32`, a quantised type).
//! - A linalg operation whose static sizes contradict one another; upstream finds that only where all sizes are static.
//! - A function whose name begins with `llvm.`, or holds a zero byte: neither can be a symbol.
//! - `tinymlir.name` that is no string or that two arguments of a function have, and `tinymlir.range` that is not two ordered
//!   integers for an argument of integers.
//! - A module inside of the module: what works on functions does not look into it.
//! - A public function with the name of a C function that compiled code calls (`exp`, `memcpy`): the calls would end in the
//!   user's function. A private one is renamed. `malloc` and `free` are not called and free to use.
//! - A `gpu.barrier` that a condition on the thread lets only some threads of a block reach: undefined, and may hang.
//!
//! What changes other code and is none, a script of the transform dialect or a PDL pattern, is left out with a warning.
//!
//! Runs first in the optimize and the bufferize stage.

use crate::{
    ir::{Op, Pass, PassCx, PassResult, Type, Value},
    misfits::misfit,
};
use std::{collections::HashSet, sync::OnceLock};

pub static PASS: Pass = Pass {
    argument: "tinymlir-verify-input",
    description: "Refuse constants without elements or beyond memory, encoded tensors, small floats, sizes that differ, wrong attributes, nested modules, clashes with C functions and barriers that not all threads reach",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut result = Ok(());
    for op in module.walk() {
        if op.is("builtin.module") && op != module && op.body().iter().any(|inner| inner.is("func.func")) {
            return Err(
                cx.error(op, "with functions is inside of another module, which is not supported (give it alone)")
            );
        }
        if let Some(fact) = misfit(op) {
            result = Err(cx.error(op, &fact));
        }
        if let Err(fault) = resources(op) {
            return Err(cx.error(op, &fault));
        }
        let missing = ELEMENTS.iter().filter_map(|name| op.attr(name)).find(|a| a.is_missing_resource());
        if let Some(missing) = missing {
            let name = missing.to_string();
            let name =
                name.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or(name.as_str(), |(name, _)| name);
            result = Err(cx.error(
                op,
                &format!(
                    "has no elements: the file does not hold the resource '{name}', which was left out when it was printed \
                     (print it with neither --mlir-elide-elementsattrs-if-larger nor --mlir-elide-resource-strings-if-larger)"
                ),
            ));
        }
        let encoded = |v: &Value| v.ty().has_encoding();
        let arguments = (0..op.num_regions()).flat_map(|i| op.blocks(i)).flat_map(|b| b.arguments());
        if let Some(value) = op.results().into_iter().chain(arguments).find(encoded) {
            return Err(cx.error(
                op,
                &format!(
                    "has a value of type {}: tensors with an encoding are not supported (lower them first)",
                    value.ty()
                ),
            ));
        }
        let small = |v: &Value| is_small_float(v.ty()) && op.parent_named("gpu.module").is_none();
        if let Some(value) = op.results().into_iter().find(small) {
            let ty = value.ty();
            return Err(cx.error(
                op,
                &format!("has a value of type {ty}: floats of less than 16 bits are not supported (use f16 or bf16)"),
            ));
        }
        let constant = ["arith.constant", "tosa.const"].contains(&op.name().as_str());
        if let Some(bytes) = constant.then(|| bytes(op.result(0).ty())).flatten().filter(|bytes| *bytes > memory()) {
            let fact = format!("has {bytes} bytes, more than this machine's memory of {}", memory());
            return Err(cx.error(op, &format!("{fact} (make it smaller, or broadcast a smaller one)")));
        }
        if let Some(ty) =
            op.attr("type").and_then(|a| a.as_type()).filter(|ty| op.is("ml_program.global") && !ty.is_tensor())
        {
            return Err(
                cx.error(op, &format!("is of type {ty}: only tensors are supported (use a tensor, or memref.global)"))
            );
        }
        if op.is("gpu.barrier")
            && let Some((around, name)) = divergent(op)
        {
            result = Err(cx.error_with_note(
                op,
                "is reached by some threads of a block only, which is undefined and may hang (move it out of the branch)",
                (around.loc(), &format!("whether '{name}' runs it depends on the thread")),
            ));
        }
    }
    for function in module.body().into_iter().filter(|op| op.is("func.func")) {
        let faults = [argument_attributes(function), boundary_types(function), symbol_name(function)];
        if let Some(fault) = faults.into_iter().find_map(|fault| fault.err()) {
            result = Err(cx.error(function, &fault));
        }
    }
    for op in module.body() {
        let name = op.name();
        if name.starts_with("transform.") || name.starts_with("pdl.") {
            cx.warn(op, "is not applied here, and left out (apply it with mlir-opt first)");
            op.erase();
        }
    }
    for function in module.body().into_iter().filter(|op| op.is("func.func") && !op.blocks(0).is_empty()) {
        let Some(name) = function.symbol().filter(|name| is_c_function(name)) else { continue };
        if function.is_private() {
            let fresh = module.unique_symbol(&format!("{name}_of_module"));
            module.rename(function, &fresh);
        } else {
            result = Err(cx.error(
                function,
                &format!("has the name of a function that compiled code calls, '{name}' (give it another, or make it private)"),
            ));
        }
    }
    result
}

/// The attributes that hold the elements of a constant or a global.
const ELEMENTS: [&str; 3] = ["value", "values", "initial_value"];

/// Whether the resources of a constant have as many bytes as its type says. Booleans are taken out of theirs, since upstream
/// translates none there.
fn resources(op: Op) -> Result<(), String> {
    for name in ELEMENTS {
        let Some((attr, bytes)) = op.attr(name).and_then(|attr| Some((attr, attr.resource_bytes()?))) else { continue };
        if let Some(inline) = attr.inline_booleans() {
            op.set_attr(name, inline);
        } else if let Some(wanted) = self::bytes(attr.ty()).filter(|wanted| i64::try_from(bytes) != Ok(*wanted)) {
            let ty = attr.ty();
            return Err(format!(
                "has a resource of {bytes} bytes where {ty} takes {wanted} (correct the type or the data)"
            ));
        }
    }
    Ok(())
}

fn is_small_float(ty: Type) -> bool {
    let element = ty.element().unwrap_or(ty);
    element.is_float() && element.bytes().is_some_and(|bytes| bytes < 2)
}

/// The bytes of a value of a static shape; `None` where there is no such number.
fn bytes(ty: Type) -> Option<i64> {
    ty.shape()?.into_iter().try_fold(ty.element()?.bytes()?, |n, size| n.checked_mul(size?))
}

/// The bytes of the machine's memory; no limit where the system does not tell.
fn memory() -> i64 {
    static MEMORY: OnceLock<i64> = OnceLock::new();
    *MEMORY.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let total = text
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<i64>().ok());
        total.map_or(i64::MAX, |kilobytes| kilobytes * 1024)
    })
}

/// What is wrong with the names and ranges of a function's arguments.
fn argument_attributes(function: Op) -> Result<(), String> {
    let Some(ty) = function.attr("function_type").and_then(|ty| ty.as_type()) else { return Ok(()) };
    let mut names = HashSet::new();
    for (i, ty) in ty.function().map_or(vec![], |(inputs, _)| inputs).into_iter().enumerate() {
        if let Some(name) = function.arg_attr(i, "tinymlir.name") {
            let text = name.as_str().ok_or(format!("has {name} as 'tinymlir.name' of argument {i} (give a string)"))?;
            if !names.insert(text.clone()) {
                return Err(format!("has two arguments with the 'tinymlir.name' \"{text}\" (rename one)"));
            }
        }
        let Some(range) = function.arg_attr(i, "tinymlir.range") else { continue };
        let bounds: Option<Vec<i64>> =
            range.elements().unwrap_or_default().into_iter().map(|bound| bound.as_int()).collect();
        if !bounds.is_some_and(|b| b.len() == 2 && b[0] <= b[1]) || !ty.element().unwrap_or(ty).is_integer_or_index() {
            let remedy = "(give [FIRST, END] to an argument of integers)";
            return Err(format!("has {range} as 'tinymlir.range' of argument {i}, which is of type {ty} {remedy}"));
        }
    }
    Ok(())
}

/// What is wrong with the types of a function's arguments and results.
fn boundary_types(function: Op) -> Result<(), String> {
    let Some((inputs, results)) = function.attr("function_type").and_then(|ty| ty.as_type()).and_then(|t| t.function())
    else {
        return Ok(());
    };
    let unknown = |ty: &Type| {
        let element = ty.element().unwrap_or(*ty).to_string();
        element.starts_with("tuple<") || element.starts_with("!quant.") || element == "none" || element == "tf32"
    };
    match inputs.into_iter().chain(results).find(unknown) {
        Some(ty) => {
            Err(format!("has an argument or result of type {ty}, which is not supported (use integers or floats)"))
        }
        None => Ok(()),
    }
}

/// What is wrong with a function's name.
fn symbol_name(function: Op) -> Result<(), String> {
    let name = function.symbol().unwrap_or_default();
    if name.contains('\0') {
        return Err("has a zero byte in its name (rename it)".into());
    }
    if name.starts_with("llvm.") && !function.blocks(0).is_empty() {
        return Err(format!("has the name of an intrinsic function of LLVM's, '{name}' (rename it)"));
    }
    Ok(())
}

/// Functions of libm that `math` operations become, as double; float and long double have a suffix.
const MATH: &str = "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs floor fma \
    fmax fmin fmod frexp ldexp log log10 log1p log2 nearbyint pow rint round roundeven sin sincos sinh sqrt tan tanh \
    tgamma trunc lgamma";
/// Other functions that LLVM or a lowering calls.
const OTHERS: [&str; 7] = ["abort", "bcmp", "bzero", "memcmp", "memcpy", "memmove", "memset"];
/// The beginnings of names of runtime functions: the compiler's and ours.
const PREFIXES: &str = "__div __extend __fix __float __gnu_ __mod __mul __trunc _mlir_ cblas_ memrefCopy mgpu tinymlirParallelFor tinymlir_fail";

fn is_c_function(name: &str) -> bool {
    let math = |name: &str| MATH.split(' ').any(|known| known == name);
    math(name)
        || name.strip_suffix(['f', 'l']).is_some_and(math)
        || OTHERS.contains(&name)
        || PREFIXES.split(' ').any(|prefix| name.starts_with(prefix))
}

/// The operation around a barrier that lets only some threads of a block through, and its name.
fn divergent(barrier: Op) -> Option<(Op, String)> {
    let mut op = barrier;
    while let Some(parent) = op.parent() {
        let name = parent.name();
        match name.as_str() {
            "gpu.launch" | "gpu.func" | "func.func" => return None,
            "scf.if" | "scf.index_switch" if thread_dependent(parent.operand(0)) => return Some((parent, name)),
            "scf.for" if parent.operands()[..3].iter().any(|bound| thread_dependent(*bound)) => {
                return Some((parent, name));
            }
            _ => op = parent,
        }
    }
    None
}

/// Whether a value is computed from a thread's position in its block. What memory holds is taken to be uniform.
fn thread_dependent(value: Value) -> bool {
    if let Some((block, number)) = value.block_argument() {
        let around = block.parent();
        return around.is("gpu.launch") && (3..6).contains(&number)
            || around.is("scf.for")
                && number == 0
                && around.operands()[..3].iter().any(|bound| thread_dependent(*bound));
    }
    value.def().is_some_and(|def| {
        ["gpu.thread_id", "gpu.global_id", "gpu.lane_id"].contains(&def.name().as_str())
            || !def.is("memref.load") && def.operands().into_iter().any(thread_dependent)
    })
}
