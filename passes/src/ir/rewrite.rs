//! Rewrites of one operation: upstream's of a loop or a linalg operation, through the shim, and a new form of any.

use super::{Attr, Op, Type, Value, printed, string_ref};
use mlir_sys::*;

unsafe extern "C" {
    fn tmLinalgNumParallel(op: MlirOperation) -> usize;
    fn tmLinalgParallelFirst(op: MlirOperation);
    fn tmScfCollapseParallel(op: MlirOperation, groups: *const u32, dims: usize, num_groups: usize) -> MlirOperation;
    fn tmScfTileParallel(op: MlirOperation, sizes: *const i64, n: usize);
    fn tmScfParallelToFor(op: MlirOperation);
    fn tmVectorLowerReductions(root: MlirOperation) -> bool;
}

impl Op {
    /// The number of parallel iterators of a linalg operation.
    pub fn linalg_num_parallel(self) -> usize {
        assert!(self.is_linalg(), "{}", self.name());
        // SAFETY: a live linalg operation.
        unsafe { tmLinalgNumParallel(self.0) }
    }
    /// Makes the parallel iterators of a linalg operation on buffers the outer ones. The operation may be gone afterwards.
    pub fn linalg_parallel_first(self) {
        assert!(self.is_linalg(), "{}", self.name());
        // SAFETY: a live linalg operation.
        unsafe { tmLinalgParallelFirst(self.0) }
    }
    /// Rewrites a resultless `scf.parallel` to unit steps and zero bases, with the dimensions of each group joined into one
    /// (`groups[i]` is dimension i's). Returns the new loop; this one is gone.
    pub fn collapse_parallel(self, groups: &[u32]) -> Op {
        assert!(self.is("scf.parallel") && self.results().is_empty(), "{}", self.name());
        let count = groups.iter().max().map_or(0, |g| g + 1) as usize;
        // SAFETY: a live loop; each group is below `count`.
        Op(unsafe { tmScfCollapseParallel(self.0, groups.as_ptr(), groups.len(), count) })
    }
    /// Tiles a loop that [`Op::collapse_parallel`] returned, one size a dimension. This loop is gone.
    pub fn tile_parallel(self, sizes: &[i64]) {
        assert!(self.is("scf.parallel") && self.results().is_empty(), "{}", self.name());
        // SAFETY: a live loop; the sizes live through the call.
        unsafe { tmScfTileParallel(self.0, sizes.as_ptr(), sizes.len()) }
    }
    /// Makes nested `scf.for` of an `scf.parallel`, its reductions included. This loop is gone.
    pub fn parallel_to_for(self) {
        assert!(self.is("scf.parallel"), "{}", self.name());
        // SAFETY: a live loop.
        unsafe { tmScfParallelToFor(self.0) }
    }
    /// Makes elementwise operations of every `vector.multi_reduction` inside; whether that came to an end.
    pub fn lower_vector_reductions(self) -> bool {
        // SAFETY: a live operation, whose inside no handle refers to.
        unsafe { tmVectorLowerReductions(self.0) }
    }
    /// The operation as text with its own numbering, the same for equal operations wherever they are.
    pub fn local_text(self) -> String {
        // SAFETY: the flags are destroyed after their use.
        unsafe {
            let flags = mlirOpPrintingFlagsCreate();
            mlirOpPrintingFlagsUseLocalScope(flags);
            let text = printed(|append, out| mlirOperationPrintWithFlags(self.0, flags, append, out));
            mlirOpPrintingFlagsDestroy(flags);
            text
        }
    }
    /// A new operation before this one, of the same name, location and attributes but with these operands and result types,
    /// and with `changed` attributes instead of those of the same name. For operations without regions.
    pub fn rebuild_before(self, operands: &[Value], results: &[Type], changed: &[(&str, Attr)]) -> Op {
        assert!(self.num_regions() == 0, "{}", self.name());
        let name = self.name();
        let block = self.block().expect("an operation inside a block");
        let operands: Vec<_> = operands.iter().map(|v| v.0).collect();
        let results: Vec<_> = results.iter().map(|t| t.0).collect();
        // SAFETY: everything passed lives through the calls; the block takes the operation over.
        unsafe {
            let mut attributes: Vec<_> =
                (0..mlirOperationGetNumAttributes(self.0)).map(|i| mlirOperationGetAttribute(self.0, i)).collect();
            for (name, value) in changed {
                let identifier = mlirIdentifierGet(self.ctx().0, string_ref(name));
                attributes.retain(|a| !mlirIdentifierEqual(a.name, identifier));
                attributes.push(mlirNamedAttributeGet(identifier, value.0));
            }
            let mut state = mlirOperationStateGet(string_ref(&name), self.loc().0);
            mlirOperationStateAddOperands(&mut state, operands.len() as isize, operands.as_ptr());
            mlirOperationStateAddResults(&mut state, results.len() as isize, results.as_ptr());
            mlirOperationStateAddAttributes(&mut state, attributes.len() as isize, attributes.as_ptr());
            let op = mlirOperationCreate(&mut state);
            assert!(!op.ptr.is_null(), "cannot rebuild {name}");
            mlirBlockInsertOwnedOperationBefore(block.0, self.0, op);
            Op(op)
        }
    }
}
