//! `tinymlir-fold-transposes`: products read transposed operands where they lie, instead of copies of them.
//!
//! `y = x W^T` with a weight of N x K, as exporters write every linear layer, is a transposition and a product. Each target
//! multiplies by a matrix in either order, so the transposition goes into the indexing map of the product. So do
//! - a transposition of heads and rows, also with a reshape between it and the product, where the reshape merges neighbouring axes
//!   or axes of one element; where it merges batches and heads that lie apart, the rows are still copied, but not transposed,
//! - a matrix that is repeated for each batch of rows: the batches and rows then become the rows of one product,
//! - a transposition before an elementwise operation on nothing else, which is then computed first,
//! - a transposition of a product's result whose rows stay rows, if the product starts from a fill.
//!
//! Runs in the optimize stage, on tensors. It leaves
//! - a transposition that anything but products reads, since the copy is made then, or one in another block, such as before a loop,
//! - one that more than two products of several rows read: these are quicker on the copy than a copy takes, together,
//! - the operand that gives the rows of a result, or any batch, where elements that are summed up or columns would not lie side by side,
//! - what is overwritten between the transposition and the product.

use crate::{
    ir::{Op, Pass, PassCx, PassResult, Type, Value},
    permutations::{Permutation, reassociation, runs, tensor_type},
    tensor_products::{C, Product, readers, set_maps},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-fold-transposes",
    description: "Make transpositions of products' operands and results part of the products",
    anchor: "builtin.module",
    options: &[],
    statistics: &[
        ("operands", "Operands that are read where they lie"),
        ("results", "Results that are written where they go"),
        ("declined", "Transposed operands that are copied"),
    ],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__linalg__,
        mlirGetDialectHandle__tensor__,
    ],
    run,
};

/// The most products of several rows that read a transposition: a product of a few rows by a matrix of N x K takes up to a seventh of the
/// copy longer on the CPU than by one of K x N, one of many rows up to a half of it.
const MOST_READERS: usize = 2;

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.walk().into_iter().filter(|op| Product::of(*op).is_some()).collect::<Vec<_>>() {
        let mut op = op;
        for i in [0, 1] {
            cx.check(op, scaled_first(op.operand(i)))?;
            // What a transposition reads may be one as well.
            while let Some(found) = Product::of(op).and_then(|product| product.fold_operand(cx, i)) {
                op = cx.check(op, found)?;
            }
        }
        if let Some(found) = Product::of(op).and_then(|product| product.fold_result(cx)) {
            cx.check(op, found)?;
        }
    }
    Ok(())
}

/// How an operand is read instead.
struct Reading {
    value: Value,
    dims: Vec<usize>,
}

impl Product {
    /// Makes operand `i` what a transposition, or a reshape of one, reads. Nothing where there is none, or it stays.
    fn fold_operand(&self, cx: &PassCx, i: usize) -> Option<Result<Op, String>> {
        let operand = self.op.operand(i);
        let reshape = operand.def().filter(|d| d.is("tensor.collapse_shape"));
        let moved = Permutation::of(reshape.map_or(operand, |r| r.operand(0)))?;
        let reading = match self.stays(&moved) {
            Some(reason) => Err(reason),
            None => match reshape {
                None => self.straight(i, &moved),
                Some(reshape) => self.before_reshape(i, &moved, reshape),
            },
        };
        match reading {
            Err(reason) => {
                cx.missed(self.op, &format!("reads a copy of a transposed operand: {reason}"));
                cx.count("declined");
                None
            }
            Ok(reading) => {
                cx.passed(self.op, &format!("reads operand {i} without '{}'", moved.op.name()));
                cx.count("operands");
                let product = reading.and_then(|reading| self.read(i, reading, moved.repeats()));
                reshape.into_iter().chain([moved.op]).filter(|op| op.result(0).uses().is_empty()).for_each(Op::erase);
                Some(product)
            }
        }
    }

    /// Why a transposition is not this product's alone.
    fn stays(&self, moved: &Permutation) -> Option<&'static str> {
        if moved.op.block() != self.op.block() {
            return Some("it is made in another block");
        }
        let Some(readers) = readers(moved.op.result(0)) else { return Some("it is read by more than products") };
        let rows = readers.iter().filter(|r| Product::of(**r).is_none_or(|p| !p.is_of_one_row()));
        if rows.count() > MOST_READERS {
            return Some("more than two products read it");
        }
        let order = self.op.block().map(|b| b.ops()).unwrap_or_default();
        let place = |op: Op| order.iter().position(|o| *o == op);
        let between = place(moved.op)..place(self.op);
        let overwrites = |(user, operand): &(Op, usize)| {
            let mut user = *user;
            while user.block() != self.op.block() {
                user = user.parent()?;
            }
            let reads = user.is_linalg() && *operand + user.results().len() < user.operands().len()
                || user.name().starts_with("tensor.") && *operand == 0 && !user.is("tensor.reshape")
                || user.is("tensor.dim");
            Some(!reads && between.contains(&place(user)))
        };
        moved.input.uses().iter().any(|used| overwrites(used).unwrap_or(true)).then_some("it is overwritten before")
    }

    /// The operand as the transposition reads it.
    fn straight(&self, i: usize, moved: &Permutation) -> Result<Result<Reading, String>, &'static str> {
        let dims: Vec<usize> = moved.axes.iter().map(|axis| self.dims[i][*axis]).collect();
        self.suits(i, &dims)?;
        Ok(Ok(Reading { value: moved.input, dims }))
    }

    /// Whether operand `i` may have its axes along these dimensions.
    fn suits(&self, i: usize, dims: &[usize]) -> Result<(), &'static str> {
        let lost = self.dims[i].iter().filter(|d| !dims.contains(d));
        if lost.clone().any(|d| !self.has(1 - i, *d) || !self.has(C, *d)) {
            return Err("it is repeated along more than batches");
        }
        if !self.reads_rows(i, dims) && self.reads_rows(i, &self.dims[i]) {
            return Err("its rows would lie apart");
        }
        Ok(())
    }

    /// The operand of a transposition of which axes are merged afterwards: merged first, or else copied in the order of its rows.
    fn before_reshape(
        &self,
        i: usize,
        moved: &Permutation,
        reshape: Op,
    ) -> Result<Result<Reading, String>, &'static str> {
        let (Some(groups), Some(shape)) = (reassociation(reshape), moved.input.ty().shape()) else {
            return Err("it has no shape");
        };
        if moved.repeats() {
            return Err("what is repeated is reshaped");
        }
        let element = moved.input.ty().element().map(|e| e.to_string()).unwrap_or_default();
        let Some(runs) = runs(&shape, &moved.axes, &groups) else {
            return self.rows_copied(i, moved, &groups, &element);
        };
        let dims: Vec<usize> = runs.iter().map(|run| self.dims[i][run.group]).collect();
        self.suits(i, &dims)?;
        let merged: Vec<Option<i64>> =
            runs.iter().map(|run| run.axes.iter().map(|axis| shape[*axis]).product()).collect();
        let axes: Vec<Vec<usize>> = runs.into_iter().map(|run| run.axes).collect();
        let ty = tensor_type(&merged, &element);
        let text = format!("%r = tensor.collapse_shape %x {axes:?} : {} into {ty}\nreturn %r : {ty}", moved.input.ty());
        let made = self.op.build_before(&[("x", moved.input)], "", &text);
        Ok(made.map(|values| Reading { value: values[0], dims }))
    }

    /// The operand of a transposition that also exchanges the last two axes: another one leaves these, and the product exchanges them.
    fn rows_copied(
        &self,
        i: usize,
        moved: &Permutation,
        groups: &[Vec<usize>],
        element: &str,
    ) -> Result<Result<Reading, String>, &'static str> {
        let mut order = moved.sources();
        let rank = order.len();
        let mut dims = self.dims[i].clone();
        let last = dims.len().wrapping_sub(1);
        let shape = moved.input.ty().shape().unwrap_or_default();
        let exchanged = rank >= 2 && order[rank - 2] + 1 == rank;
        let apart = groups.iter().rev().take(2).all(|group| group.len() == 1);
        if !exchanged
            || !apart
            || last < 2
            || shape.contains(&None)
            || readers(moved.op.result(0)).is_none_or(|r| r.len() != 1)
        {
            return Err("it is reshaped");
        }
        order.swap(rank - 2, rank - 1);
        dims.swap(last - 1, last);
        self.suits(i, &dims)?;
        let sizes: Vec<Option<i64>> = order.iter().map(|axis| shape[*axis]).collect();
        let merged: Vec<Option<i64>> =
            groups.iter().map(|group| group.iter().map(|axis| sizes[*axis]).product()).collect();
        let (ty, to) = (tensor_type(&sizes, element), tensor_type(&merged, element));
        let text = format!(
            "%e = tensor.empty() : {ty}\n\
             %t = linalg.transpose ins(%x : {}) outs(%e : {ty}) permutation = {order:?}\n\
             %r = tensor.collapse_shape %t {groups:?} : {ty} into {to}\nreturn %r : {to}",
            moved.input.ty()
        );
        let made = self.op.build_before(&[("x", moved.input)], "", &text);
        Ok(made.map(|values| Reading { value: values[0], dims }))
    }

    /// The product with operand `i` read in another way.
    fn read(&self, i: usize, reading: Reading, repeated: bool) -> Result<Op, String> {
        let mut dims = self.dims.clone();
        dims[i] = reading.dims;
        let op = self.renamed(&dims);
        op.set_operand(i, reading.value);
        set_maps(op, &dims)?;
        match Product::of(op).filter(|_| repeated) {
            Some(product) => Ok(product.with_batches_as_rows()),
            None => Ok(op),
        }
    }

    /// Writes the result as the transposition that alone reads it does, also behind a reshape. Nothing where there is none, or it stays.
    fn fold_result(&self, cx: &PassCx) -> Option<Result<(), String>> {
        let only_use = |value: Value| match value.uses()[..] {
            [(user, 0)] if user.block() == self.op.block() && user.results().len() == 1 => Some(user),
            _ => None,
        };
        let result = self.op.result(0);
        let first = only_use(result)?;
        let reshape = Some(first).filter(|op| op.is("tensor.expand_shape"));
        let moved = Permutation::of(match reshape {
            Some(reshape) => only_use(reshape.result(0))?.result(0),
            None => first.result(0),
        })?;
        let shape: Vec<Option<i64>> = moved.op.result(0).ty().shape()?;
        let fill = self.op.operand(C).def().filter(|d| d.is("linalg.fill"))?;
        if moved.repeats() || shape.contains(&None) {
            return None;
        }
        let groups = match reshape {
            Some(reshape) => reassociation(reshape)?,
            None => (0..shape.len()).map(|axis| vec![axis]).collect(),
        };
        let runs = runs(&shape, &moved.sources(), &groups)?;
        let dims: Vec<usize> = runs.iter().map(|run| self.dims[C][run.group]).collect();
        if self.last(&dims) != self.last(&self.dims[C]) {
            return None;
        }
        let sizes: Vec<Option<i64>> = runs.iter().map(|run| run.axes.iter().map(|a| shape[*a]).product()).collect();
        let axes: Vec<Vec<usize>> = runs.into_iter().map(|run| run.axes).collect();
        cx.passed(self.op, &format!("writes its result as '{}' does", moved.op.name()));
        cx.count("results");
        Some(self.write((&moved, reshape), fill.operand(0), &sizes, (dims, &axes)))
    }

    fn write(
        &self,
        (moved, reshape): (&Permutation, Option<Op>),
        start: Value,
        sizes: &[Option<i64>],
        (dims, axes): (Vec<usize>, &[Vec<usize>]),
    ) -> Result<(), String> {
        let ty = moved.op.result(0).ty();
        let element = ty.element().map(|e| e.to_string()).unwrap_or_default();
        let own = tensor_type(sizes, &element);
        let dims = [self.dims[0].clone(), self.dims[1].clone(), dims];
        let op = self.renamed(&dims);
        let text = format!(
            "%e = tensor.empty() : {own}\n\
             %f = linalg.fill ins(%v : {}) outs(%e : {own}) -> {own}\nreturn %f : {own}",
            start.ty()
        );
        let filled = op.build_before(&[("v", start)], "", &text)?;
        op.set_operand(C, filled[0]);
        set_maps(op, &dims)?;
        op.result(0).set_ty(Type::parse(op.ctx(), &own).ok_or("internal error: the type of a result")?);
        op.stand_for([op, moved.op]);
        let shape: Vec<String> =
            ty.shape().unwrap_or_default().iter().map(|s| s.unwrap_or_default().to_string()).collect();
        let text = format!(
            "%r = tensor.expand_shape %c {axes:?} output_shape [{}] : {own} into {ty}\nreturn %r : {ty}",
            shape.join(", ")
        );
        let values = match reshape {
            Some(_) => moved.op.build_before(&[("c", op.result(0))], "", &text)?,
            None => vec![op.result(0)],
        };
        moved.op.replace_with(&values);
        if let Some(reshape) = reshape {
            reshape.erase();
        }
        Ok(())
    }
}

/// Moves an elementwise operation on nothing but a transposed tensor, such as the scaling of transposed keys, before the transposition, where
/// products alone read its result, perhaps reshaped as `operand`.
fn scaled_first(operand: Value) -> Result<(), String> {
    let found = || {
        let reshape = operand.def().filter(|d| d.is("tensor.collapse_shape"));
        let result = reshape.map_or(operand, |r| r.operand(0));
        let op = result.def().filter(|d| d.is("linalg.generic"))?;
        let moved = op.operands().first().and_then(|input| Permutation::of(*input)).filter(|m| !m.repeats())?;
        let body = *op.blocks(0).first()?;
        let plain = |o: &Op| o.name().starts_with("arith.") || o.name().starts_with("math.") || o.is("linalg.yield");
        let fits = op.operands().len() == 2
            && op.results().len() == 1
            && op.linalg_maps().iter().all(|map| map.is_identity())
            && body.arguments()[1].uses().is_empty()
            && body.ops().iter().all(plain)
            && moved.op.result(0).uses().len() == 1
            && readers(result).is_some();
        let shape = moved.input.ty().shape().filter(|shape| fits && !shape.contains(&None))?;
        Some((op, moved, shape, result.ty().element()?.to_string()))
    };
    let Some((op, moved, shape, element)) = found() else { return Ok(()) };
    let (result, old, ty) = (op.result(0), op.result(0).ty(), tensor_type(&shape, &element));
    let uses = result.uses();
    let empty = op.build_before(&[], "", &format!("%e = tensor.empty() : {ty}\nreturn %e : {ty}"))?;
    op.set_operand(0, moved.input);
    op.set_operand(1, empty[0]);
    result.set_ty(Type::parse(op.ctx(), &ty).ok_or("internal error: the type of a tensor")?);
    let text = format!(
        "%e = tensor.empty() : {old}\n\
         %t = linalg.transpose ins(%x : {ty}) outs(%e : {old}) permutation = {:?}\nreturn %t : {old}",
        moved.sources()
    );
    let after = op.next().ok_or("internal error: nothing after an operation")?;
    let transposed = after.build_before(&[("x", result)], "", &text)?;
    uses.into_iter().for_each(|(user, place)| user.set_operand(place, transposed[0]));
    moved.op.erase();
    Ok(())
}
