//! `tinymlir-split-fills`: each user of a filled or empty tensor gets its own.
//!
//! Common subexpression elimination makes one `linalg.fill` of all that start from the same value, twelve layers' row sums
//! for instance. Each of them computes in place in it, so bufferization would keep the filled buffer alive and copy it
//! before every use; filling again costs half of a copy and nothing is kept. Runs in the bufferize stage, before empty
//! tensors are given buffers. It refuses nothing.

use crate::ir::{Op, Pass, PassCx, PassResult, Value};

pub static PASS: Pass = Pass {
    argument: "tinymlir-split-fills",
    description: "Give each user of a filled or empty tensor its own",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("split", "Operations that were repeated")],
    dialects: &[],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    // Fills first: the copies of one use the same empty tensor, which is split after.
    for name in ["linalg.fill", "tensor.empty"] {
        for op in module.find(&[name]) {
            let [result] = op.results()[..] else { continue }; // a fill of a memref has none
            split(cx, op, result);
        }
    }
    Ok(())
}

/// Repeats `op` before each operation that uses `result`, but the first.
fn split(cx: &PassCx, op: Op, result: Value) {
    let mut users: Vec<(Op, Vec<usize>)> = vec![];
    for (user, operand) in result.uses() {
        match users.iter_mut().find(|(u, _)| *u == user) {
            Some((_, operands)) => operands.push(operand),
            None => users.push((user, vec![operand])),
        }
    }
    // MLIR lists the newest use first: the first user keeps the operation.
    for (user, operands) in users.into_iter().rev().skip(1) {
        let copy = op.clone_before(user).result(0);
        operands.into_iter().for_each(|i| user.set_operand(i, copy));
        cx.count("split");
    }
}
