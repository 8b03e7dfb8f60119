//! Where the elements of an array lie in memory.

use crate::Tensor;
use anyhow::{Context, Result};

/// Where the elements of an array lie, in elements from its aligned pointer.
#[derive(Clone)]
pub(super) struct Layout {
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
    pub(super) offset: usize,
}

impl Layout {
    pub(super) fn dense(shape: &[usize]) -> Layout {
        let mut strides = vec![1usize; shape.len()];
        for i in (1..shape.len()).rev() {
            // Strides of an empty array are never used to find an element.
            strides[i - 1] = strides[i].saturating_mul(shape[i]);
        }
        Layout { shape: shape.to_vec(), strides, offset: 0 }
    }

    /// The places of the elements, in row-major order.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let mut index = vec![0; self.shape.len()];
        let mut left: usize = self.shape.iter().product();
        let mut place = self.offset;
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let here = place;
            for (i, (size, stride)) in index.iter_mut().zip(self.shape.iter().zip(&self.strides)).rev() {
                *i += 1;
                place = place.wrapping_add(*stride);
                if *i < *size {
                    break;
                }
                place = place.wrapping_sub(stride.wrapping_mul(*size));
                *i = 0;
            }
            Some(here)
        })
    }

    /// How many elements lie from the aligned pointer to the last element.
    pub(super) fn extent(&self) -> Option<usize> {
        if self.shape.contains(&0) {
            return Some(self.offset);
        }
        self.shape.iter().zip(&self.strides).try_fold(self.offset.checked_add(1)?, |at, (size, stride)| {
            at.checked_add((size - 1).checked_mul(*stride)?)
        })
    }

    /// A copy of `tensor` in this layout, from the aligned pointer to the last element.
    pub(super) fn scatter(&self, tensor: &Tensor) -> Result<Tensor> {
        let size = tensor.dtype().size();
        let extent = self.extent().context("the argument's layout is too large")?;
        let mut copy = Tensor::zeros(tensor.dtype(), &[extent]);
        let bytes = copy.bytes_mut();
        for (from, to) in tensor.bytes().chunks_exact(size).zip(self.places()) {
            bytes[to * size..][..size].copy_from_slice(from);
        }
        Ok(copy)
    }

    /// The elements, each of `size` bytes, in row-major order.
    pub(super) fn gather(&self, bytes: &[u8], size: usize, out: &mut [u8]) {
        for (to, from) in out.chunks_exact_mut(size).zip(self.places()) {
            to.copy_from_slice(&bytes[from * size..][..size]);
        }
    }

    pub(super) fn is_dense(&self) -> bool {
        self.offset == 0
            && (self.shape.contains(&0)
                || (self.shape.iter().zip(&self.strides).zip(Layout::dense(&self.shape).strides))
                    .all(|((size, stride), dense)| *size == 1 || *stride == dense))
    }
}
