//! Programs as functions of the frontend.

use super::{Binary, Fill, Id, Op, Program, Reduction, Unary};
use anyhow::{Result, ensure};
use tinymlir::frontend::{Function, Graph, Value};

impl Program {
    /// The function that the frontend makes of it, whatever its spellings. Fails when it has forms, when the frontend refuses, or
    /// finds other types than [`Op::infer`].
    pub fn build(&self, name: &str) -> Result<Function> {
        ensure!(!self.steps.iter().any(|op| matches!(op, Op::Form(..))), "the program has forms (write its text)");
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
        Op::Spelled(_, op) => apply(graph, id, op, values),
        Op::Form(..) => unreachable!("a form is written, not built"),
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
