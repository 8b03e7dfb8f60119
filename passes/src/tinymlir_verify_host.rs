//! `tinymlir-verify-host`: refuse what the lowering of a launching host would silently keep or run in the wrong place.
//!
//! `gpu-to-llvm` leaves a gpu operation that it cannot lower where it is, and succeeds: a synchronous allocation in device
//! memory, an asynchronous one in shared memory, a synchronous deallocation, a copy with strides, a launch that waits for
//! several tokens. A linalg operation or a parallel loop that is left would iterate data on the host. Runs at the end of
//! outline.

use crate::{
    device::on_host,
    ir::{Op, Pass, PassCx, PassResult},
};

pub static PASS: Pass = Pass {
    argument: "tinymlir-verify-host",
    description: "Reject gpu operations on the host that have no lowering, and loops that have no kernel",
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
    result
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
        "gpu.launch_func" if tokens == 1 && !gives => refused("it waits for a token but gives none", "make it asynchronous"),
        "gpu.launch_func" => None,
        "gpu.alloc" if op.attr("hostShared").is_some() => {
            if gives { refused("shared memory is allocated at once", "make it synchronous") } else { None }
        }
        "gpu.alloc" | "gpu.dealloc" | "gpu.memset" if !chained => {
            refused("it neither waits for one token nor gives one", "run tinymlir-async-launches")
        }
        "gpu.memcpy" if !chained => refused("it neither waits for one token nor gives one", "run tinymlir-async-launches"),
        "gpu.memcpy" => {
            let strided = op.operands().iter().filter_map(|v| v.ty().memref()).any(|m| !m.is_identity());
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
