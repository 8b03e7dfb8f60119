//! The graph: nodes whose types are known when they are made, and the handles that refer to them.

use super::types::{Promotion, Type, check_dtype};
use crate::{DType, Tensor};
use anyhow::{Result, anyhow, ensure};
use std::{cell::RefCell, ops::Range, panic::Location};

pub(super) type Id = usize;

/// The handle's index after an error; every operation on it does nothing.
pub(super) const INVALID: Id = usize::MAX;

/// One result, element by element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Map {
    Neg,
    Abs,
    Exp,
    Log,
    Sqrt,
    Tanh,
    Erf,
    Sin,
    Cos,
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Maximum,
    Minimum,
    And,
    Or,
    Xor,
    /// Zeros come in from the left.
    ShiftRight,
    Not,
    Compare(Comparison),
    /// Condition, then, else.
    Select,
    /// To the node's element type.
    Cast,
    /// The bits, as an integer of the same width.
    Bits,
    /// The operand where column <= row of the last two axes, else the number.
    Causal(f64),
    /// The position along an axis; no operand.
    Iota(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    Sum,
    Max,
    Min,
}

/// What a node computes; shapes are resolved and operands have the element types that the operation needs.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// An argument: the index in `Inner::arguments`.
    Argument(usize),
    /// A number of rank 0.
    Constant(f64),
    /// Operands broadcast to the node's shape.
    Map(Map, Vec<Id>),
    /// Without the reduced axes.
    Reduce(Reduction, Vec<usize>, Id),
    /// Ranks (1,1), (1,2), (2,1), (2,2), (3,3), or (2,3) where one matrix meets every one of the batch.
    Matmul(Id, Id),
    Reshape(Id),
    /// Axis `i` of the result is axis `permutation[i]` of the operand.
    Transpose(Id, Vec<usize>),
    /// Offset and stride of each axis of the operand; `dropped` axes have size 1 and are left out of the result.
    Slice {
        arg: Id,
        offsets: Vec<usize>,
        strides: Vec<usize>,
        dropped: Vec<bool>,
    },
    Concat(Vec<Id>, usize),
    /// Slices of the table at the ids along an axis.
    Gather {
        table: Id,
        ids: Id,
        axis: usize,
    },
    /// `target` with `rows` from `position` on along an axis; a constant position is a static one.
    Update {
        target: Id,
        rows: Id,
        position: Id,
        axis: usize,
    },
    /// The value in the memory of the target, a writable argument.
    Store {
        value: Id,
        target: Id,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub ty: Type,
    pub op: Op,
    /// Axes of size 1 that exist in the type only: a value is emitted without them, so that what is broadcast along
    /// them (a kept axis of a reduction) is a map of fewer dimensions, which fusion can see through.
    pub phantom: Vec<bool>,
}

/// An argument of the function that a graph becomes.
#[derive(Clone, Debug)]
pub struct Argument {
    /// What `tinymlir.name` says.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// For integers, the values that are valid.
    pub range: Option<Range<i64>>,
    /// The array that was captured from the host; `None` for an input.
    pub captured: Option<Tensor>,
    /// Whether the function may compute in its memory: `tinymlir.writable`.
    pub writable: bool,
}

impl Argument {
    fn new(name: &str, ty: Type) -> Argument {
        Argument { name: name.into(), ty, range: None, captured: None, writable: false }
    }
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub nodes: Vec<Node>,
    pub arguments: Vec<Argument>,
    error: Option<anyhow::Error>,
}

/// A tensor program under construction: the body of one function.
///
/// Operations are methods and operators of [`Value`]. Types are resolved as they are called; the first error is kept with the
/// caller's source line and comes out of [`Graph::finish`], so that model code reads as arithmetic.
#[derive(Debug, Default)]
pub struct Graph {
    promotion: Promotion,
    pub(super) inner: RefCell<Inner>,
}

/// A tensor of a [`Graph`].
#[derive(Clone, Copy, Debug)]
pub struct Value<'g> {
    pub(super) graph: &'g Graph,
    pub(super) id: Id,
}

impl Graph {
    /// An empty graph under [`Promotion::Strict`].
    pub fn new() -> Graph {
        Graph::default()
    }

    /// An empty graph under the given policy.
    pub fn with_promotion(promotion: Promotion) -> Graph {
        Graph { promotion, ..Graph::default() }
    }

    pub(super) fn promotion(&self) -> Promotion {
        self.promotion
    }

    /// An argument of the function. Refused: a name that occurs twice, an element type without operations.
    #[track_caller]
    pub fn input(&self, name: &str, dtype: DType, shape: &[usize]) -> Value<'_> {
        self.argument("input", Argument::new(name, Type::new(dtype, shape)))
    }

    /// An argument of integers in `range`; the compiled function does not check it, [`Value::gather`] does.
    #[track_caller]
    pub fn input_in_range(&self, name: &str, dtype: DType, shape: &[usize], range: Range<i64>) -> Value<'_> {
        self.argument("input", Argument { range: Some(range), ..Argument::new(name, Type::new(dtype, shape)) })
    }

    /// A host array: a trailing argument of the function, which [`Function::captured`](super::Function::captured) hands on.
    #[track_caller]
    pub fn capture(&self, name: &str, array: Tensor) -> Value<'_> {
        let ty = Type::new(array.dtype(), array.shape());
        self.argument("capture", Argument { captured: Some(array), ..Argument::new(name, ty) })
    }

    /// A number of rank 0, with an element type of its own (unlike a Rust number in an expression).
    #[track_caller]
    pub fn scalar(&self, dtype: DType, value: f64) -> Value<'_> {
        self.record("scalar", || {
            check_dtype(dtype)?;
            ensure!(dtype.is_float() || value.fract() == 0.0, "{value} is not a number of type {dtype}");
            Ok(self.node(Type::new(dtype, &[]), Op::Constant(value)))
        })
    }

    /// The position along `axis` at every element of an array of that shape.
    #[track_caller]
    pub fn iota(&self, dtype: DType, shape: &[usize], axis: isize) -> Value<'_> {
        self.record("iota", || {
            check_dtype(dtype)?;
            ensure!(dtype != DType::I1, "positions do not fit i1");
            let axis = super::types::resolve_axis(axis, shape.len())?;
            Ok(self.node(Type::new(dtype, shape), Op::Map(Map::Iota(axis), Vec::new())))
        })
    }

    #[track_caller]
    fn argument(&self, what: &str, argument: Argument) -> Value<'_> {
        self.record(what, || {
            check_dtype(argument.ty.dtype)?;
            let mut inner = self.inner.borrow_mut();
            ensure!(
                inner.arguments.iter().all(|a| a.name != argument.name),
                "there is an argument '{}' already",
                argument.name
            );
            let ty = argument.ty.clone();
            inner.arguments.push(argument);
            let op = Op::Argument(inner.arguments.len() - 1);
            drop(inner);
            Ok(self.node(ty, op))
        })
    }

    /// Makes a node by `build`, or keeps its error with the caller's place.
    #[track_caller]
    pub(super) fn record<'g>(&'g self, what: &str, build: impl FnOnce() -> Result<Value<'g>>) -> Value<'g> {
        let place = Location::caller();
        build().unwrap_or_else(|e| {
            let error = anyhow!("{what} at {}:{}: {e:#}", place.file(), place.line());
            self.inner.borrow_mut().error.get_or_insert(error);
            Value { graph: self, id: INVALID }
        })
    }

    /// The first error that an operation met.
    pub(super) fn take_error(&self) -> Option<anyhow::Error> {
        self.inner.borrow_mut().error.take()
    }

    /// Adds a node; which axes are phantom follows from the operands.
    pub(super) fn node(&self, ty: Type, op: Op) -> Value<'_> {
        let mut inner = self.inner.borrow_mut();
        let phantom = phantom_axes(&inner.nodes, &ty, &op);
        inner.nodes.push(Node { ty, op, phantom });
        Value { graph: self, id: inner.nodes.len() - 1 }
    }
}

fn phantom_axes(nodes: &[Node], ty: &Type, op: &Op) -> Vec<bool> {
    let rank = ty.shape.len();
    let mut phantom = vec![false; rank];
    match op {
        Op::Map(_, args) if !args.is_empty() => {
            for (axis, flag) in phantom.iter_mut().enumerate() {
                *flag = ty.shape[axis] == 1
                    && args.iter().all(|&a| {
                        let missing = rank - nodes[a].ty.shape.len();
                        axis < missing || nodes[a].phantom[axis - missing]
                    });
            }
        }
        // Only sizes of 1 come or go: those that come are phantom.
        Op::Reshape(arg) => {
            let source = &nodes[*arg];
            let emitted = source.ty.shape.iter().zip(&source.phantom).filter(|(_, p)| !**p).map(|(n, _)| *n);
            if emitted.eq(ty.shape.iter().copied().filter(|&n| n != 1)) {
                phantom = ty.shape.iter().map(|&n| n == 1).collect();
            }
        }
        _ => {}
    }
    phantom
}
