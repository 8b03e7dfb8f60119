//! tinymlir drives the compiler and runs what it made.

pub mod cache;
pub mod compile;
pub mod engine;
pub mod frontend;
pub mod gpt2;
pub mod io;
mod phases;
pub mod run;
pub mod tensor;
pub mod trace;
mod version;

pub use phases::Phases;
pub use tensor::{DType, Element, Tensor};
/// Diffs, remarks and reports of what the passes do.
pub use tinymlir_report as look;
use tinymlir_report::did_you_mean;
/// The GPU of this machine: whether there is one, its name, what was launched on it.
pub use tinymlir_runtime::cuda;
pub use tinymlir_runtime::emulate::set_reverse;
pub use tinymlir_runtime::host::report_full_stacks;
/// How many threads compiled code runs on.
pub use tinymlir_runtime::threads::{set_threads, threads};
pub use version::version;
