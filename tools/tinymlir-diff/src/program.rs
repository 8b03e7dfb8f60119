//! A tensor program as a list of steps: what is generated, interpreted, built with the frontend and shrunk.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use tinymlir::{
    DType,
    frontend::{Function, Graph, Type, Value},
};

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

/// One operation of the frontend; operands are earlier steps.
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
            Op::Concat(all, _) => all.clone(),
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
            Op::Concat(all, _) => all.iter_mut().for_each(|a| *a = f(*a)),
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
        Program { steps, results: self.results.iter().map(|&r| new[r]).collect() }
    }

    /// The steps that are inputs, in the order of the function's arguments.
    pub fn inputs(&self) -> Vec<Id> {
        (0..self.steps.len()).filter(|&id| matches!(self.steps[id], Op::Input { .. })).collect()
    }

    /// The function that the frontend makes of it. Fails when the frontend refuses, or finds other types than
    /// [`Op::infer`].
    pub fn build(&self, name: &str) -> Result<Function> {
        let graph = Graph::new();
        let mut values: Vec<Value> = Vec::new();
        for (id, op) in self.steps.iter().enumerate() {
            values.push(apply(&graph, id, op, &values));
        }
        let results: Vec<(String, Value)> =
            self.results.iter().enumerate().map(|(i, &r)| (format!("r{i}"), values[r])).collect();
        let named: Vec<(&str, Value)> = results.iter().map(|(n, v)| (n.as_str(), *v)).collect();
        let function = graph.finish(name, &named)?;
        let types = self.types();
        for (id, value) in values.iter().enumerate() {
            let expected = types.as_ref().map(|t| &t[id]);
            ensure!(
                expected == Some(&value.ty()),
                "step {id}, {:?}, is {}, not {expected:?}",
                self.steps[id],
                value.ty()
            );
        }
        Ok(function)
    }
}

fn apply<'g>(graph: &'g Graph, id: Id, op: &Op, values: &[Value<'g>]) -> Value<'g> {
    let v = |id: &Id| values[*id];
    let axes = |axes: &[usize]| axes.iter().map(|&a| a as isize).collect::<Vec<_>>();
    match op {
        Op::Input { dtype, shape, fill: Fill::Below(n), .. } => {
            graph.input_in_range(&format!("x{id}"), *dtype, shape, 0..*n)
        }
        Op::Input { dtype, shape, .. } => graph.input(&format!("x{id}"), *dtype, shape),
        Op::Scalar(dtype, x) => graph.scalar(*dtype, *x),
        Op::Iota(dtype, shape, axis) => graph.iota(*dtype, shape, *axis as isize),
        Op::Unary(op, a) => {
            let a = v(a);
            match op {
                Unary::Neg => -a,
                Unary::Abs => a.abs(),
                Unary::Exp => a.exp(),
                Unary::Log => a.log(),
                Unary::Sqrt => a.sqrt(),
                Unary::Tanh => a.tanh(),
                Unary::Erf => a.erf(),
                Unary::Sin => a.sin(),
                Unary::Cos => a.cos(),
                Unary::Not => !a,
            }
        }
        Op::Binary(op, a, b) => binary(*op, v(a), v(b)),
        Op::Number(op, a, number, true) => match op {
            Binary::Add => *number + v(a),
            Binary::Sub => *number - v(a),
            Binary::Mul => *number * v(a),
            Binary::Div => *number / v(a),
            _ => binary(*op, v(a), *number),
        },
        Op::Number(op, a, number, false) => binary(*op, v(a), *number),
        Op::Select(c, a, b) => v(c).select(v(a), v(b)),
        Op::Cast(a, dtype) => v(a).cast(*dtype),
        Op::Causal(a, fill) => v(a).causal_mask(*fill),
        Op::Reduce(kind, a, over, keep) => match kind {
            Reduction::Sum => v(a).sum(&axes(over), *keep),
            Reduction::Max => v(a).max(&axes(over), *keep),
            Reduction::Mean => v(a).mean(&axes(over), *keep),
        },
        Op::Softmax(a, axis) => v(a).softmax(*axis as isize),
        Op::Matmul(a, b) => v(a).matmul(v(b)),
        Op::Reshape(a, shape) => v(a).reshape(shape),
        Op::Transpose(a, permutation) => v(a).transpose(permutation),
        Op::Slice { arg, axis, start, end, step } => v(arg).slice_by(*axis as isize, *start..*end, *step),
        Op::Index(a, axis, index) => v(a).index(*axis as isize, *index),
        Op::Concat(all, axis) => v(&all[0]).concat(&all[1..].iter().map(v).collect::<Vec<_>>(), *axis as isize),
        Op::Gather { table, ids, axis } => v(table).gather(v(ids), *axis as isize),
        Op::Update { target, rows, position, axis } => v(target).update(v(rows), v(position), *axis as isize),
        Op::Broadcast(a, shape) => v(a).broadcast_to(shape),
    }
}

fn binary<'g>(op: Binary, a: Value<'g>, b: impl Into<tinymlir::frontend::Operand<'g>>) -> Value<'g> {
    use tinymlir::frontend::Operand;
    let b: Operand = b.into();
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Pow => a.pow(b),
        Binary::Maximum => a.maximum(b),
        Binary::Minimum => a.minimum(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Eq => a.equals(b),
        Binary::Ne => a.differs(b),
        Binary::Lt => a.less(b),
        Binary::Le => a.at_most(b),
        Binary::Gt => a.greater(b),
        Binary::Ge => a.at_least(b),
    }
}
