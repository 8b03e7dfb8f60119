//! The one row of an argument, such as a cache of keys, that a function writes. The others are the same from a call's beginning to its end,
//! so that a kernel may read them before its predecessor ends.

use crate::{
    device::{leaves_memory_alone, source},
    host::Operand,
    ir::{Op, Type, Value},
    memory::{between, users, writes},
};

/// Whether nothing in a function writes rows of its argument `operand`, of [batches, rows, columns], but the one whose number
/// `number` holds: nothing does at all where it is `Some(false)`. The number is one integer in memory that is an argument, too, and nothing before
/// `at`, which is an operation of the function's only block, writes it. Loops that copy or store to a row whose number they load are understood;
/// a buffer that goes where its users are not seen, such as through a selection of buffers, is not.
pub fn writes_one_row(operand: &Operand, sizes: [i64; 3], number: Option<Value>, at: Op) -> Option<bool> {
    let root = source(operand.buffer);
    let own = |value: Value| {
        let block = value.block_argument().map(|(block, _)| block).filter(|b| Some(*b) == at.block())?;
        let function = block.parent();
        (function.is("func.func") && function.blocks(0).len() == 1).then_some(())?;
        // What touches no memory by itself gives the buffer, or its address, to others.
        let seen = |op: &Op| op.is("memref.dim") || op.is("memref.rank") || !leaves_memory_alone(*op);
        Some(users(value)).filter(|users| users.iter().all(seen))
    };
    let all = own(root)?;
    let mut writers = all.iter().filter(|op| writes(**op, root)).peekable();
    if writers.peek().is_none() {
        return Some(false);
    }
    let number = source(number?);
    let numbers = own(number)?;
    let one = number.ty().shape()?.iter().all(|n| *n == Some(1));
    let kept = numbers.into_iter().all(|op| !writes(op, number) || stands_behind(op, at));
    let axis = axis_of_rows(root.ty(), operand, sizes)?;
    (one && kept && writers.all(|op| row_written(*op, root, axis) == Some(number))).then_some(true)
}

/// The axis along which a buffer's index is the operand's row.
fn axis_of_rows(ty: Type, operand: &Operand, [batches, rows, columns]: [i64; 3]) -> Option<usize> {
    let memref = ty.memref()?;
    let [batch, row, _] = operand.strides;
    let is_axis = |i: &usize| memref.shape[*i] == Some(rows) && memref.strides[*i] == Some(row);
    let axis = (0..memref.shape.len()).find(is_axis)?;
    let dense: Option<Vec<i64>> = memref.shape.iter().copied().collect();
    let sizes = dense?;
    let is_dense = |i: usize| memref.strides[i] == Some(sizes[i + 1..].iter().product());
    // Batches and columns move along other axes, and the first row is the buffer's first.
    let apart = (batches == 1 || batch % (row * rows) == 0)
        && operand.offset % row + columns <= row
        && operand.offset / row % rows == 0;
    ((0..sizes.len()).all(is_dense) && memref.offset == Some(0) && apart).then_some(axis)
}

/// The buffer that an operation loads the number of the only row from that it writes of another.
fn row_written(op: Op, root: Value, axis: usize) -> Option<Value> {
    let row = match op.name().as_str() {
        "memref.store" => Some(op.operand(1)).filter(|v| *v == root).map(|_| op.operand(2 + axis))?,
        "memref.copy" => {
            let view = op.operand(1).def().filter(|d| d.is("memref.subview") && d.operand(0) == root)?;
            let list = |name: &str| view.attr(name)?.as_static_sizes();
            let offsets = list("static_offsets")?;
            let one = list("static_sizes")?[axis] == Some(1);
            let place = offsets[..axis].iter().filter(|offset| offset.is_none()).count();
            (one && offsets[axis].is_none()).then(|| view.operand(1 + place))?
        }
        _ => return None,
    };
    let cast = row.def().filter(|d| d.is("arith.index_cast"));
    let load = cast.map_or(row, |d| d.operand(0)).def().filter(|d| d.is("memref.load"))?;
    Some(source(load.operand(0)))
}

/// Whether an operation, or the one around it, stands behind `at` in its block.
fn stands_behind(op: Op, at: Op) -> bool {
    let around = std::iter::successors(Some(op), |op| op.parent()).find(|op| op.block() == at.block());
    around.is_some_and(|op| between(at, op).is_some())
}
