//! A tensor program as a list of steps: what is generated, interpreted, built with the frontend and shrunk.

mod build;
mod forms;
mod spell;
mod text;
mod write;

pub use forms::{Constant, Form, Spelling, Tiles, on_operands};
pub use spell::text as spelled;

use serde::{Deserialize, Serialize};
use tinymlir::{DType, frontend::Type};

/// The index of a step.
pub type Id = usize;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Abs,
    Exp,
    Log,
    Sqrt,
    Tanh,
    Erf,
    Sin,
    Cos,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Maximum,
    Minimum,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Binary {
    /// Whether it gives `i1`.
    pub fn compares(self) -> bool {
        use Binary::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Reduction {
    Sum,
    Max,
    Mean,
}

/// The elements of an input, by position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fill {
    /// Multiples of 1/8 between -4 and 4, or small integers.
    Grid,
    /// Of no such form.
    Dense,
    /// A grid with some zeros, infinities, NaN, and the extremes of integers.
    Special,
    /// Integers from 0 to below the bound.
    Below(i64),
}

/// One operation, of the frontend where nothing else is said; operands are earlier steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Op {
    Input {
        dtype: DType,
        shape: Vec<usize>,
        seed: u64,
        fill: Fill,
    },
    Scalar(DType, f64),
    Iota(DType, Vec<usize>, usize),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// The number on the right, or on the left where the flag is set (arithmetic only).
    Number(Binary, Id, f64, bool),
    Select(Id, Id, Id),
    Cast(Id, DType),
    Causal(Id, f64),
    Reduce(Reduction, Id, Vec<usize>, bool),
    Softmax(Id, usize),
    Matmul(Id, Id),
    Reshape(Id, Vec<usize>),
    Transpose(Id, Vec<usize>),
    Slice {
        arg: Id,
        axis: usize,
        start: usize,
        end: usize,
        step: usize,
    },
    Index(Id, usize, usize),
    Concat(Vec<Id>, usize),
    Gather {
        table: Id,
        ids: Id,
        axis: usize,
    },
    Update {
        target: Id,
        rows: Id,
        position: Id,
        axis: usize,
    },
    Broadcast(Id, Vec<usize>),
    /// The same in other words.
    Spelled(Spelling, Box<Op>),
    /// What the frontend does not make.
    Form(Form, Vec<Id>),
}

impl Op {
    /// Its operands.
    pub fn operands(&self) -> Vec<Id> {
        match self {
            Op::Input { .. } | Op::Scalar(..) | Op::Iota(..) => vec![],
            Op::Unary(_, a) | Op::Number(_, a, ..) | Op::Cast(a, _) | Op::Causal(a, _) => vec![*a],
            Op::Reduce(_, a, ..) | Op::Softmax(a, _) | Op::Reshape(a, _) | Op::Transpose(a, _) => vec![*a],
            Op::Slice { arg: a, .. } | Op::Index(a, ..) | Op::Broadcast(a, _) => vec![*a],
            Op::Binary(_, a, b) | Op::Matmul(a, b) | Op::Gather { table: a, ids: b, .. } => vec![*a, *b],
            Op::Select(a, b, c) | Op::Update { target: a, rows: b, position: c, .. } => vec![*a, *b, *c],
            Op::Concat(all, _) | Op::Form(_, all) => all.clone(),
            Op::Spelled(_, op) => op.operands(),
        }
    }

    /// Changes each operand.
    pub fn map_operands(&mut self, f: &mut dyn FnMut(Id) -> Id) {
        match self {
            Op::Input { .. } | Op::Scalar(..) | Op::Iota(..) => {}
            Op::Unary(_, a) | Op::Number(_, a, ..) | Op::Cast(a, _) | Op::Causal(a, _) => *a = f(*a),
            Op::Reduce(_, a, ..) | Op::Softmax(a, _) | Op::Reshape(a, _) | Op::Transpose(a, _) => *a = f(*a),
            Op::Slice { arg: a, .. } | Op::Index(a, ..) | Op::Broadcast(a, _) => *a = f(*a),
            Op::Binary(_, a, b) | Op::Matmul(a, b) | Op::Gather { table: a, ids: b, .. } => (*a, *b) = (f(*a), f(*b)),
            Op::Select(a, b, c) | Op::Update { target: a, rows: b, position: c, .. } => {
                (*a, *b, *c) = (f(*a), f(*b), f(*c))
            }
            Op::Concat(all, _) | Op::Form(_, all) => all.iter_mut().for_each(|a| *a = f(*a)),
            Op::Spelled(_, op) => op.map_operands(f),
        }
    }

    /// The type by NumPy's rules, worked out without the frontend; `None` where the operation does not apply.
    pub fn infer(&self, types: &[Type]) -> Option<Type> {
        let ty = |id: &Id| types.get(*id).cloned();
        let with = |t: &Type, shape: Vec<usize>| Some(Type { dtype: t.dtype, shape });
        match self {
            Op::Input { dtype, shape, .. } => Some(Type::new(*dtype, shape)),
            Op::Scalar(dtype, _) => Some(Type::new(*dtype, &[])),
            Op::Iota(dtype, shape, axis) => (*axis < shape.len()).then(|| Type::new(*dtype, shape)),
            Op::Unary(op, a) => ty(a).filter(|t| match op {
                Unary::Neg | Unary::Abs => t.dtype != DType::I1,
                Unary::Not => t.dtype == DType::I1,
                _ => t.dtype.is_float(),
            }),
            Op::Binary(op, a, b) => {
                let (a, b) = (ty(a)?, ty(b)?);
                let shape = broadcast(&a.shape, &b.shape)?;
                let dtype = if op.compares() { DType::I1 } else { a.dtype };
                (a.dtype == b.dtype && takes(*op, a.dtype)).then(|| Type::new(dtype, &shape))
            }
            Op::Number(op, a, number, _) => {
                let a = ty(a)?;
                let fits = a.dtype.is_float() || (a.dtype != DType::I1 && number.fract() == 0.0);
                let dtype = if op.compares() { DType::I1 } else { a.dtype };
                (fits && takes(*op, a.dtype)).then(|| Type::new(dtype, &a.shape))
            }
            Op::Select(c, a, b) => {
                let (c, a, b) = (ty(c)?, ty(a)?, ty(b)?);
                let shape = broadcast(&broadcast(&c.shape, &a.shape)?, &b.shape)?;
                (c.dtype == DType::I1 && a.dtype == b.dtype).then(|| Type::new(a.dtype, &shape))
            }
            Op::Cast(a, dtype) => Some(Type::new(*dtype, &ty(a)?.shape)),
            Op::Causal(a, fill) => ty(a)
                .filter(|t| t.shape.len() >= 2 && t.dtype != DType::I1 && (t.dtype.is_float() || fill.fract() == 0.0)),
            Op::Reduce(kind, a, axes, keep) => {
                let t = ty(a)?;
                let fits = t.dtype != DType::I1 && (*kind != Reduction::Mean || t.dtype.is_float());
                let some = axes.iter().all(|&i| i < t.shape.len() && (*kind == Reduction::Sum || t.shape[i] > 0));
                let shape = (t.shape.iter().enumerate())
                    .filter(|(i, _)| *keep || !axes.contains(i))
                    .map(|(i, &n)| if axes.contains(&i) { 1 } else { n });
                (fits && some && !axes.is_empty()).then(|| Type::new(t.dtype, &shape.collect::<Vec<_>>()))
            }
            Op::Softmax(a, axis) => ty(a).filter(|t| t.dtype.is_float() && *t.shape.get(*axis).unwrap_or(&0) > 0),
            Op::Matmul(a, b) => {
                let (a, b) = (ty(a)?, ty(b)?);
                let (m, k) = a.shape.split_at_checked(a.shape.len().checked_sub(1)?)?;
                let inner = *b.shape.get(b.shape.len().saturating_sub(2))?;
                if a.dtype != b.dtype || a.dtype == DType::I1 || k[0] != inner || b.shape.is_empty() {
                    return None;
                }
                let (rows, left) = m.split_last().map_or((None, m), |(r, l)| (Some(*r), l));
                let right = &b.shape[..b.shape.len().saturating_sub(2)];
                let mut shape = broadcast(left, right)?;
                shape.extend(rows);
                shape.extend((b.shape.len() > 1).then(|| b.shape[b.shape.len() - 1]));
                with(&a, shape)
            }
            Op::Reshape(a, shape) => {
                let t = ty(a)?;
                (t.shape.iter().product::<usize>() == shape.iter().product::<usize>())
                    .then(|| Type::new(t.dtype, shape))
            }
            Op::Transpose(a, permutation) => {
                let t = ty(a)?;
                let mut sorted = permutation.clone();
                sorted.sort_unstable();
                let fits = sorted.into_iter().eq(0..t.shape.len()) && !t.shape.is_empty();
                fits.then(|| Type { shape: permutation.iter().map(|&i| t.shape[i]).collect(), ..t })
            }
            Op::Slice { arg, axis, start, end, step } => {
                let mut t = ty(arg)?;
                let size = t.shape.get_mut(*axis)?;
                let fits = start <= end && end <= size && *step > 0;
                *size = end.saturating_sub(*start).div_ceil((*step).max(1));
                fits.then_some(t)
            }
            Op::Index(a, axis, index) => {
                let mut t = ty(a)?;
                (t.shape.get(*axis)? > index).then(|| t.shape.remove(*axis))?;
                Some(t)
            }
            Op::Concat(all, axis) => {
                let mut t = ty(all.first()?)?;
                for other in &all[1..] {
                    let other = ty(other)?;
                    let fits = other.shape.len() == t.shape.len() && other.dtype == t.dtype;
                    if !fits || (0..t.shape.len()).any(|i| i != *axis && other.shape[i] != t.shape[i]) {
                        return None;
                    }
                    *t.shape.get_mut(*axis)? += other.shape.get(*axis)?;
                }
                (*axis < t.shape.len()).then_some(t)
            }
            Op::Gather { table, ids, axis } => {
                let (t, ids) = (ty(table)?, ty(ids)?);
                let fits = matches!(ids.dtype, DType::I32 | DType::I64) && *axis < t.shape.len();
                fits.then(|| Type::new(t.dtype, &[&t.shape[..*axis], &ids.shape, &t.shape[*axis + 1..]].concat()))
            }
            Op::Update { target, rows, position, axis } => {
                let (t, rows, at) = (ty(target)?, ty(rows)?, ty(position)?);
                let whole = |i: usize| rows.shape[i] == t.shape[i] || i == *axis && rows.shape[i] < t.shape[i];
                let same = rows.dtype == t.dtype && rows.shape.len() == t.shape.len() && *axis < t.shape.len();
                let one = matches!(at.dtype, DType::I32 | DType::I64) && at.shape.iter().all(|&n| n == 1);
                (same && one && (0..t.shape.len()).all(whole)).then_some(t)
            }
            Op::Broadcast(a, shape) => {
                let t = ty(a)?;
                (broadcast(&t.shape, shape)? == *shape).then(|| Type::new(t.dtype, shape))
            }
            Op::Spelled(spelling, op) => {
                let operands = op.operands().iter().map(ty).collect::<Option<Vec<_>>>()?;
                let result = op.infer(types)?;
                let fits =
                    *spelling == Spelling::Call || spelled(*spelling, &on_operands(op), &operands, &result).is_some();
                fits.then_some(result)
            }
            Op::Form(form, all) => form.infer(&all.iter().map(ty).collect::<Option<Vec<_>>>()?),
        }
    }
}

fn takes(op: Binary, dtype: DType) -> bool {
    match op {
        Binary::Div => dtype.is_float(),
        Binary::And | Binary::Or => dtype == DType::I1,
        Binary::Eq | Binary::Ne => true,
        _ => dtype != DType::I1,
    }
}

/// Sizes aligned at the last axis, equal or 1.
pub fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], i: usize| (i + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (m, n) if m == n || n == 1 => Some(m),
            (1, n) => Some(n),
            _ => None,
        })
        .collect()
}

/// Steps and which of them are returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// In order: operands come first.
    pub steps: Vec<Op>,
    /// What is returned.
    pub results: Vec<Id>,
    /// Whether arguments are buffers with any strides.
    pub memrefs: bool,
}

impl Program {
    /// The type of each step; `None` when one does not apply.
    pub fn types(&self) -> Option<Vec<Type>> {
        let mut types = Vec::new();
        for op in &self.steps {
            types.push(op.infer(&types)?);
        }
        Some(types)
    }

    /// Without the steps on which no result depends.
    pub fn pruned(&self) -> Program {
        let mut needed = vec![false; self.steps.len()];
        self.results.iter().for_each(|&r| needed[r] = true);
        for id in (0..self.steps.len()).rev() {
            if needed[id] {
                self.steps[id].operands().into_iter().for_each(|a| needed[a] = true);
            }
        }
        let mut new = vec![0; self.steps.len()];
        let mut steps = Vec::new();
        for (id, op) in self.steps.iter().enumerate().filter(|(id, _)| needed[*id]) {
            let mut op = op.clone();
            op.map_operands(&mut |a| new[a]);
            new[id] = steps.len();
            steps.push(op);
        }
        Program { steps, results: self.results.iter().map(|&r| new[r]).collect(), memrefs: self.memrefs }
    }

    /// The steps that are inputs, in the order of the function's arguments.
    pub fn inputs(&self) -> Vec<Id> {
        (0..self.steps.len()).filter(|&id| matches!(self.steps[id], Op::Input { .. })).collect()
    }
}
