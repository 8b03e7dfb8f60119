//! `tinymlir-verify-outlined`: refuse what would be lowered to a program that hangs, or silently kept, or run on the host.
//!
//! `gpu-to-llvm` leaves a gpu operation that it cannot lower where it is, and succeeds: a synchronous allocation in device
//! memory, an asynchronous one in shared memory, a synchronous deallocation, a copy with strides, a launch that waits for
//! several tokens. A linalg operation that is left would iterate data on the host. A `gpu.barrier` that only some threads of a
//! block reach is undefined behaviour and may hang. Runs at the end of outline.

use crate::{
    device::on_host,
    ir::{Op, Pass, PassCx, PassResult, Value},
};
use std::collections::HashSet;

pub static PASS: Pass = Pass {
    argument: "tinymlir-verify-outlined",
    description: "Reject gpu operations on the host that have no lowering, and barriers that some threads of a block miss",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut result = Ok(());
    for op in module.walk().into_iter().filter(|op| op.parent_named("func.func").is_some() && on_host(*op)) {
        if let Some(reason) = refusal(op) {
            result = Err(cx.error(op, &reason));
        }
    }
    for barrier in module.find(&["gpu.barrier"]) {
        if let Some(around) = divergent(barrier) {
            let fact =
                format!("is undefined: threads of one block decide differently in the '{}' around it", around.name());
            result =
                Err(cx.error_with_note(barrier, &format!("{fact} (move it out)"), (around.loc(), "which is here")));
        }
    }
    result
}

/// The nearest control flow around an operation whose condition or bounds depend on the thread.
fn divergent(op: Op) -> Option<Op> {
    std::iter::successors(op.parent(), |p| p.parent()).take_while(|p| !p.is("gpu.func") && !p.is("gpu.launch")).find(
        |p| {
            // The bounds and the step of a loop decide; the values that it carries do not.
            let deciding = if p.is("scf.for") { 3 } else { usize::MAX };
            p.name().starts_with("scf.") && p.operands().into_iter().take(deciding).any(depends_on_thread)
        },
    )
}

/// Whether a value may differ between the threads of a block.
fn depends_on_thread(value: Value) -> bool {
    let mut seen = HashSet::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        if !seen.insert(value) {
            continue;
        }
        match (value.def(), value.block_argument()) {
            (Some(def), _) if ["gpu.thread_id", "gpu.lane_id"].iter().any(|n| def.is(n)) => return true,
            (Some(def), _) => {
                left.extend(def.operands());
                // What control flow yields: the values, and the choice between them.
                for block in (0..def.num_regions()).flat_map(|r| def.blocks(r)) {
                    left.extend(block.terminator().operands());
                }
            }
            // The ids of a gpu.launch: blocks first, then threads.
            (None, Some((block, 3..6))) if block.parent().is("gpu.launch") => return true,
            (None, Some((block, _))) if block.parent().name().starts_with("scf.") => {
                left.extend(block.parent().operands())
            }
            _ => {}
        }
    }
    false
}

fn refusal(op: Op) -> Option<String> {
    let name = op.name();
    let tokens = op.operands().iter().filter(|v| v.ty().is("!gpu.async.token")).count();
    let gives = op.results().iter().any(|v| v.ty().is("!gpu.async.token"));
    let chained = tokens == 1 && gives;
    let refused = |fact: &str, remedy: &str| Some(format!("has no lowering on the host: {fact} ({remedy})"));
    match name.as_str() {
        "gpu.wait" | "gpu.host_register" | "gpu.host_unregister" | "gpu.set_default_device" => None,
        "gpu.launch_func" if tokens > 1 => refused("it waits for several tokens", "wait for them first"),
        "gpu.launch_func" if tokens == 1 && !gives => {
            refused("it waits for a token but gives none", "make it asynchronous")
        }
        "gpu.launch_func" => None,
        "gpu.alloc" if op.attr("hostShared").is_some() => {
            if gives {
                refused("shared memory is allocated at once", "make it synchronous")
            } else {
                None
            }
        }
        "gpu.alloc" | "gpu.dealloc" | "gpu.memset" if !chained => {
            refused("it neither waits for one token nor gives one", "run tinymlir-async-launches")
        }
        "gpu.memcpy" if !chained => {
            refused("it neither waits for one token nor gives one", "run tinymlir-async-launches")
        }
        "gpu.memcpy" => {
            let strided = op.operands().iter().any(|v| v.ty().is_memref() && !v.ty().has_identity_map());
            if strided { refused("its buffers have strides", "run tinymlir-device-copies") } else { None }
        }
        "gpu.alloc" | "gpu.dealloc" | "gpu.memset" => None,
        _ if name.starts_with("gpu.") => refused("only kernels have it", "move it into a gpu.launch"),
        _ if name.starts_with("linalg.") && name != "linalg.yield" && name != "linalg.index" => {
            Some("has no kernel: upstream makes no loops of it on buffers (decompose it on tensors)".into())
        }
        _ => None,
    }
}
