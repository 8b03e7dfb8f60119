//! Reductions, sums in any order, and products of matrices.

use super::{array::*, elementwise::cast};
use crate::{
    interval::{Real, epsilon, largest, least_normal, round},
    program::Reduction,
};
use tinymlir::{DType, frontend::Type};

/// Without the reduced axes. Sums of half types are taken in `f32`.
pub(super) fn reduce(kind: Reduction, a: &Array, axes: &[usize], tolerance: Tolerance) -> Option<Array> {
    let dtype = a.ty.dtype;
    if kind != Reduction::Max && matches!(dtype, DType::F16 | DType::BF16) {
        return Some(cast(&reduce(kind, &cast(a, DType::F32), axes, tolerance)?, dtype));
    }
    let kept = |index: &[usize]| (0..index.len()).filter(|i| !axes.contains(i)).map(|i| index[i]).collect::<Vec<_>>();
    let shape = kept(&a.ty.shape);
    let count: usize = shape.iter().product();
    let mut groups = vec![Vec::new(); count];
    for i in 0..a.len() {
        groups[ravel(&shape, &kept(&unravel(&a.ty.shape, i)))].push(i);
    }
    let data = match &a.data {
        Data::Float(v) => Data::Float(
            groups
                .iter()
                .map(|g| {
                    let terms = g.iter().map(|&i| v[i]);
                    match kind {
                        Reduction::Max => terms.fold(Real::point(f64::NEG_INFINITY), Real::larger),
                        Reduction::Sum => sum(terms, dtype, dtype),
                        Reduction::Mean => sum(terms, dtype, dtype)
                            .over(Real::point(round(dtype, g.len() as f64)))
                            .rounded(dtype, tolerance.division),
                    }
                })
                .collect(),
        ),
        Data::Int(v) => Data::Int(
            groups
                .iter()
                .map(|g| {
                    let mut terms = g.iter().map(|&i| v[i]);
                    match kind {
                        Reduction::Max => terms.try_fold(i64::MIN, |m, x| Some(m.max(x?))),
                        _ => terms.try_fold(0i64, |s, x| Some(wrap(dtype, s.wrapping_add(x?)))),
                    }
                })
                .collect(),
        ),
    };
    Some(Array { ty: Type::new(dtype, &shape), data })
}

/// The sum in any order, each addition rounded to `within`, the result to `dtype`.
pub(super) fn sum(terms: impl Iterator<Item = Real>, within: DType, dtype: DType) -> Real {
    let (mut total, mut magnitude, mut count) = (Real::point(0.0), 0.0, 0);
    for term in terms {
        total = total.plus(term);
        if let Real::In(low, high) = term {
            magnitude += low.abs().max(high.abs());
        }
        count += 1;
    }
    // A part of the sum may overflow, and meet what overflows to the other side.
    if magnitude.is_finite() && magnitude > largest(within) {
        return Real::Any;
    }
    // The first addition is to zero.
    let slack = if count > 1 { f64::from(count) * epsilon(within) * magnitude + least_normal(within) } else { 0.0 };
    match slack.is_finite() {
        true => total.widened(dtype, |_| slack),
        // An infinity among the terms: what is finite does not matter.
        false => total,
    }
}

/// Products of `f16` and `bf16` are summed in `f32`.
pub(super) fn matmul(a: &Array, b: &Array, ty: Type, _: Tolerance) -> Option<Array> {
    let matrix = |x: &Array, row: bool| {
        let mut shape = x.ty.shape.clone();
        if shape.len() == 1 {
            shape.insert(if row { 0 } else { 1 }, 1);
        }
        shape
    };
    let (left, right) = (matrix(a, true), matrix(b, false));
    let (rows, inner) = (left[left.len() - 2], left[left.len() - 1]);
    let columns = right[right.len() - 1];
    let batch = crate::program::broadcast(&left[..left.len() - 2], &right[..right.len() - 2])?;
    let (at_left, at_right) = (stretch(&left[..left.len() - 2], &batch), stretch(&right[..right.len() - 2], &batch));
    let dtype = ty.dtype;
    let within = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
    let places = (0..batch.iter().product::<usize>()).flat_map(|n| {
        let index = unravel(&batch, n);
        let (l, r) = (at_left(&index) * rows * inner, at_right(&index) * inner * columns);
        (0..rows * columns).map(move |i| (l + i / columns.max(1) * inner, r + i % columns.max(1)))
    });
    let data = match (&a.data, &b.data) {
        (Data::Float(x), Data::Float(y)) => Data::Float(
            places
                .map(|(l, r)| {
                    let terms = (0..inner).map(|k| x[l + k].times(y[r + k * columns]));
                    // The rounding of the products is covered by one more term.
                    sum(terms.chain([Real::point(0.0)]), within, dtype)
                })
                .collect(),
        ),
        (Data::Int(x), Data::Int(y)) => Data::Int(
            places
                .map(|(l, r)| {
                    (0..inner).try_fold(0i64, |s, k| {
                        Some(wrap(dtype, s.wrapping_add(x[l + k]?.wrapping_mul(y[r + k * columns]?))))
                    })
                })
                .collect(),
        ),
        _ => return None,
    };
    Some(Array { ty, data })
}
