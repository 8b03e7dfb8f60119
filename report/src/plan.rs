//! The buffers of a function over its course: when each is there, how large it is, and a place for it beside the others.

use crate::{
    costs::{bytes_of, short_type},
    state::Sources,
};
use serde::Serialize;
use std::collections::HashMap;
use tinymlir_passes::ir::{Op, Value};

/// A buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Buffer {
    /// Its type.
    pub shape: String,
    /// Its size.
    pub bytes: u64,
    /// The number of the operation that allocates it.
    pub from: usize,
    /// Past the last operation that uses it, through views of it too.
    pub to: usize,
    /// The number of the operation that frees it, or the end of the function.
    pub freed: usize,
    /// Where it lies among the others, in bytes: first fit in the order of allocation.
    pub offset: u64,
    /// The kind of the operation that writes it first: `product`, `reduction`, `elementwise` or `move`.
    pub family: &'static str,
    /// Where it came from, as a number of [`Sources`].
    pub source: u32,
}

/// The buffers of a function.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plan {
    /// The function.
    pub function: String,
    /// The number of operations in its body, frees apart.
    pub length: usize,
    /// In the order of allocation.
    pub buffers: Vec<Buffer>,
    /// The most bytes that are in use at once.
    pub peak: u64,
    /// The most bytes that are allocated at once.
    pub held: u64,
    /// The bytes of the whole picture: more than the peak where first fit leaves gaps.
    pub extent: u64,
    /// All buffers, as if none were freed.
    pub total: u64,
    /// The bytes of the arguments of known size.
    pub arguments: u64,
    /// Buffers whose sizes only the run knows.
    pub unknown: usize,
}

/// The plan of every function that allocates.
pub fn plans(module: Op, sources: &mut Sources) -> Vec<Plan> {
    let functions = module.body().into_iter().filter(|f| f.is("func.func") && !f.body().is_empty());
    functions.map(|f| plan(f, sources)).filter(|p| !p.buffers.is_empty() || p.unknown > 0).collect()
}

fn plan(function: Op, sources: &mut Sources) -> Plan {
    let body = function.body();
    // Frees take no time worth drawing: upstream puts them all at the end.
    let mut index = HashMap::new();
    let mut length = 0;
    for op in &body {
        index.insert(*op, length);
        length += usize::from(!op.is("memref.dealloc"));
    }
    // What is nested in a loop counts as the loop.
    let place = |mut op: Op| -> Option<usize> {
        while op.parent() != Some(function) {
            op = op.parent()?;
        }
        index.get(&op).copied()
    };
    let mut plan = Plan { function: function.symbol().unwrap_or_default(), length, ..Plan::default() };
    for argument in function.blocks(0).first().map(|b| b.arguments()).unwrap_or_default() {
        plan.arguments += bytes_of(argument).unwrap_or_default() as u64;
    }
    for alloc in function.find(&["memref.alloc"]) {
        let buffer = alloc.result(0);
        let (Some(from), Some(bytes)) = (place(alloc), bytes_of(buffer)) else {
            plan.unknown += 1;
            continue;
        };
        let mut uses = Vec::new();
        users(buffer, &mut uses);
        let at = |op: &Op| place(*op);
        let freed = uses.iter().filter(|op| op.is("memref.dealloc")).filter_map(at).max().unwrap_or(length);
        let last = uses.iter().filter(|op| !op.is("memref.dealloc")).filter_map(at).max();
        let writer = first_writer(buffer);
        plan.buffers.push(Buffer {
            shape: short_type(buffer),
            bytes: bytes as u64,
            from,
            to: last.map_or(from, |last| last + 1).max(from + 1),
            freed: freed.max(from + 1),
            offset: 0,
            family: writer.map_or("move", family),
            source: sources.of(writer.unwrap_or(alloc)),
        });
    }
    settle(&mut plan);
    plan
}

/// Every operation that uses a buffer, or a view of it.
fn users(buffer: Value, out: &mut Vec<Op>) {
    for (op, _) in buffer.uses() {
        out.push(op);
        let view = op.name().starts_with("memref.") || op.name().starts_with("scf.");
        for result in op.results().into_iter().filter(|r| view && r.ty().is_memref()) {
            users(result, out);
        }
    }
}

/// The operation after the fills that writes a buffer, or the fill.
fn first_writer(buffer: Value) -> Option<Op> {
    let mut users: Vec<Op> =
        buffer.uses().into_iter().map(|(op, _)| op).filter(|op| tinymlir_passes::memory::writes(*op, buffer)).collect();
    users.reverse();
    users.iter().find(|op| op.is_linalg() && !op.is("linalg.fill")).or(users.first()).copied()
}

fn family(op: Op) -> &'static str {
    if !op.is_linalg() || op.is("linalg.fill") {
        return "move";
    }
    let dims = op.linalg_maps().first().map_or(0, |m| m.num_dims());
    if op.is_contraction() {
        "product"
    } else if op.linalg_num_parallel() < dims {
        "reduction"
    } else {
        "elementwise"
    }
}

/// Gives every buffer the lowest place that is free for as long as it is there.
fn settle(plan: &mut Plan) {
    for i in 0..plan.buffers.len() {
        let (before, rest) = plan.buffers.split_at_mut(i);
        let buffer = &mut rest[0];
        let mut taken: Vec<(u64, u64)> = before
            .iter()
            .filter(|b| b.from < buffer.to && buffer.from < b.to)
            .map(|b| (b.offset, b.offset + b.bytes))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (start, end) in taken {
            if offset + buffer.bytes <= start {
                break;
            }
            offset = offset.max(end);
        }
        buffer.offset = offset;
    }
    let sum = |at: usize, end: fn(&Buffer) -> usize| {
        plan.buffers.iter().filter(|b| b.from <= at && at < end(b)).map(|b| b.bytes).sum::<u64>()
    };
    let (peak, held) = (
        plan.buffers.iter().map(|b| sum(b.from, |b| b.to)).max().unwrap_or_default(),
        plan.buffers.iter().map(|b| sum(b.from, |b| b.freed)).max().unwrap_or_default(),
    );
    (plan.peak, plan.held) = (peak, held);
    plan.extent = plan.buffers.iter().map(|b| b.offset + b.bytes).max().unwrap_or_default();
    plan.total = plan.buffers.iter().map(|b| b.bytes).sum();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(from: usize, to: usize, bytes: u64) -> Buffer {
        Buffer { shape: String::new(), bytes, from, to, freed: 6, offset: 0, family: "move", source: 0 }
    }

    #[test]
    fn buffers_share_places_only_when_they_are_not_there_together() {
        let mut plan = Plan {
            buffers: vec![buffer(0, 4, 100), buffer(1, 3, 50), buffer(3, 6, 40), buffer(4, 6, 100)],
            ..Plan::default()
        };
        settle(&mut plan);
        let offsets: Vec<u64> = plan.buffers.iter().map(|b| b.offset).collect();
        // The third fits where the second was; the fourth, where neither of the first two is.
        assert_eq!(offsets, [0, 100, 100, 0]);
        assert_eq!((plan.peak, plan.held, plan.extent, plan.total), (150, 290, 150, 290));
    }
}
