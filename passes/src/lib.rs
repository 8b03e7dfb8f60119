//! Every MLIR pass and pipeline of tinymlir.
//!
//! A pass is one file named after its argument; [`PASSES`] and [`PIPELINES`] list them. The crate knows nothing of the
//! engine, CUDA or any model: what a pass needs of a chip comes from its options.

mod additions;
mod attention_block;
mod attention_chain;
mod attention_mask;
mod attention_match;
mod attention_product;
mod attention_rows;
mod attention_steps;
mod attention_views;
mod buffers;
mod captures;
pub mod device;
mod dialects;
pub use dialects::EVERY as EVERY_DIALECT;
pub mod choice;
#[cfg(test)]
mod docs;
pub mod early_numbers;
mod emulation;
mod epilogue;
mod few_rows;
pub mod host;
pub mod ir;
pub mod kernels;
mod key_rows;
mod matrices;
pub mod memory;
mod mma_tiles;
mod narrow;
mod pads;
mod pair_blocks;
mod parts;
mod permutations;
pub mod pipelines;
mod product_call;
mod product_pairs;
mod products;
mod prologue;
mod reduction;
mod row_copies;
mod row_runs;
mod row_stores;
mod row_text;
mod row_tile;
mod row_writer;
pub mod rows;
mod scatter;
pub mod schedule;
mod shared_functions;
mod subgroups;
pub mod template;
mod tensor_products;
pub mod threads;
mod tosa;
mod turns;
mod view_checks;

pub use ir::{
    context, expanded, parse, register, run_pipeline, run_pipeline_watched, run_timed_pipeline, with_diagnostics,
};

/// Declares the modules of passes and lists their definitions.
macro_rules! passes {
    ($($module:ident),* $(,)?) => {
        $(pub mod $module;)*
        /// Every pass of ours.
        pub static PASSES: &[&ir::Pass] = &[$(&$module::PASS),*];
    };
}

mod contraction;
mod indices;
mod misfits;
mod warpgroup_tiles;
mod warpgroups;
mod written_rows;
mod zeroed;
pub use contraction::{Body, Contraction, View};

passes! {
    tinymlir_attention,
    tinymlir_blas,
    tinymlir_deallocate,
    tinymlir_decompose,
    tinymlir_dependent_launches,
    tinymlir_device_math,
    tinymlir_dot_products,
    tinymlir_dynamic_expansions,
    tinymlir_drop_writable_results,
    tinymlir_emulate_gpu,
    tinymlir_entry_arguments,
    tinymlir_expand_math,
    tinymlir_fold_transposes,
    tinymlir_fuse,
    tinymlir_gemv,
    tinymlir_alignment_checks,
    tinymlir_async_launches,
    tinymlir_device_copies,
    tinymlir_gpu_outline,
    tinymlir_lower_asserts,
    tinymlir_lower_gpu,
    tinymlir_managed_allocations,
    tinymlir_merge_kernels,
    tinymlir_narrow_products,
    tinymlir_outline_loops,
    tinymlir_plan_memory,
    tinymlir_rank_reductions,
    tinymlir_reassociate_reductions,
    tinymlir_record_signatures,
    tinymlir_reduction,
    tinymlir_row_blocks,
    tinymlir_row_kernels,
    tinymlir_split_fills,
    tinymlir_thread_loops,
    tinymlir_tile_parallel_loops,
    tinymlir_tiled_matmul,
    tinymlir_tuned_matmul,
    tinymlir_vector_matmul,
    tinymlir_wide_accumulators,
    tinymlir_verify_bufferized,
    tinymlir_verify_lowered,
    tinymlir_verify_input,
    tinymlir_heap_allocas,
    tinymlir_host_attention,
    tinymlir_host_math,
    tinymlir_hoist_accumulators,
    tinymlir_hoist_copies,
    tinymlir_join_kernels,
    tinymlir_runtime_checks,
    tinymlir_verify_outlined,
}

/// The kernels' code in a lowered module: the text of each `gpu.binary`, PTX where it is not a cubin.
pub fn embedded_code(module: ir::Op) -> Vec<String> {
    let binaries = module.body().into_iter().filter(|op| op.is("gpu.binary"));
    let objects = binaries.flat_map(|op| op.attr("objects").and_then(ir::Attr::elements).unwrap_or_default());
    objects
        .filter_map(ir::Attr::gpu_object)
        .map(|code| String::from_utf8_lossy(&code).trim_end_matches('\0').to_owned())
        .collect()
}

/// Every pipeline of ours.
pub static PIPELINES: &[&ir::Pipeline] = pipelines::ALL;
