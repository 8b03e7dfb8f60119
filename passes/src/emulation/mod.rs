//! A kernel's operations as the host's: what `tinymlir-emulate-gpu` puts in the place of NVVM's.
//!
//! A thread finds what it knows of itself at a pointer that the runtime gives it (`Thread` in `runtime/src/emulate`).

mod access;
mod math;
mod matrix;
mod runtime;
mod shared_memory;

pub(crate) use runtime::{RUNTIME, declare_called};
pub(crate) use shared_memory::SharedMemory;

use crate::ir::{Failed, Op, PassCx, PassResult, Type, Value};
use std::collections::HashMap;

/// Special registers that the runtime's `Thread` begins with, in its order, 32 bits each.
const REGISTERS: [&str; 28] = [
    "tid.x",
    "tid.y",
    "tid.z",
    "ctaid.x",
    "ctaid.y",
    "ctaid.z",
    "ntid.x",
    "ntid.y",
    "ntid.z",
    "nctaid.x",
    "nctaid.y",
    "nctaid.z",
    "clusterid.x",
    "clusterid.y",
    "clusterid.z",
    "nclusterid.x",
    "nclusterid.y",
    "nclusterid.z",
    "cluster.ctaid.x",
    "cluster.ctaid.y",
    "cluster.ctaid.z",
    "cluster.nctaid.x",
    "cluster.nctaid.y",
    "cluster.nctaid.z",
    "laneid",
    "warpid",
    "cluster.ctarank",
    "cluster.nctarank",
];
/// Where the pointers to shared memory and to its part whose size a launch gives stand in it, in bytes.
const SHARED: usize = 128;
const DYNAMIC: usize = 144;

/// Rewrites one function of a kernel module.
pub(crate) struct Rewriter<'a> {
    cx: &'a PassCx,
    module: Op,
    holder: Op,
    function: Op,
    /// Where globals in shared memory lie.
    offsets: &'a HashMap<String, u64>,
    /// The text of each kind of access, by what it says.
    accesses: HashMap<String, String>,
    /// Memory for the registers of a matrix instruction, where there is one.
    registers: Option<Value>,
}

impl<'a> Rewriter<'a> {
    pub(crate) fn new(
        cx: &'a PassCx,
        module: Op,
        holder: Op,
        function: Op,
        offsets: &'a HashMap<String, u64>,
    ) -> Rewriter<'a> {
        Rewriter { cx, module, holder, function, offsets, accesses: HashMap::new(), registers: None }
    }

    /// Replaces every operation that the host does not have.
    pub(crate) fn run(&mut self) -> PassResult {
        let ops: Vec<Op> = self.function.walk().into_iter().skip(1).collect();
        let Some(first) = ops.first().copied() else { return Ok(()) };
        let text = "%t = llvm.call @tinymlirEmulatedThread() : () -> !llvm.ptr\nreturn %t : !llvm.ptr";
        let thread = self.build(first, &[], "", text)?[0];
        if ops.iter().any(|op| ["nvvm.mma.sync", "nvvm.ldmatrix"].contains(&op.name().as_str())) {
            let text = format!(
                "%n = llvm.mlir.constant({} : i64) : i64\n%p = llvm.alloca %n x i32 : (i64) -> !llvm.ptr\nreturn %p : !llvm.ptr",
                matrix::REGISTERS
            );
            self.registers = Some(self.build(first, &[], "", &text)?[0]);
        }
        for op in ops {
            self.rewrite(op, thread)?;
        }
        Ok(())
    }

    fn rewrite(&mut self, op: Op, thread: Value) -> PassResult {
        let name = op.name();
        let operands = op.operands();
        let int = |name: &str| op.attr(name).and_then(|a| a.as_int()).unwrap_or(0);
        let text = match name.as_str() {
            "llvm.load" => return self.check_access(op, operands[0], op.result(0).ty(), thread),
            "llvm.store" => return self.check_access(op, operands[1], operands[0].ty(), thread),
            "llvm.atomicrmw" | "llvm.cmpxchg" => return self.check_access(op, operands[0], operands[1].ty(), thread),
            "llvm.fpext" | "llvm.fptrunc" => {
                // LLVM would keep in a wider register what a narrower one rounds.
                op.remove_attr("fastmathFlags");
                return Ok(());
            }
            "llvm.mlir.addressof" => return self.address(op, thread),
            "llvm.call" => return self.call(op),
            "llvm.inline_asm" => return self.refuse(op, "inline assembly needs a card"),
            "llvm.call_intrinsic" if op.attr("intrin").and_then(|i| i.as_str()).is_some_and(|i| i == math::EX2) => {
                math::POWER_OF_TWO.into()
            }
            "llvm.call_intrinsic" => {
                return self.refuse(op, "an intrinsic of LLVM's that is called by its name needs a card");
            }
            "nvvm.barrier0" => barrier("%zero", "%zero"),
            "nvvm.barrier" => {
                let segments = op.attr("operandSegmentSizes").and_then(|s| s.as_i32_array()).unwrap_or_default();
                match segments[..] {
                    [0, 0, 0] => barrier("%zero", "%zero"),
                    [1, 0, 0] => barrier("%a0", "%zero"),
                    [0, 1, 0] => barrier("%zero", "%a0"),
                    [1, 1, 0] => barrier("%a0", "%a1"),
                    _ => return self.refuse(op, "a barrier that reduces needs a card"),
                }
            }
            "nvvm.cluster.arrive" | "nvvm.cluster.arrive.relaxed" => {
                "llvm.call @tinymlirEmulatedClusterArrive(%t) : (!llvm.ptr) -> ()".into()
            }
            "nvvm.cluster.wait" => "llvm.call @tinymlirEmulatedClusterWait(%t) : (!llvm.ptr) -> ()".into(),
            "nvvm.mapa" => map(op),
            "nvvm.bar.warp.sync" => "llvm.call @tinymlirEmulatedWarp(%t, %a0) : (!llvm.ptr, i32) -> ()".into(),
            "nvvm.shfl.sync" => shuffle(op),
            "nvvm.vote.sync" => {
                let mode = kind(op, &["any", "all", "uni", "ballot"]);
                let ty = op.result(0).ty();
                format!(
                    "%mode = llvm.mlir.constant({mode} : i32) : i32\n\
                     %w = llvm.call @tinymlirEmulatedVote(%t, %mode, %a0, %a1) : (!llvm.ptr, i32, i32, i1) -> i64\n\
                     %r = llvm.trunc %w : i64 to {ty}\nreturn %r : {ty}"
                )
            }
            "nvvm.redux.sync" if op.result(0).ty().is("i32") => {
                let mode = kind(op, &["add", "and", "or", "xor", "min", "max", "umin", "umax"]);
                format!(
                    "%mode = llvm.mlir.constant({mode} : i32) : i32\n\
                     %w = llvm.call @tinymlirEmulatedReduce(%t, %mode, %a1, %a0) : (!llvm.ptr, i32, i32, i32) -> i64\n\
                     %r = llvm.trunc %w : i64 to i32\nreturn %r : i32"
                )
            }
            "nvvm.mma.sync" => match matrix::multiply(op) {
                Ok(text) => text,
                Err(fact) => return self.refuse(op, fact),
            },
            "nvvm.ldmatrix" => match matrix::load(op) {
                Ok((text, count)) => {
                    // Of fewer matrices the addresses of some lanes are not read.
                    if count == 4 {
                        self.check_shared(op, operands[0], (16, 16), thread)?;
                    }
                    text
                }
                Err(fact) => return self.refuse(op, fact),
            },
            "nvvm.cp.async.shared.global" => {
                let size = int("size");
                self.check_shared(op, operands[0], (size, size), thread)?;
                let read = if operands.len() > 2 { "%a2" } else { "%size" };
                format!(
                    "%size = llvm.mlir.constant({size} : i32) : i32\n\
                     llvm.call @tinymlirEmulatedCopy(%t, %a0, %a1, %size, {read}) : (!llvm.ptr, !llvm.ptr<3>, !llvm.ptr<1>, i32, i32) -> ()"
                )
            }
            "nvvm.cp.async.commit.group" => "llvm.call @tinymlirEmulatedCommit(%t) : (!llvm.ptr) -> ()".into(),
            "nvvm.cp.async.wait.group" => format!(
                "%left = llvm.mlir.constant({} : i32) : i32\nllvm.call @tinymlirEmulatedWait(%t, %left) : (!llvm.ptr, i32) -> ()",
                int("n")
            ),
            "nvvm.convert.float.to.tf32" => match math::round(op) {
                Ok(text) => text.into(),
                Err(fact) => return self.refuse(op, fact),
            },
            "nvvm.rcp.approx.ftz.f" => {
                "%one = llvm.mlir.constant(1.0 : f32) : f32\n%r = llvm.fdiv %one, %a0 : f32\nreturn %r : f32".into()
            }
            "nvvm.read.ptx.sreg.warpsize" => "%r = llvm.mlir.constant(32 : i32) : i32\nreturn %r : i32".into(),
            // One kernel runs at a time, and what it writes is seen at once.
            "nvvm.griddepcontrol"
            | "nvvm.memory.barrier"
            | "nvvm.fence.sc.cluster"
            | "nvvm.nanosleep"
            | "nvvm.prefetch" => {
                op.erase();
                return Ok(());
            }
            _ => {
                match name.strip_prefix("nvvm.read.ptx.sreg.") {
                    Some(register) => match REGISTERS.iter().position(|r| *r == register) {
                        Some(place) => format!(
                            "%p = llvm.getelementptr %t[{place}] : (!llvm.ptr) -> !llvm.ptr, i32\n\
                         %r = llvm.load %p invariant : !llvm.ptr -> i32\nreturn %r : i32"
                        ),
                        None => return self.refuse(op, "it reads a register that only a card has"),
                    },
                    None if name.starts_with("nvvm.") => {
                        return self.refuse(op, "the instruction needs a card (a chip before sm_90 has kernels without those of warpgroups)");
                    }
                    None => return Ok(()),
                }
            }
        };
        self.replace(op, thread, &text)
    }

    /// Builds operations that may call the runtime.
    fn build(&self, at: Op, inputs: &[(&str, Value)], declarations: &str, text: &str) -> Result<Vec<Value>, Failed> {
        self.cx.check(at, declare_called(self.module, text))?;
        self.cx.check(at, at.build_before(inputs, &format!("{RUNTIME}\n{declarations}"), text))
    }

    fn refuse(&self, op: Op, fact: &str) -> PassResult {
        Err(self.cx.error(op, &format!("cannot be emulated: {fact}")))
    }

    /// Puts what `text` makes of operands `%a0` and so on, the thread `%t` and `%zero` in the place of an operation.
    fn replace(&self, op: Op, thread: Value, text: &str) -> PassResult {
        let operands = op.operands();
        let names: Vec<String> = (0..operands.len()).map(|i| format!("a{i}")).collect();
        let mut inputs = vec![("t", thread)];
        inputs.extend(names.iter().map(String::as_str).zip(operands));
        inputs.extend(self.registers.map(|registers| ("registers", registers)));
        let zero = if text.contains("%zero") { "%zero = llvm.mlir.constant(0 : i32) : i32\n" } else { "" };
        let results = self.build(op, &inputs, "", &format!("{zero}{text}"))?;
        op.replace_with(&results);
        Ok(())
    }

    /// The address of a global: of one in shared memory in the block's.
    fn address(&self, op: Op, thread: Value) -> PassResult {
        let symbol = op.attr("global_name").and_then(|a| a.as_symbol()).unwrap_or_default();
        if !op.result(0).ty().is("!llvm.ptr<3>") {
            return Ok(());
        }
        let text = match self.offsets.get(&symbol) {
            Some(offset) => format!(
                "%p = llvm.getelementptr %t[{SHARED}] : (!llvm.ptr) -> !llvm.ptr, i8\n%b = llvm.load %p invariant : !llvm.ptr -> !llvm.ptr<3>\n\
                 %r = llvm.getelementptr %b[{offset}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\nreturn %r : !llvm.ptr<3>"
            ),
            None => format!(
                "%p = llvm.getelementptr %t[{DYNAMIC}] : (!llvm.ptr) -> !llvm.ptr, i8\n%r = llvm.load %p invariant : !llvm.ptr -> !llvm.ptr<3>\n\
                 return %r : !llvm.ptr<3>"
            ),
        };
        self.replace(op, thread, &text)
    }

    /// A call: of libdevice becomes one of libm or an operation; of the function that reports a failed assertion, the runtime's.
    fn call(&self, op: Op) -> PassResult {
        let Some(callee) = op.attr("callee").and_then(|a| a.as_symbol()) else {
            return self.refuse(op, "a call of a pointer needs a card");
        };
        let operands = op.operands();
        let names: Vec<String> = (0..operands.len()).map(|i| format!("a{i}")).collect();
        let inputs: Vec<(&str, Value)> = names.iter().map(String::as_str).zip(operands.iter().copied()).collect();
        let types = operands.iter().map(|o| o.ty().to_string()).collect::<Vec<_>>().join(", ");
        if callee == "tinymlir_fail" {
            let messages =
                self.holder.body().into_iter().find(|g| {
                    g.is("llvm.mlir.global") && g.symbol().is_some_and(|s| s.starts_with("tinymlir_messages"))
                });
            let Some(messages) = messages else { return self.refuse(op, "its messages are missing") };
            let symbol = messages.symbol().unwrap_or_default();
            let ty = messages.attr("global_type").map(|t| t.to_string()).unwrap_or_default();
            let declaration = format!("llvm.mlir.global external @{symbol}() {{addr_space = 1 : i32}} : {ty}");
            let text = format!(
                "%m = llvm.mlir.addressof @{symbol} : !llvm.ptr<1>\n%p = llvm.addrspacecast %m : !llvm.ptr<1> to !llvm.ptr\n\
                 llvm.call @tinymlirEmulatedFail(%p, %a0, %a1, %a2) : (!llvm.ptr, i64, i64, i64) -> ()"
            );
            self.build(op, &inputs, &declaration, &text)?;
            op.erase();
            return Ok(());
        }
        if callee == "vprintf" && operands.len() == 2 {
            let text =
                "%r = llvm.call @tinymlirEmulatedPrint(%a0, %a1) : (!llvm.ptr, !llvm.ptr) -> i32\nreturn %r : i32";
            let made = self.build(op, &inputs, "", text)?;
            op.replace_with(&made);
            return Ok(());
        }
        let Some(function) = callee.strip_prefix("__nv_") else {
            let defined = self.holder.lookup(&callee).is_some_and(|f| !f.blocks(0).is_empty());
            return if defined { Ok(()) } else { self.refuse(op, &format!("nothing defines @{callee}")) };
        };
        if let "sincos" | "sincosf" = function {
            let declaration = format!("llvm.func @{function}({types})");
            self.cx.check(op, self.module.declare(&declaration))?;
            let text = format!("llvm.call @{function}({}) : ({types}) -> ()", percent(&names));
            self.cx.check(op, op.build_before(&inputs, &declaration, &text))?;
            op.erase();
            return Ok(());
        }
        let results: Vec<Type> = op.results().into_iter().map(|r| r.ty()).collect();
        let Some(ty) = results.first() else { return self.refuse(op, &format!("@{callee} has no counterpart here")) };
        let text = match function {
            "rsqrt" | "rsqrtf" => format!(
                "%one = llvm.mlir.constant(1.0 : {ty}) : {ty}\n%s = llvm.intr.sqrt(%a0) : ({ty}) -> {ty}\n%r = llvm.fdiv %one, %s : {ty}"
            ),
            "powi" | "powif" => format!("%r = llvm.intr.powi(%a0, %a1) : ({types}) -> {ty}"),
            "isnanf" | "isnand" | "isinff" | "isinfd" | "finitef" | "isfinited" => {
                let mask = match &function[..5] {
                    "isnan" => 3,
                    "isinf" => 516,
                    _ => 504,
                };
                format!(
                    "%b = \"llvm.intr.is.fpclass\"(%a0) <{{bit = {mask} : i32}}> : ({types}) -> i1\n%r = llvm.zext %b : i1 to {ty}"
                )
            }
            _ => {
                let function = function.trim_start_matches("fast_");
                let declaration = format!("llvm.func @{function}({types}) -> {ty}");
                let text =
                    format!("%r = llvm.call @{function}({}) : ({types}) -> {ty}\nreturn %r : {ty}", percent(&names));
                self.cx.check(op, self.module.declare(&declaration))?;
                let made = self.cx.check(op, op.build_before(&inputs, &declaration, &text))?;
                op.replace_with(&made);
                return Ok(());
            }
        };
        let made = self.cx.check(op, op.build_before(&inputs, "", &format!("{text}\nreturn %r : {ty}")))?;
        op.replace_with(&made);
        Ok(())
    }
}

/// The place of an operation's kind in a list.
fn kind(op: Op, kinds: &[&str]) -> usize {
    let text = op.attr("kind").map(|k| k.to_string()).unwrap_or_default();
    let word = text.trim_end_matches('>').rsplit([' ', '<']).next().unwrap_or_default();
    kinds.iter().position(|kind| *kind == word).unwrap_or_default()
}

fn percent(names: &[String]) -> String {
    names.iter().map(|n| format!("%{n}")).collect::<Vec<_>>().join(", ")
}

fn barrier(id: &str, count: &str) -> String {
    format!("llvm.call @tinymlirEmulatedBarrier(%t, {id}, {count}) : (!llvm.ptr, i32, i32) -> ()")
}

/// `nvvm.mapa`, between generic addresses or from the block's shared memory to the cluster's.
fn map(op: Op) -> String {
    let (from, to) = (op.operand(0).ty().to_string(), op.result(0).ty().to_string());
    let cast = |name: &str, of: &str, from: &str, to: &str| match from == to {
        true => format!("%{name} = llvm.bitcast %{of} : {from} to {to}\n"),
        false => format!("%{name} = llvm.addrspacecast %{of} : {from} to {to}\n"),
    };
    format!(
        "{}%m = llvm.call @tinymlirEmulatedMap(%t, %p, %a1) : (!llvm.ptr, !llvm.ptr, i32) -> !llvm.ptr\n{}return %r : {to}",
        cast("p", "a0", &from, "!llvm.ptr"),
        cast("r", "m", "!llvm.ptr", &to),
    )
}

/// `nvvm.shfl.sync`, of which the runtime gives the value and, 32 bits higher, whether it is another lane's.
fn shuffle(op: Op) -> String {
    let mode = kind(op, &["up", "down", "bfly", "idx"]);
    let value = op.operand(1).ty();
    let (bits, back) =
        (format!("%bits = llvm.bitcast %a1 : {value} to i32\n"), format!("%r = llvm.bitcast %low : i32 to {value}\n"));
    let result = op.result(0).ty();
    let end = if result == value {
        format!("return %r : {value}")
    } else {
        format!(
            "%n = llvm.mlir.constant(32 : i64) : i64\n%h = llvm.lshr %w, %n : i64\n%valid = llvm.trunc %h : i64 to i1\n\
             %s0 = llvm.mlir.poison : {result}\n%s1 = llvm.insertvalue %r, %s0[0] : {result}\n\
             %s2 = llvm.insertvalue %valid, %s1[1] : {result}\nreturn %s2 : {result}"
        )
    };
    format!(
        "{bits}%mode = llvm.mlir.constant({mode} : i32) : i32\n\
         %w = llvm.call @tinymlirEmulatedShuffle(%t, %mode, %a0, %bits, %a2, %a3) : (!llvm.ptr, i32, i32, i32, i32, i32) -> i64\n\
         %low = llvm.trunc %w : i64 to i32\n{back}{end}"
    )
}
