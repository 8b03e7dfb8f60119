//! `tinymlir-row-blocks`: chains of linalg operations over the same rows run block by block of rows in one parallel loop.
//!
//! A layer norm is a fill, a sum, a difference, a fill, a sum of squares and a quotient: as loops of their own each passes over
//! the whole array, through memory, and starts and stops the threads. Here a maximal run of such operations becomes one
//! `scf.forall` over blocks of rows that has the same operations on views of a block. A buffer that nothing but the run uses is as
//! large as a block, on the stack. A block has at least 512 iterations of the inner loops and one row.
//!
//! Rows are the outer parallel loops that index the leading dimensions of all that the run writes, and of what other members
//! read of that, in order; their sizes must be equal, statically or as values. What the run does not write may be indexed in
//! any way but by an expression that has a row in it, such as a sum. A buffer may be of another shape to one member than to
//! another if its leading dimensions are the same. Views and allocations between members come before the loop.
//! What is computed for an element stays as it was.
//!
//! Runs on bufferized functions once products are gone, before loops are outlined; products that are left stay. A run ends,
//! with a remark, at an operation that reads what the run writes at other rows, reduces rows, writes through another view of the same
//! memory or to an argument that may be another one, has other rows, or leaves so few that threads would have none. Operations
//! in parallel loops stay as they are.

use crate::{
    device::{leaves_memory_alone, on_host},
    ir::{Block, Failed, Op, Pass, PassCx, PassResult, Value},
    row_runs::{Cut, Member, Run, Size},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-row-blocks",
    description: "Compute linalg operations over the same rows block by block in one parallel loop",
    anchor: "builtin.module",
    options: &[],
    statistics: &[
        ("runs", "Runs that became a loop over blocks of rows"),
        ("operations", "Operations in them"),
        ("buffers", "Buffers that became as large as a block"),
    ],
    dialects: &[mlirGetDialectHandle__arith__, mlirGetDialectHandle__memref__, mlirGetDialectHandle__scf__],
    run,
};

/// What the buffers of a block take of the stack, in bytes.
const MOST_BYTES: i64 = 1 << 16;

fn run(cx: &PassCx, module: Op) -> PassResult {
    for function in module.find(&["func.func"]).into_iter().filter(|f| on_host(*f)) {
        for block in blocks(function) {
            let (mut run, mut shrunk) = (Run::default(), vec![]);
            for op in block.ops().into_iter().filter(|op| !leaves_memory_alone(*op)) {
                let joined = Member::of(op).and_then(|member| run.join(member));
                let Err(reason) = joined else { continue };
                if op.is_linalg() && !op.is_contraction() && !run.members.is_empty() {
                    cx.missed(op, &format!("ends a run over the same rows: {reason}"));
                }
                shrunk.extend(emit(cx, &std::mem::take(&mut run))?);
                let _ = Member::of(op).and_then(|member| run.join(member));
            }
            shrunk.extend(emit(cx, &run)?);
            for buffer in shrunk {
                let users: Vec<Op> = buffer.uses().into_iter().map(|(user, _)| user).collect();
                users.into_iter().chain(buffer.def()).for_each(|op| op.erase());
                cx.count("buffers");
            }
        }
    }
    Ok(())
}

/// The blocks of an operation whose operations follow one another.
fn blocks(op: Op) -> Vec<Block> {
    let mut found: Vec<Block> = (0..op.num_regions()).flat_map(|region| op.blocks(region)).collect();
    let ordered =
        |op: &Op| !op.is_linalg() && !["scf.parallel", "scf.forall", "gpu.launch"].contains(&op.name().as_str());
    for inner in found.clone().into_iter().flat_map(|b| b.ops()).filter(ordered) {
        found.extend(blocks(inner));
    }
    found
}

/// Replaces a run by a loop. Returns the buffers that became as large as a block: only their deallocations are left.
fn emit(cx: &PassCx, run: &Run) -> Result<Vec<Value>, Failed> {
    let [_, .., last] = &run.members[..] else { return Ok(vec![]) };
    let cut = run.cut();
    let shrunk = shrunk(run, &cut);
    let forall = cx.check(last.op, Blocks { run, cut: &cut, shrunk: &shrunk }.emit())?;
    let names: Vec<String> = run.members.iter().map(|m| m.op.name()).collect();
    let [operations, rows, buffers] = [names.len(), cut.block as usize, shrunk.len()].map(|n| n.to_string());
    let some = |count: &str, what: &str| if count == "1" { format!("a {what}") } else { format!("{count} {what}s") };
    cx.passed_with(
        forall,
        &format!(
            "computes {operations} operations, {} at a time, {} on the stack: {}",
            some(&rows, "row"),
            some(&buffers, "buffer"),
            names.join(", ")
        ),
        &[("kernel", "rows in blocks"), ("operations", &operations), ("rows", &rows), ("buffers", &buffers)],
    );
    cx.count("runs");
    names.iter().for_each(|_| cx.count("operations"));
    Ok(shrunk)
}

/// The buffers that nothing but the run uses, as far as a block's share of them fits on the stack.
fn shrunk(run: &Run, cut: &Cut) -> Vec<Value> {
    let (mut found, mut bytes) = (vec![], 0);
    for value in run.members.iter().flat_map(|m| &m.accesses).map(|a| a.value) {
        if found.contains(&value) {
            continue;
        }
        let size = (|| {
            let def = value.def().filter(|d| d.is("memref.alloc") && d.block() == run.members[0].op.block())?;
            let memref = value.ty().memref().filter(|m| m.is_identity())?;
            let only = value.uses().into_iter().all(|(user, place)| {
                let member = run.members.iter().find(|m| m.op == user);
                // The rows index its leading dimensions and no others.
                let leading = member.is_some_and(|m| {
                    let axes = m.axes(m.op.linalg_maps()[place], cut.rows);
                    axes.iter().enumerate().all(|(i, row)| *row == (i < cut.rows).then_some(i))
                });
                leading || user.is("memref.dealloc") && user.parent_named("func.func") == def.parent_named("func.func")
            });
            let inner = memref.shape.get(cut.rows..)?.iter();
            let elements = inner.copied().try_fold(cut.block, |all, size| all.checked_mul(size?))?;
            only.then_some(elements.checked_mul(memref.element.bytes()?)?)
        })();
        if let Some(size) = size.filter(|size| bytes + size <= MOST_BYTES) {
            bytes += size;
            found.push(value);
        }
    }
    found
}

/// The loop over blocks of a run.
struct Blocks<'a> {
    run: &'a Run,
    cut: &'a Cut,
    shrunk: &'a [Value],
}

/// A view of a block of rows: the buffer, and for each axis the row that it is cut along.
type View = (Value, Vec<Option<usize>>);

impl Blocks<'_> {
    /// Puts the loop in the place of the last operation and moves all into it.
    fn emit(&self) -> Result<Op, String> {
        let members = &self.run.members;
        let last = members[members.len() - 1].op;
        let mut views: Vec<View> = vec![];
        // For each member and operand its view.
        let mut operands: Vec<Vec<Option<usize>>> = vec![];
        for member in members {
            let maps = member.op.linalg_maps();
            let view_of = |(value, map): (Value, _)| {
                let axes = if value.ty().is_memref() { member.axes(map, self.cut.rows) } else { vec![] };
                axes.iter().any(|row| row.is_some()).then(|| {
                    let view = (value, axes);
                    views.iter().position(|v| *v == view).unwrap_or_else(|| {
                        views.push(view);
                        views.len() - 1
                    })
                })
            };
            operands.push(member.op.operands().into_iter().zip(maps).map(view_of).collect());
        }
        let values = self.build(last, &views)?;
        let (offsets, views) = values.1.split_at(self.cut.rows);
        for (member, operands) in members.iter().zip(operands) {
            if member.op != last {
                member.op.move_before(values.0);
            }
            for (i, view) in operands.into_iter().enumerate() {
                view.into_iter().for_each(|view| member.op.set_operand(i, views[view]));
            }
            for index in member.op.find(&["linalg.index"]) {
                let dim = index.attr("dim").and_then(|a| a.as_int());
                let row = member.rows[..self.cut.rows].iter().position(|row| Some(*row as i64) == dim);
                let (Some(row), Some(next)) = (row, index.next()) else { continue };
                let (place, uses) = (index.result(0), index.result(0).uses());
                let inputs = [("i", place), ("o", offsets[row])];
                let sum = next.build_before(&inputs, "", "%s = arith.addi %i, %o : index\nreturn %s : index")?[0];
                uses.into_iter().for_each(|(user, n)| user.set_operand(n, sum));
            }
        }
        last.move_before(values.0);
        let forall = values.0.parent().ok_or("internal error: no loop over blocks")?;
        values.0.erase();
        forall.stand_for(members.iter().map(|m| m.op));
        Ok(forall)
    }

    /// Builds the loop before an operation. Returns the operation inside that stands where the members go, and its operands: the
    /// first row of the block along each dimension, then the views.
    fn build(&self, place: Op, views: &[View]) -> Result<(Op, Vec<Value>), String> {
        let Cut { rows, block } = *self.cut;
        let mut inputs: Vec<(String, Value)> = vec![];
        let (mut text, mut bounds) = (String::new(), vec![]);
        for row in 0..rows {
            let size = self.run.size(row).map(Size::Known).unwrap_or(self.run.sizes[row][0]);
            match size {
                Size::Known(size) => text += &format!("%n{row} = arith.constant {size} : index\n"),
                Size::Value(value) => inputs.push((format!("n{row}"), value)),
                Size::Of(value, axis) => {
                    inputs.push((format!("b{row}"), value));
                    text += &format!(
                        "%x{row} = arith.constant {axis} : index\n%n{row} = memref.dim %b{row}, %x{row} : {}\n",
                        value.ty()
                    );
                }
            }
            bounds.push(if let Size::Known(size) = size { size.to_string() } else { format!("%n{row}") });
        }
        let list = |part: &dyn Fn(usize) -> String| (0..rows).map(part).collect::<Vec<_>>().join(", ");
        let inner = rows - 1;
        text += &format!(
            "scf.forall ({}) = ({}) to ({}) step ({}) {{\n",
            list(&|row| format!("%i{row}")),
            list(&|_| "0".into()),
            bounds.join(", "),
            list(&|row| if row == inner { block.to_string() } else { "1".into() })
        );
        // The rows of a block, fewer in the last one.
        let even = self.run.size(inner).is_some_and(|size| size % block == 0);
        if !even {
            text += &format!(
                "%left = arith.subi %n{inner}, %i{inner} : index\n%most = arith.constant {block} : index\n\
                 %few = arith.minsi %left, %most : index\n"
            );
        }
        let length = |row: usize| match row == inner {
            false => (Some(1), "1".to_string()),
            true if even => (Some(block), block.to_string()),
            true => (None, "%few".to_string()),
        };
        let (mut names, mut types) = (vec![], vec![]);
        for (i, (value, axes)) in views.iter().enumerate() {
            let memref = value.ty().memref().ok_or("internal error: a buffer without strides")?;
            let own = self.shrunk.contains(value);
            let dims = |sizes: &[Option<i64>]| -> String {
                sizes.iter().map(|s| s.map_or("?x".to_string(), |s| format!("{s}x"))).collect()
            };
            let mut shape = vec![];
            let (mut offsets, mut sizes) = (vec![], vec![]);
            for (axis, row) in axes.iter().enumerate() {
                let (known, size) = match (row, memref.shape[axis]) {
                    (Some(row), _) => length(*row),
                    (None, Some(size)) => (Some(size), size.to_string()),
                    (None, None) => {
                        text += &format!(
                            "%axis{i}_{axis} = arith.constant {axis} : index\n\
                             %whole{i}_{axis} = memref.dim %a{i}, %axis{i}_{axis} : {}\n",
                            value.ty()
                        );
                        (None, format!("%whole{i}_{axis}"))
                    }
                };
                shape.push(known);
                sizes.push(size);
                offsets.push(row.filter(|_| !own).map_or("0".to_string(), |row| format!("%i{row}")));
            }
            let (mut from, mut strides, mut offset) = (value.ty().to_string(), memref.strides.clone(), ", offset: ?");
            if own {
                let most: Vec<Option<i64>> = shape
                    .iter()
                    .zip(axes)
                    .map(|(size, row)| row.map_or(*size, |row| Some(if row == inner { block } else { 1 })))
                    .collect();
                from = format!("memref<{}{}>", dims(&most), memref.element);
                offset = "";
                text += &format!("%a{i} = memref.alloca() {{alignment = 64 : i64}} : {from}\n");
                let steps = (0..most.len()).map(|axis| most[axis + 1..].iter().copied().product());
                strides = steps.collect();
            } else {
                inputs.push((format!("a{i}"), *value));
            }
            if own && even {
                names.push(format!("%a{i}"));
                types.push(from);
                continue;
            }
            let strides: Vec<String> = strides.iter().map(|s| s.map_or("?".to_string(), |s| s.to_string())).collect();
            let to = format!("memref<{}{}, strided<[{}]{offset}>>", dims(&shape), memref.element, strides.join(", "));
            let ones = vec!["1"; axes.len()].join(", ");
            text += &format!(
                "%v{i} = memref.subview %a{i}[{}] [{}] [{ones}] : {from} to {to}\n",
                offsets.join(", "),
                sizes.join(", ")
            );
            names.push(format!("%v{i}"));
            types.push(to);
        }
        let all: Vec<String> = (0..rows).map(|row| format!("%i{row}")).chain(names).collect();
        let kinds: Vec<String> = vec!["index".to_string(); rows].into_iter().chain(types).collect();
        text += &format!(
            "%here = builtin.unrealized_conversion_cast {} : {} to index {{tinymlir.body}}\n}}\n",
            all.join(", "),
            kinds.join(", ")
        );
        let inputs: Vec<(&str, Value)> = inputs.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        place.build_before(&inputs, "", &text)?;
        let ops = place.block().ok_or("internal error: an operation outside a block")?.ops();
        let before = ops.iter().take_while(|op| **op != place).filter(|op| op.is("scf.forall")).last();
        let here = before.and_then(|forall| forall.find(&["builtin.unrealized_conversion_cast"]).last().copied());
        let here = here.ok_or("internal error: no place for the operations")?;
        Ok((here, here.operands()))
    }
}
