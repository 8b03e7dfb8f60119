//! Dense row-major host arrays: what goes into compiled code and what comes out of it.

use anyhow::{Result, ensure};
use std::{ops::Range, sync::Arc};

/// The element types of MLIR that a host array can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)]
pub enum DType {
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Index,
    F16,
    BF16,
    F32,
    F64,
    C64,
    C128,
}

impl DType {
    /// Every type, in the order of declaration.
    pub const ALL: [DType; 17] = {
        use DType::*;
        [I1, I4, I8, I16, I32, I64, U8, U16, U32, U64, Index, F16, BF16, F32, F64, C64, C128]
    };

    /// Bytes of one element in memory; `i1` and `i4` take a byte each.
    pub fn size(self) -> usize {
        use DType::*;
        match self {
            I1 | I4 | I8 | U8 => 1,
            I16 | U16 | F16 | BF16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | Index | F64 | C64 => 8,
            C128 => 16,
        }
    }

    /// The type as MLIR writes it, such as `f32`, `ui8` or `complex<f32>`.
    pub fn mlir(self) -> &'static str {
        use DType::*;
        match self {
            I1 => "i1",
            I4 => "i4",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "ui8",
            U16 => "ui16",
            U32 => "ui32",
            U64 => "ui64",
            Index => "index",
            F16 => "f16",
            BF16 => "bf16",
            F32 => "f32",
            F64 => "f64",
            C64 => "complex<f32>",
            C128 => "complex<f64>",
        }
    }

    /// The inverse of [`DType::mlir`]; `None` for a type that no host array has. Signed integers are taken as signless.
    pub fn from_mlir(text: &str) -> Option<DType> {
        let text = text.strip_prefix('s').filter(|t| t.starts_with('i')).unwrap_or(text);
        DType::ALL.into_iter().find(|t| t.mlir() == text)
    }

    /// Whether arithmetic on it rounds (complex types included).
    pub fn is_float(self) -> bool {
        use DType::*;
        matches!(self, F16 | BF16 | F32 | F64 | C64 | C128)
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.mlir())
    }
}

/// A Rust type that is the memory of one element.
pub trait Element: Copy + 'static {
    /// The element type that this is.
    const DTYPE: DType;
}
macro_rules! elements { ($($rust:ty = $dtype:ident),*) => { $(impl Element for $rust { const DTYPE: DType = DType::$dtype; })* } }
elements!(
    i8 = I8,
    i16 = I16,
    i32 = I32,
    i64 = I64,
    u8 = U8,
    u16 = U16,
    u32 = U32,
    u64 = U64,
    half::f16 = F16,
    half::bf16 = BF16,
    f32 = F32,
    f64 = F64
);

/// Memory of a tensor; shared, and never written through.
#[derive(Clone)]
enum Bytes {
    /// 64-byte chunks, so that every element type and vector load is aligned.
    Owned(Arc<Vec<Line>>),
    Mapped(Arc<memmap2::Mmap>, Range<usize>),
}

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// A dense row-major array in host memory. Cloning shares the memory.
#[derive(Clone)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<usize>,
    bytes: Bytes,
}

impl Tensor {
    /// A tensor of zeros.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Tensor {
        let lines = (shape.iter().product::<usize>() * dtype.size()).div_ceil(64);
        Tensor { dtype, shape: shape.to_vec(), bytes: Bytes::Owned(Arc::new(vec![Line([0; 64]); lines])) }
    }

    /// Copies `bytes`, the elements in row-major order and native byte order. Fails when their number does not fit `shape`.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Tensor> {
        let mut tensor = Tensor::zeros(dtype, shape);
        ensure!(
            bytes.len() == tensor.byte_len(),
            "{} bytes for {dtype} of shape {shape:?}, which takes {}",
            bytes.len(),
            tensor.byte_len()
        );
        tensor.bytes_mut().copy_from_slice(bytes);
        Ok(tensor)
    }

    /// Copies `data`. Panics when its length is not the product of `shape`.
    pub fn from_slice<T: Element>(shape: &[usize], data: &[T]) -> Tensor {
        assert_eq!(shape.iter().product::<usize>(), data.len(), "elements of shape {shape:?}");
        // SAFETY: an Element has no padding and no invalid byte.
        let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size_of_val(data)) };
        let mut tensor = Tensor::zeros(T::DTYPE, shape);
        tensor.bytes_mut().copy_from_slice(bytes);
        tensor
    }

    /// A view of a mapped file, without a copy unless `range` starts at an address that the element type cannot have.
    pub fn from_map(dtype: DType, shape: &[usize], map: &Arc<memmap2::Mmap>, range: Range<usize>) -> Result<Tensor> {
        let bytes = map
            .get(range.clone())
            .ok_or_else(|| anyhow::anyhow!("bytes {range:?} lie outside the file's {}", map.len()))?;
        if !(bytes.as_ptr() as usize).is_multiple_of(dtype.size().min(8)) {
            return Tensor::from_bytes(dtype, shape, bytes);
        }
        let tensor = Tensor { dtype, shape: shape.to_vec(), bytes: Bytes::Mapped(map.clone(), range.clone()) };
        ensure!(
            range.len() == tensor.byte_len(),
            "{} bytes for {dtype} of shape {shape:?}, which takes {}",
            range.len(),
            tensor.byte_len()
        );
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

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of all elements in bytes.
    pub fn byte_len(&self) -> usize {
        self.len() * self.dtype.size()
    }

    /// The same elements under another shape of as many elements.
    pub fn reshaped(&self, shape: &[usize]) -> Result<Tensor> {
        ensure!(shape.iter().product::<usize>() == self.len(), "cannot reshape {:?} to {shape:?}", self.shape);
        Ok(Tensor { shape: shape.to_vec(), ..self.clone() })
    }

    /// All elements in row-major order.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            // SAFETY: Line is plain bytes, and `zeros` made enough of them.
            Bytes::Owned(lines) => unsafe { std::slice::from_raw_parts(lines.as_ptr().cast::<u8>(), self.byte_len()) },
            Bytes::Mapped(map, range) => &map[range.clone()],
        }
    }

    /// All elements, writable: memory that is shared or mapped is copied first.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if let Bytes::Mapped(..) = self.bytes {
            let mut owned = Tensor::zeros(self.dtype, &self.shape);
            owned.bytes_mut().copy_from_slice(self.bytes());
            *self = owned;
        }
        let len = self.byte_len();
        match &mut self.bytes {
            Bytes::Owned(lines) => {
                let lines = Arc::make_mut(lines);
                // SAFETY: Line is plain bytes, `zeros` made enough of them, and make_mut made them ours alone.
                unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<u8>(), len) }
            }
            Bytes::Mapped(..) => unreachable!("copied above"),
        }
    }

    /// The elements as their Rust type, or `None` when that is not the element type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        // SAFETY: the dtype says that the memory holds T, and every constructor aligned it.
        (T::DTYPE == self.dtype)
            .then(|| unsafe { std::slice::from_raw_parts(self.bytes().as_ptr().cast::<T>(), self.len()) })
    }

    /// The elements as `i64`, whatever integer type they have; `None` for other types and for a `u64` past `i64`.
    pub fn to_i64(&self) -> Option<Vec<i64>> {
        use DType::*;
        let bytes = self.bytes();
        macro_rules! convert {
            ($rust:ty) => {
                bytes.as_chunks().0.iter().map(|c| i64::try_from(<$rust>::from_ne_bytes(*c)).ok()).collect()
            };
        }
        match self.dtype {
            I1 | U8 => convert!(u8),
            I4 => bytes.iter().map(|b| Some(i64::from((*b as i8) << 4 >> 4))).collect(),
            I8 => convert!(i8),
            I16 => convert!(i16),
            U16 => convert!(u16),
            I32 => convert!(i32),
            U32 => convert!(u32),
            I64 | Index => convert!(i64),
            U64 => convert!(u64),
            F16 | BF16 | F32 | F64 | C64 | C128 => None,
        }
    }

    /// The elements as `f64`, whatever real type they have; `None` for complex ones. Integers past 2^53 are rounded.
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        use DType::*;
        let bytes = self.bytes();
        macro_rules! convert {
            ($rust:ty, $f:expr) => {
                bytes.as_chunks().0.iter().map(|c| $f(<$rust>::from_ne_bytes(*c))).collect()
            };
        }
        Some(match self.dtype {
            I1 | U8 => bytes.iter().map(|b| f64::from(*b)).collect(),
            I4 => bytes.iter().map(|b| f64::from((*b as i8) << 4 >> 4)).collect(),
            I8 => bytes.iter().map(|b| f64::from(*b as i8)).collect(),
            I16 => convert!(i16, f64::from),
            U16 => convert!(u16, f64::from),
            I32 => convert!(i32, f64::from),
            U32 => convert!(u32, f64::from),
            I64 | Index => convert!(i64, |v| v as f64),
            U64 => convert!(u64, |v| v as f64),
            F16 => convert!(u16, |v| half::f16::from_bits(v).to_f64()),
            BF16 => convert!(u16, |v| half::bf16::from_bits(v).to_f64()),
            F32 => convert!(f32, f64::from),
            F64 => convert!(f64, |v| v),
            C64 | C128 => return None,
        })
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}{:?}", self.dtype, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips() {
        let t = Tensor::from_slice(&[2, 2], &[1f32, -2.0, 3.5, 4.0]);
        assert_eq!(t.as_slice::<f32>(), Some(&[1f32, -2.0, 3.5, 4.0][..]));
        assert_eq!(t.as_slice::<i32>(), None);
        assert_eq!(t.to_f64(), Some(vec![1.0, -2.0, 3.5, 4.0]));
        assert!(Tensor::from_bytes(DType::F32, &[3], &[0; 8]).is_err());
        assert!(t.reshaped(&[3]).is_err());
    }

    #[test]
    fn writing_leaves_shared_memory_alone() {
        let a = Tensor::from_slice(&[1], &[7i32]);
        let mut b = a.clone();
        b.bytes_mut()[0] = 9;
        assert_eq!((a.as_slice(), b.as_slice()), (Some(&[7i32][..]), Some(&[9i32][..])));
    }

    #[test]
    fn names_are_inverse() {
        for t in DType::ALL {
            assert_eq!(DType::from_mlir(t.mlir()), Some(t));
        }
        assert_eq!(DType::from_mlir("si8"), Some(DType::I8));
        assert_eq!(DType::from_mlir("i7"), None);
    }
}
