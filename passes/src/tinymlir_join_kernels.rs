//! `tinymlir-join-kernels`: launch small kernels that do not depend on one another as one, whose blocks are those of both.
//!
//! A launch that computes a few thousand elements takes as long as one that computes none, about two microseconds behind another
//! kernel. Such launches, as a decoding step has at its beginning and its end, are moved to one another where nothing between
//! them touches what they do, and become one of a kernel that holds both: a block belongs to either, by its number.
//!
//! Takes kernels of static one-dimensional grids of at most 8,192 threads in all, without clusters and dynamic workgroup memory, that
//! call nothing and do not ask for the size of their grid. One of the two has no workgroup memory, barrier or shuffle; the other
//! may have them if it is a few blocks that are not the smaller. What a launch touches is told by the buffers that it is given and,
//! where views are static, by their first and last elements; a kernel that has addresses from elsewhere (a global variable, a number)
//! is not moved, and none over it. A buffer of more than 262,144 elements does not come to be alive many launches earlier. Runs after `tinymlir-merge-kernels`; a gpu.module with the attribute `tinymlir.keep` or with a
//! target is left alone.

use crate::{
    device::{leaves_memory_alone, source},
    ir::{Attr, Block, Failed, Op, Pass, PassCx, PassResult, Type, Value},
    memory::may_alias,
    rows::move_definition,
    tinymlir_dependent_launches::{arguments, only_read},
    tinymlir_merge_kernels::{KEEP, launched},
};
use mlir_sys::*;
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    rc::Rc,
};

pub static PASS: Pass = Pass {
    argument: "tinymlir-join-kernels",
    description: "Launch small independent kernels as one",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("joined", "Launches that became part of another")],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
    ],
    run,
};

/// The most threads of a small launch.
const SMALL: i64 = 8192;
/// The most blocks of a kernel whose threads wait: those of larger ones load what is constant before they wait for their predecessor, which
/// a kernel of two does not.
const FEW_BLOCKS: i64 = 4;
/// The segment of a launch's operands that its kernel takes.
const KERNEL_OPERANDS: usize = 11;
/// The most launches and deallocations between two that are joined.
const REACH: usize = 256;
/// Over more of them than this only small buffers come to be alive earlier: of so many elements.
const NEAR: usize = 8;
const SMALL_BUFFER: i64 = 1 << 18;
/// The most memrefs of a kernel: its parameters take 4 KiB.
const MOST_ARGUMENTS: usize = 40;

fn run(cx: &PassCx, module: Op) -> PassResult {
    for function in module.find(&["func.func"]) {
        let blocks: Vec<Block> = function.walk().iter().flat_map(|op| op.blocks(0)).collect();
        for block in blocks {
            while let Some(pair) = Facts::of(module).first_pair(block) {
                join(cx, module, pair)?;
                cx.count("joined");
            }
        }
    }
    let used: HashSet<(String, String)> = module.find(&["gpu.launch_func"]).into_iter().filter_map(launched).collect();
    for holder in module.body().into_iter().filter(|m| m.is("gpu.module") && is_ours(*m)) {
        let name = holder.symbol().unwrap_or_default();
        let unused = |k: &Op| k.is("gpu.func") && k.symbol().is_some_and(|s| !used.contains(&(name.clone(), s)));
        holder.body().into_iter().filter(unused).for_each(|k| k.erase());
    }
    Ok(())
}

fn is_ours(holder: Op) -> bool {
    holder.attr(KEEP).is_none() && holder.attr("targets").is_none()
}

/// Whether an operation does in a block among others what it does in a grid of its own.
fn joinable(name: &str) -> bool {
    let gpu = ["thread_id", "block_id", "lane_id", "subgroup_size", "barrier", "shuffle", "subgroup_reduce", "return"];
    match name.split_once('.') {
        Some(("arith" | "math" | "vector" | "scf" | "affine" | "index" | "ub" | "complex" | "builtin", _)) => true,
        Some(("memref", kind)) => kind != "get_global",
        Some(("cf", kind)) => kind == "assert",
        Some(("gpu", kind)) => gpu.contains(&kind),
        Some(("nvvm", kind)) => ["bar.warp.sync", "shfl.sync", "redux.sync", "vote.sync", "prefetch"].contains(&kind),
        _ => false,
    }
}

/// Whether an operation's threads wait for one another, or exchange something.
fn waits(name: &str) -> bool {
    let gpu = ["gpu.barrier", "gpu.shuffle", "gpu.subgroup_reduce"];
    name.starts_with("nvvm.") && name != "nvvm.prefetch" || gpu.contains(&name)
}

/// A launch of a small kernel.
#[derive(Clone, Copy)]
struct Small {
    launch: Op,
    kernel: Op,
    blocks: i64,
    threads: i64,
    /// Whether its threads wait for one another.
    waits: bool,
}

impl Small {
    fn of(module: Op, launch: Op) -> Option<Small> {
        if !launch.is("gpu.launch_func") || !launch.results().is_empty() {
            return None;
        }
        let (holder, name) = launched(launch)?;
        let holder = module.lookup(&holder).filter(|h| is_ours(*h))?;
        let kernel = holder.lookup(&name).filter(|k| k.is("gpu.func"))?;
        let own = arguments(launch, kernel).len();
        let operands = launch.operands();
        // Grid and block, and nothing else such as dynamic workgroup memory.
        let sizes = operands[..operands.len() - own].iter().map(|v| v.constant()).collect::<Option<Vec<_>>>()?;
        let [blocks, 1, 1, threads, 1, 1] = sizes[..] else { return None };
        let [_] = kernel.blocks(0)[..] else { return None };
        let inside: Vec<Op> = kernel.walk().into_iter().skip(1).collect();
        // Besides parameters a kernel has workgroup memory of its own.
        let has_memory = kernel.blocks(0)[0].arguments().len() > own;
        let waits = has_memory || inside.iter().any(|op| waits(&op.name()));
        let small = blocks * threads <= SMALL
            && own <= MOST_ARGUMENTS
            && inside.iter().all(|op| joinable(&op.name()))
            && (!waits || blocks <= FEW_BLOCKS);
        small.then_some(Small { launch, kernel, blocks, threads, waits })
    }

    /// Whether one kernel may hold both.
    fn joins(&self, other: &Small) -> bool {
        let fits = match (self.waits, other.waits) {
            (true, true) => false,
            (true, false) => self.threads >= other.threads,
            (false, true) => other.threads >= self.threads,
            (false, false) => true,
        };
        let arguments = arguments(self.launch, self.kernel).len() + arguments(other.launch, other.kernel).len();
        let threads = (self.blocks + other.blocks) * self.threads.max(other.threads);
        fits && arguments <= MOST_ARGUMENTS && threads <= SMALL
    }
}

/// Two launches, in the order in which they stand, and whether the first moves down to the second, or else that up to the first.
struct Pair {
    first: Small,
    second: Small,
    down: bool,
}

/// The buffers that an operation touches, and whether it may write them; `None` where that is not known.
type Touched = Option<Rc<Vec<(Value, bool)>>>;

/// What was found out about a module's operations, as long as none of them changes.
struct Facts {
    module: Op,
    small: RefCell<HashMap<Op, Option<Small>>>,
    touched: RefCell<HashMap<Op, Touched>>,
}

impl Facts {
    fn of(module: Op) -> Facts {
        Facts { module, small: RefCell::default(), touched: RefCell::default() }
    }

    fn small(&self, op: Op) -> Option<Small> {
        *self.small.borrow_mut().entry(op).or_insert_with(|| Small::of(self.module, op))
    }

    fn touched(&self, op: Op) -> Touched {
        self.touched.borrow_mut().entry(op).or_insert_with(|| touched(self.module, op).map(Rc::new)).clone()
    }

    /// Whether two operations may be exchanged: neither writes what the other touches.
    fn independent(&self, one: Op, other: Op) -> bool {
        let (Some(one), Some(other)) = (self.touched(one), self.touched(other)) else { return false };
        one.iter().all(|(a, writes)| {
            other.iter().all(|(b, also)| !(*writes || *also) || !may_alias(*a, *b) || are_apart(*a, *b))
        })
    }

    /// The first two launches of a block that can be joined.
    fn first_pair(&self, block: Block) -> Option<Pair> {
        block.ops().into_iter().find_map(|op| self.pair_with(op))
    }

    /// The next launch behind `op` that can be joined with it: where nothing between keeps the one from the other, and they are
    /// independent of each other.
    fn pair_with(&self, op: Op) -> Option<Pair> {
        let first = self.small(op)?;
        // What stands between, and whether the first can be moved down over all of it.
        let mut between: Vec<Op> = vec![];
        let mut down = true;
        let mut next = op.next();
        while let Some(op) = next {
            next = op.next();
            if leaves_memory_alone(op) {
                continue;
            }
            let other = self.small(op).filter(|second| first.joins(second) && self.independent(first.launch, op));
            if let Some(second) = other {
                // What keeps it from being moved up stands near, as a rule.
                let up = || between.iter().rev().all(|o| self.independent(*o, op));
                if down || up() && moves_up(op, first.launch, between.len() > NEAR) {
                    return Some(Pair { first, second, down });
                }
            }
            if between.len() == REACH || !op.is("gpu.launch_func") && !op.is("memref.dealloc") {
                return None;
            }
            down = down && self.independent(op, first.launch);
            between.push(op);
        }
        None
    }
}

/// Whether what makes a launch's operands can stand before another operation of its block, and no large buffer would be there for
/// longer if that is far.
fn moves_up(launch: Op, before: Op, far: bool) -> bool {
    fn moves(value: Value, before: Op, far: bool) -> bool {
        let Some(def) = value.def().filter(|d| d.block() == before.block()) else { return true };
        let there = std::iter::successors(def.next(), |op| op.next()).any(|op| op == before);
        there
            || leaves_memory_alone(def)
                && def.num_regions() == 0
                && !(far && def.is("memref.alloc") && !is_small(value))
                && def.operands().into_iter().all(|v| moves(v, before, far))
    }
    launch.operands().into_iter().all(|v| moves(v, before, far))
}

/// Whether a buffer is known to have at most [`SMALL_BUFFER`] elements.
fn is_small(buffer: Value) -> bool {
    let elements = buffer.ty().shape().and_then(|s| s.into_iter().product::<Option<i64>>());
    elements.is_some_and(|n| n <= SMALL_BUFFER)
}

/// The buffers that an operation touches, and whether it may write them; `None` where that is not known.
fn touched(module: Op, op: Op) -> Option<Vec<(Value, bool)>> {
    if op.is("memref.dealloc") {
        return Some(vec![(op.operand(0), true)]);
    }
    let (holder, name) = launched(op)?;
    let kernel = module.lookup(&holder)?.lookup(&name)?;
    let parameters = kernel.blocks(0).first()?.arguments();
    let elsewhere = kernel.walk().into_iter().any(|inner| match inner.name().as_str() {
        "llvm.inttoptr" => !is_of_buffer(inner.operand(0)),
        name => {
            ["memref.get_global", "llvm.mlir.addressof", "llvm.inline_asm"].contains(&name) || name.ends_with(".call")
        }
    });
    let operands = arguments(op, kernel);
    let is_address = |v: &Value| v.ty().to_string().contains("ptr");
    if elsewhere || operands.iter().any(is_address) {
        return None;
    }
    let all = operands.into_iter().zip(parameters).filter(|(v, _)| v.ty().is_memref());
    Some(all.map(|(v, parameter)| (v, !only_read(parameter))).collect())
}

/// Whether a number is the address of a memref, or calculated from it.
fn is_of_buffer(address: Value) -> bool {
    address.def().is_some_and(|def| {
        let calculates = def.name().starts_with("arith.");
        def.is("memref.extract_aligned_pointer_as_index") || calculates && def.operands().into_iter().any(is_of_buffer)
    })
}

/// Whether two views of one buffer have no element in common, by their static first and last ones.
fn are_apart(a: Value, b: Value) -> bool {
    let extent = |mut value: Value| -> Option<(i64, i64)> {
        while let Some(def) = value.def().filter(|d| d.is("memref.cast")) {
            value = def.operand(0);
        }
        let memref = value.ty().memref()?;
        let (mut first, mut last) = (memref.offset?, memref.offset?);
        for (size, stride) in memref.shape.iter().zip(&memref.strides) {
            let reach = ((*size)? - 1) * (*stride)?;
            first += reach.min(0);
            last += reach.max(0);
        }
        Some((first, last))
    };
    // The type of a view of bytes says nothing of where in the buffer these are.
    let is_shifted = |v: Value| {
        let views = |v: &Value| v.def().filter(|_| source(*v) != *v).map(|d| d.operand(0));
        std::iter::successors(Some(v), views).any(|v| v.def().is_some_and(|d| d.is("memref.view")))
    };
    let whole = |v: Value| source(v).ty().has_identity_map() && !is_shifted(v);
    let same = source(a) == source(b) && whole(a) && whole(b);
    same && matches!((extent(a), extent(b)), (Some(x), Some(y)) if x.1 < y.0 || y.1 < x.0)
}

/// Puts one launch in the place of two.
fn join(cx: &PassCx, module: Op, Pair { first, second, down }: Pair) -> PassResult {
    let (one, other) = (first.launch, second.launch);
    let at = if down { other } else { one };
    let holder = first.kernel.parent().ok_or(Failed)?;
    let (Some(name), Some(second_name)) = (first.kernel.symbol(), second.kernel.symbol()) else { return Err(Failed) };
    let name = holder.unique_symbol(&format!("{name}_and_{second_name}"));
    let values = [arguments(one, first.kernel), arguments(other, second.kernel)].concat();
    if !down {
        values.iter().for_each(|v| move_definition(*v, one));
    }
    // The kernel that waits keeps its workgroup memory.
    let (host, guest) = if second.waits { (&second, &first) } else { (&first, &second) };
    let ordered =
        if second.waits { [arguments(other, second.kernel), arguments(one, first.kernel)].concat() } else { values };
    let kernel = cx.check(other, kernel(host, guest, &name))?;
    let threads = host.threads.max(guest.threads);
    let blocks = host.blocks + guest.blocks;
    let size = |n: i64| format!("array<i32: {n}, 1, 1>");
    for (attribute, n) in [("known_block_size", threads), ("known_grid_size", blocks)] {
        kernel.set_attr(attribute, Attr::parse(module.ctx(), &size(n)).ok_or(Failed)?);
    }
    let holder_name = holder.symbol().ok_or(Failed)?;
    let text = format!(
        "%one = arith.constant 1 : index\n%blocks = arith.constant {blocks} : index\n%threads = arith.constant {threads} : index\n\
         return %blocks, %one, %threads : index, index, index"
    );
    let [blocks, single, threads] = cx.check(other, at.build_before(&[], "", &text))?[..] else { return Err(Failed) };
    at.stand_for([one, other]);
    let launch = at.clone_before(at);
    let mut sizes = at.attr("operandSegmentSizes").and_then(|s| s.as_i32_array()).ok_or(Failed)?;
    *sizes.get_mut(KERNEL_OPERANDS).ok_or(Failed)? = ordered.len() as i32;
    launch.set_operands(&[vec![blocks, single, single, threads, single, single], ordered].concat());
    let sizes = sizes.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    launch.set_attr("operandSegmentSizes", Attr::parse(module.ctx(), &format!("array<i32: {sizes}>")).ok_or(Failed)?);
    launch.set_attr("kernel", Attr::symbol_in(module.ctx(), &holder_name, &name));
    one.erase();
    other.erase();
    Ok(())
}

/// The kernel that is `host` in its first blocks and `guest` in those behind.
fn kernel(host: &Small, guest: &Small, name: &str) -> Result<Op, String> {
    let missing = || "internal error: a kernel without a body".to_string();
    let ctx = host.kernel.ctx();
    let made = host.kernel.clone_before(host.kernel);
    made.set_attr("sym_name", Attr::string(ctx, name));
    let copy = guest.kernel.clone_before(guest.kernel);
    let types = |kernel: Op| kernel.attr("function_type").and_then(|t| t.as_type()?.function()).map(|f| f.0);
    let (own, added) = types(made).zip(types(copy)).ok_or_else(missing)?;
    let body = *made.blocks(0).first().ok_or_else(missing)?;
    let end = body.terminator();
    let inner: Vec<Op> = body.ops().into_iter().filter(|op| *op != end).collect();
    // Parameters of both, and behind them workgroup memory.
    let guest_body = *copy.blocks(0).first().ok_or_else(missing)?;
    for (i, (argument, ty)) in guest_body.arguments().into_iter().zip(&added).enumerate() {
        argument.replace_all_uses(body.insert_argument(own.len() + i, *ty));
    }
    let all: Vec<String> = own.iter().chain(&added).map(|t: &Type| t.to_string()).collect();
    let function = Type::parse(ctx, &format!("({}) -> ()", all.join(", "))).ok_or_else(missing)?;
    made.set_attr("function_type", Attr::of_type(function));
    made.remove_attr("arg_attrs");

    let threads = host.threads.max(guest.threads);
    let text = format!(
        "%block = gpu.block_id x\n%thread = gpu.thread_id x\n%first = arith.constant {} : index\n\
         %host_threads = arith.constant {} : index\n%guest_threads = arith.constant {} : index\n\
         %guest_block = arith.subi %block, %first : index\n\
         %in_host = arith.cmpi ult, %block, %first : index\n%in_guest = arith.cmpi uge, %block, %first : index\n\
         %host_thread = arith.cmpi ult, %thread, %host_threads : index\n\
         %guest_thread = arith.cmpi ult, %thread, %guest_threads : index\n\
         %host_both = arith.andi %in_host, %host_thread : i1\n%guest_both = arith.andi %in_guest, %guest_thread : i1\n\
         scf.if {} {{\n}}\nscf.if {} {{\n}}\nreturn %guest_block : index",
        host.blocks,
        host.threads,
        guest.threads,
        if host.threads < threads { "%host_both" } else { "%in_host" },
        if guest.threads < threads { "%guest_both" } else { "%in_guest" },
    );
    let [guest_block] = end.build_before(&[], "", &text)?[..] else { return Err(missing()) };
    let branches: Vec<Op> = body.ops().into_iter().filter(|op| op.is("scf.if") && !inner.contains(op)).collect();
    let [host_branch, guest_branch] = branches[..] else { return Err(missing()) };
    let to = |branch: Op| branch.blocks(0).first().map(|b| b.terminator()).ok_or_else(missing);
    let host_end = to(host_branch)?;
    inner.into_iter().for_each(|op| op.move_before(host_end));
    let guest_end = to(guest_branch)?;
    let mut ops = guest_body.ops();
    ops.pop();
    ops.into_iter().for_each(|op| op.move_before(guest_end));
    // Blocks have other numbers along x alone.
    let along_x = |op: &Op| op.attr("dimension").is_some_and(|d| d.to_string().contains(" x"));
    for op in guest_branch.find(&["gpu.block_id"]).into_iter().filter(along_x) {
        op.replace_with(&[guest_block]);
    }
    copy.erase();
    Ok(made)
}
