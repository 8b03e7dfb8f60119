//! `tinymlir-dependent-launches`: let a kernel start while the one before it ends (programmatic dependent launch, sm_90).
//!
//! A kernel announces at once that its successor may start (`griddepcontrol.launch_dependents`), unless one of its successors
//! has blocks with much workgroup memory, such as tiles of a product: those that start early are crowded on the
//! multiprocessors that the predecessor leaves free, and stay there. Blocks with so much that each has a multiprocessor to itself
//! cannot be crowded. Every kernel waits until its predecessor is complete and its writes are visible (`griddepcontrol.wait`). The start of a kernel, and the loads that stand
//! before its wait, then cost nothing. The symbol `tinymlir_dependent_launches` in the gpu.module tells the runtime, which
//! launches such kernels early only directly behind another kernel.
//!
//! The rule, which `verify` checks of the finished kernel:
//! - every kernel waits, unconditionally and once, so that one that is complete implies that all before it are;
//! - before its wait a kernel writes nothing but its own workgroup memory, and reads only constants: arguments of a public
//!   function that nothing in the module calls, of which nothing writes any view in that function, or nothing but launches behind
//!   all that are given it so, such as that which moves a position on. Calls begin and end with a full wait, so that what the caller
//!   did before is complete. Of arguments of such a function it also reads what a load says, by `tinymlir.unwritten`, that nothing in the function
//!   writes: the pass that made the kernel knows, such as of all rows of a cache but one.
//!
//! The wait stands as late as the rule lets it: loads of weights that a template puts first come before it. In a kernel without
//! such, up to 16 elements a thread that are loaded further down at its top level are moved there, with what computes their addresses, unless an
//! assertion or a call stands between; so are elements at constant places, wherever they are loaded ([`crate::early_numbers`]). Runs when kernels are outlined and merged; a gpu.module with the attribute `tinymlir.keep` or with a target is left alone.

use crate::{
    choice::chip_number,
    device::{VIEWS, source},
    early_numbers::read_early,
    ir::{Block, Op, Opt, Pass, PassCx, PassResult, Type, Value},
    tinymlir_merge_kernels::{KEEP, launched},
};
use mlir_sys::*;
use std::collections::{HashMap, HashSet};

pub static PASS: Pass = Pass {
    argument: "tinymlir-dependent-launches",
    description: "Let kernels start while their predecessor ends, and wait for it before they touch what it may write",
    anchor: "builtin.module",
    options: &[Opt::string("chip", "sm_80", "The chip that the kernels are for: nothing is done before sm_90")],
    statistics: &[
        ("kernels", "Kernels that may start early"),
        ("late", "Kernels that read constants before their wait"),
    ],
    dialects: &[mlirGetDialectHandle__gpu__, mlirGetDialectHandle__memref__, mlirGetDialectHandle__nvvm__],
    run,
};

const FIRST_CHIP: u32 = 90;
/// Bytes of workgroup memory, elements counted as four each.
const LARGE_BLOCK: i64 = 20 * 1024;
/// Bytes of workgroup memory of which no two blocks fit on a multiprocessor: half of an sm_90's 227 KB.
const WHOLE_PROCESSOR: i64 = 114 * 1024;
/// Elements that a thread keeps in registers from before its wait, where its template did not ask for them there.
const MOST_MOVED: i64 = 16;
/// After these what follows in a kernel may not run.
const MAY_END: [&str; 5] = ["cf.assert", "func.call", "llvm.call", "llvm.intr.trap", "llvm.inline_asm"];
const WAIT: &str = "nvvm.griddepcontrol";
const SYMBOL: &str = "tinymlir_dependent_launches";

/// On a load from an argument of an entry: nothing in the function writes what it reads.
const UNWRITTEN: &str = "tinymlir.unwritten";

/// The numbers of a kernel's parameters to which every launch gives a constant, and an argument of an entry.
#[derive(Default, Clone)]
struct Given {
    constant: HashSet<usize>,
    argument: HashSet<usize>,
}

/// What kernels are given, by their gpu.module and name.
type Parameters = HashMap<(String, String), Given>;

fn run(cx: &PassCx, module: Op) -> PassResult {
    let chip = cx.string("chip");
    let Some(number) = chip_number(&chip) else {
        return Err(cx.error(module, &format!("cannot place waits: chip '{chip}' is none (sm_NN)")));
    };
    if number < FIRST_CHIP {
        return Ok(());
    }
    let given = given(module);
    let patient = before_large_blocks(module);
    for kernels in module.find(&["gpu.module"]) {
        let kept = kernels.attr(KEEP).is_some() || kernels.attr("targets").is_some();
        let holder = kernels.symbol().unwrap_or_default();
        let functions: Vec<Op> = kernels.body().into_iter().filter(|k| k.is("gpu.func")).collect();
        let own = kernels.walk().iter().any(|op| op.is(WAIT)) || kernels.lookup(SYMBOL).is_some();
        if kept || own || functions.is_empty() {
            continue;
        }
        for kernel in functions {
            let name = (holder.clone(), kernel.symbol().unwrap_or_default());
            let reads = Reads::of(kernel, given.get(&name));
            let body =
                *cx.check(kernel, kernel.blocks(0).first().ok_or("internal error: a kernel without a body".into()))?;
            let ops = body.ops();
            let first = cx.check(
                kernel,
                ops.iter()
                    .find(|op| !reads.may_precede_wait(**op))
                    .ok_or("internal error: a kernel does not end".into()),
            )?;
            let before = ops.iter().take_while(|op| *op != first);
            let own = before.flat_map(|op| op.walk()).any(|op| reads.is_early_load(op));
            let early = own || reads.advance(body, &ops, *first);
            let numbers = cx.check(kernel, read_early(body, *first, |array| reads.constant.contains(&array)))?;
            let ops = body.ops();
            if !patient.contains(&name) {
                cx.check(kernel, ops[0].build_before(&[], "", "nvvm.griddepcontrol launch_dependents"))?;
            }
            cx.check(kernel, first.build_before(&[], "", "nvvm.griddepcontrol wait"))?;
            cx.count("kernels");
            if early || numbers > 0 {
                cx.count("late");
            }
            cx.check(kernel, verify(kernel, &reads))?;
        }
        let symbol = format!("memref.global @{SYMBOL} : memref<1xi32, #gpu.address_space<global>> = dense<1>");
        cx.check(kernels, kernels.define(&symbol))?;
    }
    Ok(())
}

/// The kernels that somewhere precede a kernel whose blocks need more workgroup memory than [`LARGE_BLOCK`], or as much as
/// its launch says.
fn before_large_blocks(module: Op) -> HashSet<(String, String)> {
    let bytes = |ty: Type| -> i64 {
        let elements = ty.shape().and_then(|s| s.into_iter().product::<Option<i64>>()).unwrap_or(0);
        elements.saturating_mul(4)
    };
    let is_large = |kernel: &Op| {
        let body = kernel.blocks(0).first().map(|b| b.arguments()).unwrap_or_default();
        let fixed: i64 =
            body.into_iter().filter(|a| a.ty().is_memref() && is_workgroup(*a)).map(|a| bytes(a.ty())).sum();
        fixed > LARGE_BLOCK || !kernel.find(&["gpu.dynamic_shared_memory"]).is_empty()
    };
    let kernels = module.find(&["gpu.func"]).into_iter().filter(is_large);
    let large: HashSet<(String, String)> =
        kernels.filter_map(|k| Some((k.parent_named("gpu.module")?.symbol()?, k.symbol()?))).collect();
    let launches: Vec<Op> = module.find(&["gpu.launch_func"]);
    let pairs = launches.windows(2).filter(|pair| pair[0].block() == pair[1].block());
    let before = pairs.filter(|pair| launched(pair[1]).is_some_and(|k| large.contains(&k)) && !is_alone(pair[1]));
    before.filter_map(|pair| launched(pair[0])).collect()
}

/// Whether a block of a launch has a multiprocessor to itself, by the dynamic workgroup memory that it asks for.
fn is_alone(launch: Op) -> bool {
    // It stands before the kernel's own operands, and sizes of grid and block are indices.
    let asked = launch.operands().into_iter().find(|v| v.ty().is("i32"));
    asked.and_then(|v| v.constant()).is_some_and(|bytes| bytes > WHOLE_PROCESSOR)
}

/// What a kernel's operations may do before its wait.
struct Reads {
    constant: Vec<Value>,
    argument: Vec<Value>,
}

impl Reads {
    fn of(kernel: Op, given: Option<&Given>) -> Reads {
        let arguments = kernel.blocks(0).first().map(|b| b.arguments()).unwrap_or_default();
        let given = given.cloned().unwrap_or_default();
        let of = |numbers: HashSet<usize>| numbers.iter().filter_map(|i| arguments.get(*i)).copied().collect();
        Reads { constant: of(given.constant), argument: of(given.argument) }
    }

    fn is_constant_load(&self, op: Op) -> bool {
        is_load(op) && self.constant.contains(&source(op.operand(0)))
    }

    /// Whether an operation loads what nothing writes before the function's end.
    fn is_early_load(&self, op: Op) -> bool {
        let unwritten = is_load(op) && op.attr(UNWRITTEN).is_some() && self.argument.contains(&source(op.operand(0)));
        unwritten || self.is_constant_load(op)
    }

    /// Moves loads of constants that stand behind `first` at a kernel's top level, and what computes their addresses, before it, if
    /// they are at most [`MOST_MOVED`] elements: whether it did. The loads run whatever happens, so that they may run earlier: but
    /// not past an assertion or a call, which may end the kernel where an address is out of range.
    fn advance(&self, body: Block, ops: &[Op], first: Op) -> bool {
        let at = ops.iter().position(|op| *op == first).unwrap_or(ops.len());
        let mut known: HashSet<Value> = ops[..at].iter().flat_map(|op| op.results()).chain(body.arguments()).collect();
        let mut may_move = vec![];
        for op in ops[at..].iter().take_while(|op| op.find(&MAY_END).is_empty()) {
            let name = op.name();
            let computes = name.starts_with("arith.") || name == "affine.apply" || VIEWS.contains(&name.as_str());
            let moves = computes || is_load(*op) && self.is_constant_load(*op);
            if moves && self.may_precede_wait(*op) && op.operands().iter().all(|v| known.contains(v)) {
                known.extend(op.results());
                may_move.push(*op);
            }
        }
        let (mut wanted, mut moved) = (HashSet::new(), vec![]);
        for op in may_move.into_iter().rev() {
            if is_load(op) || op.results().iter().any(|v| wanted.contains(v)) {
                wanted.extend(op.operands());
                moved.push(op);
            }
        }
        let size = |load: &Op| load.result(0).ty().shape().map_or(Some(1), |s| s.into_iter().product::<Option<i64>>());
        let elements: Option<i64> = moved.iter().filter(|op| is_load(**op)).map(size).sum();
        let moves = elements.is_some_and(|n| (1..=MOST_MOVED).contains(&n));
        if moves {
            moved.into_iter().rev().for_each(|op| op.move_before(first));
        }
        moves
    }

    /// Whether an operation and all inside it neither write memory that another kernel sees nor read what one may write.
    fn may_precede_wait(&self, op: Op) -> bool {
        op.walk().into_iter().all(|inner| {
            let name = inner.name();
            if is_load(inner) {
                return self.is_early_load(inner) || is_workgroup(inner.operand(0));
            }
            match name.as_str() {
                "memref.store" | "vector.store" => is_workgroup(inner.operand(1)),
                "gpu.thread_id" | "gpu.block_id" | "gpu.block_dim" | "gpu.grid_dim" | "gpu.lane_id" | "gpu.shuffle"
                | "gpu.barrier" => true,
                "nvvm.bar.warp.sync" | "nvvm.griddepcontrol" => true,
                // The blocks of a cluster run together: each waits for what all of them did before.
                "nvvm.cluster.arrive" | "nvvm.cluster.arrive.relaxed" | "nvvm.cluster.wait" => true,
                "affine.apply" | "affine.for" | "affine.yield" | "scf.for" | "scf.if" | "scf.yield" => true,
                "memref.dim" => true,
                view if VIEWS.contains(&view) => true,
                "ub.poison" => true,
                // Barriers and other workgroup memory of the block's own.
                "nvgpu.mbarrier.create" | "nvgpu.mbarrier.init" | "nvvm.fence.mbarrier.init" => true,
                // What is brought to a cache stays what it is.
                "nvvm.prefetch" | "llvm.inttoptr" => true,
                "gpu.dynamic_shared_memory" | "memref.extract_aligned_pointer_as_index" => true,
                "llvm.alloca" | "llvm.mlir.constant" | "llvm.mlir.zero" | "builtin.unrealized_conversion_cast" => true,
                _ => {
                    let computes = ["arith.", "math.", "vector."].iter().any(|dialect| name.starts_with(dialect));
                    computes && !inner.operands().iter().any(|v| v.ty().is_memref())
                }
            }
        })
    }
}

fn is_load(op: Op) -> bool {
    op.is("memref.load") || op.is("vector.load")
}

fn is_workgroup(buffer: Value) -> bool {
    let space = buffer.ty().memref().and_then(|m| m.space).map(|s| s.to_string());
    space.is_some_and(|s| s.contains("workgroup"))
}

/// The rule: one wait, at the kernel's top level, and nothing before it but what may stand there.
fn verify(kernel: Op, reads: &Reads) -> Result<(), String> {
    let is_wait = |op: &Op| op.is(WAIT) && op.attr("kind").is_none_or(|k| k.to_string().contains("wait"));
    let body = kernel.blocks(0).first().map(|b| b.ops()).unwrap_or_default();
    let place = body.iter().position(is_wait).ok_or("internal error: a kernel does not wait for its predecessor")?;
    if kernel.walk().iter().filter(|op| is_wait(op)).count() != 1 {
        return Err("internal error: a kernel waits more than once".into());
    }
    match body[..place].iter().find(|op| !reads.may_precede_wait(**op)) {
        Some(op) => Err(format!("internal error: a kernel has {} before it waits for its predecessor", op.name())),
        None => Ok(()),
    }
}

/// What every launch gives to the parameters of kernels.
fn given(module: Op) -> Parameters {
    let calls = module.find(&["func.call", "func.constant"]);
    let symbol = |op: &Op| op.attr("callee").or_else(|| op.attr("value")).and_then(|a| a.as_symbol());
    let called: HashSet<String> = calls.iter().filter_map(symbol).collect();
    let kernels = module.find(&["gpu.func"]).into_iter().filter_map(|kernel| {
        let holder = kernel.parent_named("gpu.module")?.symbol()?;
        Some(((holder, kernel.symbol()?), kernel))
    });
    let kernels: HashMap<(String, String), Op> = kernels.collect();
    let mut known: HashMap<Value, bool> = HashMap::new();
    let mut found = Parameters::new();
    for launch in module.find(&["gpu.launch_func"]) {
        let Some((name, kernel)) = launched(launch).and_then(|k| kernels.get(&k).map(|f| (k, *f))) else { continue };
        let mut here = Given::default();
        for (number, operand) in arguments(launch, kernel).into_iter().enumerate().filter(|(_, v)| v.ty().is_memref()) {
            let root = source(operand);
            if entry_of(root, &called).is_none() {
                continue;
            }
            here.argument.insert(number);
            let constant = *known.entry(root).or_insert_with(|| is_constant(root, &called, &kernels));
            if constant || is_written_later(root, launch, &called, &kernels) {
                here.constant.insert(number);
            }
        }
        let all = found.entry(name).or_insert_with(|| here.clone());
        all.constant.retain(|i| here.constant.contains(i));
        all.argument.retain(|i| here.argument.contains(i));
    }
    found
}

/// The operands of a launch that are its kernel's parameters: the last ones, before a dependence that there is none of yet.
pub(crate) fn arguments(launch: Op, kernel: Op) -> Vec<Value> {
    let parameters =
        kernel.attr("function_type").and_then(|a| a.as_type()?.function()).map_or(0, |(inputs, _)| inputs.len());
    let operands = launch.operands();
    operands[operands.len().saturating_sub(parameters)..].to_vec()
}

/// Whether a buffer is an argument of an entry that nothing in it writes.
fn is_constant(root: Value, called: &HashSet<String>, kernels: &HashMap<(String, String), Op>) -> bool {
    let Some(entry) = entry_of(root, called) else { return false };
    let (_, number) = root.block_argument().unzip();
    let writable = number.is_some_and(|i| entry.arg_attr(i, "tinymlir.writable").is_some());
    !writable && writers(root, kernels).is_some_and(|writers| writers.is_empty())
}

/// Whether a buffer is an argument of an entry whose every writer is a launch behind this one in the same block, which is the entry's
/// own and so runs once: it waits until this one is complete.
fn is_written_later(
    root: Value,
    launch: Op,
    called: &HashSet<String>,
    kernels: &HashMap<(String, String), Op>,
) -> bool {
    let Some(entry) = entry_of(root, called) else { return false };
    let block = launch.block();
    let behind = |writer: &Op| std::iter::successors(launch.next(), |op| op.next()).any(|op| op == *writer);
    block.is_some_and(|b| b.parent() == entry && entry.blocks(0).len() == 1)
        && writers(root, kernels).is_some_and(|all| all.iter().all(behind))
}

/// The public function whose argument a buffer is, if nothing in the module calls it.
fn entry_of(root: Value, called: &HashSet<String>) -> Option<Op> {
    let entry = root.block_argument().map(|(block, _)| block.parent()).filter(|f| f.is("func.func"));
    entry.filter(|f| !f.is_private() && !f.symbol().is_some_and(|s| called.contains(&s)))
}

/// The launches that may write a buffer; nothing where something else may.
fn writers(root: Value, kernels: &HashMap<(String, String), Op>) -> Option<Vec<Op>> {
    let mut found = vec![];
    let mut left = vec![root];
    while let Some(value) = left.pop() {
        for (user, place) in value.uses() {
            let reads = match user.name().as_str() {
                "gpu.launch_func" => {
                    let kernel = launched(user).and_then(|k| kernels.get(&k).copied())?;
                    let same = arguments(user, kernel).into_iter().enumerate().filter(|(_, v)| *v == value);
                    let parameters = kernel.blocks(0)[0].arguments();
                    let mut same = same.map(|(i, _)| parameters.get(i));
                    if !same.all(|parameter| parameter.is_some_and(|p| only_read(*p))) {
                        found.push(user);
                    }
                    true
                }
                "memref.copy" | "memref.load" | "memref.dim" | "memref.dealloc" => {
                    place == 0 && !user.is("memref.dealloc")
                }
                _ if user.results().iter().all(|r| source(*r) == root || !r.ty().is_memref())
                    && !user.results().is_empty() =>
                {
                    left.extend(user.results().into_iter().filter(|r| r.ty().is_memref()));
                    source(user.result(0)) == root
                }
                _ => false,
            };
            if !reads {
                return None;
            }
        }
    }
    Some(found)
}

/// Whether nothing is done at an address, or at one calculated from it, but to bring memory to a cache.
fn only_prefetched(address: Value) -> bool {
    address.uses().into_iter().all(|(user, _)| {
        let calculates = user.is("arith.addi") || user.is("arith.index_cast") || user.is("llvm.inttoptr");
        user.is("nvvm.prefetch") || calculates && only_prefetched(user.result(0))
    })
}

/// Whether a kernel only reads a parameter, through any view of it.
pub(crate) fn only_read(parameter: Value) -> bool {
    let mut left = vec![parameter];
    while let Some(value) = left.pop() {
        for (user, place) in value.uses() {
            let reads = is_load(user) && place == 0
                || user.is("memref.dim")
                || user.is("memref.extract_aligned_pointer_as_index") && only_prefetched(user.result(0))
                // Global memory is never its target.
                || user.is("nvgpu.device_async_copy");
            if reads {
                continue;
            }
            let view = user.results().first().is_some_and(|r| source(*r) == source(value) && place == 0);
            if !view {
                return false;
            }
            left.extend(user.results().into_iter().filter(|r| r.ty().is_memref()));
        }
    }
    true
}
