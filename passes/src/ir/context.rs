//! The two things of MLIR that a caller owns: a context, and a module in it.

use super::{Ctx, Op, pass};
use mlir_sys::*;
use std::{fmt, marker::PhantomData, sync::Once};

/// A context: it owns every type and attribute that is made in it, and outlives its modules.
#[derive(Debug)]
pub struct Context(MlirContext);

impl Context {
    /// With every dialect, extension, translation and pass of upstream's, and ours. Loads nothing early.
    pub fn new() -> Context {
        static ONCE: Once = Once::new();
        // SAFETY: once in the process.
        ONCE.call_once(|| unsafe { mlirRegisterAllPasses() });
        static OURS: Once = Once::new();
        OURS.call_once(|| super::register());
        // SAFETY: the registry is copied into the context, and both are live.
        unsafe {
            let registry = mlirDialectRegistryCreate();
            mlirRegisterAllDialects(registry);
            pass::tmRegisterExtensions(registry);
            let context = mlirContextCreate();
            mlirContextAppendDialectRegistry(context, registry);
            mlirDialectRegistryDestroy(registry);
            mlirRegisterAllLLVMTranslations(context);
            Context(context)
        }
    }

    /// The handle that operations give of their context.
    pub fn handle(&self) -> Ctx {
        Ctx(self.0)
    }

    /// Runs passes on one thread, which forks and stack limits want.
    pub fn run_on_one_thread(&self) {
        // SAFETY: live, and no pass runs.
        unsafe { mlirContextEnableMultithreading(self.0, false) }
    }
}

impl Default for Context {
    fn default() -> Context {
        Context::new()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: ours, and every Module borrows it.
        unsafe { mlirContextDestroy(self.0) }
    }
}

/// A module that its holder owns.
#[derive(Debug)]
pub struct Module<'c> {
    raw: MlirModule,
    context: PhantomData<&'c Context>,
}

impl Module<'_> {
    /// Takes over a `builtin.module` that nothing else owns.
    ///
    /// # Safety
    /// It is one, and it is of the context that the lifetime stands for.
    pub(super) unsafe fn own(op: MlirOperation) -> Self {
        // SAFETY: as said above.
        Module { raw: unsafe { mlirModuleFromOperation(op) }, context: PhantomData }
    }

    /// The operation.
    pub fn op(&self) -> Op {
        // SAFETY: a live module.
        Op(unsafe { mlirModuleGetOperation(self.raw) })
    }
}

impl fmt::Display for Module<'_> {
    /// As MLIR prints a file.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // SAFETY: a live operation.
        f.write_str(&super::printed(|append, out| unsafe { mlirOperationPrint(self.op().0, append, out) }))
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, destroyed once, before its context.
        unsafe { mlirModuleDestroy(self.raw) }
    }
}
