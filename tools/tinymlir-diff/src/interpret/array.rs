//! Arrays of which each element is known up to an interval, and how they are made, addressed and compared.

use crate::{
    interval::{Real, round},
    program::Fill,
};
use tinymlir::{DType, Tensor, frontend::Type};

/// How far correct code may differ from one rounding for each operation.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Units in the last place of exp, log, erf, sin, cos and pow, in the type that computes them.
    pub functions: f64,
    /// The same of division and square root.
    pub division: f64,
    /// Whether a product may stay unrounded in a sum that takes it.
    pub contracts: bool,
}

impl Tolerance {
    /// Code for the CPU: the vector library's functions are off by up to 4 units.
    pub const CPU: Tolerance = Tolerance { functions: 5.0, division: 0.0, contracts: false };
    /// Kernels: products are fused into sums.
    pub const GPU: Tolerance = Tolerance { functions: 8.0, division: 2.0, contracts: true };
}

/// What is known of the elements, in row-major order.
#[derive(Clone, Debug)]
pub enum Data {
    /// Of a floating-point type.
    Float(Vec<Real>),
    /// Of `i1`, `i32` or `i64`; `None` is anything.
    Int(Vec<Option<i64>>),
}

/// An array of which each element is known up to an interval.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its type.
    pub ty: Type,
    /// Its elements.
    pub data: Data,
}

impl Array {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.ty.shape.iter().product()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many elements may be anything.
    pub fn unknown(&self) -> usize {
        match &self.data {
            Data::Float(v) => v.iter().filter(|r| matches!(r, Real::Any)).count(),
            Data::Int(v) => v.iter().filter(|i| i.is_none()).count(),
        }
    }

    /// The first element that `got` may not have, and what was expected; a wrong type is one too.
    pub fn differs(&self, got: &Tensor) -> Option<String> {
        if got.dtype() != self.ty.dtype || got.shape() != self.ty.shape {
            return Some(format!("{got:?}, not {}", self.ty));
        }
        let place = |i: usize| {
            let index: Vec<String> = unravel(&self.ty.shape, i).iter().map(|n| n.to_string()).collect();
            format!("[{}]", index.join(", "))
        };
        match &self.data {
            Data::Float(expected) => {
                let got = got.to_f64()?;
                let i = (0..got.len()).find(|&i| !expected[i].admits(got[i]))?;
                Some(format!("{} is {:e}, not {:?}", place(i), got[i], expected[i]))
            }
            Data::Int(expected) => {
                let got = got.to_i64()?;
                let i = (0..got.len()).find(|&i| expected[i].is_some_and(|e| e != got[i]))?;
                Some(format!("{} is {}, not {:?}", place(i), got[i], expected[i]))
            }
        }
    }

    /// The elements as a host array; those that are not known exactly become the lower end.
    pub fn to_tensor(&self) -> Tensor {
        let mut tensor = Tensor::zeros(self.ty.dtype, &self.ty.shape);
        let bytes = tensor.bytes_mut();
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        match &self.data {
            Data::Float(values) => {
                for value in values {
                    let x = match value {
                        Real::In(low, _) => *low,
                        _ => f64::NAN,
                    };
                    match self.ty.dtype {
                        DType::F16 => put(&half::f16::from_f64(x).to_ne_bytes()),
                        DType::BF16 => put(&half::bf16::from_f64(x).to_ne_bytes()),
                        DType::F32 => put(&(x as f32).to_ne_bytes()),
                        _ => put(&x.to_ne_bytes()),
                    }
                }
            }
            Data::Int(values) => {
                for value in values.iter().map(|v| v.unwrap_or(0)) {
                    match self.ty.dtype {
                        DType::I1 => put(&[value as u8]),
                        DType::I32 => put(&(value as i32).to_ne_bytes()),
                        _ => put(&value.to_ne_bytes()),
                    }
                }
            }
        }
        tensor
    }
}

/// The index of each axis at a position in row-major order.
pub(super) fn unravel(shape: &[usize], mut position: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        index[axis] = position % shape[axis];
        position /= shape[axis];
    }
    index
}

pub(super) fn ravel(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |position, (n, i)| position * n + i)
}

pub(super) fn mix(seed: u64, i: u64) -> u64 {
    // SplitMix64.
    let mut z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// An input's elements.
pub fn input(ty: Type, seed: u64, fill: Fill) -> Array {
    let count = ty.shape.iter().product::<usize>() as u64;
    let random = (0..count).map(|i| mix(seed, i));
    let data = if ty.dtype.is_float() {
        Data::Float(
            random
                .map(|r| {
                    let grid = (r >> 8) as i64 % 33 - 16;
                    let x = match fill {
                        Fill::Special if r % 16 == 0 => [0.0, -0.0, f64::INFINITY, f64::NAN][(r >> 4) as usize % 4],
                        Fill::Dense => (r >> 11) as f64 * 2f64.powi(-53) * 3.0 - 1.0,
                        _ => grid as f64 / 4.0,
                    };
                    Real::point(round(ty.dtype, x))
                })
                .collect(),
        )
    } else {
        Data::Int(
            random
                .map(|r| {
                    let x = match (ty.dtype, fill) {
                        (DType::I1, _) => (r >> 8) as i64 & 1,
                        (_, Fill::Below(n)) => (r >> 8) as i64 % n.max(1),
                        (_, Fill::Special) if r % 8 == 0 => [i64::MAX, i64::MIN, 0, -1][(r >> 4) as usize % 4],
                        (_, Fill::Dense) => (r >> 20) as i64 - (1 << 43),
                        _ => (r >> 8) as i64 % 19 - 9,
                    };
                    Some(wrap(ty.dtype, x))
                })
                .collect(),
        )
    };
    Array { ty, data }
}

/// What an integer type keeps of `x`.
pub(super) fn wrap(dtype: DType, x: i64) -> i64 {
    match dtype {
        DType::I1 => x & 1,
        DType::I32 => i64::from(x as i32),
        _ => x,
    }
}

/// The elements of `a` under another shape; `from` says at which position the element of an index lies.
pub(super) fn moved(a: &Array, shape: &[usize], from: impl Fn(&[usize]) -> usize) -> Array {
    let positions = (0..shape.iter().product()).map(|i| from(&unravel(shape, i)));
    let data = match &a.data {
        Data::Float(v) => Data::Float(positions.map(|p| v[p]).collect()),
        Data::Int(v) => Data::Int(positions.map(|p| v[p]).collect()),
    };
    Array { ty: Type::new(a.ty.dtype, shape), data }
}

/// Where an element lies in an operand that is broadcast.
pub(super) fn stretch<'a>(own: &'a [usize], to: &'a [usize]) -> impl Fn(&[usize]) -> usize + 'a {
    let missing = to.len() - own.len();
    move |index| {
        let own_index: Vec<usize> =
            own.iter().zip(&index[missing..]).map(|(&n, &i)| if n == 1 { 0 } else { i }).collect();
        ravel(own, &own_index)
    }
}
