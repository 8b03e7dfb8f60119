//! `verifyMemRef*` of LLVM's runner utilities: count the elements of two memrefs that differ.

use half::{bf16, f16};

use super::format::Element;
use super::output::error_line;
use super::print::show_shape;
use crate::memref::{UnrankedMemRef, View};
use crate::{Symbol, symbol_table};

/// Differences printed before the rest are only counted.
const PRINTED: i64 = 10;

/// The number of elements that disagree, or -1 where shapes, offsets or strides differ.
///
/// # Safety
/// Both views hold elements of type `T` wherever their sizes and strides reach.
unsafe fn verify<T: Element>(actual: &View, expected: &View) -> i64 {
    let layout = |view: &View| (view.offset, view.sizes.to_vec(), view.strides.to_vec());
    if layout(actual) != layout(expected) {
        let mut text = Vec::new();
        show_shape(actual, &mut text);
        text.extend_from_slice(b" != ");
        show_shape(expected, &mut text);
        error_line(format_args!("{}", String::from_utf8_lossy(&text)));
        return -1;
    }
    let mut errors = 0;
    // SAFETY: as the caller vouches.
    unsafe { compare::<T>(actual, expected, 0, actual.offset, &mut errors) };
    errors
}

/// # Safety
/// As for [`verify`], from dimension `dim` and position `at` on.
unsafe fn compare<T: Element>(actual: &View, expected: &View, dim: usize, at: i64, errors: &mut i64) {
    if dim < actual.rank() {
        for i in 0..actual.sizes[dim] {
            // SAFETY: `i` is within this dimension.
            unsafe { compare::<T>(actual, expected, dim + 1, at + i * actual.strides[dim], errors) };
        }
        return;
    }
    // SAFETY: as the caller vouches.
    let (a, b) = unsafe {
        let read = |view: &View| view.data.cast::<T>().offset(at as isize).read_unaligned();
        (read(actual), read(expected))
    };
    if a.agrees(b) {
        return;
    }
    if *errors < PRINTED {
        let mut text = Vec::new();
        a.show(&mut text);
        text.extend_from_slice(b" != ");
        b.show(&mut text);
        error_line(format_args!("{} offset = {at}", String::from_utf8_lossy(&text)));
    }
    *errors += 1;
}

macro_rules! verifiers {
    ($($type:ty: $name:ident;)*) => {
        $(
            #[doc = concat!("How many elements of two memrefs of `", stringify!($type), "` differ.\n\n")]
            #[doc = "# Safety\nBoth are valid."]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                actual: *const UnrankedMemRef,
                expected: *const UnrankedMemRef,
            ) -> i64 {
                // SAFETY: as the caller vouches.
                unsafe { verify::<$type>(&View::unranked(actual), &View::unranked(expected)) }
            }
        )*

        pub(super) fn symbols() -> Vec<Symbol> {
            symbol_table![$($name),*]
        }
    };
}

verifiers! {
    i8: _mlir_ciface_verifyMemRefI8;
    i16: _mlir_ciface_verifyMemRefI16;
    i32: _mlir_ciface_verifyMemRefI32;
    i64: _mlir_ciface_verifyMemRefI64;
    u64: _mlir_ciface_verifyMemRefInd;
    f16: _mlir_ciface_verifyMemRefF16;
    bf16: _mlir_ciface_verifyMemRefBF16;
    f32: _mlir_ciface_verifyMemRefF32;
    f64: _mlir_ciface_verifyMemRefF64;
    [f32; 2]: _mlir_ciface_verifyMemRefC32;
    [f64; 2]: _mlir_ciface_verifyMemRefC64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_differences_and_refuses_other_shapes() {
        let (a, b) = ([1.0f32, 2.0, 3.0], [1.0f32, 2.5, 3.5]);
        let view =
            |data: &[f32; 3], sizes| View { data: data.as_ptr().cast_mut().cast(), offset: 0, sizes, strides: &[1] };
        // SAFETY: the sizes are within the arrays.
        unsafe {
            assert_eq!(verify::<f32>(&view(&a, &[3]), &view(&a, &[3])), 0);
            assert_eq!(verify::<f32>(&view(&a, &[3]), &view(&b, &[3])), 2);
            assert_eq!(verify::<f32>(&view(&a, &[3]), &view(&b, &[2])), -1);
        }
    }
}
