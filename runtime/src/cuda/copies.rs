//! Copies and fills, as compiled code queues them.

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUresult, CUstream};

use super::driver::{check_in, driver};
use super::{must, stream, trace};
use crate::{Symbol, symbol_table};

/// Copies between any two places that the driver knows, host memory included.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemcpy(target: *mut c_void, source: *const c_void, bytes: u64, stream: *mut c_void) {
    must(driver());
    if bytes > 0 {
        let stream = stream as CUstream;
        stream::set_behind_kernel(false);
        let what = || ("memcpy".to_owned(), vec![("bytes", bytes.to_string())]);
        must(trace::record(stream, what, || {
            // SAFETY: compiled code passes buffers of that size.
            let result = unsafe { sys::cuMemcpyAsync(target as u64, source as u64, bytes as usize, stream) };
            check_in(result, "cuMemcpyAsync", || format!("{bytes} bytes from {source:p} to {target:p}"))
        }));
    }
}

/// Sets `count` words of 32 bits.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemset32(target: *mut c_void, value: u32, count: u64, stream: *mut c_void) {
    // SAFETY: compiled code passes a buffer of that size.
    let set = |stream| unsafe { sys::cuMemsetD32Async(target as u64, value, count as usize, stream) };
    fill(target, 4, count, stream as CUstream, "cuMemsetD32Async", set);
}

/// Sets `count` words of 16 bits.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemset16(target: *mut c_void, value: u16, count: u64, stream: *mut c_void) {
    // SAFETY: compiled code passes a buffer of that size.
    let set = |stream| unsafe { sys::cuMemsetD16Async(target as u64, value, count as usize, stream) };
    fill(target, 2, count, stream as CUstream, "cuMemsetD16Async", set);
}

/// Queues a fill of `count` words of that many bytes by the driver's `call`.
fn fill(
    target: *mut c_void,
    bytes: u64,
    count: u64,
    stream: CUstream,
    call: &'static str,
    set: impl FnOnce(CUstream) -> CUresult,
) {
    must(driver());
    if count > 0 {
        stream::set_behind_kernel(false);
        let what = || ("memset".to_owned(), vec![("bytes", (bytes * count).to_string())]);
        must(trace::record(stream, what, || check_in(set(stream), call, || format!("{count} words at {target:p}"))));
    }
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![mgpuMemcpy, mgpuMemset32, mgpuMemset16]
}
