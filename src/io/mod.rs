//! Files of arrays, read and written.

pub mod safetensors;
