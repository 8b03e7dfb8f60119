//! What operations take from outside, and how they take it when they move to a function of their own.

use crate::ir::{Op, Value};
use std::collections::HashSet;

/// Whether an operation is a constant, which moves along as a copy.
fn is_constant(op: Op) -> bool {
    op.is("arith.constant") && op.attr("value").is_some()
}

/// The values that `users` take from outside of `inside`, each once, constants apart.
pub fn captured(users: &[Op], inside: &[Op]) -> Vec<Value> {
    let inside: HashSet<Op> = inside.iter().copied().collect();
    let mut values = vec![];
    for value in users.iter().flat_map(|op| op.operands()) {
        let own = match (value.def(), value.block_argument()) {
            (Some(def), _) => inside.contains(&def) || is_constant(def),
            (None, Some((block, _))) => inside.contains(&block.parent()),
            (None, None) => true,
        };
        if !own && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Lets `moved` take the values `to` for those `from`, and copies of constants from outside, which go before `place`.
pub fn rewire(moved: &[Op], from: &[Value], to: &[Value], place: Op) {
    let inside: HashSet<Op> = moved.iter().copied().collect();
    let mut copies: Vec<(Op, Value)> = vec![];
    for op in moved {
        for (i, value) in op.operands().into_iter().enumerate() {
            if let Some(at) = from.iter().position(|v| *v == value) {
                op.set_operand(i, to[at]);
            } else if let Some(def) = value.def().filter(|def| is_constant(*def) && !inside.contains(def)) {
                let known = copies.iter().find(|(constant, _)| *constant == def).map(|(_, copy)| *copy);
                let copy = known.unwrap_or_else(|| {
                    let copy = def.clone_before(place).result(0);
                    copies.push((def, copy));
                    copy
                });
                op.set_operand(i, copy);
            }
        }
    }
}
