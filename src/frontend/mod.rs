//! A typed tensor graph with Rust operators, emitted as `linalg` on tensors.
//!
//! A [`Graph`] is the body of one function; its operations resolve shapes and element types when they are called, before
//! any IR exists. [`Graph::finish`] makes a [`Function`]: MLIR text, one `linalg` operation for each of the graph's. Fusing
//! them is the compiler's work. What the text never does: copy an operand to transpose or broadcast it.
//!
//! ```
//! use tinymlir::{DType, frontend::Graph};
//! let g = Graph::new();
//! let (x, w) = (g.input("x", DType::F32, &[4, 8]), g.input("w", DType::F32, &[8, 2]));
//! let function = g.finish("main", &[("y", (x.matmul(w) * 0.5).tanh())])?;
//! assert!(function.text().contains("linalg.matmul"));
//!
//! let g = Graph::new();
//! let (x, w) = (g.input("x", DType::F32, &[4, 8]), g.input("w", DType::F32, &[4, 2]));
//! let error = g.finish("main", &[("y", x.matmul(w))]).unwrap_err().to_string();
//! assert!(error.contains("shapes [4, 8] and [4, 2] do not match"));
//! # Ok::<(), anyhow::Error>(())
//! ```

mod body;
mod elementwise;
mod emit;
mod function;
mod graph;
#[cfg(test)]
mod numerics;
mod products;
mod reshape;
mod shaping;
#[cfg(test)]
mod tests;
mod types;

pub use elementwise::Operand;
pub use function::{Function, module};
pub use graph::{Argument, Graph, Value};
#[cfg(test)]
pub(crate) use tests::mlir_opt;
pub use types::{Promotion, Type};
