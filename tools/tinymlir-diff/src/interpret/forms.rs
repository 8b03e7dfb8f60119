//! What the forms mean that the frontend does not make.

use super::{array::*, elementwise::binary};
use crate::{
    interval::{Real, epsilon, round},
    program::{Binary, Fill, Form, Tiles},
};
use tinymlir::{DType, frontend::Type};

/// The result, of type `ty`, on these operands. `None` where an assertion may fail or a number of steps is not known.
pub(super) fn form(form: &Form, ty: Type, operands: &[&Array], tolerance: Tolerance) -> Option<Array> {
    Some(match (form, operands) {
        (Form::Pad { low, value, .. }, [a]) => gathered(a, ty, *value, |index| {
            (index.iter().zip(low).zip(&a.ty.shape))
                .map(|((&i, l), &n)| usize::try_from(i as i64 - l).ok().filter(|i| *i < n))
                .collect()
        }),
        (Form::Pack { tiles, value }, [a]) => {
            gathered(a, ty, *value, |index| inside(&a.ty.shape, unpacked(tiles, index)))
        }
        (Form::Unpack { tiles, .. }, [a]) => gathered(a, ty, 0.0, |index| Some(packed(tiles, index))),
        (Form::ComplexProduct { imaginary }, [a, b, c, d]) => {
            let [Data::Float(a), Data::Float(b), Data::Float(c), Data::Float(d)] = [a, b, c, d].map(|x| &x.data) else {
                return None;
            };
            let dtype = ty.dtype;
            let part = |i: usize| {
                let (first, second) = match imaginary {
                    true => (a[i].times(d[i]), b[i].times(c[i])),
                    false => (a[i].times(c[i]), b[i].times(d[i])),
                };
                let size = |x: Real| x.magnitude().largest();
                let slack = 2.0 * epsilon(dtype) * (size(first)? + size(second)?);
                let sum = if *imaginary { first.plus(second) } else { first.minus(second) };
                slack.is_finite().then(|| sum.widened(dtype, |_| slack))
            };
            // What infinities and NaN become is left to the lowering.
            Array { data: Data::Float((0..a.len()).map(|i| part(i).unwrap_or(Real::Any)).collect()), ty }
        }
        (Form::Constant { seed, .. }, []) => input(ty, *seed, Fill::Grid),
        (Form::Cumulate, [a]) => {
            let row = a.len() / ty.shape[0];
            let mut sums = (*a).clone();
            match &mut sums.data {
                Data::Float(v) => {
                    for i in 0..v.len() {
                        let before = if i < row { Real::point(0.0) } else { v[i - row] };
                        v[i] = before.plus(v[i]).rounded(ty.dtype, 0.0);
                    }
                }
                Data::Int(v) => {
                    for i in 0..v.len() {
                        let before = if i < row { Some(0) } else { v[i - row] };
                        v[i] = before.zip(v[i]).map(|(x, y)| wrap(ty.dtype, x.wrapping_add(y)));
                    }
                }
            }
            sums
        }
        (Form::Rows, [a]) => binary(Binary::Add, a, a, tolerance)?,
        (Form::While, [a, n]) => {
            let Data::Int(n) = &n.data else { return None };
            let mut sum = (*a).clone();
            for _ in 0..n[0].filter(|n| *n < 100)? {
                sum = binary(Binary::Add, &sum, a, tolerance)?;
            }
            sum
        }
        (Form::If, [c, a, b]) => {
            let Data::Int(c) = &c.data else { return None };
            match c[0]? {
                0 => (*a).clone(),
                _ => binary(Binary::Add, a, b, tolerance)?,
            }
        }
        (Form::Assert { least }, [a]) => {
            let Data::Int(v) = &a.data else { return None };
            v.iter().all(|x| x.is_some_and(|x| x >= *least)).then(|| (*a).clone())?
        }
        _ => return None,
    })
}

/// An array of elements of another one; where `from` gives no place of it, a number.
fn gathered(a: &Array, ty: Type, number: f64, from: impl Fn(&[usize]) -> Option<Vec<usize>>) -> Array {
    let places = (0..ty.shape.iter().product()).map(|i| from(&unravel(&ty.shape, i)).map(|i| ravel(&a.ty.shape, &i)));
    let data = match &a.data {
        Data::Float(v) => {
            let number = Real::point(round(ty.dtype, number));
            Data::Float(places.map(|p| p.map_or(number, |p| v[p])).collect())
        }
        Data::Int(v) => {
            let number = if ty.dtype == DType::I1 { i64::from(number != 0.0) } else { number as i64 };
            Data::Int(places.map(|p| p.map_or(Some(wrap(ty.dtype, number)), |p| v[p])).collect())
        }
    };
    Array { ty, data }
}

/// An index unless it is outside of a shape.
fn inside(shape: &[usize], index: Vec<usize>) -> Option<Vec<usize>> {
    index.iter().zip(shape).all(|(i, n)| i < n).then_some(index)
}

/// Where an element lies before packing that lies at `index` after it.
fn unpacked(tiles: &Tiles, index: &[usize]) -> Vec<usize> {
    let (outer, inner) = index.split_at(tiles.outer.len());
    let mut place = vec![0; outer.len()];
    for (i, &d) in tiles.outer.iter().enumerate() {
        let tile = tiles.dims.iter().position(|x| *x == d);
        place[d] = tile.map_or(outer[i], |t| outer[i] * tiles.sizes[t] + inner[t]);
    }
    place
}

/// The other way round.
fn packed(tiles: &Tiles, place: &[usize]) -> Vec<usize> {
    let size = |d: usize| tiles.dims.iter().position(|x| *x == d).map_or(1, |t| tiles.sizes[t]);
    let outer = tiles.outer.iter().map(|&d| place[d] / size(d));
    outer.chain(tiles.dims.iter().map(|&d| place[d] % size(d))).collect()
}
