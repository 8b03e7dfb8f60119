//! `tinymlir-plan-memory`: one allocation for the buffers of a function, at places chosen when it is compiled.
//!
//! A buffer is alive from its allocation to its last use, or to the end of the loop around that. Buffers that are never
//! alive together may share bytes: the largest is placed first, each at the lowest place that no buffer alive at the same time
//! has (greedy by size; Pisarchyk and Lee, 2020). The arena is allocated at the function's start and freed at its end,
//! the buffers are views of it. A remark tells its size, the sum of the buffers, and the most that is alive at once, which no plan can
//! do without.
//!
//! A buffer of dynamic size has no place in a plan: it is freed right after its last use.
//!
//! Takes buffers of static size, allocated and freed in the same block, by `gpu.alloc` (device memory that nothing but kernels
//! and device copies touch: they follow one another on one stream) or by `memref.alloc`. Buffers in parallel loops are each iteration's own and stay,
//! as do those whose uses cannot be followed, and functions with branches. Upstream has nothing of the kind. Host code with an
//! arena tells LLVM less about what may overlap than separate allocations do.

use crate::{
    device::{Access, VIEWS, on_host},
    ir::{Op, Pass, PassCx, PassResult, Value},
};
use mlir_sys::*;
use std::collections::HashMap;

pub static PASS: Pass = Pass {
    argument: "tinymlir-plan-memory",
    description: "Place the buffers of a function in one allocation, by when they are alive",
    anchor: "builtin.module",
    options: &[],
    statistics: &[
        ("planned", "Buffers placed in an arena"),
        ("arenas", "Arenas"),
        ("early", "Buffers of dynamic size, freed after their last use"),
        ("left", "Buffers left alone"),
    ],
    dialects: &[mlirGetDialectHandle__arith__, mlirGetDialectHandle__gpu__, mlirGetDialectHandle__memref__],
    run,
};

/// What places are multiples of, in bytes: what `cuMemAlloc` gives, and more than any host's vectors need.
const ALIGNMENT: i64 = 256;

/// Operations whose regions run in order, as often as they like.
const ORDERED: [&str; 4] = ["scf.for", "scf.if", "scf.while", "memref.alloca_scope"];

fn run(cx: &PassCx, module: Op) -> PassResult {
    for function in module.find(&["func.func"]).into_iter().filter(|f| on_host(*f)) {
        let [entry] = function.blocks(0)[..] else { continue };
        let order = Order::of(function);
        for (alloc, dealloc) in [("gpu.alloc", "gpu.dealloc"), ("memref.alloc", "memref.dealloc")] {
            let mut buffers = vec![];
            for op in function.find(&[alloc]) {
                match Buffer::of(op, dealloc, function, &order) {
                    Ok(buffer) => buffers.push(buffer),
                    Err(_) if free_early(op, dealloc, &order).is_some() => cx.count("early"),
                    Err(reason) => {
                        cx.missed(op, &format!("stays an allocation of its own: {reason}"));
                        cx.count("left");
                    }
                }
            }
            if buffers.len() < 2 {
                continue;
            }
            let size = place(&mut buffers);
            let (unplanned, alive) = (buffers.iter().map(|b| b.bytes).sum::<i64>(), most_alive(&buffers));
            let (size_text, sum_text, alive_text) = (size.to_string(), unplanned.to_string(), alive.to_string());
            cx.passed_with(
                function,
                &format!(
                    "has {} buffers of {unplanned} bytes in an arena of {size}; {alive} are alive at once",
                    buffers.len()
                ),
                &[("arena", &size_text), ("unplanned", &sum_text), ("alive", &alive_text)],
            );
            let first = *entry.ops().first().ok_or(crate::ir::Failed)?;
            let ty = format!("memref<{size}xi8>");
            let how = if alloc == "gpu.alloc" {
                format!("gpu.alloc () : {ty}")
            } else {
                format!("memref.alloc() {{alignment = 64 : i64}} : {ty}")
            };
            let arena = cx.check(first, first.build_before(&[], "", &format!("%a = {how}\nreturn %a : {ty}")))?[0];
            let end = entry.terminator();
            cx.check(end, end.build_before(&[("a", arena)], "", &format!("{dealloc} %a : {ty}")))?;
            cx.count("arenas");
            for buffer in buffers {
                let (old, to) = (buffer.alloc.result(0), buffer.alloc.result(0).ty());
                let view = format!(
                    "%p = arith.constant {} : index\n%v = memref.view %a[%p][] : {ty} to {to}\nreturn %v : {to}",
                    buffer.place
                );
                let new = cx.check(buffer.alloc, buffer.alloc.build_before(&[("a", arena)], "", &view))?[0];
                buffer.dealloc.erase();
                old.replace_all_uses(new);
                buffer.alloc.erase();
                cx.count("planned");
            }
        }
    }
    Ok(())
}

/// The places of a function's operations in its text.
struct Order {
    /// Of an operation, and of the last one inside of it.
    places: HashMap<Op, (usize, usize)>,
}

impl Order {
    fn of(function: Op) -> Order {
        fn visit(op: Op, next: &mut usize, places: &mut HashMap<Op, (usize, usize)>) {
            let place = *next;
            *next += 1;
            let blocks = (0..op.num_regions()).flat_map(|r| op.blocks(r));
            blocks.flat_map(|b| b.ops()).for_each(|inner| visit(inner, next, places));
            places.insert(op, (place, *next - 1));
        }
        let mut places = HashMap::new();
        visit(function, &mut 0, &mut places);
        Order { places }
    }
    fn first(&self, op: Op) -> usize {
        self.places[&op].0
    }
    /// Where `op` ends as seen from a block: with the operation of the block that it is, or is in.
    fn last_within(&self, mut op: Op, block: crate::ir::Block) -> Option<usize> {
        while op.block() != Some(block) {
            op = op.parent()?;
        }
        Some(self.places[&op].1)
    }
}

/// A buffer to be placed.
struct Buffer {
    alloc: Op,
    dealloc: Op,
    bytes: i64,
    /// The first and the last place in the function's text at which it is alive.
    alive: (usize, usize),
    /// Its first byte in the arena.
    place: i64,
}

impl Buffer {
    fn of(alloc: Op, free: &str, function: Op, order: &Order) -> Result<Buffer, &'static str> {
        let buffer = alloc.result(0);
        let ty = buffer.ty();
        let memref = ty.memref().filter(|m| ty.has_identity_map() && m.space.is_none());
        let memref = memref.ok_or("its layout is not the identity, or its memory not the default")?;
        let element = memref.element.bytes().ok_or("the size of its elements is not known")?;
        let sizes = memref.shape.iter().copied().collect::<Option<Vec<i64>>>().ok_or("its size is dynamic")?;
        let bytes = sizes.iter().try_fold(element, |bytes, size| bytes.checked_mul(*size)).ok_or("it is too large")?;
        if bytes == 0 {
            return Err("it is empty");
        }
        let mut around = alloc.parent().ok_or("it stands in no function")?;
        while around != function {
            if !ORDERED.contains(&around.name().as_str()) {
                return Err(
                    "each iteration of a parallel loop has its own, or control flow around it cannot be followed",
                );
            }
            around = around.parent().ok_or("it stands in no function")?;
        }
        if alloc.is("gpu.alloc") {
            let access = Access::of(buffer);
            if alloc.attr("hostShared").is_some() || access.host || access.escapes {
                return Err("the host touches it");
            }
            if alloc.results().len() > 1 || !alloc.operands().is_empty() {
                return Err("it is allocated asynchronously");
            }
        }
        let block = alloc.block().ok_or("it stands in no block")?;
        let dealloc = freed(alloc, free)?;
        let first = order.first(alloc);
        let last = match last_uses(buffer, dealloc) {
            Some(users) => users.into_iter().filter_map(|u| order.last_within(u, block)).max().unwrap_or(first),
            None => order.first(dealloc),
        };
        Ok(Buffer { alloc, dealloc, bytes, alive: (first, last), place: 0 })
    }
    fn meets(&self, other: &Buffer) -> bool {
        self.alive.0 <= other.alive.1 && other.alive.0 <= self.alive.1
    }
}

/// The only deallocation of a buffer, in the same block.
fn freed(alloc: Op, free: &str) -> Result<Op, &'static str> {
    let frees: Vec<Op> = alloc.result(0).uses().into_iter().map(|(user, _)| user).filter(|u| u.is(free)).collect();
    let [dealloc] = frees[..] else { return Err("it is not freed exactly once") };
    if dealloc.block() != alloc.block() {
        return Err("it is freed elsewhere");
    }
    Ok(dealloc)
}

/// Moves the deallocation of a host's buffer of dynamic size behind the last use, if that is known.
fn free_early(alloc: Op, free: &str, order: &Order) -> Option<()> {
    let buffer = alloc.result(0);
    let dynamic = alloc.is("memref.alloc") && buffer.ty().memref()?.shape.contains(&None);
    let dealloc = freed(alloc, free).ok().filter(|_| dynamic)?;
    let block = alloc.block()?;
    let last = last_uses(buffer, dealloc)?.into_iter().filter_map(|u| order.last_within(u, block)).max()?;
    // Deallocations move, and are no measure.
    let ops = block.ops();
    let place = ops.iter().rposition(|op| !op.is(free) && order.first(*op) <= last)?;
    dealloc.move_before(*ops.get(place + 1)?);
    Some(())
}

/// What uses a buffer or a view of it, but for its deallocation; nothing where a use may hand it on.
fn last_uses(buffer: Value, dealloc: Op) -> Option<Vec<Op>> {
    let (mut left, mut users) = (vec![buffer], vec![]);
    while let Some(value) = left.pop() {
        for (user, place) in value.uses() {
            if user == dealloc {
                continue;
            }
            // Anything that could be a memref or its address.
            let may_hand_on =
                |r: &Value| ["memref", "index", "i64", "!llvm.ptr"].iter().any(|t| r.ty().to_string().starts_with(t));
            let reads = user.is("memref.dim") || user.is("memref.load");
            if VIEWS.contains(&user.name().as_str()) && place == 0 {
                left.extend(user.results().into_iter().filter(|r| r.ty().is_memref()));
            } else if calculates(user) && !value.ty().is_memref() || user.is("memref.extract_aligned_pointer_as_index")
            {
                // An address on its way to a call, such as one of BLAS.
                left.extend(user.results());
            } else if !reads && (user.results().iter().any(may_hand_on) || ends_block(user)) {
                return None;
            }
            users.push(user);
        }
    }
    Some(users)
}

/// Whether an operation calculates with addresses and nothing else.
fn calculates(op: Op) -> bool {
    op.is("llvm.inttoptr") || op.name().starts_with("arith.")
}

/// Whether an operation is the last of its block, through which values leave it.
fn ends_block(op: Op) -> bool {
    op.block().is_some_and(|block| block.terminator() == op)
}

/// Gives each buffer its place; the bytes of the arena.
fn place(buffers: &mut [Buffer]) -> i64 {
    let up = |bytes: i64| (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    let mut by_size: Vec<usize> = (0..buffers.len()).collect();
    by_size.sort_by_key(|i| std::cmp::Reverse(buffers[*i].bytes));
    let mut placed: Vec<usize> = vec![];
    let mut size = 0;
    for i in by_size {
        let mut taken: Vec<(i64, i64)> = placed
            .iter()
            .filter(|j| buffers[**j].meets(&buffers[i]))
            .map(|j| (buffers[*j].place, buffers[*j].bytes))
            .collect();
        taken.sort_unstable();
        let mut place = 0;
        for (start, bytes) in taken {
            if place + buffers[i].bytes <= start {
                break;
            }
            place = place.max(up(start + bytes));
        }
        buffers[i].place = place;
        size = size.max(place + buffers[i].bytes);
        placed.push(i);
    }
    size
}

/// The most bytes that are alive at one time.
fn most_alive(buffers: &[Buffer]) -> i64 {
    let at = |time: usize| buffers.iter().filter(|b| b.alive.0 <= time && time <= b.alive.1).map(|b| b.bytes).sum();
    buffers.iter().map(|b| at(b.alive.0)).max().unwrap_or(0)
}
