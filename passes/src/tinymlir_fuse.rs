//! `tinymlir-fuse`: fuse elementwise operations on tensors, leaving every contraction as it is.
//!
//! Upstream's patterns under a control function: a producer with one use is fused into its consumer unless either is a
//! contraction or a convolution, with a name or as a generic. `linalg-fuse-elementwise-ops` alone moves reshapes through
//! them and thereby turns a matmul with reshapes around it, as torch-mlir writes it, into a generic that no target
//! recognises. Runs in the optimize stage. It refuses nothing.

use crate::ir::{Attr, Op, Pass, PassCx, PassResult};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-fuse",
    description: "Fuse elementwise operations on tensors without touching contractions",
    anchor: "",
    options: &[],
    statistics: &[],
    dialects: &[mlirGetDialectHandle__linalg__, mlirGetDialectHandle__tensor__, mlirGetDialectHandle__affine__, mlirGetDialectHandle__arith__],
    run,
};

/// Marks the operations with an assertion in their body that were used before fusion.
const USED: &str = "tinymlir.used";

fn run(_: &PassCx, root: Op) -> PassResult {
    let asserting = |root: Op| -> Vec<Op> {
        root.find(&["cf.assert"]).into_iter().filter_map(|assert| assert.parent()).filter(|op| op.is_linalg()).collect()
    };
    let used = |op: &Op| op.results().into_iter().any(|r| !r.uses().is_empty());
    for op in asserting(root).into_iter().filter(used) {
        op.set_attr(USED, Attr::unit(root.ctx()));
    }
    root.linalg_fuse();
    // A producer that asserts is not dead code by itself: once it is fused into its one user, which now asserts the same,
    // nobody else erases it.
    let mut left = asserting(root);
    left.dedup();
    for op in left {
        if op.remove_attr(USED) && !used(&op) {
            op.erase();
        }
    }
    Ok(())
}
