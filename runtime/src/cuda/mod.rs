//! CUDA for compiled code and for whoever calls it: the `mgpu*` functions, buffers, streams, graphs.
//!
//! Everything goes through the driver, found at run time; where there is none, [`available`] says so
//! and nothing else of this crate is affected. One context a process, one stream a thread: every
//! stream that compiled code creates is its thread's, so that work runs in program order and memory
//! can be pooled without events.
//!
//! Errors: functions for Rust return [`Error`]. The `mgpu*` functions cannot, so the first failure
//! is the program's failure: a message with the call, the error's name and the kernel, and exit
//! status 1. Nothing runs after it.
//!
//! All unsafe code over CUDA is in this module.

mod buffer;
mod copies;
mod driver;
mod graph;
mod host_memory;
mod launch;
mod memory;
mod module;
mod staging;
mod status;
mod stream;
mod tensor_map;
#[cfg(test)]
mod tests;
mod trace;

pub use buffer::{DeviceBuffer, copy_from_host, copy_to_host};
pub use driver::{Device, Error, available, device, free_memory};
pub use graph::{Graph, time};
pub use launch::{kernels, launches};
pub use memory::{Memory, free_if_live, is_live, live_allocations, memory_of, trim};
pub use module::load_pending;
pub use stream::synchronize;
pub use trace::{Span, start_trace, take_trace, tracing};

use crate::Symbol;
use crate::host::fail;

/// Ends the program with the error, for functions that cannot return one.
fn must<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| fail(&error.to_string()))
}

/// The CUDA part of [`crate::symbols`].
pub(crate) fn symbols() -> Vec<Symbol> {
    let mut table = driver::symbols();
    table.extend(module::symbols());
    table.extend(launch::symbols());
    table.extend(stream::symbols());
    table.extend(memory::symbols());
    table.extend(copies::symbols());
    table.extend(host_memory::symbols());
    table.extend(tensor_map::symbols());
    table
}
