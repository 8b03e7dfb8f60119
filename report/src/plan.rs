//! The buffers of a function over its course: when each is there, how large it is, and its place beside the others.
//!
//! Buffers that `tinymlir-plan-memory` placed are views of an arena, an allocation of bytes; they are shown where they lie in
//! it. Those with an allocation of their own get the places that a planner could give them.

use crate::{
    costs::{Cost, bytes_of, short_type},
    state::Sources,
};
use serde::Serialize;
use std::collections::HashMap;
use tinymlir_passes::{
    device::leaves_memory_alone,
    ir::{Op, Value},
    memory,
};

/// A buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Buffer {
    /// Its type.
    pub shape: String,
    /// Its size.
    pub bytes: u64,
    /// The number of the first operation that may use it.
    pub from: usize,
    /// Past the last operation that uses it, through views of it too.
    pub to: usize,
    /// The number of the operation before which it is freed; the end of the function where nothing frees it.
    pub freed: usize,
    /// Where it lies among the others, in bytes: in an arena as planned, else first fit in the order of allocation.
    pub offset: u64,
    /// The kind of the operation that writes it first: `product`, `reduction`, `elementwise` or `move`.
    pub family: &'static str,
    /// Where it came from, as a number of [`Sources`].
    pub source: u32,
}

/// Buffers that lie together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Lane {
    /// The bytes of the arena; `None` for buffers that are allocations of their own.
    pub arena: Option<u64>,
    /// Whether kernels alone can read it.
    pub device: bool,
    /// In the order of allocation.
    pub buffers: Vec<Buffer>,
    /// The most bytes that are in use at once: no arena can be smaller.
    pub peak: u64,
    /// The most bytes that are allocated at once.
    pub held: u64,
    /// The bytes of the whole picture: more than the peak where there are gaps.
    pub extent: u64,
    /// All buffers, as if none shared memory.
    pub total: u64,
}

/// The buffers of a function.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plan {
    /// The function.
    pub function: String,
    /// The number of operations in its body that may read or write memory.
    pub length: usize,
    /// Arenas first.
    pub lanes: Vec<Lane>,
    /// The bytes of the arguments of known size.
    pub arguments: u64,
    /// Buffers whose sizes only the run knows.
    pub unknown: usize,
}

impl Plan {
    /// Whether its memory was planned.
    pub fn has_arena(&self) -> bool {
        self.lanes.iter().any(|l| l.arena.is_some())
    }
}

/// The plan of every function that allocates. `costs` says of what kind the operations are that kernels took over.
pub fn plans(module: Op, costs: &[Cost], sources: &mut Sources) -> Vec<Plan> {
    let functions = module.body().into_iter().filter(|f| f.is("func.func") && !f.body().is_empty());
    functions.map(|f| plan(f, costs, sources)).filter(|p| !p.lanes.is_empty() || p.unknown > 0).collect()
}

fn plan(function: Op, costs: &[Cost], sources: &mut Sources) -> Plan {
    let course = Course::of(function);
    let mut plan = Plan { function: function.symbol().unwrap_or_default(), length: course.length, ..Plan::default() };
    for argument in function.blocks(0).first().map(|b| b.arguments()).unwrap_or_default() {
        plan.arguments += bytes_of(argument).unwrap_or_default() as u64;
    }
    let mut own = Lane::default();
    for alloc in function.find(&["memref.alloc", "gpu.alloc"]) {
        let memory = alloc.result(0);
        let Some(bytes) = bytes_of(memory) else {
            plan.unknown += 1;
            continue;
        };
        match views(alloc) {
            Some(views) => {
                let mut lane = Lane { arena: Some(bytes as u64), device: alloc.is("gpu.alloc"), ..Lane::default() };
                for (view, offset) in views {
                    let Some(bytes) = bytes_of(view.result(0)) else { continue };
                    let buffer = course.buffer(view, bytes as u64, costs, sources);
                    lane.buffers.extend(buffer.map(|b| Buffer { offset, ..b }));
                }
                lane.buffers.sort_by_key(|b| (b.from, b.offset));
                lane.measure();
                plan.lanes.push(lane);
            }
            None => own.buffers.extend(course.buffer(alloc, bytes as u64, costs, sources)),
        }
    }
    if !own.buffers.is_empty() {
        own.settle();
        own.measure();
        plan.lanes.push(own);
    }
    plan
}

/// The views that an allocation of bytes is divided into and where each begins; `None` where it is no arena.
fn views(alloc: Op) -> Option<Vec<(Op, u64)>> {
    let ty = alloc.result(0).ty();
    let bytes = ty.shape()?.len() == 1 && ty.element()?.to_string() == "i8";
    let users: Vec<Op> = alloc.result(0).uses().into_iter().map(|(op, _)| op).filter(|op| !frees(*op)).collect();
    let place = |op: &Op| -> Option<(Op, u64)> {
        let place = op.operands().get(1)?.def().filter(|d| op.is("memref.view") && d.is("arith.constant"))?;
        Some((*op, place.attr("value")?.as_int()?.try_into().ok()?))
    };
    users.iter().map(place).collect::<Option<Vec<_>>>().filter(|v| bytes && !v.is_empty())
}

fn frees(op: Op) -> bool {
    op.is("memref.dealloc") || op.is("gpu.dealloc")
}

/// The operations of a function's body, in order.
struct Course {
    function: Op,
    /// How many operations that may touch memory come before each; frees, which upstream puts at the end, are none of them.
    places: HashMap<Op, usize>,
    length: usize,
}

impl Course {
    fn of(function: Op) -> Course {
        let (mut places, mut length) = (HashMap::new(), 0);
        for op in function.body() {
            places.insert(op, length);
            let idle = ["gpu.alloc", "gpu.wait", "func.return"].iter().any(|name| op.is(name));
            length += usize::from(!idle && !frees(op) && !leaves_memory_alone(op));
        }
        Course { function, places, length }
    }

    /// The place of an operation. What is nested in a loop counts as the loop.
    fn place(&self, mut op: Op) -> Option<usize> {
        while op.parent() != Some(self.function) {
            op = op.parent()?;
        }
        self.places.get(&op).copied()
    }

    /// The buffer that an allocation or a view is, at no place yet.
    fn buffer(&self, maker: Op, bytes: u64, costs: &[Cost], sources: &mut Sources) -> Option<Buffer> {
        let buffer = maker.result(0);
        let from = self.place(maker)?;
        let mut users = Vec::new();
        self::users(buffer, &mut users);
        let (freeing, mut using): (Vec<_>, Vec<_>) = users.into_iter().partition(|(op, _)| frees(*op));
        let freed = freeing.into_iter().filter_map(|(op, _)| self.place(op)).max().unwrap_or(self.length);
        using.retain(|(op, _)| !leaves_memory_alone(*op));
        using.sort_by_key(|(op, _)| self.place(*op));
        let last = using.last().and_then(|(op, _)| self.place(*op));
        let writer = first_writer(&using);
        Some(Buffer {
            shape: short_type(buffer),
            bytes,
            from,
            to: last.map_or(from, |last| last + 1).max(from + 1),
            freed: freed.max(from + 1),
            offset: 0,
            family: writer.map_or("move", |op| family(op, costs, sources)),
            source: sources.of(writer.unwrap_or(maker)),
        })
    }
}

/// Every operation that uses a buffer, or a view of it, and the view.
fn users(buffer: Value, out: &mut Vec<(Op, Value)>) {
    for (op, _) in buffer.uses() {
        out.push((op, buffer));
        let view = op.name().starts_with("memref.") || op.name().starts_with("scf.");
        for result in op.results().into_iter().filter(|r| view && r.ty().is_memref()) {
            users(result, out);
        }
    }
}

/// Of the operations that use a buffer, in order, the one after the fills that writes it first, or the fill.
fn first_writer(using: &[(Op, Value)]) -> Option<Op> {
    // Views of an arena may alias, so what is written is looked up by name.
    let writes = |op: Op, buffer: Value| match op.is_linalg() {
        true => memory::outputs(op).contains(&buffer),
        false => memory::writes(op, buffer),
    };
    let mut writers = using.iter().filter(|(op, buffer)| writes(*op, *buffer)).map(|(op, _)| *op);
    let first = writers.next()?;
    if first.is("linalg.fill") { writers.find(|op| !op.is("linalg.fill")).or(Some(first)) } else { Some(first) }
}

fn family(op: Op, costs: &[Cost], sources: &mut Sources) -> &'static str {
    if op.is("linalg.fill") || op.is("memref.copy") {
        return "move";
    }
    if !op.is_linalg() {
        // That of the most work among the operations that it stands for.
        let source = sources.of(op);
        let computed = costs.iter().filter(|c| sources.contains(source, c.source));
        let work = |c: &&Cost| c.flops.unwrap_or_default();
        return computed.max_by(|a, b| work(a).total_cmp(&work(b))).map_or("move", |c| c.family);
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

impl Lane {
    /// Gives every buffer the lowest place that is free for as long as it is there.
    fn settle(&mut self) {
        for i in 0..self.buffers.len() {
            let (before, rest) = self.buffers.split_at_mut(i);
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
    }

    /// Sums over buffers that have their places.
    fn measure(&mut self) {
        let sum = |at: usize, end: fn(&Buffer) -> usize| {
            self.buffers.iter().filter(|b| b.from <= at && at < end(b)).map(|b| b.bytes).sum::<u64>()
        };
        let (peak, held) = (
            self.buffers.iter().map(|b| sum(b.from, |b| b.to)).max().unwrap_or_default(),
            self.buffers.iter().map(|b| sum(b.from, |b| b.freed)).max().unwrap_or_default(),
        );
        (self.peak, self.held) = (peak, self.arena.unwrap_or(held));
        let end = self.buffers.iter().map(|b| b.offset + b.bytes).max().unwrap_or_default();
        self.extent = end.max(self.arena.unwrap_or_default());
        self.total = self.buffers.iter().map(|b| b.bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(from: usize, to: usize, bytes: u64) -> Buffer {
        Buffer { shape: String::new(), bytes, from, to, freed: 6, offset: 0, family: "move", source: 0 }
    }

    #[test]
    fn buffers_share_places_only_when_they_are_not_there_together() {
        let mut lane = Lane {
            buffers: vec![buffer(0, 4, 100), buffer(1, 3, 50), buffer(3, 6, 40), buffer(4, 6, 100)],
            ..Lane::default()
        };
        lane.settle();
        lane.measure();
        let offsets: Vec<u64> = lane.buffers.iter().map(|b| b.offset).collect();
        // The third fits where the second was; the fourth, where neither of the first two is.
        assert_eq!(offsets, [0, 100, 100, 0]);
        assert_eq!((lane.peak, lane.held, lane.extent, lane.total), (150, 290, 150, 290));
    }
}
