//! Memref descriptors as lowered code lays them out.
//!
//! A ranked memref is `{ allocated, aligned, offset, sizes[rank], strides[rank] }`; an unranked one
//! is its rank and a pointer to that. Offsets, sizes and strides count elements.

use std::ffi::c_void;

/// `memref<*xT>` passed by pointer, as functions with `llvm.emit_c_interface` take it.
#[repr(C)]
pub struct UnrankedMemRef {
    pub rank: i64,
    pub descriptor: *const c_void,
}

/// The first three fields of a ranked descriptor; sizes and strides follow in memory.
#[repr(C)]
struct Header {
    allocated: *mut u8,
    aligned: *mut u8,
    offset: i64,
}

/// A borrowed ranked descriptor.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The aligned pointer, before the offset.
    pub data: *mut u8,
    pub offset: i64,
    pub sizes: &'a [i64],
    pub strides: &'a [i64],
}

impl<'a> View<'a> {
    /// Reads the descriptor at `descriptor`.
    ///
    /// # Safety
    /// `descriptor` points to a ranked descriptor of `rank` dimensions that outlives `'a`.
    pub unsafe fn ranked(rank: i64, descriptor: *const c_void) -> Self {
        let rank = usize::try_from(rank).unwrap_or(0);
        let header = descriptor.cast::<Header>();
        // SAFETY: the caller vouches for the header and for `2 * rank` sizes and strides behind it.
        unsafe {
            let sizes = header.add(1).cast::<i64>();
            View {
                data: (*header).aligned,
                offset: (*header).offset,
                sizes: std::slice::from_raw_parts(sizes, rank),
                strides: std::slice::from_raw_parts(sizes.add(rank), rank),
            }
        }
    }

    /// Reads the ranked descriptor behind an unranked one.
    ///
    /// # Safety
    /// `unranked` is valid, and so is what it points to, for `'a`.
    pub unsafe fn unranked(unranked: *const UnrankedMemRef) -> Self {
        // SAFETY: as the caller vouches.
        unsafe { Self::ranked((*unranked).rank, (*unranked).descriptor) }
    }

    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }
}
