//! Pipelines: the stages as names. Each stage's output is valid input of the next, as text.

use crate::ir::Pipeline;

/// Every pipeline, in the order in which they run.
pub const ALL: &[&Pipeline] = &[&OPTIMIZE];

/// Tensors to fewer, fused operations on tensors.
pub static OPTIMIZE: Pipeline = Pipeline {
    argument: "tinymlir-optimize",
    description: "Canonicalize and fuse elementwise operations on tensors; contractions pass untouched",
    options: &[],
    expand: |_| "canonicalize,cse,tinymlir-fuse,canonicalize,cse".into(),
};
