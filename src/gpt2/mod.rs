//! GPT-2 written on the frontend: configuration, weights, tokenizer, functions, generation and verification.

mod bench;
mod cached;
pub mod cases;
mod config;
mod decoder;
mod draw;
mod emit;
mod functions;
mod model;
mod sample;
mod session;
mod tokenizer;
mod verify;
mod weights;

pub use bench::{Figure, Plan, bench, read_bandwidth};
pub use cached::{Choice, cache, prefill, step};
pub use config::{Config, Matrices};
pub use decoder::{Decoder, Output};
pub use draw::Draw;
pub use emit::{Emitted, Sizes, emit};
pub use functions::{FUNCTIONS, fused, padded, sublayer};
pub use model::Model;
pub use sample::Sampling;
pub use session::{Event, Mode, Session, Trace, argmax};
pub use tokenizer::{Stream, Tokenizer};
pub use verify::{Summary, Tolerance, verify};
pub use weights::Weights;
