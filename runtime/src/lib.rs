//! What code compiled by tinymlir calls while it runs: memory, printing, failure, BLAS, CUDA and kernels on the CPU.
//!
//! Free of MLIR. The engine registers [`symbols`] with its JIT; stock `mlir-runner --shared-libs=`
//! loads the same functions from `libtinymlir_runtime.so`, which exports each under its own name.
//! Nothing here needs a BLAS library or a CUDA driver to build, to load or to start: both are looked
//! for when the first call needs them.

pub mod blas;
pub mod cuda;
pub mod emulate;
pub mod host;
mod memref;
pub mod threads;

/// A function that compiled code may call: its linker name and its address.
pub type Symbol = (&'static str, *const ());

/// Pairs each function with its own name.
macro_rules! symbol_table {
    ($($function:ident),* $(,)?) => {
        vec![$((stringify!($function), $function as *const ())),*]
    };
}
pub(crate) use symbol_table;

/// Every function that lowered code may call, to be resolved before libc and libm.
pub fn symbols() -> Vec<Symbol> {
    let mut table = host::symbols();
    table.extend(blas::symbols());
    table.extend(threads::symbols());
    table.extend(cuda::symbols());
    table.extend(emulate::symbols());
    table
}

/// Frees `pointer` if compiled code allocated it and has not freed it; says whether it did.
///
/// This is how a caller releases results. Pointers that compiled code merely passed through, such
/// as an argument that is also a result or a global, are left alone.
pub fn free_if_live(pointer: *mut u8) -> bool {
    host::free_if_live(pointer) || cuda::free_if_live(pointer)
}

/// Whether compiled code allocated `pointer` and has not freed it.
pub fn is_live(pointer: *const u8) -> bool {
    host::is_live(pointer) || cuda::is_live(pointer)
}

/// How many allocations of compiled code, on host and device, have not been freed.
pub fn live_allocations() -> usize {
    host::live_allocations() + cuda::live_allocations()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn every_symbol_has_one_address() {
        let table = super::symbols();
        let names: HashSet<_> = table.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), table.len());
        assert!(table.iter().all(|(_, address)| !address.is_null()));
        for name in
            ["memrefCopy", "printF32", "cblas_sgemm", "_mlir_memref_to_llvm_alloc", "tinymlir_fail", "mgpuLaunchKernel"]
        {
            assert!(names.contains(&name), "{name}");
        }
    }
}
