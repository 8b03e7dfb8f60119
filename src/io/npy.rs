//! NumPy's `.npy` and `.npz` files.
//!
//! Read: every element type of [`DType`] that NumPy has, of either byte order, in C or Fortran order; bf16 as the
//! two-byte void type that `ml_dtypes` saves. A C-ordered file of the machine's byte order is mapped, not copied.
//! Refused: pickled objects, records, strings, dates, long doubles; headers that do not match the file's length.
//! Written: version 1.0, C order; types without a NumPy equivalent as [`stored_as`] says.

use crate::{DType, Tensor};
use anyhow::{Context, Result, bail, ensure};
use std::{fs::File, io::Read, ops::Range, path::Path, sync::Arc};

const MAGIC: &[u8] = b"\x93NUMPY";

/// What a header says about the bytes behind it.
struct Header {
    dtype: DType,
    swapped: bool,
    fortran: bool,
    shape: Vec<usize>,
    /// Where the elements lie in the file.
    data: Range<usize>,
}

/// Reads the array of an `.npy` file. Errors name the file.
pub fn read(path: &Path) -> Result<Tensor> {
    let read = || -> Result<Tensor> {
        let file = File::open(path)?;
        ensure!(file.metadata()?.is_file(), "not a regular file");
        // SAFETY: the mapping is read-only and private; a file that another process truncates while it is used is outside
        // what this program can guard against, as with any mapped input.
        let map = Arc::new(unsafe { memmap2::Mmap::map(&file)? });
        let header = parse_header(&map)?;
        if header.swapped || header.fortran || header.dtype == DType::I1 {
            return load(&header, &map[header.data.clone()]);
        }
        Tensor::from_map(header.dtype, &header.shape, &map, header.data.clone())
    };
    read().with_context(|| format!("cannot read {}", path.display()))
}

/// Reads the array `key` of an `.npz` file, stored or deflated. Errors name the file and the arrays that it has.
pub fn read_npz(path: &Path, key: &str) -> Result<Tensor> {
    let read = || -> Result<Tensor> {
        let mut archive = zip::ZipArchive::new(std::io::BufReader::new(File::open(path)?))?;
        let name = format!("{key}.npy");
        let Some(index) = archive.index_for_name(&name) else {
            let keys = keys_of(&archive);
            let meant = crate::did_you_mean(key, keys.iter().map(|k| k.as_ref()));
            bail!("there is no array `{key}`; it has {}{meant}", keys.join(", "));
        };
        let mut bytes = Vec::new();
        archive.by_index(index)?.read_to_end(&mut bytes)?;
        let header = parse_header(&bytes).with_context(|| format!("array `{key}`"))?;
        load(&header, &bytes[header.data.clone()])
    };
    read().with_context(|| format!("cannot read {}", path.display()))
}

/// The names of the arrays in an `.npz` file, in its order.
pub fn npz_keys(path: &Path) -> Result<Vec<String>> {
    let open = || -> Result<_> { Ok(keys_of(&zip::ZipArchive::new(std::io::BufReader::new(File::open(path)?))?)) };
    open().with_context(|| format!("cannot read {}", path.display()))
}

fn keys_of<R: Read + std::io::Seek>(archive: &zip::ZipArchive<R>) -> Vec<String> {
    archive.file_names().filter_map(Result::ok).map(|n| n.strip_suffix(".npy").unwrap_or(&n).to_owned()).collect()
}

/// Replaces the file at `path` by `tensor`; a failure leaves what was there.
pub fn write(path: &Path, tensor: &Tensor) -> Result<()> {
    super::write_atomically(path, &encode(tensor))
}

/// The whole of an `.npy` file that holds `tensor`.
pub fn encode(tensor: &Tensor) -> Vec<u8> {
    let shape: String = tensor.shape().iter().map(|n| format!("{n}, ")).collect();
    let shape = if tensor.shape().len() == 1 { shape.trim_end() } else { shape.trim_end_matches(", ") };
    let descr = stored_as(tensor.dtype());
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let unpadded = MAGIC.len() + 4 + text.len() + 1;
    text.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    text.push('\n');
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend(u16::try_from(text.len()).expect("a rank below 3000").to_le_bytes());
    file.extend(text.bytes());
    match tensor.dtype() {
        DType::I4 => file.extend(tensor.bytes().iter().map(|b| ((*b as i8) << 4 >> 4) as u8)),
        _ => file.extend(tensor.bytes()),
    }
    file
}

/// The `descr` under which a type is saved: bf16 as uint16 bit patterns, index as int64, i4 as int8.
pub fn stored_as(dtype: DType) -> &'static str {
    use DType::*;
    macro_rules! native {
        ($little:literal, $big:literal) => {
            if cfg!(target_endian = "little") { $little } else { $big }
        };
    }
    match dtype {
        I1 => "|b1",
        I4 | I8 => "|i1",
        U8 => "|u1",
        I16 => native!("<i2", ">i2"),
        I32 => native!("<i4", ">i4"),
        I64 | Index => native!("<i8", ">i8"),
        U16 | BF16 => native!("<u2", ">u2"),
        U32 => native!("<u4", ">u4"),
        U64 => native!("<u8", ">u8"),
        F16 => native!("<f2", ">f2"),
        F32 => native!("<f4", ">f4"),
        F64 => native!("<f8", ">f8"),
        C64 => native!("<c8", ">c8"),
        C128 => native!("<c16", ">c16"),
    }
}

/// Parses the header of `file` and checks that its elements are there.
fn parse_header(file: &[u8]) -> Result<Header> {
    ensure!(file.starts_with(MAGIC), "not an .npy file (it does not start with \\x93NUMPY)");
    let truncated = || format!("the file ends inside its header, after {} bytes", file.len());
    let major = *file.get(6).with_context(truncated)?;
    let (start, length) = match major {
        1 => (10, file.get(8..10).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])))),
        2 | 3 => (12, file.get(8..12).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        _ => bail!(".npy format version {major} is not known"),
    };
    let start_of_data = start + length.with_context(truncated)? as usize;
    let text = file.get(start..start_of_data).with_context(truncated)?;
    let text = std::str::from_utf8(text).context("the header is not text")?;

    let descr = entry(text, "descr")?;
    let descr = descr
        .strip_prefix(['\'', '"'])
        .and_then(|d| d.split(['\'', '"']).next())
        .with_context(|| format!("records are not supported (descr {})", descr.trim()))?;
    let (dtype, swapped) = parse_descr(descr)?;
    let fortran = match entry(text, "fortran_order")? {
        v if v.starts_with("True") => true,
        v if v.starts_with("False") => false,
        v => bail!("the header's fortran_order is neither True nor False: {}", v.trim()),
    };
    let shape = entry(text, "shape")?;
    let shape = shape
        .strip_prefix('(')
        .and_then(|s| s.split_once(')'))
        .and_then(|(s, _)| {
            let sizes = s.split(',').map(str::trim).filter(|n| !n.is_empty());
            sizes.map(|n| n.trim_end_matches('L').parse::<usize>().ok()).collect::<Option<Vec<_>>>()
        })
        .with_context(|| format!("the header's shape is not a tuple of sizes: {}", shape.trim()))?;

    let size = shape
        .iter()
        .try_fold(dtype.size(), |n, d| n.checked_mul(*d))
        .filter(|n| *n <= file.len() - start_of_data)
        .with_context(|| {
            format!(
                "the header says {dtype} of shape {shape:?}, but only {} bytes follow it",
                file.len() - start_of_data
            )
        })?;
    Ok(Header { dtype, swapped, fortran, shape, data: start_of_data..start_of_data + size })
}

/// What follows `'key':` in a header.
fn entry<'a>(text: &'a str, key: &str) -> Result<&'a str> {
    ['\'', '"']
        .iter()
        .find_map(|quote| text.split_once(&format!("{quote}{key}{quote}")))
        .and_then(|(_, rest)| rest.trim_start().strip_prefix(':'))
        .map(str::trim_start)
        .with_context(|| format!("the header has no '{key}'"))
}

/// The element type that a `descr` names, and whether its bytes are in the other order.
fn parse_descr(descr: &str) -> Result<(DType, bool)> {
    use DType::*;
    let order = descr.chars().next().filter(|c| "<>|=".contains(*c));
    let swapped = match order {
        Some('<') => cfg!(target_endian = "big"),
        Some('>') => cfg!(target_endian = "little"),
        _ => false,
    };
    let dtype = match descr.trim_start_matches(['<', '>', '|', '=']) {
        "b1" | "?" => I1,
        "i1" => I8,
        "i2" => I16,
        "i4" => I32,
        "i8" => I64,
        "u1" => U8,
        "u2" => U16,
        "u4" => U32,
        "u8" => U64,
        "f2" => F16,
        "f4" => F32,
        "f8" => F64,
        "c8" => C64,
        "c16" => C128,
        "V2" => BF16,
        _ => bail!("element type '{descr}' is not supported"),
    };
    Ok((dtype, swapped))
}

/// Elements in the machine's byte order and C order.
fn load(header: &Header, bytes: &[u8]) -> Result<Tensor> {
    let Header { dtype, ref shape, .. } = *header;
    let size = dtype.size();
    let mut tensor = Tensor::zeros(dtype, shape);
    let out = tensor.bytes_mut();
    if header.fortran && !out.is_empty() {
        let mut index = vec![0usize; shape.len()];
        for element in out.chunks_exact_mut(size) {
            let from = index.iter().zip(shape).rev().fold(0, |at, (i, n)| at * n + i) * size;
            element.copy_from_slice(&bytes[from..from + size]);
            for (i, n) in index.iter_mut().zip(shape).rev() {
                *i += 1;
                if *i < *n {
                    break;
                }
                *i = 0;
            }
        }
    } else {
        out.copy_from_slice(bytes);
    }
    if header.swapped {
        // A complex number is two parts, each in its own order.
        let part = if matches!(dtype, DType::C64 | DType::C128) { size / 2 } else { size };
        out.chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    if dtype == DType::I1 {
        out.iter_mut().for_each(|b| *b = u8::from(*b != 0));
    }
    Ok(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut f = MAGIC.to_vec();
        f.extend([1, 0]);
        f.extend((header.len() as u16).to_le_bytes());
        f.extend(header.bytes());
        f.extend(data);
        f
    }

    fn parse(bytes: &[u8]) -> Result<Tensor> {
        let header = parse_header(bytes)?;
        load(&header, &bytes[header.data.clone()])
    }

    #[test]
    fn every_type_and_rank_round_trips() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.npy");
        for dtype in DType::ALL {
            for shape in [&[][..], &[3], &[0, 2], &[2, 3, 4]] {
                let n = shape.iter().product::<usize>() * dtype.size();
                let bytes: Vec<u8> = (0..n)
                    .map(|i| if matches!(dtype, DType::I1 | DType::I4) { i as u8 % 2 } else { i as u8 })
                    .collect();
                write(&path, &Tensor::from_bytes(dtype, shape, &bytes).unwrap()).unwrap();
                let back = read(&path).unwrap();
                assert_eq!((back.shape(), back.bytes()), (shape, &bytes[..]), "{dtype}");
                let expected = match dtype {
                    DType::Index => DType::I64,
                    DType::I4 => DType::I8,
                    DType::BF16 => DType::U16,
                    other => other,
                };
                assert_eq!(back.dtype(), expected);
            }
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn the_header_is_what_numpy_writes() {
        let bytes = encode(&Tensor::from_slice(&[3], &[1f32, 2.0, 3.0]));
        let expected = b"\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
        assert_eq!(&bytes[..expected.len()], expected);
        assert_eq!((bytes.len(), bytes[127]), (128 + 12, b'\n'));
    }

    #[test]
    fn orders_are_undone() {
        let fortran = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let t = parse(&file(fortran, &[0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0])).unwrap();
        assert_eq!(t.as_slice(), Some(&[0i16, 1, 2, 3, 4, 5][..]));
        let big = "{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }\n";
        assert_eq!(parse(&file(big, &1.5f64.to_be_bytes())).unwrap().as_slice(), Some(&[1.5f64][..]));
        let complex = "{'descr': '>c8', 'fortran_order': False, 'shape': (), }\n";
        let bytes = [2f32.to_be_bytes(), 3f32.to_be_bytes()].concat();
        assert_eq!(parse(&file(complex, &bytes)).unwrap().bytes(), [2f32.to_ne_bytes(), 3f32.to_ne_bytes()].concat());
    }

    #[test]
    fn bad_files_are_refused() {
        let header =
            |descr: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
        for (bytes, message) in [
            (b"PK\x03\x04".to_vec(), "not an .npy file"),
            (MAGIC.to_vec(), "ends inside its header"),
            (file(&header("'<f4'", "(4,)"), &[0; 12]), "only 12 bytes follow"),
            (file(&header("'<f4'", "(4611686018427387904, 4)"), &[0; 12]), "only 12 bytes follow"),
            (file(&header("'<f4'", "(-1,)"), &[]), "not a tuple of sizes"),
            (file(&header("'|O'", "(1,)"), &[0; 8]), "'|O' is not supported"),
            (file(&header("[('a', '<f4')]", "(1,)"), &[0; 8]), "records are not supported"),
            (file("{'descr': '<f4', 'shape': (1,), }", &[0; 4]), "no 'fortran_order'"),
        ] {
            let error = format!("{:#}", parse(&bytes).unwrap_err());
            assert!(error.contains(message), "{error}");
        }
        assert!(format!("{:#}", read(Path::new("/no/such.npy")).unwrap_err()).contains("/no/such.npy"));
    }

    #[test]
    fn npz_entries_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.npz");
        let tensor = Tensor::from_slice(&[2], &[1i64, -1]);
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        for (key, method) in [("a", zip::CompressionMethod::Stored), ("b/c", zip::CompressionMethod::Deflated)] {
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            zip.start_file(format!("{key}.npy"), options).unwrap();
            std::io::Write::write_all(&mut zip, &encode(&tensor)).unwrap();
        }
        zip.finish().unwrap();
        assert_eq!(npz_keys(&path).unwrap(), ["a", "b/c"]);
        for key in ["a", "b/c"] {
            assert_eq!(read_npz(&path, key).unwrap().as_slice(), Some(&[1i64, -1][..]));
        }
        let error = format!("{:#}", read_npz(&path, "x").unwrap_err());
        assert!(error.ends_with("there is no array `x`; it has a, b/c"), "{error}");
    }
}
