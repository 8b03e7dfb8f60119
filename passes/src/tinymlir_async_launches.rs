//! `tinymlir-async-launches`: launches in order on one stream, with a wait where the host needs what they made.
//!
//! Threads a token through the gpu operations of each block on the host: launches, copies, deallocations and device
//! allocations. The host waits before the first operation that may touch memory, before calls and nested control flow,
//! and at the block's end, so that a caller finds results in place. Upstream's `gpu-async-region` does the same, but makes a
//! `host_shared` allocation asynchronous too, which has no lowering, and takes it for a reason to end a run of launches.
//! Runs last in outline. A block that has asynchronous gpu operations of its own is left as it is.

use crate::{
    device::{leaves_memory_alone, on_host},
    ir::{Attr, Block, Op, Pass, PassCx, PassResult, Type, Value},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-async-launches",
    description: "Chain the gpu operations of each block by tokens and wait where the host needs their results",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("launches", "Launches made asynchronous"), ("waits", "Waits of the host")],
    dialects: &[mlirGetDialectHandle__gpu__],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    for function in module.find(&["func.func"]).into_iter().filter(|f| on_host(*f)) {
        // Blocks first: their operations are replaced.
        let regions = function.walk().into_iter().flat_map(|op| (0..op.num_regions()).flat_map(move |r| op.blocks(r)));
        regions.collect::<Vec<_>>().into_iter().try_for_each(|b| chain(cx, b))?;
    }
    Ok(())
}

fn chain(cx: &PassCx, block: Block) -> PassResult {
    let ops = block.ops();
    let is_token = |v: &Value| v.ty().is("!gpu.async.token");
    if ops.iter().any(|op| op.results().iter().any(is_token)) {
        return Ok(());
    }
    let mut token: Option<Value> = None;
    for op in ops {
        if is_chained(op) {
            let before = match token {
                Some(token) => token,
                None => cx.check(op, op.build_before(&[], "", "%t = gpu.wait async\nreturn %t : !gpu.async.token"))?[0],
            };
            token = Some(cx.check(op, asynchronous(op, before))?);
            if op.is("gpu.launch_func") {
                cx.count("launches");
            }
            op.erase();
        } else if let Some(pending) = token
            && !leaves_memory_alone(op)
            && !op.is("gpu.alloc")
        {
            cx.check(op, op.build_before(&[("t", pending)], "", "gpu.wait [%t]"))?;
            cx.count("waits");
            token = None;
        }
    }
    Ok(())
}

fn is_chained(op: Op) -> bool {
    match op.name().as_str() {
        "gpu.launch_func" | "gpu.memcpy" | "gpu.memset" | "gpu.dealloc" => true,
        "gpu.alloc" => op.attr("hostShared").is_none(),
        _ => false,
    }
}

/// The operation with a token to wait for and one to give; its other results keep their uses. Returns the token.
fn asynchronous(op: Op, before: Value) -> Result<Value, String> {
    let token = Type::parse(op.ctx(), "!gpu.async.token").ok_or("internal error: no token type")?;
    let mut operands = vec![before];
    operands.extend(op.operands());
    let mut results: Vec<_> = op.results().iter().map(|r| r.ty()).collect();
    results.push(token);
    let mut changed = vec![];
    if let Some(sizes) = op.attr("operandSegmentSizes") {
        // array<i32: n, ...>: the tokens to wait for come first, and there was none.
        let text = sizes.to_string();
        let rest = text.split_once(", ").map(|(_, rest)| rest).ok_or("internal error: no operand groups")?;
        let sizes = Attr::parse(op.ctx(), &format!("array<i32: 1, {rest}")).ok_or("internal error: operand groups")?;
        changed.push(("operandSegmentSizes", sizes));
    }
    let new = op.rebuild_before(&operands, &results, &changed);
    for (old, new) in op.results().into_iter().zip(new.results()) {
        old.replace_all_uses(new);
    }
    new.results().last().copied().ok_or_else(|| "internal error: no token".into())
}
