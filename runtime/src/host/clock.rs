//! The clocks of LLVM's runner utilities.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Symbol, symbol_table};

/// Seconds since 1970-01-01 UTC.
#[unsafe(no_mangle)]
pub extern "C" fn rtclock() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Nanoseconds since 1970-01-01 UTC.
#[unsafe(no_mangle)]
pub extern "C" fn _mlir_ciface_nanoTime() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as i64)
}

/// As [`_mlir_ciface_nanoTime`], for callers without the C interface.
#[unsafe(no_mangle)]
pub extern "C" fn nanoTime() -> i64 {
    _mlir_ciface_nanoTime()
}

/// Prints a rate in floating-point operations a second to stderr, as GFLOPS.
#[unsafe(no_mangle)]
pub extern "C" fn printFlops(flops: f64) {
    super::output::error_line(format_args!("{:.6} GFLOPS", flops / 1e9));
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![rtclock, _mlir_ciface_nanoTime, nanoTime, printFlops]
}
