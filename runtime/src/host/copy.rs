//! `memrefCopy`: copies between memrefs of equal sizes and any strides.

use crate::memref::{UnrankedMemRef, View};
use crate::{Symbol, symbol_table};

/// Copies `source` into `target`, elements of `element_bytes` bytes; the sizes are the source's.
///
/// # Safety
/// Both are valid unranked memrefs of the same sizes and of elements of that width.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memrefCopy(element_bytes: i64, source: *const UnrankedMemRef, target: *const UnrankedMemRef) {
    // SAFETY: as the caller vouches.
    let (source, target) = unsafe { (View::unranked(source), View::unranked(target)) };
    if source.is_empty() {
        return;
    }
    // Inner dimensions that are dense on both sides are one run of bytes.
    let mut run = element_bytes as isize;
    let mut outer = source.rank();
    while outer > 0 {
        let dim = outer - 1;
        let dense = |strides: &[i64]| strides[dim] as isize * element_bytes as isize == run;
        let joins = source.sizes[dim] == 1 || dense(source.strides) && dense(target.strides);
        if !joins {
            break;
        }
        run *= source.sizes[dim] as isize;
        outer = dim;
    }
    // SAFETY: the offsets lie within the buffers.
    let (from, to) = unsafe {
        (
            source.data.offset((source.offset * element_bytes) as isize),
            target.data.offset((target.offset * element_bytes) as isize),
        )
    };
    let copy = Copy {
        sizes: &source.sizes[..outer],
        source: source.strides,
        target: target.strides,
        element_bytes: element_bytes as isize,
        run: run as usize,
    };
    // SAFETY: every position that sizes and strides reach is within the buffers.
    unsafe { copy.dimension(0, from, to) };
}

/// What stays the same over one copy: the outer sizes, the strides, and the dense run within.
struct Copy<'a> {
    sizes: &'a [i64],
    source: &'a [i64],
    target: &'a [i64],
    element_bytes: isize,
    run: usize,
}

impl Copy<'_> {
    /// # Safety
    /// `from` and `to` are positions whose inner dimensions are within their buffers.
    unsafe fn dimension(&self, dim: usize, from: *const u8, to: *mut u8) {
        if dim == self.sizes.len() {
            // SAFETY: both runs are within their buffers; they may overlap.
            unsafe { std::ptr::copy(from, to, self.run) };
            return;
        }
        let (from_step, to_step) =
            (self.source[dim] as isize * self.element_bytes, self.target[dim] as isize * self.element_bytes);
        for i in 0..self.sizes[dim] as isize {
            // SAFETY: `i` is within this dimension.
            unsafe { self.dimension(dim + 1, from.offset(i * from_step), to.offset(i * to_step)) };
        }
    }
}

pub(super) fn symbols() -> Vec<Symbol> {
    symbol_table![memrefCopy]
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    use super::*;

    /// Copies with a descriptor of `2 * R + 3` words on either side.
    fn copy<const R: usize>(
        from: &[i32],
        (from_offset, from_strides): (i64, [i64; R]),
        to: &mut [i32],
        (to_offset, to_strides): (i64, [i64; R]),
        sizes: [i64; R],
    ) {
        let describe = |data: *const i32, offset: i64, strides: [i64; R]| {
            let mut words = vec![data as i64, data as i64, offset];
            words.extend(sizes);
            words.extend(strides);
            words
        };
        let source = describe(from.as_ptr(), from_offset, from_strides);
        let target = describe(to.as_mut_ptr(), to_offset, to_strides);
        let unranked =
            |words: &Vec<i64>| UnrankedMemRef { rank: R as i64, descriptor: words.as_ptr().cast::<c_void>() };
        // SAFETY: the tests below keep sizes and strides within the slices.
        unsafe { memrefCopy(4, &unranked(&source), &unranked(&target)) };
    }

    #[test]
    fn dense_and_rank_zero() {
        let mut out = [0; 6];
        copy(&[1, 2, 3, 4, 5, 6], (0, [3, 1]), &mut out, (0, [3, 1]), [2, 3]);
        assert_eq!(out, [1, 2, 3, 4, 5, 6]);
        copy(&[7, 8], (1, []), &mut out, (2, []), []);
        assert_eq!(out, [1, 2, 8, 4, 5, 6]);
    }

    #[test]
    fn transposed_into_a_padded_target() {
        let mut out = [0; 8];
        copy(&[1, 2, 3, 4, 5, 6], (0, [1, 3]), &mut out, (1, [2, 1]), [3, 2]);
        assert_eq!(out, [0, 1, 4, 2, 5, 3, 6, 0]);
    }

    #[test]
    fn an_empty_copy_touches_nothing() {
        let mut out = [9; 2];
        copy(&[], (0, [3, 1]), &mut out, (0, [3, 1]), [0, 3]);
        copy(&[], (0, [0, 1]), &mut out, (0, [0, 1]), [3, 0]);
        assert_eq!(out, [9; 2]);
    }

    #[test]
    fn broadcast_and_reversed_strides() {
        let mut out = [0; 6];
        copy(&[1, 2, 3], (2, [0, -1]), &mut out, (0, [3, 1]), [2, 3]);
        assert_eq!(out, [3, 2, 1, 3, 2, 1]);
    }

    #[test]
    fn a_dimension_of_one_may_have_any_stride() {
        let mut out = [0; 4];
        copy(&[1, 2, 3, 4], (0, [2, 77, 1]), &mut out, (0, [2, -5, 1]), [2, 1, 2]);
        assert_eq!(out, [1, 2, 3, 4]);
    }
}
