//! What lowered code calls on the host: allocation, `memrefCopy`, printing, clocks, failure.
//!
//! The names and the output are those of LLVM's `libmlir_runner_utils` and `libmlir_c_runner_utils`,
//! so that modules written against those run unchanged; the `tinymlir_` functions are ours.

mod clock;
mod convert;
mod copy;
mod fail;
mod format;
mod memory;
mod output;
mod print;
mod stack;
mod verify;

pub use fail::fail;
pub(crate) use fail::with_values;
pub use memory::{
    _mlir_memref_to_llvm_aligned_alloc, _mlir_memref_to_llvm_free, free_if_live, is_live, live_allocations, live_bytes,
};
pub(crate) use output::write;
pub use stack::report_full_stacks;

use crate::Symbol;

/// The host's part of [`crate::symbols`].
pub(crate) fn symbols() -> Vec<Symbol> {
    output::share_stdout();
    let mut table = memory::symbols();
    table.extend(convert::symbols());
    table.extend(copy::symbols());
    table.extend(print::symbols());
    table.extend(verify::symbols());
    table.extend(clock::symbols());
    table.extend(fail::symbols());
    table
}
