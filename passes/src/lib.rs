//! Every MLIR pass and pipeline of tinymlir.
//!
//! A pass is one file named after its argument; [`PASSES`] and [`PIPELINES`] list them. The crate knows nothing of the
//! engine, CUDA or any model: what a pass needs of a chip comes from its options.

#[cfg(test)]
mod docs;
pub mod ir;
pub mod pipelines;

pub use ir::{context, opt_main, parse, register, run_pipeline, with_diagnostics};

/// Declares the modules of passes and lists their definitions.
macro_rules! passes {
    ($($module:ident),* $(,)?) => {
        $(pub mod $module;)*
        /// Every pass of ours.
        pub static PASSES: &[&ir::Pass] = &[$(&$module::PASS),*];
    };
}

mod contraction;
pub use contraction::{Body, Contraction, View};

passes! {
    tinymlir_blas,
    tinymlir_deallocate,
    tinymlir_decompose,
    tinymlir_drop_writable_results,
    tinymlir_entry_arguments,
    tinymlir_fuse,
    tinymlir_lower_asserts,
    tinymlir_record_signatures,
}

/// Every pipeline of ours.
pub static PIPELINES: &[&ir::Pipeline] = pipelines::ALL;
