//! GPT-2 written on the frontend: configuration, weights, tokenizer, functions, generation and verification.

pub mod cases;
mod config;
mod emit;
mod functions;
mod model;
mod session;
mod tokenizer;
mod verify;
mod weights;

pub use config::Config;
pub use emit::{Emitted, emit};
pub use functions::{FUNCTIONS, fused, padded, sublayer};
pub use model::Model;
pub use session::{Event, Session, Trace, argmax};
pub use tokenizer::{Stream, Tokenizer};
pub use verify::{Summary, Tolerance, verify};
pub use weights::Weights;
