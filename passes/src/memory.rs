//! Which operations of a block on the host may touch the same memory.

use crate::{
    device::{leaves_memory_alone, source},
    ir::{Op, Value},
};

/// Whether two buffers may share memory. Distinct arguments do not, and new memory overlaps nothing else.
pub fn may_alias(a: Value, b: Value) -> bool {
    let (a, b) = (source(a), source(b));
    let own = |v: Value| v.def().is_some_and(|d| d.is("memref.alloc") || d.is("gpu.alloc"));
    let entry = |v: Value| v.block_argument().is_some_and(|(block, _)| block.parent().is("func.func"));
    let known = |v: Value| own(v) || entry(v) || v.def().is_some_and(|d| d.is("memref.get_global"));
    let apart = own(a) && known(b) || known(a) && own(b) || entry(a) && entry(b);
    a == b || !apart
}

/// The operations that use a buffer through any view; the views are not among them.
pub fn users(buffer: Value) -> Vec<Op> {
    let (mut users, mut left) = (vec![], vec![buffer]);
    while let Some(value) = left.pop() {
        for (user, _) in value.uses() {
            match user.results()[..] {
                [view] if view.ty().is_memref() && source(view) == source(buffer) => left.push(view),
                _ => users.push(user),
            }
        }
    }
    users
}

/// Whether a buffer is the function's own, and nothing but these operations and what frees it uses it.
pub fn only_used_by(buffer: Value, ops: &[Op]) -> bool {
    let root = source(buffer);
    let own = root.def().is_some_and(|d| d.is("memref.alloc"));
    own && users(root).iter().all(|user| user.is("memref.dealloc") || ops.contains(user))
}

/// Whether an operation may read or write the buffer.
pub fn touches(op: Op, buffer: Value) -> bool {
    let named = op.operands().into_iter().filter(|v| v.ty().is_memref() || v.ty().is_unranked_memref());
    let access = ["memref.copy", "memref.dealloc", "memref.load", "memref.store"];
    let follows = op.is_linalg() || op.attr("tinymlir.writes").is_some() || access.contains(&op.name().as_str());
    if leaves_memory_alone(op) {
        return false;
    }
    if let Some(inside) = inside(op) {
        return inside.into_iter().any(|o| touches(o, buffer));
    }
    // What a linalg operation reads beside its operands stands in its body.
    let inner = op.walk().into_iter().skip(1).flat_map(|o| o.operands()).filter(|v| v.ty().is_memref());
    !follows || named.chain(inner).any(|v| may_alias(v, buffer))
}

/// Whether an operation may write the buffer.
pub fn writes(op: Op, buffer: Value) -> bool {
    if op.is_linalg() {
        let outputs = outputs(op);
        let stores = op.walk().iter().skip(1).any(|o| o.is("memref.store"));
        return stores || outputs.iter().any(|v| may_alias(*v, buffer));
    }
    match op.name().as_str() {
        "memref.copy" => may_alias(op.operand(1), buffer),
        // A kernel that says which of its operands it writes.
        "func.call" if op.attr("tinymlir.writes").is_some() => {
            let places = op.attr("tinymlir.writes").and_then(|a| a.as_static_sizes()).unwrap_or_default();
            places.into_iter().flatten().any(|i| op.operands().get(i as usize).is_some_and(|v| may_alias(*v, buffer)))
        }
        "memref.load" => false,
        _ => match inside(op) {
            Some(inside) => inside.into_iter().any(|o| writes(o, buffer)),
            None => touches(op, buffer),
        },
    }
}

/// The operations in the regions of structured control flow that no buffer goes through: it does what they do.
fn inside(op: Op) -> Option<Vec<Op>> {
    let passes =
        op.operands().into_iter().chain(op.results()).any(|v| v.ty().is_memref() || v.ty().is_unranked_memref());
    let plain = op.name().starts_with("scf.") && !passes;
    plain.then(|| (0..op.num_regions()).flat_map(|i| op.blocks(i)).flat_map(|b| b.ops()).collect())
}

/// The operations between two of the same block, both excluded; `None` where `first` does not come before `last` in it.
pub fn between(first: Op, last: Op) -> Option<Vec<Op>> {
    let mut ops = vec![];
    let mut next = first.next();
    while let Some(op) = next {
        if op == last {
            return Some(ops);
        }
        ops.push(op);
        next = op.next();
    }
    None
}

/// The outputs of a linalg operation.
pub fn outputs(op: Op) -> Vec<Value> {
    let sizes = op.attr("operandSegmentSizes").map(|a| a.to_string()).unwrap_or_default();
    // array<i32: inputs, outputs>
    let inputs = sizes.trim_start_matches("array<i32: ").split(',').next().and_then(|n| n.trim().parse::<usize>().ok());
    op.operands().split_off(inputs.unwrap_or(0).min(op.operands().len()))
}

/// Erases a buffer, its views and its deallocation where nothing else uses it; whether so.
pub fn erase_unread(buffer: Value) -> bool {
    let mut views = vec![];
    let mut left = vec![buffer];
    let mut ends = vec![];
    while let Some(value) = left.pop() {
        for (user, _) in value.uses() {
            if user.is("memref.dealloc") {
                ends.push(user);
            } else if user.results().len() == 1
                && source(user.result(0)) == source(buffer)
                && user.result(0).ty().is_memref()
            {
                views.push(user);
                left.push(user.result(0));
            } else {
                return false;
            }
        }
    }
    ends.into_iter().for_each(|op| op.erase());
    views.into_iter().rev().for_each(|op| op.erase());
    if let Some(def) = buffer.def() {
        def.erase();
    }
    true
}

/// Whether a buffer's first element lies at a multiple of 16 bytes: whole allocations and arguments of public functions do.
/// An argument of a private function does if every caller passes such a buffer.
pub fn is_aligned(buffer: Value) -> bool {
    aligned(buffer, &mut vec![])
}

/// `seen`: the arguments that are being looked at, which callers in a circle pass on.
fn aligned(buffer: Value, seen: &mut Vec<Value>) -> bool {
    let mut value = buffer;
    while let Some(def) = value.def().filter(|_| source(value) != value) {
        if def.is("memref.view") {
            return false;
        }
        value = def.operand(0);
    }
    if let Some(def) = value.def() {
        return ["memref.alloc", "gpu.alloc", "memref.get_global"].contains(&def.name().as_str());
    }
    let Some((block, i)) = value.block_argument() else { return false };
    let function = block.parent();
    if !function.is("func.func") || seen.contains(&value) {
        return function.is("func.func");
    }
    seen.push(value);
    let (Some(module), Some(name)) = (function.parent().filter(|_| function.is_private()), function.symbol()) else {
        return true;
    };
    let names = |op: &Op, attr: &str| op.attr(attr).and_then(|a| a.as_symbol()).is_some_and(|symbol| symbol == name);
    let users = module.find(&["func.call", "func.constant"]).into_iter();
    let mut users = users.filter(|u| names(u, "callee") || names(u, "value"));
    users.all(|u| u.is("func.call") && aligned(u.operand(i), seen))
}
