//! `gpu.host_register` and `gpu.host_unregister`: host memory that the device may reach.

use std::ffi::c_void;

use cudarc::driver::sys;

use super::driver::{check_in, driver};
use super::must;
use crate::host::fail;
use crate::memref::View;
use crate::{Symbol, symbol_table};

/// Page-locks `bytes` bytes of host memory for the device.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemHostRegister(pointer: *mut c_void, bytes: u64) {
    must(driver());
    if bytes > 0 {
        // SAFETY: the driver itself checks that the range can be registered.
        let result = unsafe { sys::cuMemHostRegister_v2(pointer, bytes as usize, 0) };
        must(check_in(result, "cuMemHostRegister", || format!("{bytes} bytes at {pointer:p}")));
    }
}

/// Undoes [`mgpuMemHostRegister`].
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemHostUnregister(pointer: *mut c_void) {
    must(driver());
    // SAFETY: the driver itself checks that the range is registered.
    let result = unsafe { sys::cuMemHostUnregister(pointer) };
    must(check_in(result, "cuMemHostUnregister", || format!("{pointer:p}")));
}

/// Where the elements of a dense memref start and how many bytes they are.
///
/// # Safety
/// `descriptor` is a valid ranked descriptor.
unsafe fn range(rank: i64, descriptor: *const c_void, element_bytes: i64) -> (*mut c_void, u64) {
    // SAFETY: as the caller vouches.
    let view = unsafe { View::ranked(rank, descriptor) };
    let mut elements = 1;
    for (&size, &stride) in view.sizes.iter().zip(view.strides).rev() {
        if size > 1 && stride != elements {
            fail(&format!(
                "gpu.host_register: a memref of sizes {:?} and strides {:?} is not dense (copy it first)",
                view.sizes, view.strides
            ));
        }
        elements *= size;
    }
    let start = view.data.wrapping_offset((view.offset * element_bytes) as isize);
    (start.cast(), (elements * element_bytes).max(0) as u64)
}

/// [`mgpuMemHostRegister`] for the elements of a dense memref.
///
/// # Safety
/// `descriptor` is a valid ranked descriptor of elements of that size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuMemHostRegisterMemRef(rank: i64, descriptor: *const c_void, element_bytes: i64) {
    // SAFETY: as the caller vouches.
    let (start, bytes) = unsafe { range(rank, descriptor, element_bytes) };
    mgpuMemHostRegister(start, bytes);
}

/// [`mgpuMemHostUnregister`] for the elements of a dense memref.
///
/// # Safety
/// As for [`mgpuMemHostRegisterMemRef`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuMemHostUnregisterMemRef(rank: i64, descriptor: *const c_void, element_bytes: i64) {
    // SAFETY: as the caller vouches.
    let (start, bytes) = unsafe { range(rank, descriptor, element_bytes) };
    if bytes > 0 {
        mgpuMemHostUnregister(start);
    }
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![mgpuMemHostRegister, mgpuMemHostUnregister, mgpuMemHostRegisterMemRef, mgpuMemHostUnregisterMemRef,]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_a_dense_memref() {
        let descriptor = [0i64, 4096, 2, 3, 1, 5, 5, 77, 1];
        // SAFETY: rank 3 takes nine words.
        let (start, bytes) = unsafe { range(3, descriptor.as_ptr().cast(), 4) };
        assert_eq!((start as usize, bytes), (4096 + 8, 60));
        // SAFETY: as above.
        let (_, bytes) = unsafe { range(1, [0i64, 4096, 0, 0, 1].as_ptr().cast(), 4) };
        assert_eq!(bytes, 0);
    }
}
