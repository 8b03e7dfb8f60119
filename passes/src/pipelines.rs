//! Pipelines: the stages as names. Each stage's output is valid input of the next, as text.

use crate::ir::{Opt, Pipeline};

/// Every pipeline, in the order in which they run.
pub const ALL: &[&Pipeline] = &[&OPTIMIZE, &BUFFERIZE, &LOWER_CPU];

/// Tensors to fewer, fused operations on tensors.
pub static OPTIMIZE: Pipeline = Pipeline {
    argument: "tinymlir-optimize",
    description: "Canonicalize and fuse elementwise operations on tensors; contractions pass untouched",
    options: &[],
    expand: |_| {
        "tinymlir-verify-input,tinymlir-decompose,convert-elementwise-to-linalg,canonicalize,cse,tinymlir-fold-transposes,tinymlir-fuse,canonicalize,cse".into()
    },
};

/// Tensors to memrefs, with deallocation. Functions on memrefs pass untouched.
pub static BUFFERIZE: Pipeline = Pipeline {
    argument: "tinymlir-bufferize",
    description: "Bufferize functions on tensors, in place where possible, and free every buffer; arguments are not written to",
    options: &[],
    expand: |_| {
        "tinymlir-verify-input,tinymlir-decompose,convert-elementwise-to-linalg,tinymlir-entry-arguments,tinymlir-split-fills,eliminate-empty-tensors,\
         empty-tensor-to-alloc-tensor,\
         one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map \
         unknown-type-conversion=identity-layout-map allow-return-allocs-from-loops buffer-alignment=64},\
         canonicalize,cse,tinymlir-drop-writable-results,drop-equivalent-buffer-results,tinymlir-runtime-checks,tinymlir-deallocate,convert-bufferization-to-memref,\
         canonicalize,cse,tinymlir-rank-reductions,tinymlir-dynamic-expansions"
            .into()
    },
};

/// Memrefs to LLVM for the host.
pub static LOWER_CPU: Pipeline = Pipeline {
    argument: "tinymlir-lower-cpu",
    description: "Contractions to CBLAS, everything else to loops, all to LLVM for the host",
    options: &[
        Opt::boolean(
            "blas",
            "true",
            "Turn contractions into CBLAS calls and loops over vectors; else into plain loops",
        ),
        Opt::boolean("threads", "true", "Run parallel loops on several threads"),
        Opt::integer("vector-bits", "256", "The width of the host's vector registers"),
    ],
    expand: |options| {
        let bits = options.integer("vector-bits");
        let [vectors, blas] = if options.boolean("blas") {
            let vectors = format!(
                "tinymlir-host-attention,tinymlir-gemv,tinymlir-vector-matmul{{vector-bits={bits}}},tinymlir-dot-products{{vector-bits={bits}}},"
            );
            [vectors, "tinymlir-blas,".into()]
        } else {
            [String::new(), String::new()]
        };
        let threads = if options.boolean("threads") { "tinymlir-thread-loops," } else { "" };
        format!(
            "tinymlir-verify-bufferized,tinymlir-record-signatures,tinymlir-expand-math,{vectors}tinymlir-wide-accumulators,{blas}tinymlir-reassociate-reductions,tinymlir-row-blocks,tinymlir-outline-loops,tinymlir-plan-memory,\
             func.func(convert-linalg-to-parallel-loops,scf-forall-to-parallel),tinymlir-hoist-accumulators,{threads}tinymlir-heap-allocas,tinymlir-lower-asserts,{HOST_TO_LLVM},tinymlir-verify-lowered"
        )
    },
};

/// Host code without linalg to LLVM. Math is computed in f32 or f64, by LLVM's intrinsics or libm: upstream's expansions
/// (`math-expand-ops`, and `arith-expand` of maxima and minima) are neither accurate nor right for zeros with a sign, so what
/// `convert-arith-to-llvm` knows is converted before `arith-expand` sees it. Allocation goes through generic functions, so that the module may define `malloc`.
pub const HOST_TO_LLVM: &str = "expand-realloc,memref-expand,expand-strided-metadata,lower-affine,\
    func.func(lower-vector-multi-reduction),convert-vector-to-scf,lower-affine,convert-scf-to-cf,convert-complex-to-standard,math-extend-to-supported-types{target-type=f32},\
    arith-emulate-unsupported-floats{source-types=bf16 target-type=f32},tinymlir-host-math,convert-math-to-funcs{convert-ctlz=false},math-expand-ops{ops=clampf},convert-math-to-llvm{approximate-log1p=false},convert-math-to-libm,\
    convert-arith-to-llvm,arith-expand,\
    convert-vector-to-llvm,convert-complex-to-llvm,finalize-memref-to-llvm{use-generic-functions=true},convert-index-to-llvm,\
    convert-arith-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts";
