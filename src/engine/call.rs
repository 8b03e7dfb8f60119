//! The calling convention: host values become memref descriptors, results become host values.
//!
//! A tensor goes in as a pointer to its memory, without a copy, unless the function may write to it (then the caller's
//! tensor is updated, after a copy if it shares its memory) or its layout is not the dense one. A result is copied out;
//! what the function allocated for it is freed, what is an argument's or a constant's memory is not.
//!
//! When the function launches kernels, host tensors are copied to the GPU and back, and arrays there go in as they are. A
//! dense result that the function allocated there stays there.

use super::{
    DeviceTensor, Value,
    layout::Layout,
    signature::{Argument, Output, Signature, ValueType},
};
use crate::{DType, Tensor};
use anyhow::{Context, Result, bail, ensure};
use std::ffi::c_void;
use tinymlir_runtime::cuda::{self, Memory};

/// Room for any scalar that crosses the boundary.
#[repr(C, align(16))]
#[derive(Clone, Copy, Default)]
struct Slot([u8; 16]);

impl Slot {
    fn of(bytes: &[u8]) -> Slot {
        let mut slot = Slot::default();
        slot.0[..bytes.len()].copy_from_slice(bytes);
        slot
    }

    fn word(self) -> usize {
        usize::from_ne_bytes(self.0.as_chunks().0[0])
    }
}

/// What must outlive a call and is looked at after it.
#[derive(Default)]
struct Frame {
    slots: Vec<Slot>,
    /// Descriptors behind unranked arguments.
    descriptors: Vec<Box<[usize]>>,
    /// Copies of host arguments, whose layout is not dense or which lie on the GPU.
    copies: Vec<ArgumentCopy>,
    /// Where arrays go that kernels read; `None` without kernels.
    memory: Option<Memory>,
}

/// What a function sees in place of a host argument.
struct ArgumentCopy {
    index: usize,
    layout: Layout,
    /// From the aligned pointer to the last element.
    elements: Value,
}

/// A value as the type wants it: as it is, or its bits under another name where NumPy lacks the type.
///
/// bf16 may come as uint16 bit patterns, index as any integer, i1 as integers 0 and 1, i4 as integers from -8 to 7, and
/// a signless integer as an unsigned one. Anything else must match; the error names both types.
pub fn conform(tensor: &Tensor, ty: &ValueType) -> Result<Tensor> {
    let Some(want) = ty.dtype() else { bail!("values of type {ty} cannot be passed") };
    let have = tensor.dtype();
    ensure!(ty.accepts(tensor.shape()), mismatch(ty, have, tensor.shape()));
    if have == want {
        return Ok(tensor.clone());
    }
    let integers = |range: std::ops::RangeInclusive<i64>| -> Result<Vec<i64>> {
        let values = if have.is_float() { None } else { tensor.to_i64() };
        let values = values.with_context(|| format!("expected {ty}, got {have}"))?;
        match values.iter().find(|v| !range.contains(v)) {
            Some(v) => bail!("expected {ty}, got {have} with the value {v}, which {want} cannot hold"),
            None => Ok(values),
        }
    };
    use DType::*;
    match (want, have) {
        (BF16, U16) | (I8, U8) | (I16, U16) | (I32, U32) | (I64, U64) | (Index, I64) | (I64, Index) => {
            Tensor::from_bytes(want, tensor.shape(), tensor.bytes())
        }
        (Index, _) => {
            let bytes: Vec<u8> = integers(i64::MIN..=i64::MAX)?.into_iter().flat_map(i64::to_ne_bytes).collect();
            Tensor::from_bytes(want, tensor.shape(), &bytes)
        }
        (I1, _) => {
            let bytes: Vec<u8> = integers(0..=1)?.into_iter().map(|v| v as u8).collect();
            Tensor::from_bytes(want, tensor.shape(), &bytes)
        }
        (I4, _) => {
            let bytes: Vec<u8> = integers(-8..=7)?.into_iter().map(|v| v as u8 & 15).collect();
            Tensor::from_bytes(want, tensor.shape(), &bytes)
        }
        _ => bail!(mismatch(ty, have, tensor.shape())),
    }
}

fn mismatch(ty: &ValueType, dtype: DType, shape: &[usize]) -> String {
    format!("expected {ty}, got {dtype} of shape {shape:?}")
}

/// How messages call argument `index`.
pub fn describe(index: usize, argument: &Argument) -> String {
    match &argument.name {
        Some(name) => format!("argument {index} ({name})"),
        None => format!("argument {index}"),
    }
}

impl Frame {
    fn word(&mut self, word: usize) {
        self.slots.push(Slot::of(&word.to_ne_bytes()));
    }

    fn descriptor(data: *const u8, layout: &Layout) -> Vec<usize> {
        let head = [data as usize, data as usize, layout.offset];
        head.iter().chain(&layout.shape).chain(&layout.strides).copied().collect()
    }

    fn push(&mut self, index: usize, argument: &Argument, value: &mut Value) -> Result<()> {
        let (dtype, shape) = (value.dtype(), value.shape().to_vec());
        let layout = match &argument.ty {
            ValueType::Array { layout: Some((strides, offset)), .. } if strides.len() == shape.len() => {
                let dense = Layout::dense(&shape);
                let strides = strides.iter().zip(&dense.strides).map(|(s, d)| s.unwrap_or(*d)).collect();
                Layout { strides, offset: offset.unwrap_or(0), ..dense }
            }
            _ => Layout::dense(&shape),
        };
        let data = match value {
            Value::Device(tensor) => {
                ensure!(self.memory.is_some(), "an array on the GPU was given to a function that runs on the CPU");
                ensure!(
                    argument.ty.accepts(&shape) && argument.ty.dtype() == Some(dtype),
                    mismatch(&argument.ty, dtype, &shape)
                );
                ensure!(layout.is_dense(), "an array on the GPU is dense, and its layout here is not");
                if let ValueType::Scalar(_) = argument.ty {
                    self.slots.push(Slot::of(tensor.download()?.bytes()));
                    return Ok(());
                }
                if argument.host && tensor.memory() != Memory::Managed {
                    *tensor = DeviceTensor::upload(&tensor.download()?, Memory::Managed)?;
                }
                tensor.pointer()
            }
            Value::Tensor(tensor) => {
                *tensor = conform(tensor, &argument.ty)?; // shares its memory, or is a new one of the wanted type
                if let ValueType::Scalar(_) = argument.ty {
                    self.slots.push(Slot::of(tensor.bytes()));
                    return Ok(());
                }
                let memory = self.memory.map(|memory| if argument.host { Memory::Managed } else { memory });
                match (layout.is_dense(), memory) {
                    (true, None) if argument.writable => tensor.bytes_mut().as_ptr(),
                    (true, None) => tensor.bytes().as_ptr(),
                    (dense, memory) => {
                        let elements = if dense { tensor.clone() } else { layout.scatter(tensor)? };
                        let elements = match memory {
                            Some(memory) => Value::Device(DeviceTensor::upload(&elements, memory)?),
                            None => Value::Tensor(elements),
                        };
                        let data = match &elements {
                            Value::Tensor(tensor) => tensor.bytes().as_ptr(),
                            Value::Device(tensor) => tensor.pointer(),
                        };
                        self.copies.push(ArgumentCopy { index, layout: layout.clone(), elements });
                        data
                    }
                }
            }
        };
        let words = Frame::descriptor(data, &layout);
        if let ValueType::Unranked(_) = argument.ty {
            let words = words.into_boxed_slice();
            self.word(layout.shape.len());
            self.word(words.as_ptr() as usize);
            self.descriptors.push(words);
        } else {
            words.into_iter().for_each(|w| self.word(w));
        }
        Ok(())
    }

    /// Carries what the function wrote to copies back to the arguments.
    fn write_back(&self, signature: &Signature, values: &mut [Value]) -> Result<()> {
        for copy in self.copies.iter().filter(|c| signature.arguments[c.index].writable) {
            if let Value::Tensor(tensor) = &mut values[copy.index] {
                let elements = copy.elements.to_tensor()?;
                copy.layout.gather(elements.bytes(), tensor.dtype().size(), tensor.bytes_mut());
            }
        }
        Ok(())
    }
}

/// Calls `function`, the entry point of a function of this signature.
///
/// Writable arguments are updated in place. Fails, before anything runs, on a wrong number of arguments, a wrong type or
/// a wrong shape.
///
/// # Safety
/// `function` is the entry point of an LLVM function that `signature` matches.
pub(super) unsafe fn call(
    function: unsafe extern "C" fn(*const *mut c_void),
    signature: &Signature,
    values: &mut [Value],
    memory: Option<Memory>,
) -> Result<Vec<Value>> {
    let count = signature.arguments.len();
    ensure!(values.len() == count, "{signature} takes {count} arguments, not {}", values.len());
    if let Some(Output { ty, .. }) = signature.results.iter().find(|r| matches!(r.ty, ValueType::Unsupported(_))) {
        bail!("{signature} cannot be called: it returns a value of type {ty}");
    }
    let gpu = memory.is_some();
    let mut frame = Frame { memory, ..Frame::default() };
    for (i, (argument, value)) in signature.arguments.iter().zip(values.iter_mut()).enumerate() {
        frame.push(i, argument, value).with_context(|| describe(i, argument))?;
    }
    let first_result = frame.slots.len();
    let result_slots: usize = signature.returned().map(|r| r.ty.parameters().iter().map(Vec::len).sum::<usize>()).sum();
    frame.slots.resize(first_result + result_slots, Slot::default());
    let pointers: Vec<*mut c_void> = frame.slots.iter_mut().map(|slot| (slot as *mut Slot).cast()).collect();
    // SAFETY: one slot for each parameter and each scalar of the result, as the entry point wants them; what the slots
    // point to lives in `frame` and `values`.
    unsafe { function(pointers.as_ptr()) };
    if gpu {
        cuda::synchronize()?;
    }
    frame.write_back(signature, values)?;

    let mut slots = frame.slots[first_result..].iter().copied();
    let mut allocated = Vec::new();
    let mut results = Vec::new();
    for output in &signature.results {
        results.push(match output.argument {
            Some(argument) => values[argument].clone(),
            // SAFETY: the slots hold what the function returned for a result of this type.
            None => unsafe { result(&output.ty, &mut slots, &mut allocated, gpu)? },
        });
    }
    // Only after the last copy: two results may share memory.
    for pointer in allocated {
        tinymlir_runtime::free_if_live(pointer);
    }
    Ok(results)
}

/// Copies a result out and notes what is to be freed.
///
/// # Safety
/// `slots` yields what a function returned for a result of type `ty`.
unsafe fn result(
    ty: &ValueType,
    slots: &mut impl Iterator<Item = Slot>,
    allocated: &mut Vec<*mut u8>,
    gpu: bool,
) -> Result<Value> {
    let mut next = || slots.next().context("a result is missing");
    match ty {
        ValueType::Unsupported(ty) => bail!("it returns a value of type {ty}"),
        ValueType::Scalar(dtype @ (DType::C64 | DType::C128)) => {
            let half = dtype.size() / 2;
            let (re, im) = (next()?, next()?);
            Ok(Tensor::from_bytes(*dtype, &[], &[&re.0[..half], &im.0[..half]].concat())?.into())
        }
        ValueType::Scalar(dtype) => Ok(Tensor::from_bytes(*dtype, &[], &next()?.0[..dtype.size()])?.into()),
        ValueType::Array { dtype, shape, .. } => {
            let words: Vec<usize> = (0..3 + 2 * shape.len()).map(|_| Ok(next()?.word())).collect::<Result<_>>()?;
            // SAFETY: a memref descriptor that the function returned.
            unsafe { take_array(*dtype, &words, allocated, gpu) }
        }
        ValueType::Unranked(dtype) => {
            let (rank, descriptor) = (next()?.word(), next()?.word() as *mut usize);
            // SAFETY: the function returned a rank and a pointer to a descriptor of that rank.
            unsafe {
                let words = std::slice::from_raw_parts(descriptor, 3 + 2 * rank).to_vec();
                allocated.push(descriptor.cast());
                take_array(*dtype, &words, allocated, gpu)
            }
        }
    }
}

/// Takes over or copies the array behind a descriptor.
///
/// # Safety
/// `words` is a valid memref descriptor of elements of `dtype`, which work on the GPU no longer writes to.
unsafe fn take_array(dtype: DType, words: &[usize], allocated: &mut Vec<*mut u8>, gpu: bool) -> Result<Value> {
    let rank = (words.len() - 3) / 2;
    let layout = Layout { shape: words[3..3 + rank].to_vec(), strides: words[3 + rank..].to_vec(), offset: words[2] };
    let (base, aligned) = (words[0] as *mut u8, words[1] as *const u8);
    let size = dtype.size();
    let impossible = || format!("a result has the impossible shape {:?}", layout.shape);
    let count = layout.shape.iter().try_fold(size, |n, s| n.checked_mul(*s)).with_context(impossible)?;
    if gpu
        && layout.is_dense()
        && base.cast_const() == aligned
        && let Some(tensor) = DeviceTensor::adopt(dtype, &layout.shape, base)
    {
        return Ok(Value::Device(tensor));
    }
    allocated.push(base);
    let mut tensor = Tensor::zeros(dtype, &layout.shape);
    let bytes = tensor.bytes_mut();
    if count == 0 {
        return Ok(tensor.into());
    }
    if gpu && cuda::memory_of(base).is_some() {
        let extent = layout.extent().and_then(|n| n.checked_mul(size)).with_context(impossible)?;
        let mut elements = vec![0; extent];
        // SAFETY: the descriptor says that these bytes are there.
        unsafe { cuda::copy_to_host(aligned, &mut elements)? };
        layout.gather(&elements, size, bytes);
    } else if layout.is_dense() {
        // SAFETY: as above.
        bytes.copy_from_slice(unsafe { std::slice::from_raw_parts(aligned, count) });
    } else {
        for (to, place) in bytes.chunks_exact_mut(size).zip(layout.places()) {
            // SAFETY: as above; wrapping arithmetic serves negative strides.
            to.copy_from_slice(unsafe {
                std::slice::from_raw_parts(aligned.wrapping_add(place.wrapping_mul(size)), size)
            });
        }
    }
    if dtype == DType::I4 {
        bytes.iter_mut().for_each(|b| *b &= 15);
    }
    Ok(tensor.into())
}
