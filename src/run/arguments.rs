//! Arguments of a function: given one by one, found by name in weight files, else generated.

use crate::{
    DType, Tensor, did_you_mean,
    engine::{Argument, Signature, Value, ValueType, conform, describe},
    io::safetensors::Safetensors,
};
use anyhow::{Context, Result, bail, ensure};
use std::{fmt, str::FromStr};

/// How to make an argument's elements without a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Floating-point: uniform in [-1, 1). Integers: uniform in the argument's `tinymlir.range`, without one in [0, 128),
    /// or what the type has of that.
    Random(u64),
    /// All zero.
    Zeros,
    /// All one.
    Ones,
    /// 0, 1, 2, ... in row-major order, wrapping where the type ends.
    Iota,
    /// All this number, as it was written.
    Number(String),
}

/// The value of an `--arg`.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// `FILE.npy` or `FILE.npz:KEY`.
    File(String),
    /// `random[:SEED]`, `zeros`, `ones`, `iota` or a number; sizes for a dynamic shape may follow, as in `zeros@2x3`.
    Fill(Fill, Option<Vec<usize>>),
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Given, String> {
        if text.ends_with(".npy") || text.contains(".npz:") {
            return Ok(Given::File(text.to_owned()));
        }
        let bad = || {
            let word = text.split(['@', ':']).next().unwrap_or_default();
            let near = did_you_mean(word, ["random", "zeros", "ones", "iota", "true", "false"]);
            format!(
                "`{text}` is no value: give FILE.npy, FILE.npz:KEY, a number, random[:SEED], zeros, ones or iota, and @2x3 for dynamic sizes{near}"
            )
        };
        let (fill, shape) = match text.split_once('@') {
            Some((fill, shape)) => (fill, Some(sizes(shape).ok_or_else(bad)?)),
            None => (text, None),
        };
        let fill = match fill {
            "random" => Fill::Random(0),
            "zeros" => Fill::Zeros,
            "ones" => Fill::Ones,
            "iota" => Fill::Iota,
            "true" => Fill::Number("1".into()),
            "false" => Fill::Number("0".into()),
            _ => match fill.strip_prefix("random:") {
                Some(seed) => Fill::Random(seed.parse().map_err(|_| bad())?),
                None if fill.parse::<f64>().is_ok() => Fill::Number(fill.to_owned()),
                None => return Err(bad()),
            },
        };
        Ok(Given::Fill(fill, shape))
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Fill::Random(seed) => write!(f, "random, seed {seed}"),
            Fill::Zeros => f.write_str("zeros"),
            Fill::Ones => f.write_str("ones"),
            Fill::Iota => f.write_str("iota"),
            Fill::Number(number) => f.write_str(number),
        }
    }
}

/// Sizes such as `2x3`; the empty text is rank 0.
pub fn sizes(text: &str) -> Option<Vec<usize>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split('x').map(|n| n.parse().ok()).collect()
}

impl Fill {
    /// An array of the argument's element type. Fails when the type cannot hold the number.
    pub fn make(&self, argument: &Argument, shape: &[usize]) -> Result<Tensor> {
        let Some(dtype) = argument.ty.dtype() else { bail!("values of type {} cannot be passed", argument.ty) };
        let count = shape.iter().try_fold(1usize, |n, s| n.checked_mul(*s)).filter(|n| *n <= isize::MAX as usize / 16);
        let count = count.with_context(|| format!("the shape {shape:?} is too large"))?;
        let (needed, present) = ((count * dtype.size()) as u64, memory());
        ensure!(
            needed <= present,
            "{dtype} of shape {shape:?} takes {needed} bytes, more than this machine's memory of {present}"
        );
        let bytes: Vec<u8> = match self {
            Fill::Zeros => return Ok(Tensor::zeros(dtype, shape)),
            Fill::Random(seed) => {
                let mut random = fastrand::Rng::with_seed(*seed);
                let (lo, hi) = match argument.range {
                    Some((lo, hi)) if lo < hi => (lo, hi),
                    Some((lo, hi)) => bail!("its tinymlir.range [{lo}, {hi}) is empty"),
                    None => match dtype {
                        DType::I1 => (0, 2),
                        DType::I4 => (0, 8),
                        _ => (0, 128),
                    },
                };
                (0..count)
                    .flat_map(|_| match dtype {
                        DType::C64 | DType::C128 => {
                            let (re, im) = (unit(&mut random), unit(&mut random));
                            [float(dtype, re), float(dtype, im)].concat()
                        }
                        _ if dtype.is_float() => float(dtype, unit(&mut random)),
                        _ => integer(dtype, random.i64(lo..hi).into()),
                    })
                    .collect()
            }
            Fill::Ones => number(dtype, "1")?.repeat(count),
            Fill::Number(text) => number(dtype, text)?.repeat(count),
            Fill::Iota if dtype.is_float() => {
                (0..count).flat_map(|i| complete(dtype, float(dtype, i as f64))).collect()
            }
            Fill::Iota => (0..count).flat_map(|i| integer(dtype, i as i128)).collect(),
        };
        Tensor::from_bytes(dtype, shape, &bytes)
    }
}

/// The machine's memory, in bytes.
fn memory() -> u64 {
    // SAFETY: it only returns a number.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).ok().zip(u64::try_from(size).ok()).map_or(u64::MAX, |(pages, size)| pages * size)
}

/// Uniform in [-1, 1).
fn unit(random: &mut fastrand::Rng) -> f64 {
    2.0 * random.f64() - 1.0
}

/// One real number of a floating-point type, or one part of a complex one.
fn float(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::F16 => half::f16::from_f64(value).to_ne_bytes().to_vec(),
        DType::BF16 => half::bf16::from_f64(value).to_ne_bytes().to_vec(),
        DType::F32 | DType::C64 => (value as f32).to_ne_bytes().to_vec(),
        _ => value.to_ne_bytes().to_vec(),
    }
}

/// Adds a zero imaginary part where the type has one.
fn complete(dtype: DType, mut real: Vec<u8>) -> Vec<u8> {
    real.resize(dtype.size(), 0);
    real
}

/// The low bits of an integer.
fn integer(dtype: DType, value: i128) -> Vec<u8> {
    let byte = match dtype {
        DType::I1 => Some(value as u8 & 1),
        DType::I4 => Some(value as u8 & 15),
        _ => None,
    };
    match byte {
        Some(byte) => vec![byte],
        None if cfg!(target_endian = "little") => value.to_le_bytes()[..dtype.size()].to_vec(),
        None => value.to_be_bytes()[16 - dtype.size()..].to_vec(),
    }
}

/// A number as it was written, in any type that can hold it.
fn number(dtype: DType, text: &str) -> Result<Vec<u8>> {
    use DType::*;
    if dtype.is_float() {
        let value: f64 = text.parse().with_context(|| format!("`{text}` is not a number"))?;
        return Ok(complete(dtype, float(dtype, value)));
    }
    let bits = dtype.size() as u32 * 8;
    let (lo, hi) = match dtype {
        I1 => (0, 1),
        I4 => (-8, 15),
        U8 | U16 | U32 | U64 => (0, (1i128 << bits) - 1),
        // A signless integer takes what fits its bits, signed or not.
        _ => (-(1i128 << (bits - 1)), (1i128 << bits) - 1),
    };
    let value = text.parse::<i128>().ok().filter(|v| (lo..=hi).contains(v));
    Ok(integer(dtype, value.with_context(|| format!("{dtype} cannot hold {text}"))?))
}

/// The arguments of a call.
///
/// An argument is what `given` says for its index, else the tensor of its name in the last of the `weights` that has one,
/// else generated: random with its index as seed, integers without a range zero; `announce` hears of each of those.
/// With `strict`, an argument that would be generated is an error. So are a type or shape that does not match, and a
/// dynamic shape that nothing gives.
pub fn bind(
    signature: &Signature,
    given: &[(usize, Given)],
    weights: &[Safetensors],
    strict: bool,
    mut announce: impl FnMut(&str),
) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    for (i, argument) in signature.arguments.iter().enumerate() {
        let place = || describe(i, argument);
        let weight = || weights.iter().rev().find(|w| argument.name.as_ref().is_some_and(|n| w.contains(n)));
        let value = if let Some((_, given)) = given.iter().rev().find(|(index, _)| *index == i) {
            match given {
                Given::File(file) => {
                    let tensor = super::read_array(file)?;
                    conform(&tensor, &argument.ty).with_context(|| format!("{}: {file}", place()))?
                }
                Given::Fill(fill, shape) => {
                    let shape = match shape {
                        Some(shape) => {
                            let ok = argument.ty.accepts(shape);
                            ensure!(ok, "{}: expected {}, got sizes {shape:?}", place(), argument.ty);
                            shape.clone()
                        }
                        None => shape_of(&argument.ty).with_context(place)?,
                    };
                    fill.make(argument, &shape).with_context(place)?
                }
            }
        } else if let Some(weights) = weight() {
            let file = weights.path().display();
            let name = argument.name.as_deref().unwrap_or_default();
            conform(&weights.tensor(name)?, &argument.ty).with_context(|| format!("{}: {file}", place()))?
        } else {
            ensure!(!strict, "{} is not given: {}", place(), argument.ty);
            let integer = argument.ty.dtype().is_some_and(|d| !d.is_float());
            let fill = if integer && argument.range.is_none() { Fill::Zeros } else { Fill::Random(i as u64) };
            let value = fill.make(argument, &shape_of(&argument.ty).with_context(place)?).with_context(place)?;
            announce(&format!("{}: {}: {fill}", place(), argument.ty));
            value
        };
        values.push(Value::Tensor(value));
    }
    Ok(values)
}

fn shape_of(ty: &ValueType) -> Result<Vec<usize>> {
    ty.static_shape().with_context(|| match ty {
        ValueType::Unsupported(_) => format!("values of type {ty} cannot be passed"),
        _ => format!("the sizes of {ty} are not known: give it a file, or sizes as in random@2x3"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(dtype: DType, shape: &[Option<usize>]) -> Argument {
        let ty = ValueType::Array { dtype, shape: shape.to_vec(), layout: None };
        Argument { name: Some(format!("x{}", shape.len())), ty, range: None, writable: false, host: false }
    }

    fn signature(arguments: Vec<Argument>) -> Signature {
        Signature { name: "f".into(), arguments, results: vec![] }
    }

    fn one(argument: Argument, given: &str) -> Result<Tensor> {
        let given = [(0, given.parse().map_err(anyhow::Error::msg)?)];
        bind(&signature(vec![argument]), &given, &[], true, |_| ())?.remove(0).to_tensor()
    }

    #[test]
    fn values_are_parsed_for_the_type() {
        let f = |text| one(argument(DType::F32, &[Some(2)]), text).map(|t| t.to_f64().unwrap());
        assert_eq!(f("ones").unwrap(), [1.0, 1.0]);
        assert_eq!(f("iota").unwrap(), [0.0, 1.0]);
        assert_eq!(f("-2.5e-1").unwrap(), [-0.25, -0.25]);
        assert!(f("nan").unwrap()[0].is_nan());
        assert_eq!(f("random:3").unwrap(), f("random:3").unwrap());
        assert_ne!(f("random:3").unwrap(), f("random:4").unwrap());
        let i = |dtype, text| one(argument(dtype, &[]), text).map(|t| t.to_i64());
        assert_eq!(i(DType::I64, "-9007199254740993").unwrap(), Some(vec![-9007199254740993]));
        assert_eq!(i(DType::I8, "255").unwrap(), Some(vec![-1]));
        assert_eq!(i(DType::I1, "true").unwrap(), Some(vec![1]));
        assert_eq!(i(DType::I4, "-8").unwrap(), Some(vec![-8]));
        let error = |dtype, text| format!("{:#}", i(dtype, text).unwrap_err());
        assert_eq!(error(DType::U8, "-1"), "argument 0 (x0): ui8 cannot hold -1");
        assert_eq!(error(DType::I32, "1.5"), "argument 0 (x0): i32 cannot hold 1.5");
        assert!(error(DType::I32, "two").starts_with("`two` is no value"));
    }

    #[test]
    fn dynamic_sizes_must_be_given() {
        let arg = || argument(DType::F32, &[None, Some(3)]);
        assert_eq!(one(arg(), "zeros@2x3").unwrap().shape(), [2, 3]);
        let error = format!("{:#}", one(arg(), "zeros@2x4").unwrap_err());
        assert_eq!(error, "argument 0 (x2): expected tensor<?x3xf32>, got sizes [2, 4]");
        for fill in ["zeros", "random", "7"] {
            let error = format!("{:#}", one(arg(), &format!("{fill}@1000000000000x3")).unwrap_err());
            assert!(error.contains("takes 12000000000000 bytes, more than this machine's memory of"), "{error}");
        }
        let error = format!("{:#}", one(arg(), "zeros").unwrap_err());
        assert!(error.starts_with("argument 0 (x2): the sizes of tensor<?x3xf32> are not known"), "{error}");
    }

    #[test]
    fn what_is_left_over_is_generated_and_announced() {
        let mut ranged = argument(DType::I64, &[Some(100)]);
        ranged.range = Some((5, 8));
        let arguments = vec![argument(DType::F32, &[Some(4)]), ranged, argument(DType::I32, &[Some(2)])];
        let mut notes = Vec::new();
        let values = bind(&signature(arguments.clone()), &[], &[], false, |n| notes.push(n.to_owned())).unwrap();
        assert_eq!(notes.len(), 3);
        assert_eq!(notes[2], "argument 2 (x1): tensor<2xi32>: zeros");
        assert!(values[0].to_tensor().unwrap().to_f64().unwrap().iter().all(|v| (-1.0..1.0).contains(v)));
        let integers = values[1].to_tensor().unwrap().to_i64().unwrap();
        assert!((5..8).all(|v| integers.contains(&v)) && integers.iter().all(|v| (5..8).contains(v)));
        let error = bind(&signature(arguments), &[], &[], true, |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "argument 0 (x1) is not given: tensor<4xf32>");
    }
}
