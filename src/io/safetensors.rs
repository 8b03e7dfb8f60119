//! Reads and writes safetensors files.
//!
//! Reading maps the file: tensors are views of it, so that opening costs the header and a checkpoint is in memory once.
//! The file must keep its length while it is mapped. Refused: a header that is no JSON, that describes more or fewer bytes
//! than the file has, or whose tensors overlap, and element types that MLIR has no name for here (the 8-bit and narrower floats).

use crate::{DType, Tensor};
use anyhow::{Context, Result, anyhow, bail};
use safetensors::{
    Dtype, SafeTensors, View,
    tensor::{Metadata, SafeTensorError},
};
use std::{
    borrow::Cow,
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

/// An open safetensors file.
#[derive(Debug)]
pub struct Safetensors {
    path: PathBuf,
    map: Arc<memmap2::Mmap>,
    metadata: Metadata,
    /// Where the data starts: behind the length and the header.
    base: usize,
}

impl Safetensors {
    /// Maps the file at `path` and checks its header. Every error names the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Safetensors> {
        let path = path.as_ref().to_path_buf();
        let context = || format!("cannot read {}", path.display());
        let file = File::open(&path).with_context(context)?;
        // SAFETY: the mapping is private and never written; that nobody truncates the file is this module's stated condition.
        let map = unsafe { memmap2::Mmap::map(&file) }.with_context(context)?;
        let (header, metadata) =
            SafeTensors::read_metadata(&map).map_err(|e| explain(e, map.len())).with_context(context)?;
        Ok(Safetensors { map: Arc::new(map), metadata, base: size_of::<u64>() + header, path })
    }

    /// The file that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tensors' names in the order of their data.
    pub fn names(&self) -> Vec<String> {
        self.metadata.offset_keys()
    }

    /// Whether there is a tensor of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.metadata.info(name).is_some()
    }

    /// The tensor called `name`, a view of the file. Fails when there is none, or its element type is not supported.
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        let context = || format!("tensor '{name}' of {}", self.path.display());
        let info = self.metadata.info(name).ok_or_else(|| anyhow!("no such tensor")).with_context(context)?;
        let (start, end) = info.data_offsets;
        from_file_dtype(info.dtype)
            .and_then(|t| Tensor::from_map(t, &info.shape, &self.map, self.base + start..self.base + end))
            .with_context(context)
    }
}

/// Writes `tensors` under their names to `path`, through a temporary file beside it: nothing is left behind on an error.
/// Fails on element types that the format lacks (`i4`, `index`, `complex<f64>`) and on a name that occurs twice.
pub fn write(path: impl AsRef<Path>, tensors: &[(String, Tensor)]) -> Result<()> {
    let path = path.as_ref();
    let context = || format!("cannot write {}", path.display());
    let mut names: Vec<&str> = tensors.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|w| w[0] == w[1]) {
        return Err(anyhow!("two tensors are called '{}'", pair[0])).with_context(context);
    }
    let views = tensors
        .iter()
        .map(|(name, tensor)| {
            let dtype = to_file_dtype(tensor.dtype()).with_context(|| format!("tensor '{name}'"))?;
            Ok((name.as_str(), FileView { dtype, tensor }))
        })
        .collect::<Result<Vec<_>>>()
        .with_context(context)?;
    // The crate makes its temporary file in the parent, which a bare file name lacks.
    let target = std::path::absolute(path).with_context(context)?;
    safetensors::serialize_to_file(views, None, &target).map_err(|e| explain(e, 0)).with_context(context)
}

struct FileView<'a> {
    dtype: Dtype,
    tensor: &'a Tensor,
}

impl View for FileView<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        self.tensor.shape()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.tensor.bytes().into()
    }

    fn data_len(&self) -> usize {
        self.tensor.byte_len()
    }
}

/// What the crate's error means for a file of `len` bytes.
fn explain(error: SafeTensorError, len: usize) -> anyhow::Error {
    use SafeTensorError::*;
    match error {
        HeaderTooSmall => anyhow!("not a safetensors file: {len} bytes cannot hold a header"),
        HeaderTooLarge | InvalidHeaderLength => {
            anyhow!("not a safetensors file, or truncated: the header would not fit in its {len} bytes")
        }
        InvalidHeader(e) => anyhow!("not a safetensors file: the header is not UTF-8 ({e})"),
        InvalidHeaderDeserialization(e) => anyhow!("not a safetensors file: the header is not the expected JSON ({e})"),
        MetadataIncompleteBuffer => {
            anyhow!("truncated or damaged: the header describes more or fewer bytes than the file's {len}")
        }
        TensorInvalidInfo => anyhow!("damaged header: a tensor's shape does not fit its number of bytes"),
        InvalidOffset(name) => anyhow!("damaged header: the bytes of tensor '{name}' overlap another's or leave a gap"),
        ValidationOverflow => anyhow!("damaged header: a tensor's size overflows"),
        IoError(e) => e.into(),
        other => other.into(),
    }
}

fn from_file_dtype(dtype: Dtype) -> Result<DType> {
    Ok(match dtype {
        Dtype::BOOL => DType::I1,
        Dtype::U8 => DType::U8,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::U16 => DType::U16,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::I32 => DType::I32,
        Dtype::U32 => DType::U32,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        Dtype::I64 => DType::I64,
        Dtype::U64 => DType::U64,
        Dtype::C64 => DType::C64,
        other => bail!("element type {other} is not supported"),
    })
}

fn to_file_dtype(dtype: DType) -> Result<Dtype> {
    Ok(match dtype {
        DType::I1 => Dtype::BOOL,
        DType::U8 => Dtype::U8,
        DType::I8 => Dtype::I8,
        DType::I16 => Dtype::I16,
        DType::U16 => Dtype::U16,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::I32 => Dtype::I32,
        DType::U32 => Dtype::U32,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
        DType::I64 => Dtype::I64,
        DType::U64 => Dtype::U64,
        DType::C64 => Dtype::C64,
        DType::I4 | DType::Index | DType::C128 => bail!("the safetensors format has no element type {dtype}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.safetensors");
        let tensors = [
            ("b".to_string(), Tensor::from_slice(&[2, 2], &[1f32, 2.0, 3.0, 4.0])),
            ("ids".to_string(), Tensor::from_slice(&[3], &[7i8, -8, 9])),
            ("a".to_string(), Tensor::from_slice(&[], &[0.5f64])),
        ];
        write(&path, &tensors).unwrap();
        (dir, path)
    }

    fn error(path: &Path) -> String {
        format!("{:#}", Safetensors::open(path).unwrap_err())
    }

    #[test]
    fn round_trips() {
        let (dir, path) = saved();
        let file = Safetensors::open(&path).unwrap();
        assert_eq!(file.names(), ["a", "b", "ids"]);
        assert_eq!(file.tensor("b").unwrap().as_slice(), Some(&[1f32, 2.0, 3.0, 4.0][..]));
        assert_eq!(file.tensor("ids").unwrap().as_slice(), Some(&[7i8, -8, 9][..]));
        assert_eq!(file.tensor("a").unwrap().shape(), [0usize; 0]);
        assert!(format!("{:#}", file.tensor("c").unwrap_err()).contains("tensor 'c' of"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn truncated_and_lying_headers_are_named() {
        let (_dir, path) = saved();
        let good = std::fs::read(&path).unwrap();
        let header = u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
        let check = |bytes: &[u8], expected: &str| {
            std::fs::write(&path, bytes).unwrap();
            let message = error(&path);
            assert!(message.contains(expected) && message.contains("a.safetensors"), "{message}");
        };
        check(&good[..good.len() - 1], "truncated or damaged");
        check(&good[..header], "truncated");
        check(&[], "cannot hold a header");
        check(&u64::MAX.to_le_bytes(), "would not fit");
        let lie = String::from_utf8_lossy(&good[8..8 + header]).replace("[2,2]", "[9,2]");
        check(&[&good[..8], lie.as_bytes(), &good[8 + header..]].concat(), "does not fit its number of bytes");
        check(&[&good[..8], &vec![b'!'; header][..], &good[8 + header..]].concat(), "not the expected JSON");
    }

    #[test]
    fn nothing_is_left_behind_on_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let index = [("i".to_string(), Tensor::zeros(DType::Index, &[1]))];
        assert!(write(dir.path().join("a"), &index).is_err());
        let twice =
            [("i".to_string(), Tensor::zeros(DType::F32, &[1])), ("i".to_string(), Tensor::zeros(DType::F32, &[1]))];
        assert!(write(dir.path().join("a"), &twice).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
