//! A plain interpreter of programs: element by element, over intervals of `f64` and over `i64`, rounding to the element
//! type after every operation. It shares nothing with the compiler.

use crate::{
    interval::{Real, epsilon, largest, least_normal, round},
    program::{Binary, Fill, Id, Op, Program, Reduction, Unary},
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
fn unravel(shape: &[usize], mut position: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        index[axis] = position % shape[axis];
        position /= shape[axis];
    }
    index
}

fn ravel(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |position, (n, i)| position * n + i)
}

fn mix(seed: u64, i: u64) -> u64 {
    // SplitMix64.
    let mut z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn input(ty: Type, seed: u64, fill: Fill) -> Array {
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
fn wrap(dtype: DType, x: i64) -> i64 {
    match dtype {
        DType::I1 => x & 1,
        DType::I32 => i64::from(x as i32),
        _ => x,
    }
}

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
    })
}

/// The elements of `a` under another shape; `from` says at which position the element of an index lies.
fn moved(a: &Array, shape: &[usize], from: impl Fn(&[usize]) -> usize) -> Array {
    let positions = (0..shape.iter().product()).map(|i| from(&unravel(shape, i)));
    let data = match &a.data {
        Data::Float(v) => Data::Float(positions.map(|p| v[p]).collect()),
        Data::Int(v) => Data::Int(positions.map(|p| v[p]).collect()),
    };
    Array { ty: Type::new(a.ty.dtype, shape), data }
}

/// Where an element lies in an operand that is broadcast.
fn stretch<'a>(own: &'a [usize], to: &'a [usize]) -> impl Fn(&[usize]) -> usize + 'a {
    let missing = to.len() - own.len();
    move |index| {
        let own_index: Vec<usize> =
            own.iter().zip(&index[missing..]).map(|(&n, &i)| if n == 1 { 0 } else { i }).collect();
        ravel(own, &own_index)
    }
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

fn unary(op: Unary, a: &Array, tolerance: Tolerance) -> Array {
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

fn absolute(x: Real, dtype: DType, tolerance: Tolerance) -> Real {
    x.widened(dtype, |_| tolerance.functions * epsilon(dtype))
}

fn binary(op: Binary, a: &Array, b: &Array, tolerance: Tolerance) -> Option<Array> {
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

fn cast(a: &Array, to: DType) -> Array {
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

/// Without the reduced axes. Sums of half types are taken in `f32`.
fn reduce(kind: Reduction, a: &Array, axes: &[usize], tolerance: Tolerance) -> Option<Array> {
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
fn sum(terms: impl Iterator<Item = Real>, within: DType, dtype: DType) -> Real {
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
fn matmul(a: &Array, b: &Array, ty: Type, _: Tolerance) -> Option<Array> {
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
