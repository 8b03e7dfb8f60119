//! `tinymlir-gpu-outline`: a bufferized module to host code that launches kernels.
//!
//! A list of passes with one decision: functions that still work on tensors are bufferized first, and a module may mix
//! both kinds. The order matters. Products are substituted while they are products; loops are normalised before they are
//! tiled; nothing canonicalises between tiling and mapping, which would merge the two loops again; and all of it runs after
//! deallocation, which cannot see through a kernel's barriers. What is a kernel already (`gpu.launch`, `gpu.module`) stays.

use crate::{
    choice::chip_number,
    ir::{Attr, Op, Opt, Pass, PassCx, PassResult},
    mma_tiles::FIRST_CHIP,
    tinymlir_merge_kernels::KEEP,
};

pub static PASS: Pass = Pass {
    argument: "tinymlir-gpu-outline",
    description: "Outline every loop and matrix product of a bufferized (or tensor) module as a GPU kernel",
    anchor: "builtin.module",
    options: &[
        Opt::string("memory", "managed", "Where buffers go: managed, or device for those that only kernels touch"),
        Opt::string(
            "schedule",
            "simple",
            "Which kernels: simple, or fast for those that the selection table has for the chip",
        ),
        Opt::string("chip", "sm_80", "The chip that fast kernels are for"),
        Opt::boolean(
            "dependent-launches",
            "true",
            "Whether fast kernels for sm_90 and newer start while their predecessor ends",
        ),
        Opt::string(
            "precision",
            "fp32",
            "How fast kernels may round products of f32: fp32, or tf32 or bf16 on tensor cores",
        ),
        Opt::string(
            "reductions",
            "ordered",
            "How blocks of fast kernels add up what they compute: ordered, or atomic, in an order that differs from run to run",
        ),
    ],
    statistics: &[],
    dialects: crate::dialects::EVERY,
    run,
};

/// What follows `tinymlir-optimize` on tensors where fast kernels for the chip may round products of f32 this way: to bf16
/// from sm_80 on.
pub fn narrowing(precision: &str, chip: &str) -> &'static str {
    let multiplies_bf16 = chip_number(chip).is_some_and(|number| number >= FIRST_CHIP);
    if precision == "bf16" && multiplies_bf16 { ",tinymlir-narrow-products,tinymlir-optimize" } else { "" }
}

/// Math that becomes a loop in a function of its own, which is a call before anything takes it for plain arithmetic.
pub const MATH: &str = "tinymlir-expand-math,convert-math-to-funcs{min-width-of-fpowi-exponent=65}";

/// What fast kernels for a chip compute at this precision, and with reductions of this kind.
pub fn fast(chip: &str, precision: &str, reductions: &str) -> String {
    let options = format!("chip={chip} precision={precision} reductions={reductions}");
    format!(
        "tinymlir-hoist-copies,tinymlir-attention{{{options}}},tinymlir-tuned-matmul{{{options}}},\
         tinymlir-row-kernels"
    )
}

/// From products and copies to loops; with `vectors` contiguous copies are of 16 bytes a thread.
pub fn loops(vectors: bool) -> String {
    format!(
        "tinymlir-tiled-matmul,tinymlir-wide-accumulators,tinymlir-tiled-matmul,tinymlir-device-copies{{vectors={vectors}}},\
         func.func(convert-linalg-to-parallel-loops,scf-forall-to-parallel),lower-affine,tinymlir-hoist-accumulators"
    )
}

/// From loops to kernels. `cse` before outlining makes equal kernels textually equal.
pub const KERNELS: &str = "tinymlir-tile-parallel-loops,func.func(gpu-map-parallel-loops{mapping-policy=innermost-first}),\
                       convert-parallel-loops-to-gpu,lower-affine,canonicalize,cse,func.func(gpu-launch-sink-index-computations),\
                       gpu-kernel-outlining,canonicalize,cse,tinymlir-merge-kernels,\
                       canonicalize,cse";

/// What follows fast kernels.
pub const JOIN: &str = "tinymlir-join-kernels,canonicalize,cse";

/// What follows kernels: where buffers are, and the order of launches. Not before, since a buffer in a parallel loop is each
/// iteration's own, and is in its kernel by then.
pub fn buffers(memory: &str) -> String {
    format!(
        "tinymlir-heap-allocas,tinymlir-managed-allocations{{memory={memory}}},tinymlir-plan-memory,tinymlir-alignment-checks,\
         tinymlir-async-launches,tinymlir-verify-outlined"
    )
}

fn run(cx: &PassCx, module: Op) -> PassResult {
    let is_fast = match cx.string("schedule").as_str() {
        "simple" => false,
        "fast" => true,
        other => {
            return Err(cx.error(module, &format!("cannot be outlined: schedule={other} is neither simple nor fast")));
        }
    };
    let memory = cx.string("memory");
    let of_tensors =
        |f: &Op| f.walk().iter().any(|op| op.results().iter().chain(&op.operands()).any(|v| v.ty().is_tensor()));
    if module.find(&["func.func"]).iter().any(of_tensors) {
        // The precision is fast kernels'.
        let narrow = if is_fast { narrowing(&cx.string("precision"), &cx.string("chip")) } else { "" };
        cx.run_pipeline(&format!("tinymlir-optimize{narrow},tinymlir-bufferize"), module)?;
    }
    let kept: Vec<_> = module.body().into_iter().filter(|m| m.is("gpu.module")).collect();
    kept.iter().for_each(|m| m.set_attr(KEEP, Attr::unit(module.ctx())));
    module.find(&["gpu.launch"]).into_iter().for_each(pass_cluster_sizes);
    cx.run_pipeline(MATH, module)?;
    if is_fast {
        cx.run_pipeline(&fast(&cx.string("chip"), &cx.string("precision"), &cx.string("reductions")), module)?;
    }
    cx.run_pipeline(&loops(is_fast), module)?;
    cx.run_pipeline(KERNELS, module)?;
    if is_fast {
        cx.run_pipeline(JOIN, module)?;
    }
    if is_fast && cx.boolean("dependent-launches") {
        cx.run_pipeline(&format!("tinymlir-dependent-launches{{chip={}}}", cx.string("chip")), module)?;
    }
    for kept in module.body().into_iter().filter(|m| m.is("gpu.module")) {
        kept.remove_attr(KEEP);
    }
    cx.run_pipeline(&buffers(&memory), module)
}

/// Gives the body of a launch the sizes of its clusters: upstream outlines those names as the number of clusters.
fn pass_cluster_sizes(launch: Op) {
    let segments = launch.attr("operandSegmentSizes").and_then(|s| s.as_i32_array()).unwrap_or_default();
    if segments.get(7..10) != Some(&[1, 1, 1]) {
        return;
    }
    let before = segments[..7].iter().sum::<i32>() as usize;
    let arguments = launch.blocks(0).first().map(|block| block.arguments()).unwrap_or_default();
    for (argument, size) in arguments.into_iter().skip(15).take(3).zip(launch.operands().into_iter().skip(before)) {
        argument.replace_all_uses(size);
    }
}
