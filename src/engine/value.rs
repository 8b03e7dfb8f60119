//! What goes into compiled functions and comes out of them, on the host or on the GPU.

use crate::{DType, Tensor};
use anyhow::{Result, anyhow};
use std::sync::Arc;
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

    /// The array in host memory; what is on the GPU is waited for and copied.
    pub fn to_tensor(&self) -> Result<Tensor> {
        match self {
            Value::Tensor(tensor) => Ok(tensor.clone()),
            Value::Device(tensor) => tensor.download(),
        }
    }

    /// The array where the GPU reaches it, copied there unless it is there. Fails when there is no GPU or no memory.
    pub fn to_device(&self) -> Result<Value> {
        match self {
            Value::Tensor(tensor) => Ok(Value::Device(DeviceTensor::upload(tensor)?)),
            Value::Device(tensor) => Ok(Value::Device(tensor.clone())),
        }
    }
}

impl DeviceTensor {
    /// Copies an array to memory that host code of a compiled module may read as well as its kernels.
    pub fn upload(tensor: &Tensor) -> Result<DeviceTensor> {
        let buffer = DeviceBuffer::from_host(tensor.bytes(), Memory::Managed)?;
        Ok(DeviceTensor { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), buffer: Arc::new(buffer) })
    }

    /// Takes over what compiled code allocated and returned; `None` if that is not a live allocation of this size.
    pub(super) fn adopt(dtype: DType, shape: &[usize], pointer: *mut u8) -> Option<DeviceTensor> {
        let buffer = Arc::new(DeviceBuffer::adopt(pointer)?);
        Some(DeviceTensor { dtype, shape: shape.to_vec(), buffer })
    }

    /// Waits for what this thread has queued and copies the array to the host.
    pub fn download(&self) -> Result<Tensor> {
        let mut tensor = Tensor::zeros(self.dtype, &self.shape);
        self.buffer.copy_to_host(tensor.bytes_mut())?;
        Ok(tensor)
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
