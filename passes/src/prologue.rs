//! What makes the rows of a product's A, such as a layer norm: a group of [`crate::rows`] that every block of the product's
//! kernel can compute for itself, since the rows are few and short. Where it begins with the sum of a product's parts
//! ([`crate::parts`]) that something else reads too, such as a residual, the kernel's first block stores that.

use crate::{
    device::source,
    host::Operand,
    ir::{Op, Value},
    memory::{between, erase_unread, may_alias, outputs, touches, writes},
    parts::PARTS,
    rows::{Group, Kind},
};

/// A group that ends with a product's A.
pub struct Prologue {
    pub group: Group,
    /// Whether the kernel also stores what the first member makes.
    pub stores: bool,
}

/// How many operations before the one that makes A may start its group.
const REACH: usize = 8;
/// The template has room for so many reductions, and for so many elements in workgroup memory.
const MOST_REDUCTIONS: usize = 2;
const MOST_ELEMENTS: i64 = 8192;

/// The group that makes `a`, the `rows` x `depth` matrix that the product `op` reads. Its kernel stands at `at`, writes the
/// buffers `written` and reads the buffers `inputs`, too.
pub fn find(
    op: Op,
    a: &Operand,
    (rows, depth): (i64, i64),
    at: Op,
    written: &[Value],
    inputs: &[Value],
) -> Option<Prologue> {
    let whole = a.offset == 0 && a.strides[2] == 1 && (rows == 1 || a.strides[1] == depth);
    if !whole || rows * depth > MOST_ELEMENTS || !source(a.buffer).def()?.is("memref.alloc") {
        return None;
    }
    let ops = op.block()?.ops();
    let place = ops.iter().position(|o| *o == op)?;
    let last = ops[..place].iter().rposition(|o| writes(*o, a.buffer))?;
    let writer = ops[last];
    let generics = (0..=last).rev().filter(|i| ops[*i].is("linalg.generic")).take(REACH);
    let starts: Vec<usize> = generics.collect();
    let group = starts.into_iter().rev().find_map(|i| Group::starting_at(ops[i])?.until(writer))?;
    let end = group.members.last()?;
    let column = group.rows.len();
    let result = *outputs(writer).first()?;
    let reductions = group.members.iter().filter(|m| matches!(m.kind, Kind::Reduce { .. })).count();
    let filled = group.members.iter().all(|m| !matches!(m.kind, Kind::Reduce { fill: None, .. }));
    let floats =
        group.members.iter().flat_map(|m| m.op.operands()).all(|v| v.ty().element().is_some_and(|e| e.is("f32")));
    let in_order = writer.linalg_maps().last()?.is_identity() && end.dims.iter().copied().eq(0..=column);
    let fits = matches!(end.kind, Kind::Map)
        && (1..=MOST_REDUCTIONS).contains(&reductions)
        && filled
        && floats
        && in_order
        && result.ty().memref()?.is_identity()
        && group.columns == depth
        && group.rows.iter().product::<i64>() == rows;
    // What it reads is the same at the product, and no block of the kernel writes it.
    let first = group.members[0].op;
    let way = between(first, at)?;
    let others: Vec<&Op> = way.iter().filter(|o| !group.holds(**o)).collect();
    let kept =
        group.reads().all(|v| others.iter().all(|o| !writes(**o, v)) && written.iter().all(|w| !may_alias(*w, v)));
    // A sum of parts that nothing on the way sees, where nobody reads what else the group makes.
    let stores = outputs(first).first().is_some_and(|sum| {
        let mut apart = written.iter().chain(inputs.iter().filter(|i| **i != a.buffer));
        let mut rest = group.members.iter().flat_map(|m| outputs(m.op)).map(source).filter(|b| *b != source(*sum));
        first.attr(PARTS).is_some()
            && others.iter().all(|o| !touches(**o, *sum))
            && apart.all(|v| !may_alias(*v, *sum))
            && rest.all(|b| is_dead_behind(b, op, &group))
    });
    (fits && kept).then_some(Prologue { group, stores })
}

impl Prologue {
    /// Erases the group where nothing reads what it leaves any more, or the kernel stores that: what its members wrote is
    /// overwritten or freed next.
    pub fn erase_unread(self) {
        let Some(last) = self.group.members.last().map(|m| m.op) else { return };
        let written: Vec<Value> = self.group.members.iter().flat_map(|m| outputs(m.op)).map(source).collect();
        if !self.stores && !written.iter().all(|b| is_dead_behind(*b, last, &self.group)) {
            return;
        }
        let fills: Vec<Op> = self.group.fills().collect();
        fills.into_iter().for_each(|f| f.erase());
        self.group.members.iter().for_each(|m| m.op.erase());
        let mut done: Vec<Value> = vec![];
        for buffer in written {
            if !done.contains(&buffer) {
                erase_unread(buffer);
                done.push(buffer);
            }
        }
    }
}

/// Whether nothing reads behind `last` what the group left in a buffer.
fn is_dead_behind(buffer: Value, last: Op, group: &Group) -> bool {
    let own = buffer.def().is_some_and(|d| d.is("memref.alloc"));
    let Some(ops) = last.block().map(|b| b.ops()).filter(|_| own) else { return false };
    let size = |v: Value| v.ty().shape().and_then(|s| s.into_iter().product::<Option<i64>>());
    let mut users = vec![];
    let mut left = vec![buffer];
    while let Some(value) = left.pop() {
        for (user, _) in value.uses() {
            let view = user.results().len() == 1 && user.result(0).ty().is_memref() && source(user.result(0)) == buffer;
            match (view, ops.iter().position(|o| *o == user)) {
                (true, _) => left.extend(user.results()),
                (false, Some(place)) => users.push((place, user, value)),
                (false, None) => return false,
            }
        }
    }
    let place = ops.iter().position(|o| *o == last);
    let later = users.into_iter().filter(|(at, user, _)| Some(*at) > place && !group.holds(*user));
    later.min_by_key(|(at, _, _)| *at).is_none_or(|(_, user, value)| {
        user.is("memref.dealloc") || user.is("linalg.fill") && size(value) == size(buffer)
    })
}
