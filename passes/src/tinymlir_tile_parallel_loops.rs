//! `tinymlir-tile-parallel-loops`: give every outermost parallel loop the shape of a grid of blocks.
//!
//! A loop is normalised first (unit steps, zero bases), since upstream's tiling miscompiles any other, then tiled with a
//! check of the bounds inside, and later mapped with its innermost dimension along x:
//!
//! - Two or more dimensions become two, the last one and all others joined, in tiles of 16x16, where both are known, at
//!   least 16 long, and the grid's y stays below its limit of 65,535 blocks.
//! - Any other loop becomes one dimension in tiles of 256, or of 32 where so few iterations would leave most of a chip idle.
//!   Its grid lies along x, which ends at 2^31-1.
//!
//! Parallel loops inside become sequential, as does a loop that only the host can run: one that allocates, launches, prints,
//! calls what is declared only, or reduces to a value. Runs in outline after linalg became loops.

use crate::ir::{Op, Pass, PassCx, PassResult};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-tile-parallel-loops",
    description: "Normalise and tile the outermost parallel loops for a GPU's grid",
    anchor: "builtin.module",
    options: &[],
    statistics: &[
        ("two-dimensional", "Loops tiled by 16x16"),
        ("one-dimensional", "Loops joined to one dimension"),
        ("sequential", "Loops left to the host"),
    ],
    dialects: &[mlirGetDialectHandle__arith__, mlirGetDialectHandle__affine__, mlirGetDialectHandle__scf__],
    run,
};

/// The sides of a two-dimensional block.
const TILE: i64 = 16;
/// The threads of a one-dimensional block.
const THREADS: i64 = 256;
/// The same where a loop has no more than `FEW` iterations: a warp, so that more multiprocessors have work.
const WARP: i64 = 32;
const FEW: i64 = 16384;
/// The largest y of a grid.
const GRID_LIMIT: i64 = 65535;

fn run(cx: &PassCx, module: Op) -> PassResult {
    // A loop that became sequential may leave inner loops outermost: look again until nothing is left to do.
    loop {
        let outermost: Vec<_> = module
            .find(&["scf.parallel"])
            .into_iter()
            .filter(|l| ["scf.parallel", "gpu.launch", "gpu.module"].iter().all(|p| l.parent_named(p).is_none()))
            .collect();
        let Some(host) = outermost.iter().find(|l| !l.results().is_empty() || host_only(module, **l, 0).is_some())
        else {
            outermost.into_iter().for_each(|l| tile(cx, l));
            return Ok(());
        };
        match host_only(module, *host, 0) {
            Some(op) => {
                cx.missed(*host, &format!("stays on the host: '{}' in its body has no place on a device", op.name()))
            }
            None => cx.missed(*host, "stays on the host: it reduces to a value"),
        }
        cx.count("sequential");
        host.parallel_to_for();
    }
}

/// An operation inside that a kernel cannot hold.
fn host_only(module: Op, op: Op, depth: usize) -> Option<Op> {
    op.walk().into_iter().skip(1).find(|inner| {
        let name = inner.name();
        match name.as_str() {
            "memref.alloc" | "memref.dealloc" | "memref.realloc" | "memref.copy" | "vector.print" => true,
            "func.call_indirect" | "func.constant" | "llvm.call" => true,
            "func.call" => {
                let callee = inner.attr("callee").and_then(|a| a.as_symbol()).and_then(|s| module.lookup(&s));
                // A chain of calls this long is a recursion, or might as well be.
                depth > 16 || callee.is_none_or(|f| f.body().is_empty() || host_only(module, f, depth + 1).is_some())
            }
            _ => name.starts_with("gpu.") && !matches!(name.as_str(), "gpu.yield"),
        }
    })
}

/// The number of iterations along each dimension, where it is known.
fn sizes(parallel: Op) -> Vec<Option<i64>> {
    let operands = parallel.operands();
    let dims = operands.len() / 3;
    (0..dims)
        .map(|i| {
            let at = |group: usize| operands[group * dims + i].constant();
            let (lower, upper, step) = (at(0)?, at(1)?, at(2)?);
            Some((upper - lower).max(0).checked_add(step - 1)? / step.max(1))
        })
        .collect()
}

fn tile(cx: &PassCx, parallel: Op) {
    // Inner loops first, so that none is left inside one that was taken apart.
    for inner in parallel.find(&["scf.parallel"]).into_iter().skip(1).rev() {
        inner.parallel_to_for();
    }
    let sizes = sizes(parallel);
    let product = |list: &[Option<i64>]| list.iter().try_fold(1i64, |p, s| s.and_then(|s| p.checked_mul(s)));
    let (last, others) = (sizes.len() - 1, product(&sizes[..sizes.len() - 1]));
    let in_range = |rows: i64| (TILE..=GRID_LIMIT * TILE).contains(&rows);
    if last > 0 && others.is_some_and(in_range) && sizes[last].is_some_and(|columns| columns >= TILE) {
        cx.passed_with(
            parallel,
            "becomes a kernel: tiles of 16x16",
            &[("tile", "16x16"), ("why", "two dimensions of at least 16")],
        );
        let groups: Vec<u32> = (0..=last).map(|i| (i == last).into()).collect();
        parallel.collapse_parallel(&groups).tile_parallel(&[TILE, TILE]);
        cx.count("two-dimensional");
    } else {
        let threads = if product(&sizes).is_some_and(|n| n <= FEW) { WARP } else { THREADS };
        let tile = threads.to_string();
        let why = "one dimension, or sizes that are unknown or too small for tiles of 16x16";
        cx.passed_with(
            parallel,
            &format!("becomes a kernel: blocks of {threads} threads"),
            &[("tile", &tile), ("why", why)],
        );
        parallel.collapse_parallel(&vec![0; sizes.len()]).tile_parallel(&[threads]);
        cx.count("one-dimensional");
    }
}
