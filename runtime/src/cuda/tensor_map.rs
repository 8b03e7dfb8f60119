//! Tensor maps: the descriptors by which kernels copy tiles with the tensor memory accelerator.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUresult, CUtensorMap};

use super::driver::{Error, check, driver, failure};
use super::memory::relaxed;
use super::{must, stream};
use crate::memref::View;
use crate::{Symbol, symbol_table};

/// The most dimensions that a tensor map has.
const RANK: usize = 5;
/// Bytes of an element, by `CUtensorMapDataType`.
const ELEMENT_BYTES: [u64; 13] = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4];

/// Where each distinct map lies on the device. Maps are few and live as long as the process: calls
/// with the same arguments, a captured graph's among them, share one.
static MAPS: LazyLock<Mutex<HashMap<[u64; 16], usize>>> = LazyLock::new(Mutex::default);

/// What a map is made from, innermost dimension first, as the driver takes it.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    address: *mut u8,
    rank: usize,
    sizes: [u64; RANK],
    /// In bytes, of all dimensions but the innermost.
    strides: [u64; RANK],
    tile: [u32; RANK],
}

impl Shape {
    fn new(view: &View, tile: &[i64], data_type: usize) -> Result<Self, String> {
        let rank = view.rank();
        let element = *ELEMENT_BYTES.get(data_type).ok_or(format!("unknown element type {data_type}"))?;
        if !(1..=RANK).contains(&rank) {
            return Err(format!("rank {rank} is not in 1 to {RANK}"));
        }
        if view.strides[rank - 1] != 1 && view.sizes[rank - 1] != 1 {
            return Err(format!("the innermost stride is {}, not 1", view.strides[rank - 1]));
        }
        let address = view.data.wrapping_offset(view.offset as isize * element as isize);
        let mut shape = Shape { address, rank, sizes: [1; RANK], strides: [0; RANK], tile: [1; RANK] };
        for i in 0..rank {
            let dim = rank - 1 - i;
            shape.sizes[i] = u64::try_from(view.sizes[dim]).map_err(|_| "negative size")?;
            shape.tile[i] = u32::try_from(tile[dim]).map_err(|_| format!("a tile of {}", tile[dim]))?;
            if i > 0 {
                let stride = u64::try_from(view.strides[dim]).map_err(|_| "negative stride")?;
                // Where there is one element the stride leads nowhere, and the driver wants a multiple of 16 bytes all the same.
                let bytes = stride * element;
                shape.strides[i - 1] = if view.sizes[dim] == 1 { bytes.next_multiple_of(16).max(16) } else { bytes };
            }
        }
        Ok(shape)
    }
}

/// A `u32` enumeration of the driver from its number, which must be at most `last`.
macro_rules! enumeration {
    ($type:ty, $value:expr, $last:ident, $what:literal) => {
        match u32::try_from($value) {
            // SAFETY: the enumeration is `repr(u32)` and has every number up to its last.
            Ok(value) if value <= <$type>::$last as u32 => Ok(unsafe { std::mem::transmute::<u32, $type>(value) }),
            _ => Err(format!(concat!("unknown ", $what, " {}"), $value)),
        }
    };
}

/// The map of `view` by tiles of `tile`, on the device; modes are the numbers of the driver's
/// enumerations: interleave, swizzle, L2 promotion, out-of-bounds fill.
fn encode(view: &View, tile: &[i64], data_type: i64, modes: [i64; 4]) -> Result<usize, Error> {
    let driver = driver()?;
    let call = "cuTensorMapEncodeTiled";
    let describe = || {
        format!(
            "sizes {:?}, strides {:?}, tile {tile:?}, element type {data_type}, {}",
            view.sizes,
            view.strides,
            driver.device.chip()
        )
    };
    let refuse = |why: String| failure(CUresult::CUDA_ERROR_INVALID_VALUE, call, &describe(), &why);
    let shape = Shape::new(view, tile, usize::try_from(data_type).unwrap_or(usize::MAX)).map_err(refuse)?;
    let element =
        enumeration!(sys::CUtensorMapDataType, data_type, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, "element type");
    let interleave =
        enumeration!(sys::CUtensorMapInterleave, modes[0], CU_TENSOR_MAP_INTERLEAVE_32B, "interleave mode");
    let swizzle = enumeration!(sys::CUtensorMapSwizzle, modes[1], CU_TENSOR_MAP_SWIZZLE_128B, "swizzle mode");
    let promotion =
        enumeration!(sys::CUtensorMapL2promotion, modes[2], CU_TENSOR_MAP_L2_PROMOTION_L2_256B, "L2 promotion");
    let fill = enumeration!(
        sys::CUtensorMapFloatOOBfill,
        modes[3],
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
        "out-of-bounds fill"
    );
    let mut map = CUtensorMap { opaque: [0; 16] };
    // SAFETY: every array has the driver's five dimensions.
    let result = unsafe {
        sys::cuTensorMapEncodeTiled(
            &mut map,
            element.map_err(refuse)?,
            shape.rank as u32,
            shape.address.cast(),
            shape.sizes.as_ptr(),
            shape.strides.as_ptr(),
            shape.tile.as_ptr(),
            [1; RANK].as_ptr(),
            interleave.map_err(refuse)?,
            swizzle.map_err(refuse)?,
            promotion.map_err(refuse)?,
            fill.map_err(refuse)?,
        )
    };
    if result != CUresult::CUDA_SUCCESS {
        return Err(failure(result, call, &describe(), ""));
    }
    let mut maps = MAPS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&address) = maps.get(&map.opaque) {
        return Ok(address);
    }
    if stream::capturing() {
        return Err(Error::new("a tensor map was made first while a graph was being captured (call once before)"));
    }
    let bytes = size_of::<CUtensorMap>();
    let mut address = 0;
    // SAFETY: the context is current; the map is as large as what is allocated for it.
    relaxed(|| unsafe {
        check(sys::cuMemAlloc_v2(&mut address, bytes), "cuMemAlloc")?;
        check(sys::cuMemcpyHtoD_v2(address, (&raw const map).cast(), bytes), "cuMemcpyHtoD")
    })??;
    maps.insert(map.opaque, address as usize);
    Ok(address as usize)
}

/// The tensor map of a memref by tiles of `tile`, in device memory.
///
/// # Safety
/// `descriptor` is a valid ranked descriptor, `tile` has as many numbers as it has dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuTensorMapEncodeTiledMemref(
    rank: i64,
    descriptor: *const c_void,
    data_type: i64,
    interleave: i64,
    swizzle: i64,
    l2_promotion: i64,
    out_of_bounds_fill: i64,
    tile: *const i64,
) -> *mut c_void {
    // SAFETY: as the caller vouches.
    let (view, tile) = unsafe {
        (View::ranked(rank, descriptor), std::slice::from_raw_parts(tile, usize::try_from(rank).unwrap_or(0)))
    };
    let modes = [interleave, swizzle, l2_promotion, out_of_bounds_fill];
    must(encode(&view, tile, data_type, modes)) as *mut c_void
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![mgpuTensorMapEncodeTiledMemref]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_reversed_and_strides_are_bytes() {
        let view = View { data: 4096 as *mut u8, offset: 8, sizes: &[3, 64, 128], strides: &[10000, 136, 1] };
        let shape = Shape::new(&view, &[1, 64, 32], 6).unwrap();
        assert_eq!(shape.address as usize, 4096 + 16);
        assert_eq!(shape.rank, 3);
        assert_eq!(shape.sizes, [128, 64, 3, 1, 1]);
        assert_eq!(shape.strides, [272, 20000, 0, 0, 0]);
        let row = View { data: 4096 as *mut u8, offset: 0, sizes: &[1, 1, 31], strides: &[31, 31, 1] };
        assert_eq!(Shape::new(&row, &[1, 64, 64], 6).unwrap().strides, [64, 64, 0, 0, 0]);
        assert_eq!(shape.tile, [32, 64, 1, 1, 1]);
    }

    #[test]
    fn what_has_no_map_is_refused() {
        let view = |sizes, strides| View { data: 4096 as *mut u8, offset: 0, sizes, strides };
        assert!(Shape::new(&view(&[4, 4], &[1, 4]), &[4, 4], 7).unwrap_err().contains("innermost stride"));
        assert!(Shape::new(&view(&[4], &[1]), &[4], 99).unwrap_err().contains("element type"));
        assert!(Shape::new(&view(&[], &[]), &[], 7).unwrap_err().contains("rank 0"));
        assert!(Shape::new(&view(&[4], &[1]), &[-1], 7).unwrap_err().contains("tile"));
    }
}
