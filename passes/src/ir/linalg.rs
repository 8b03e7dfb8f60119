//! Upstream's rewrites of linalg operations and queries on them.

use super::{AffineMap, Attr, Op};
use mlir_sys::*;

/// Upstream's linalg rewrites, through the shim.
impl Op {
    /// Fuses elementwise operations inside, and moves reshapes out of the way, except across contractions.
    pub fn linalg_fuse(self) {
        // SAFETY: a live operation whose context has the linalg, tensor, affine and arith dialects loaded.
        unsafe { super::pass::tmLinalgFuse(self.0) };
    }
    /// Decomposes softmax, winograd operations, pack and unpack inside. Whether all could be; a diagnostic says which not.
    pub fn linalg_decompose(self) -> bool {
        // SAFETY: as above.
        unsafe { super::pass::tmLinalgDecompose(self.0) }
    }
    /// Makes a generic of a linalg operation with a name; this one, which it replaces, is erased. A generic stays as it is.
    pub fn linalg_generalize(self) -> Op {
        assert!(self.is_linalg(), "{}", self.name());
        // SAFETY: a live linalg operation, to which the caller keeps no other handle.
        Op(unsafe { super::pass::tmLinalgGeneralize(self.0) })
    }
    /// Makes one loop of the loop dimensions `dims` of a linalg operation on tensors, which is made a generic and replaced, with reshapes
    /// of its operands and results. In each indexing map the dimensions are neighbours in this order, or absent; else it stays a generic.
    pub fn linalg_collapse(self, dims: &[usize]) -> Op {
        assert!(self.is_linalg(), "{}", self.name());
        let dims: Vec<i64> = dims.iter().map(|d| *d as i64).collect();
        // SAFETY: as above; the dimensions live through the call, which checks them.
        Op(unsafe { super::pass::tmLinalgCollapse(self.0, dims.as_ptr(), dims.len()) })
    }
}

/// Upstream's queries on linalg operations.
impl Op {
    /// Whether upstream takes it for a contraction: a linalg operation that multiplies two inputs and sums into one output.
    pub fn is_contraction(self) -> bool {
        // SAFETY: a live operation.
        self.is_linalg() && unsafe { mlirLinalgIsAContractionOp(self.0) }
    }
    /// The indexing maps of a linalg operation, empty for any other.
    pub fn linalg_maps(self) -> Vec<AffineMap> {
        if !self.is_linalg() {
            return vec![];
        }
        // SAFETY: a linalg operation.
        let maps = Attr::some(unsafe { mlirLinalgGetIndexingMapsAttribute(self.0) });
        maps.and_then(|m| m.elements()).unwrap_or_default().into_iter().filter_map(|m| m.as_map()).collect()
    }
}
