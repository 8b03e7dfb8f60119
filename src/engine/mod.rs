//! Runs a module in the LLVM dialect in this process.

mod entry;
mod jit;
mod llvm;

pub use llvm::{host_cpu, version};
