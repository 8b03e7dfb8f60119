//! What goes into compiled functions and comes out of them, on the host or on the GPU.

use crate::{DType, Tensor};
use anyhow::{Result, anyhow, bail, ensure};
use std::{ops::Range, sync::Arc};
use tinymlir_runtime::cuda::{self, DeviceBuffer, Memory};

/// What goes into a compiled function and comes out of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// An array in host memory; a scalar is an array of rank 0.
    Tensor(Tensor),
    /// An array that the GPU reaches.
    Device(DeviceTensor),
}

/// A dense row-major array in memory that the GPU reaches. Cloning shares the memory, also when a function writes to it.
#[derive(Clone, Debug)]
pub struct DeviceTensor {
    dtype: DType,
    shape: Vec<usize>,
    buffer: Arc<DeviceBuffer>,
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Value {
        Value::Tensor(tensor)
    }
}

impl Value {
    /// The element type.
    pub fn dtype(&self) -> DType {
        match self {
            Value::Tensor(tensor) => tensor.dtype(),
            Value::Device(tensor) => tensor.dtype,
        }
    }

    /// The sizes, outermost first.
    pub fn shape(&self) -> &[usize] {
        match self {
            Value::Tensor(tensor) => tensor.shape(),
            Value::Device(tensor) => &tensor.shape,
        }
    }

    /// Rows `rows` of the outermost dimension in host memory; what is on the GPU is waited for, and no other row copied.
    /// Fails when they are not inside it.
    pub fn rows(&self, rows: Range<usize>) -> Result<Tensor> {
        let [count, rest @ ..] = self.shape() else { bail!("a scalar has no rows") };
        ensure!(rows.start <= rows.end && rows.end <= *count, "rows {rows:?} are not inside 0..{count}");
        let row = rest.iter().product::<usize>() * self.dtype().size();
        let shape: Vec<usize> = std::iter::once(rows.len()).chain(rest.iter().copied()).collect();
        match self {
            Value::Tensor(tensor) => {
                Tensor::from_bytes(tensor.dtype(), &shape, &tensor.bytes()[rows.start * row..rows.end * row])
            }
            Value::Device(tensor) => tensor.read(rows.start * row, &shape),
        }
    }

    /// The array in host memory; what is on the GPU is waited for and copied.
    pub fn to_tensor(&self) -> Result<Tensor> {
        match self {
            Value::Tensor(tensor) => Ok(tensor.clone()),
            Value::Device(tensor) => tensor.download(),
        }
    }

    /// The array where the GPU reaches it, copied to `memory` unless it is there. Fails when there is no GPU or no room.
    pub fn to_device(&self, memory: Memory) -> Result<Value> {
        match self {
            Value::Tensor(tensor) => Ok(Value::Device(DeviceTensor::upload(tensor, memory)?)),
            Value::Device(tensor) => Ok(Value::Device(tensor.clone())),
        }
    }
}

impl DeviceTensor {
    /// Copies an array to memory that kernels reach, and host code too if it is managed.
    pub fn upload(tensor: &Tensor, memory: Memory) -> Result<DeviceTensor> {
        let buffer = DeviceBuffer::from_host(tensor.bytes(), memory)?;
        Ok(DeviceTensor { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), buffer: Arc::new(buffer) })
    }

    /// Takes over what compiled code allocated and returned; `None` if that is not a live allocation of this size.
    pub(super) fn adopt(dtype: DType, shape: &[usize], pointer: *mut u8) -> Option<DeviceTensor> {
        let buffer = Arc::new(DeviceBuffer::adopt(pointer)?);
        Some(DeviceTensor { dtype, shape: shape.to_vec(), buffer })
    }

    /// Copies the elements of `tensor` into this array, behind queued work and without waiting: only what this thread queues later
    /// sees them. Fails unless type and shape are the same.
    pub fn queue(&self, tensor: &Tensor) -> Result<()> {
        ensure!(
            tensor.dtype() == self.dtype && tensor.shape() == self.shape,
            "{tensor:?} does not fit an array of {}{:?}",
            self.dtype,
            self.shape
        );
        Ok(self.buffer.queue_from_host(tensor.bytes())?)
    }

    /// Waits for what this thread has queued and copies the array to the host.
    pub fn download(&self) -> Result<Tensor> {
        self.read(0, &self.shape)
    }

    /// An array of `shape` whose elements start at byte `start`.
    fn read(&self, start: usize, shape: &[usize]) -> Result<Tensor> {
        let mut tensor = Tensor::zeros(self.dtype, shape);
        self.buffer.copy_range_to_host(start, tensor.bytes_mut())?;
        Ok(tensor)
    }

    /// Where it lies.
    pub fn memory(&self) -> Memory {
        self.buffer.memory()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub(super) fn pointer(&self) -> *const u8 {
        self.buffer.ptr()
    }
}

/// Whether there is a GPU that compiled code can run on. Fails with the reason when there is none.
pub fn gpu_chip() -> Result<String> {
    cuda::available().map_err(|e| anyhow!("there is no GPU to run on: {e}"))?;
    Ok(cuda::device()?.chip())
}
