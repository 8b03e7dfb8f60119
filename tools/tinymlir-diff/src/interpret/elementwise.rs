//! Operations on each element: unary, binary, conversions.

use super::array::*;
use crate::{
    interval::{Real, epsilon},
    program::{Binary, Unary},
};
use tinymlir::{DType, frontend::Type};

pub(super) fn unary(op: Unary, a: &Array, tolerance: Tolerance) -> Array {
    let dtype = a.ty.dtype;
    let data = match &a.data {
        Data::Float(values) => Data::Float(
            values
                .iter()
                .map(|&x| match op {
                    Unary::Neg => x.monotone(|x| -x),
                    Unary::Abs => x.magnitude(),
                    Unary::Exp => x.monotone(f64::exp).rounded(dtype, tolerance.functions),
                    Unary::Log => x.monotone(f64::ln).rounded(dtype, tolerance.functions),
                    Unary::Sqrt => x.monotone(f64::sqrt).rounded(dtype, tolerance.division),
                    // Written as a quotient of exponentials: exact to the units of 1, not of a small result.
                    Unary::Tanh => absolute(x.monotone(f64::tanh), dtype, tolerance),
                    Unary::Erf => x.monotone(libm::erf).rounded(dtype, tolerance.functions),
                    Unary::Sin => absolute(x.wave(f64::sin), dtype, tolerance),
                    Unary::Cos => absolute(x.wave(f64::cos), dtype, tolerance),
                    Unary::Not => Real::Any,
                })
                .collect(),
        ),
        Data::Int(values) => Data::Int(
            values
                .iter()
                .map(|x| {
                    x.map(|x| match op {
                        Unary::Neg => wrap(dtype, x.wrapping_neg()),
                        Unary::Abs => wrap(dtype, x.wrapping_abs()),
                        _ => 1 - x,
                    })
                })
                .collect(),
        ),
    };
    Array { ty: a.ty.clone(), data }
}

pub(super) fn absolute(x: Real, dtype: DType, tolerance: Tolerance) -> Real {
    x.widened(dtype, |_| tolerance.functions * epsilon(dtype))
}

pub(super) fn binary(op: Binary, a: &Array, b: &Array, tolerance: Tolerance) -> Option<Array> {
    let shape = crate::program::broadcast(&a.ty.shape, &b.ty.shape)?;
    let dtype = a.ty.dtype;
    let [x, y] = [a, b].map(|v| moved(v, &shape, stretch(&v.ty.shape, &shape)).data);
    use Binary::*;
    let flag = |b: Option<bool>| b.map(i64::from);
    let data = match (x, y) {
        (Data::Float(x), Data::Float(y)) if op.compares() => Data::Int(
            x.iter()
                .zip(&y)
                .map(|(&x, &y)| {
                    let nan = x == Real::Nan || y == Real::Nan;
                    flag(match op {
                        Lt => x.is_less(y),
                        Gt => y.is_less(x),
                        Le => {
                            if nan {
                                x.is_less(y)
                            } else {
                                y.is_less(x).map(|l| !l)
                            }
                        }
                        Ge => {
                            if nan {
                                x.is_less(y)
                            } else {
                                x.is_less(y).map(|l| !l)
                            }
                        }
                        Eq => x.is_equal(y),
                        _ => x.is_equal(y).map(|e| !e),
                    })
                })
                .collect(),
        ),
        (Data::Float(x), Data::Float(y)) => Data::Float(
            x.iter()
                .zip(&y)
                .map(|(&x, &y)| match op {
                    Add => x.plus(y).rounded(dtype, 0.0),
                    Sub => x.minus(y).rounded(dtype, 0.0),
                    Mul => x.times(y).rounded(dtype, if tolerance.contracts { 1.0 } else { 0.0 }),
                    Div => x.over(y).rounded(dtype, tolerance.division),
                    Pow => x.power(y).rounded(dtype, tolerance.functions),
                    Maximum => x.larger(y),
                    _ => x.smaller(y),
                })
                .collect(),
        ),
        (Data::Int(x), Data::Int(y)) => Data::Int(
            x.iter()
                .zip(&y)
                .map(|(&x, &y)| {
                    let (x, y) = (x?, y?);
                    Some(match op {
                        Add => wrap(dtype, x.wrapping_add(y)),
                        Sub => wrap(dtype, x.wrapping_sub(y)),
                        Mul => wrap(dtype, x.wrapping_mul(y)),
                        Pow => wrap(dtype, x.wrapping_pow(u32::try_from(y).ok()?)),
                        Maximum => x.max(y),
                        Minimum => x.min(y),
                        And => x & y,
                        Or => x | y,
                        Eq => i64::from(x == y),
                        Ne => i64::from(x != y),
                        Lt => i64::from(x < y),
                        Le => i64::from(x <= y),
                        Gt => i64::from(x > y),
                        Ge => i64::from(x >= y),
                        Div => return None,
                    })
                })
                .collect(),
        ),
        _ => return None,
    };
    Some(Array { ty: Type::new(if op.compares() { DType::I1 } else { dtype }, &shape), data })
}

pub(super) fn cast(a: &Array, to: DType) -> Array {
    let from = a.ty.dtype;
    let data = match (&a.data, to.is_float()) {
        (Data::Float(v), true) => Data::Float(
            v.iter()
                // Neither half type holds the other: by way of f32, which holds both.
                .map(|x| if from == to { *x } else { x.rounded(to, 0.0) })
                .collect(),
        ),
        (Data::Float(v), false) if to == DType::I1 => {
            Data::Int(v.iter().map(|x| x.is_equal(Real::point(0.0)).map(|zero| i64::from(!zero))).collect())
        }
        (Data::Float(v), false) => Data::Int(
            v.iter()
                .map(|x| match x {
                    Real::In(low, high) if low.trunc() == high.trunc() => {
                        // Out of range there is no value.
                        let end = if to == DType::I32 { 2f64.powi(31) } else { 2f64.powi(63) };
                        (-end <= low.trunc() && low.trunc() < end).then_some(low.trunc() as i64)
                    }
                    _ => None,
                })
                .collect(),
        ),
        (Data::Int(v), true) => Data::Float(
            v.iter()
                .map(|x| match x {
                    Some(x) if to == DType::F32 => Real::point(f64::from(*x as f32)),
                    // To f64 first is exact up to 2^53.
                    Some(x) => Real::point(*x as f64).rounded(to, if x.unsigned_abs() > 1 << 53 { 1.0 } else { 0.0 }),
                    None => Real::Any,
                })
                .collect(),
        ),
        (Data::Int(v), false) if to == DType::I1 => Data::Int(v.iter().map(|x| x.map(|x| i64::from(x != 0))).collect()),
        (Data::Int(v), false) => Data::Int(v.iter().map(|x| x.map(|x| wrap(to, x))).collect()),
    };
    Array { ty: Type::new(to, &a.ty.shape), data }
}
