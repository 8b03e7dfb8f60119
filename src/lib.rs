//! tinymlir drives the compiler and runs what it made.

pub mod compile;
pub mod engine;
pub mod frontend;
pub mod gpt2;
pub mod io;
pub mod run;
pub mod tensor;
mod version;

pub use tensor::{DType, Element, Tensor};
pub use version::version;
