//! `tinymlir-verify-input`: refuse at once what would fail late, or be wrong without a word.
//!
//! - A constant whose elements are not in the file: IR that was printed with large constants left out still parses, and
//!   upstream finds out when it translates to LLVM IR.
//! - A tensor with an encoding, such as a sparse one: everything after would take it for dense.
//! - A module inside of the module: what works on functions does not look into it.
//! - A public function with the name of a C function that compiled code calls (`exp`, `memcpy`): the calls would end in the
//!   user's function. A private one is renamed. `malloc` and `free` are not called and free to use.
//! - A `gpu.barrier` that a condition on the thread lets only some threads of a block reach: undefined, and may hang.
//!
//! Runs first in the optimize and the bufferize stage.

use crate::ir::{Op, Pass, PassCx, PassResult, Value};

pub static PASS: Pass = Pass {
    argument: "tinymlir-verify-input",
    description: "Refuse constants without elements, encoded tensors, nested modules, clashes with C functions and barriers that not all threads reach",
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
            return Err(cx.error(op, "with functions is inside of another module, which is not supported (give it alone)"));
        }
        let missing = ["value", "values", "initial_value"].iter().filter_map(|name| op.attr(name)).find(|a| a.is_missing_resource());
        if let Some(missing) = missing {
            let name = missing.to_string();
            let name = name.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or(name.as_str(), |(name, _)| name);
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
            return Err(cx.error(op, &format!("has a value of type {}: tensors with an encoding are not supported (lower them first)", value.ty())));
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

/// Functions of libm that `math` operations become, as double; float and long double have a suffix.
const MATH: [&str; 44] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp", "exp10",
    "exp2", "expm1", "fabs", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "ldexp", "log", "log10", "log1p", "log2", "nearbyint", "pow",
    "rint", "round", "roundeven", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc", "lgamma",
];
/// Other functions that LLVM or a lowering calls.
const OTHERS: [&str; 7] = ["abort", "bcmp", "bzero", "memcmp", "memcpy", "memmove", "memset"];
/// The beginnings of names of runtime functions: the compiler's and ours.
const PREFIXES: [&str; 13] = [
    "__div", "__extend", "__fix", "__float", "__gnu_", "__mod", "__mul", "__trunc", "_mlir_", "cblas_", "memrefCopy", "mgpu",
    "tinymlir_fail",
];

fn is_c_function(name: &str) -> bool {
    let math = |name: &str| MATH.contains(&name);
    math(name)
        || name.strip_suffix(['f', 'l']).is_some_and(math)
        || OTHERS.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The operation around a barrier that lets only some threads of a block through, and its name.
fn divergent(barrier: Op) -> Option<(Op, String)> {
    let mut op = barrier;
    while let Some(parent) = op.parent() {
        let name = parent.name();
        match name.as_str() {
            "gpu.launch" | "gpu.func" | "func.func" => return None,
            "scf.if" | "scf.index_switch" if thread_dependent(parent.operand(0)) => return Some((parent, name)),
            "scf.for" if parent.operands()[..3].iter().any(|bound| thread_dependent(*bound)) => return Some((parent, name)),
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
            || around.is("scf.for") && number == 0 && around.operands()[..3].iter().any(|bound| thread_dependent(*bound));
    }
    value.def().is_some_and(|def| {
        ["gpu.thread_id", "gpu.global_id", "gpu.lane_id"].contains(&def.name().as_str())
            || !def.is("memref.load") && def.operands().into_iter().any(thread_dependent)
    })
}
