//! Reductions, products, and operations that move elements.

use super::{
    graph::{Id, Node, Op, Reduction, Value},
    types::{Promotion, Type, broadcast, resolve_axis},
};
use crate::DType;
use anyhow::{Result, bail, ensure};
use std::ops::Range;

impl<'g> Value<'g> {
    /// The sum over `axes` (all when empty), which stay with size 1 when `keepdims`. `f16` and `bf16` are added up in `f32`.
    #[track_caller]
    pub fn sum(self, axes: &[isize], keepdims: bool) -> Value<'g> {
        self.reduce("sum", Reduction::Sum, axes, keepdims)
    }

    /// The largest element over `axes` (all when empty), NaN if there is one. Refused over an axis of size 0.
    #[track_caller]
    pub fn max(self, axes: &[isize], keepdims: bool) -> Value<'g> {
        self.reduce("max", Reduction::Max, axes, keepdims)
    }

    /// The smallest element over `axes` (all when empty), NaN if there is one. Refused over an axis of size 0.
    #[track_caller]
    pub fn min(self, axes: &[isize], keepdims: bool) -> Value<'g> {
        self.reduce("min", Reduction::Min, axes, keepdims)
    }

    /// The mean over `axes` (all when empty).
    #[track_caller]
    pub fn mean(self, axes: &[isize], keepdims: bool) -> Value<'g> {
        let narrow = matches!(self.dtype(), DType::F16 | DType::BF16);
        let source = if narrow { self.cast(DType::F32) } else { self };
        let total = source.reduce("mean", Reduction::Sum, axes, keepdims);
        let count = self.shape().iter().product::<usize>() / total.shape().iter().product::<usize>().max(1);
        let mean = total / count as f64;
        if narrow { mean.cast(self.dtype()) } else { mean }
    }

    #[track_caller]
    fn reduce(self, what: &str, kind: Reduction, axes: &[isize], keepdims: bool) -> Value<'g> {
        self.apply(what, &[], || {
            let Type { dtype, shape } = self.ty();
            let mut reduced = vec![axes.is_empty(); shape.len()];
            for &axis in axes {
                let axis = resolve_axis(axis, shape.len())?;
                ensure!(!reduced[axis], "axis {axis} is named twice");
                reduced[axis] = true;
            }
            // NumPy counts what is true.
            let counts = kind == Reduction::Sum && self.graph.promotion() == Promotion::NumPy;
            ensure!(dtype != DType::I1 || counts, "takes numbers, not i1 (cast first)");
            let dtype = if dtype == DType::I1 { DType::I64 } else { dtype };
            let empty = shape.iter().zip(&reduced).any(|(&n, &r)| r && n == 0);
            ensure!(kind == Reduction::Sum || !empty, "shape {shape:?} has no element along the axes {axes:?}");
            // A long sum in 11 or 8 bits of significand would stop growing.
            let narrow = kind == Reduction::Sum && matches!(dtype, DType::F16 | DType::BF16);
            let source = self.cast(if narrow { DType::F32 } else { dtype });
            let keep = |kept: bool| shape.iter().zip(&reduced).filter(move |(_, r)| kept != **r).map(|(&n, _)| n);
            let axes = (0..shape.len()).filter(|&i| reduced[i]).collect();
            let ty = Type { dtype: source.dtype(), shape: keep(true).collect() };
            let value = self.graph.node(ty, Op::Reduce(kind, axes, source.id)).cast(dtype);
            let full: Vec<usize> = shape.iter().zip(&reduced).map(|(&n, &r)| if r { 1 } else { n }).collect();
            Ok(if keepdims { value.reshape(&full) } else { value })
        })
    }

    /// The matrix product by NumPy's rules: vectors on either side, batch axes that broadcast. A transposed operand is read
    /// as it lies, not copied.
    #[track_caller]
    pub fn matmul(self, other: Value<'g>) -> Value<'g> {
        self.apply("matmul", &[other], || {
            let dtype = self.graph.promotion().resolve(self.dtype(), other.dtype())?;
            self.cast(dtype).product(other.cast(dtype), dtype)
        })
    }

    /// [`Value::matmul`] of operands that keep their element types: each element becomes `dtype`, which is at least as wide,
    /// where it is multiplied, and products add up in `dtype`. So a matrix of bf16 or i8 is never written out in f32.
    #[track_caller]
    pub fn matmul_in(self, dtype: DType, other: Value<'g>) -> Value<'g> {
        self.apply("matmul_in", &[other], || {
            for operand in [self.dtype(), other.dtype()] {
                let wide = operand == dtype
                    || dtype.is_float()
                        && (operand == DType::I8 || operand.is_float() && operand.size() < dtype.size());
                ensure!(wide, "elements of {operand} do not become {dtype} as they are (cast first)");
            }
            self.product(other, dtype)
        })
    }

    fn product(self, other: Value<'g>, dtype: DType) -> Result<Value<'g>> {
        ensure!(dtype != DType::I1, "takes numbers, not i1 (cast first)");
        let (lhs, rhs) = (self, other);
        let (a, b) = (lhs.shape(), rhs.shape());
        ensure!(!a.is_empty() && !b.is_empty(), "shapes {a:?} and {b:?}: a scalar has no matrix product");
        let inner = b[b.len().saturating_sub(2)];
        ensure!(
            a[a.len() - 1] == inner,
            "shapes {a:?} and {b:?} do not match: {} columns against {inner} rows",
            a[a.len() - 1]
        );
        let columns = (b.len() > 1).then(|| b[b.len() - 1]);
        let tail = |rows: Option<usize>| rows.into_iter().chain(columns).collect::<Vec<_>>();
        let product = |l: Value<'g>, r: Value<'g>, shape: &[usize]| {
            self.graph.node(Type::new(dtype, shape), Op::Matmul(l.id, r.id))
        };
        if a.len() <= 2 && b.len() <= 2 {
            return Ok(product(lhs, rhs, &tail((a.len() == 2).then(|| a[0]))));
        }
        if b.len() <= 2 {
            // One long matrix: the leading axes are rows.
            let rows: usize = a[..a.len() - 1].iter().product();
            let flat = product(lhs.reshape(&[rows, inner]), rhs, &tail(Some(rows)));
            return Ok(flat.reshape(&[&a[..a.len() - 1], &tail(None)].concat()));
        }
        let lhs = if a.len() == 1 { lhs.reshape(&[1, inner]) } else { lhs };
        let rows = lhs.shape()[lhs.rank() - 2];
        let batch = broadcast(&lhs.shape()[..lhs.rank() - 2], &b[..b.len() - 2])?;
        let (lhs, rhs) = (lhs.batched(&batch), rhs.batched(&batch));
        let count = batch.iter().product();
        let flat = product(lhs, rhs, &[count, rows, b[b.len() - 1]]);
        Ok(flat.reshape(&[&batch, &tail((a.len() > 1).then_some(rows))[..]].concat()))
    }

    /// A matrix, or matrices under one batch axis that stands for all of `batch`.
    fn batched(self, batch: &[usize]) -> Value<'g> {
        let shape = self.shape();
        let (own, matrix) = shape.split_at(shape.len() - 2);
        if own.is_empty() {
            return self;
        }
        if own != batch {
            return self.broadcast_to(&[batch, matrix].concat()).batched(batch);
        }
        let flat = |v: Value<'g>, r: usize, c: usize| v.reshape(&[batch.iter().product(), r, c]);
        match self.untransposed() {
            Some(source) => flat(source, matrix[1], matrix[0]).transpose(&[0, 2, 1]),
            None => flat(self, matrix[0], matrix[1]),
        }
    }

    /// What this transposes, when it swaps just the last two axes.
    fn untransposed(self) -> Option<Value<'g>> {
        let id = swapped(&self.graph.inner.borrow().nodes[self.id].op)?;
        Some(Value { id, ..self })
    }

    /// The same elements in row-major order under another shape.
    #[track_caller]
    pub fn reshape(self, shape: &[usize]) -> Value<'g> {
        self.apply("reshape", &[], || {
            let ty = self.ty();
            ensure!(
                ty.shape.iter().product::<usize>() == shape.iter().product::<usize>(),
                "shape {:?} has {} elements, {shape:?} has {}",
                ty.shape,
                ty.shape.iter().product::<usize>(),
                shape.iter().product::<usize>()
            );
            if ty.shape == shape {
                return Ok(self);
            }
            Ok(self.graph.node(Type::new(ty.dtype, shape), Op::Reshape(self.id)))
        })
    }

    /// Axis `i` of the result is axis `permutation[i]` of `self`; without a permutation the axes are reversed.
    #[track_caller]
    pub fn transpose(self, permutation: &[usize]) -> Value<'g> {
        self.apply("transpose", &[], || {
            let ty = self.ty();
            let reversed: Vec<usize> = (0..ty.shape.len()).rev().collect();
            let permutation = if permutation.is_empty() { &reversed } else { permutation };
            let mut sorted = permutation.to_vec();
            sorted.sort_unstable();
            ensure!(
                sorted.into_iter().eq(0..ty.shape.len()),
                "{permutation:?} is not a permutation of the axes of shape {:?}",
                ty.shape
            );
            let shape: Vec<usize> = permutation.iter().map(|&i| ty.shape[i]).collect();
            Ok(self.graph.node(Type::new(ty.dtype, &shape), Op::Transpose(self.id, permutation.to_vec())))
        })
    }

    /// The elements at `range` of `axis`.
    #[track_caller]
    pub fn slice(self, axis: isize, range: Range<usize>) -> Value<'g> {
        self.slice_by(axis, range, 1)
    }

    /// Every `step`-th of the elements at `range` of `axis`.
    #[track_caller]
    pub fn slice_by(self, axis: isize, range: Range<usize>, step: usize) -> Value<'g> {
        self.apply("slice", &[], || self.sliced(axis, range, step, false))
    }

    /// The elements at `index` of `axis`, without that axis.
    #[track_caller]
    pub fn index(self, axis: isize, index: usize) -> Value<'g> {
        self.apply("index", &[], || self.sliced(axis, index..index + 1, 1, true))
    }

    fn sliced(self, axis: isize, range: Range<usize>, step: usize, drop: bool) -> Result<Value<'g>> {
        let Type { dtype, mut shape } = self.ty();
        let axis = resolve_axis(axis, shape.len())?;
        ensure!(
            range.start <= range.end && range.end <= shape[axis] && step > 0,
            "{range:?} by {step} does not fit axis {axis} of shape {shape:?}"
        );
        let (mut offsets, mut strides) = (vec![0; shape.len()], vec![1; shape.len()]);
        let mut dropped = vec![false; shape.len()];
        (offsets[axis], strides[axis], dropped[axis]) = (range.start, step, drop);
        if drop {
            shape.remove(axis);
        } else {
            shape[axis] = range.len().div_ceil(step);
        }
        Ok(self.graph.node(Type { dtype, shape }, Op::Slice { arg: self.id, offsets, strides, dropped }))
    }

    /// `count` equal parts of `axis`. On an error all of them are invalid.
    #[track_caller]
    pub fn split(self, axis: isize, count: usize) -> Vec<Value<'g>> {
        let checked = self.apply("split", &[], || {
            let shape = self.shape();
            let size = shape[resolve_axis(axis, shape.len())?];
            ensure!(
                count > 0 && size.is_multiple_of(count),
                "axis {axis} of shape {shape:?} has no {count} equal parts"
            );
            Ok(self)
        });
        let part = resolve_axis(axis, checked.rank()).map_or(0, |a| checked.shape()[a] / count.max(1));
        (0..count).map(|i| checked.slice(axis, i * part..(i + 1) * part)).collect()
    }

    /// `self` and `others` one after another along `axis`.
    #[track_caller]
    pub fn concat(self, others: &[Value<'g>], axis: isize) -> Value<'g> {
        self.apply("concat", others, || {
            let policy = self.graph.promotion();
            let dtype = others.iter().try_fold(self.dtype(), |t, v| policy.resolve(t, v.dtype()))?;
            let mut shape = self.shape();
            let axis = resolve_axis(axis, shape.len())?;
            for other in others.iter().map(|v| v.shape()) {
                let fits = other.len() == shape.len() && (0..shape.len()).all(|i| i == axis || other[i] == shape[i]);
                ensure!(fits, "shapes {:?} and {other:?} differ outside axis {axis}", self.shape());
                shape[axis] += other[axis];
            }
            let parts: Vec<Id> = std::iter::once(&self).chain(others).map(|v| v.cast(dtype).id).collect();
            Ok(self.graph.node(Type { dtype, shape }, Op::Concat(parts, axis)))
        })
    }

    /// The slices of `self` at `ids` along `axis`, which the axes of `ids` replace. The compiled code checks every id before it
    /// reads: one that is negative or past the end stops the program with a message.
    #[track_caller]
    pub fn gather(self, ids: Value<'g>, axis: isize) -> Value<'g> {
        self.apply("gather", &[ids], || {
            let (Type { dtype, shape }, ids_ty) = (self.ty(), ids.ty());
            ensure!(matches!(ids_ty.dtype, DType::I32 | DType::I64), "takes ids of i32 or i64, not {}", ids_ty.dtype);
            let axis = resolve_axis(axis, shape.len())?;
            let shape = [&shape[..axis], &ids_ty.shape, &shape[axis + 1..]].concat();
            Ok(self.graph.node(Type { dtype, shape }, Op::Gather { table: self.id, ids: ids.id, axis }))
        })
    }

    /// `self` with `rows` in the place of its elements from `position` on along `axis`; `position` is one integer, and `rows`
    /// has the shape of `self` but for `axis`. Where `self` is a writable argument, its own memory is updated. The compiled code
    /// checks that the rows fit.
    #[track_caller]
    pub fn update(self, rows: Value<'g>, position: Value<'g>, axis: isize) -> Value<'g> {
        self.apply("update", &[rows, position], || {
            let (ty, rows_ty, at) = (self.ty(), rows.ty(), position.ty());
            let axis = resolve_axis(axis, ty.shape.len())?;
            let fits = rows_ty.shape.len() == ty.shape.len()
                && (0..ty.shape.len())
                    .all(|i| rows_ty.shape[i] == ty.shape[i] || i == axis && rows_ty.shape[i] < ty.shape[i]);
            ensure!(fits && rows_ty.dtype == ty.dtype, "{rows_ty} does not fit into {ty} along axis {axis}");
            ensure!(
                matches!(at.dtype, DType::I32 | DType::I64) && at.shape.iter().all(|&n| n == 1),
                "takes a position of one i32 or i64, not {at}"
            );
            let constant = match self.graph.inner.borrow().nodes[position.id].op {
                Op::Constant(start) => Some(start),
                _ => None,
            };
            let last = (ty.shape[axis] - rows_ty.shape[axis]) as f64;
            ensure!(
                constant.is_none_or(|start| (0.0..=last).contains(&start)),
                "{rows_ty} at position {} does not fit into {ty} along axis {axis}",
                constant.unwrap_or_default()
            );
            Ok(self.graph.node(ty, Op::Update { target: self.id, rows: rows.id, position: position.id, axis }))
        })
    }

    /// Lets the function compute in this argument's memory: what [`Value::update`] and [`Value::store`] make of it is there.
    #[track_caller]
    pub fn writable(self) -> Value<'g> {
        self.apply("writable", &[], || {
            let mut inner = self.graph.inner.borrow_mut();
            let Op::Argument(index) = inner.nodes[self.id].op else { bail!("only an argument can be writable") };
            inner.arguments[index].writable = true;
            Ok(self)
        })
    }

    /// `self` in the memory of `target`, a writable argument of its type. What reads `target` before still finds the old values.
    #[track_caller]
    pub fn store(self, target: Value<'g>) -> Value<'g> {
        self.apply("store", &[target], || {
            let (ty, target_ty) = (self.ty(), target.ty());
            ensure!(ty == target_ty, "{ty} does not fit into {target_ty}");
            let inner = self.graph.inner.borrow();
            let writable = matches!(inner.nodes[target.id].op, Op::Argument(index) if inner.arguments[index].writable);
            ensure!(writable, "the target is no writable argument");
            drop(inner);
            Ok(self.graph.node(ty, Op::Store { value: self.id, target: target.id }))
        })
    }

    /// `exp(x) / sum(exp(x))` along `axis`, with the maximum taken off first.
    #[track_caller]
    pub fn softmax(self, axis: isize) -> Value<'g> {
        let exponentials = (self - self.max(&[axis], true)).exp();
        exponentials / exponentials.sum(&[axis], true)
    }
}

/// The operand of a transpose that swaps just the last two axes.
pub(super) fn swapped(op: &Op) -> Option<Id> {
    let Op::Transpose(source, permutation) = op else { return None };
    let rank = permutation.len();
    let swap = rank >= 2
        && permutation[rank - 2..] == [rank - 1, rank - 2]
        && permutation[..rank - 2].iter().enumerate().all(|(i, &p)| i == p);
    swap.then_some(*source)
}

/// What a product with `other` reads for `operand`, and whether transposed. A matrix that meets every one of a batch is read as
/// it is: upstream refuses a `linalg.batch_matmul` that broadcasts a transpose.
pub(super) fn read_in_place(nodes: &[Node], operand: Id, other: Id) -> (Id, bool) {
    let rank = |id: Id| nodes[id].ty.shape.len();
    match swapped(&nodes[operand].op) {
        Some(source) if rank(operand) == rank(other) || rank(other) < 3 => (source, true),
        _ => (operand, false),
    }
}
