//! A plain interpreter of programs: element by element, over intervals of `f64` and over `i64`, rounding to the element
//! type after every operation. It shares nothing with the compiler.

mod array;
mod elementwise;
mod forms;
mod reduce;

pub use array::{Array, Data, Tolerance, input as fill};

use crate::{
    interval::{Real, round},
    program::{Binary, Id, Op, Program, Reduction, Unary},
};
use array::*;
use elementwise::*;
use reduce::*;
use tinymlir::{DType, frontend::Type};

/// The value of every step. `None` when a step does not apply, or an index may lie outside its table.
pub fn run(program: &Program, tolerance: Tolerance) -> Option<Vec<Array>> {
    let mut values = Vec::new();
    for op in &program.steps {
        values.push(step(op, &values, tolerance)?);
    }
    Some(values)
}

/// The value of one step after those before it.
pub fn step(op: &Op, values: &[Array], tolerance: Tolerance) -> Option<Array> {
    let types: Vec<Type> = values.iter().map(|v| v.ty.clone()).collect();
    let ty = op.infer(&types)?;
    let v = |id: &Id| &values[*id];
    let scalar = |dtype: DType, x: f64| Array {
        ty: Type::new(dtype, &[]),
        data: match dtype.is_float() {
            true => Data::Float(vec![Real::point(round(dtype, x))]),
            false => Data::Int(vec![Some(wrap(dtype, x as i64))]),
        },
    };
    Some(match op {
        Op::Input { seed, fill, .. } => input(ty, *seed, *fill),
        Op::Scalar(dtype, x) => scalar(*dtype, *x),
        Op::Iota(dtype, shape, axis) => {
            let positions = (0..shape.iter().product()).map(|i| Some(unravel(shape, i)[*axis] as i64)).collect();
            cast(&Array { ty: Type::new(DType::I64, shape), data: Data::Int(positions) }, *dtype)
        }
        Op::Unary(op, a) => unary(*op, v(a), tolerance),
        Op::Binary(op, a, b) => binary(*op, v(a), v(b), tolerance)?,
        Op::Number(op, a, number, flipped) => {
            let number = scalar(v(a).ty.dtype, *number);
            let arithmetic = matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div);
            match *flipped && arithmetic {
                true => binary(*op, &number, v(a), tolerance)?,
                false => binary(*op, v(a), &number, tolerance)?,
            }
        }
        Op::Select(c, a, b) => {
            let Data::Int(condition) = moved(v(c), &ty.shape, stretch(&v(c).ty.shape, &ty.shape)).data else {
                return None;
            };
            let [a, b] = [a, b].map(|x| moved(v(x), &ty.shape, stretch(&v(x).ty.shape, &ty.shape)));
            let data = match (a.data, b.data) {
                (Data::Float(a), Data::Float(b)) => Data::Float(
                    (0..a.len())
                        .map(|i| condition[i].map_or(a[i].or(b[i]), |c| if c != 0 { a[i] } else { b[i] }))
                        .collect(),
                ),
                (Data::Int(a), Data::Int(b)) => Data::Int(
                    (0..a.len())
                        .map(|i| match condition[i] {
                            Some(c) => {
                                if c != 0 {
                                    a[i]
                                } else {
                                    b[i]
                                }
                            }
                            None => a[i].filter(|_| a[i] == b[i]),
                        })
                        .collect(),
                ),
                _ => return None,
            };
            Array { ty, data }
        }
        Op::Cast(a, dtype) => cast(v(a), *dtype),
        Op::Causal(a, fill) => {
            let mut array = v(a).clone();
            let fill = scalar(ty.dtype, *fill);
            for i in 0..array.len() {
                let index = unravel(&ty.shape, i);
                if index[index.len() - 1] > index[index.len() - 2] {
                    match (&mut array.data, &fill.data) {
                        (Data::Float(to), Data::Float(from)) => to[i] = from[0],
                        (Data::Int(to), Data::Int(from)) => to[i] = from[0],
                        _ => return None,
                    }
                }
            }
            array
        }
        Op::Reduce(kind, a, axes, _) => Array { ty, ..reduce(*kind, v(a), axes, tolerance)? },
        Op::Softmax(a, axis) => {
            let kept = |x: Array| {
                let mut shape = v(a).ty.shape.clone();
                shape[*axis] = 1;
                Array { ty: Type::new(x.ty.dtype, &shape), ..x }
            };
            let largest = kept(reduce(Reduction::Max, v(a), &[*axis], tolerance)?);
            let shifted = binary(Binary::Sub, v(a), &largest, tolerance)?;
            let exponentials = unary(Unary::Exp, &shifted, tolerance);
            let total = kept(reduce(Reduction::Sum, &exponentials, &[*axis], tolerance)?);
            binary(Binary::Div, &exponentials, &total, tolerance)?
        }
        Op::Matmul(a, b) => matmul(v(a), v(b), ty, tolerance)?,
        Op::Reshape(a, _) => Array { ty, ..v(a).clone() },
        Op::Transpose(a, permutation) => {
            let source = &v(a).ty.shape;
            moved(v(a), &ty.shape, |index| {
                let mut from = vec![0; index.len()];
                permutation.iter().zip(index).for_each(|(&p, &i)| from[p] = i);
                ravel(source, &from)
            })
        }
        Op::Slice { arg, axis, start, step, .. } => {
            let source = &v(arg).ty.shape;
            moved(v(arg), &ty.shape, |index| {
                let mut from = index.to_vec();
                from[*axis] = start + step * index[*axis];
                ravel(source, &from)
            })
        }
        Op::Index(a, axis, position) => {
            let source = &v(a).ty.shape;
            moved(v(a), &ty.shape, |index| {
                let mut from = index.to_vec();
                from.insert(*axis, *position);
                ravel(source, &from)
            })
        }
        Op::Concat(all, axis) => {
            let mut joined: Array = v(&all[0]).clone();
            for other in &all[1..] {
                joined = concat(&joined, v(other), *axis)?;
            }
            joined
        }
        Op::Gather { table, ids, axis } => {
            let (source, Data::Int(positions)) = (&v(table).ty.shape, &v(ids).data) else { return None };
            let valid = |p: &Option<i64>| p.is_some_and(|p| p >= 0 && (p as usize) < source[*axis]);
            if !positions.iter().all(valid) {
                return None;
            }
            let (ids, rank) = (&v(ids).ty.shape, v(ids).ty.shape.len());
            moved(v(table), &ty.shape, |index| {
                let position = positions[ravel(ids, &index[*axis..axis + rank])].unwrap_or(0) as usize;
                ravel(source, &[&index[..*axis], &[position], &index[axis + rank..]].concat())
            })
        }
        Op::Update { target, rows, position, axis } => {
            let (mut whole, part) = (v(target).clone(), v(rows));
            let Data::Int(position) = &v(position).data else { return None };
            let start = usize::try_from(position[0]?).ok()?;
            if start + part.ty.shape[*axis] > ty.shape[*axis] {
                return None;
            }
            for i in 0..part.len() {
                let mut index = unravel(&part.ty.shape, i);
                index[*axis] += start;
                let to = ravel(&ty.shape, &index);
                match (&mut whole.data, &part.data) {
                    (Data::Float(to_all), Data::Float(from)) => to_all[to] = from[i],
                    (Data::Int(to_all), Data::Int(from)) => to_all[to] = from[i],
                    _ => return None,
                }
            }
            whole
        }
        Op::Broadcast(a, _) => moved(v(a), &ty.shape, stretch(&v(a).ty.shape, &ty.shape)),
        Op::Spelled(_, op) => step(op, values, tolerance)?,
        Op::Form(form, all) => forms::form(form, ty, &all.iter().map(v).collect::<Vec<_>>(), tolerance)?,
    })
}

fn concat(a: &Array, b: &Array, axis: usize) -> Option<Array> {
    let mut shape = a.ty.shape.clone();
    let first = shape[axis];
    shape[axis] += b.ty.shape[axis];
    let pick = |i: usize| {
        let mut index = unravel(&shape, i);
        let left = index[axis] < first;
        if !left {
            index[axis] -= first;
        }
        (left, ravel(if left { &a.ty.shape } else { &b.ty.shape }, &index))
    };
    let positions = (0..shape.iter().product()).map(pick);
    let data = match (&a.data, &b.data) {
        (Data::Float(x), Data::Float(y)) => Data::Float(positions.map(|(l, p)| if l { x[p] } else { y[p] }).collect()),
        (Data::Int(x), Data::Int(y)) => Data::Int(positions.map(|(l, p)| if l { x[p] } else { y[p] }).collect()),
        _ => return None,
    };
    Some(Array { ty: Type::new(a.ty.dtype, &shape), data })
}
