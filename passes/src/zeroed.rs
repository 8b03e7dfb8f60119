//! Buffers that kernels add to by atomic operations: zero where their block begins, all of a block's by one operation, which
//! becomes one kernel.

use crate::{
    device::source,
    epilogue::Epilogue,
    ir::{Block, Op, Value},
    memory::{may_alias, users},
    products::Work,
};

/// The buffers, each a `memref.alloc` of its block that nothing touches before the kernel that adds to it.
#[derive(Default)]
pub struct Zeroed {
    known: Vec<(Block, Vec<Value>)>,
}

/// The mark of an operation that zeroes buffers.
const ZEROES: &str = "tinymlir.zeroes";

/// A kernel takes 4 KiB of parameters, a view 8 bytes for each size and stride and 24 more.
const MOST: usize = 32;

impl Zeroed {
    /// Has a buffer zeroed.
    pub fn add(&mut self, buffer: Value) -> Result<(), String> {
        let block = buffer.def().and_then(|d| d.block()).ok_or("internal error: no allocation to be zeroed")?;
        match self.known.iter_mut().find(|(b, _)| *b == block) {
            Some((_, buffers)) => buffers.push(buffer),
            None => self.known.push((block, vec![buffer])),
        }
        Ok(())
    }

    /// Moves the allocations to the beginning of their blocks and builds what zeroes them.
    pub fn emit(self) -> Result<(), String> {
        for (block, mut buffers) in self.known {
            // What an earlier pass left to be zeroed becomes part of the same operation.
            for earlier in block.ops().into_iter().filter(|op| op.attr(ZEROES).is_some()) {
                buffers.extend(earlier.operands());
                earlier.erase();
            }
            let allocations: Vec<Op> = buffers.iter().filter_map(|b| b.def()).collect();
            let ops = block.ops();
            let first = *ops.iter().find(|op| !allocations.contains(op)).ok_or("internal error: an empty block")?;
            allocations.iter().for_each(|a| a.move_before(first));
            let mut left = buffers;
            while let Some(ty) = left.first().map(|b| b.ty()) {
                let (alike, others): (Vec<Value>, Vec<Value>) = left.into_iter().partition(|b| b.ty() == ty);
                for some in alike.chunks(MOST) {
                    zero(first, some)?;
                }
                left = others;
            }
        }
        Ok(())
    }
}

/// Whether blocks that read `inputs` can add to the result of a product instead of storing it: dense memory of the product's block that
/// nothing but the product and `members` touches before, and an operation after the product that does nothing but add to its sum.
pub fn can_be_added_to(work: &Work, members: &[Op], inputs: &[Value]) -> bool {
    let result = source(work.target.buffer);
    let Some(alloc) = result.def().filter(|d| d.is("memref.alloc") && d.operands().is_empty()) else { return false };
    let own = [Some(work.op), work.fill, work.epilogue.as_ref().map(|e| e.op)];
    let before = work.op.block().map(|b| b.ops()).unwrap_or_default().into_iter().take_while(|o| *o != work.at());
    let others = before.filter(|o| !own.contains(&Some(*o)) && !members.contains(o));
    // New memory is reached by its uses alone.
    let users = users(result);
    work.fill.is_some()
        && work.epilogue.as_ref().is_none_or(only_adds)
        && work.target.group.0 == 1
        && work.target.inner == (work.size[2], 1)
        && alloc.block() == work.op.block()
        && others.flat_map(|o| o.walk()).all(|o| !users.contains(&o))
        && inputs.iter().all(|v| !may_alias(*v, result))
}

/// Whether an operation does nothing with a product's element but add to it.
fn only_adds(epilogue: &Epilogue) -> bool {
    let mut value = epilogue.sum;
    loop {
        let [(user, _)] = value.uses()[..] else { return false };
        if user.is("linalg.yield") {
            return true;
        }
        if !user.is("arith.addf") {
            return false;
        }
        value = user.result(0);
    }
}

/// One operation that zeroes buffers of one type of f32.
fn zero(first: Op, buffers: &[Value]) -> Result<(), String> {
    let ty = buffers.first().map(|b| b.ty()).ok_or("internal error: nothing to be zeroed")?;
    let rank = ty.shape().map_or(0, |s| s.len());
    let list = |text: &dyn Fn(usize) -> String| (0..buffers.len()).map(text).collect::<Vec<_>>().join(", ");
    let dims = (0..rank).map(|d| format!("d{d}")).collect::<Vec<_>>().join(", ");
    let names: Vec<String> = (0..buffers.len()).map(|i| format!("b{i}")).collect();
    let inputs: Vec<(&str, Value)> = names.iter().map(String::as_str).zip(buffers.iter().copied()).collect();
    let text = format!(
        "%zero = arith.constant 0.0 : f32\n\
         linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} outs({} : {}) attrs = {{{ZEROES}}} {{\n\
         ^bb0({}):\nlinalg.yield {} : {}\n}}",
        list(&|_| format!("affine_map<({dims}) -> ({dims})>")),
        vec!["\"parallel\""; rank].join(", "),
        list(&|i| format!("%b{i}")),
        list(&|_| ty.to_string()),
        list(&|i| format!("%o{i}: f32")),
        list(&|_| "%zero".into()),
        list(&|_| "f32".into()),
    );
    first.build_before(&inputs, "", &text).map(|_| ())
}
