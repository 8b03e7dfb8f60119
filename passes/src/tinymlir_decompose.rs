//! `tinymlir-decompose`: high-level operations become linalg and tensor operations that every target knows.
//!
//! TOSA goes through upstream's conversions; softmax, Winograd operations, pack and unpack through their own
//! decompositions, which no upstream pass offers. Runs first in the optimize stage, and again before bufferization for
//! modules that skip it; it finds nothing then. It refuses a pack or unpack that upstream cannot lower.

use crate::ir::{Failed, Op, Pass, PassCx, PassResult};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-decompose",
    description: "Decompose TOSA, softmax, pack and unpack into linalg and tensor operations",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__linalg__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__tensor__,
    ],
    run,
};

const TOSA: &str = "func.func(tosa-optional-decompositions,canonicalize,tosa-infer-shapes,tosa-make-broadcastable,\
    tosa-to-scf,tosa-to-linalg-named,canonicalize,tosa-layerwise-constant-fold,tosa-make-broadcastable,tosa-to-linalg,tosa-to-tensor,\
    tosa-to-arith{include-apply-rescale=true})";

fn run(cx: &PassCx, module: Op) -> PassResult {
    if module.walk().into_iter().any(|op| op.name().starts_with("tosa.")) {
        cx.run_pipeline(TOSA, module)?;
    }
    if module.linalg_decompose() { Ok(()) } else { Err(Failed) }
}
