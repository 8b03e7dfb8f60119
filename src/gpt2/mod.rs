//! GPT-2 written on the frontend: configuration, weights, tokenizer, functions, generation and verification.

pub mod cases;
mod config;
mod functions;
mod model;
mod tokenizer;
mod weights;

pub use config::Config;
pub use functions::{FUNCTIONS, fused, padded, sublayer};
pub use model::Model;
pub use tokenizer::{Stream, Tokenizer};
pub use weights::Weights;
