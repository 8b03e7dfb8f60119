//! `tinymlir-fuse`: fuse elementwise operations on tensors, leaving every contraction as it is.
//!
//! Upstream's patterns under a control function: a producer with one use is fused into its consumer unless either is a
//! contraction or a convolution, with a name or as a generic. `linalg-fuse-elementwise-ops` alone moves reshapes through
//! them and thereby turns a matmul with reshapes around it, as torch-mlir writes it, into a generic that no target
//! recognises. Runs in the optimize stage. It refuses nothing.

use crate::ir::{Op, Pass, PassCx, PassResult};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-fuse",
    description: "Fuse elementwise operations on tensors without touching contractions",
    anchor: "",
    options: &[],
    statistics: &[],
    dialects: &[
        mlirGetDialectHandle__linalg__,
        mlirGetDialectHandle__tensor__,
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
    ],
    run,
};

fn run(_: &PassCx, root: Op) -> PassResult {
    root.linalg_fuse();
    Ok(())
}
