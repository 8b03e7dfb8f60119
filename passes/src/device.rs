//! What host code does with a buffer: whether kernels see it, whether the host reads or writes it.

use crate::ir::{Op, Value};
use std::collections::HashSet;

/// Operations whose results are other views of their first operand, or the first operand itself.
pub const VIEWS: [&str; 9] = [
    "memref.cast",
    "memref.subview",
    "memref.reinterpret_cast",
    "memref.expand_shape",
    "memref.collapse_shape",
    "memref.transpose",
    "memref.view",
    "memref.extract_strided_metadata",
    "memref.memory_space_cast",
];

/// Who touches a buffer, through any view of it.
#[derive(Default)]
pub struct Access {
    /// Launches.
    pub kernels: bool,
    /// Copies that the device makes.
    pub copies: bool,
    /// Loads and stores of the host.
    pub host: bool,
    /// It leaves the operations that this analysis follows: a call, a return, control flow, an unknown operation.
    pub escapes: bool,
}

impl Access {
    /// Follows a buffer's uses on the host.
    pub fn of(buffer: Value) -> Access {
        let mut access = Access::default();
        let mut seen = HashSet::new();
        let mut left = vec![buffer];
        while let Some(value) = left.pop() {
            if !seen.insert(value) {
                continue;
            }
            for (user, place) in value.uses() {
                match user.name().as_str() {
                    "gpu.launch_func" | "nvgpu.tma.create.descriptor" => access.kernels = true,
                    "gpu.memcpy" | "gpu.memset" => access.copies = true,
                    "memref.load" | "memref.store" => {
                        access.host = true;
                        access.escapes |= user.is("memref.store") && place == 0;
                    }
                    "memref.copy" => access.host = true,
                    "memref.dealloc" | "gpu.dealloc" | "memref.dim" | "memref.rank" | "memref.assume_alignment" => {}
                    name if VIEWS.contains(&name) && place == 0 => left.extend(user.results()),
                    _ => access.escapes = true,
                }
            }
        }
        access
    }
}

/// The buffer that a value is a view of, as far as operations show it.
pub fn source(mut value: Value) -> Value {
    while let Some(def) = value.def().filter(|d| VIEWS.contains(&d.name().as_str())) {
        value = def.operand(0);
    }
    value
}

/// Whether an operation runs on the host: not inside a kernel.
pub fn on_host(op: Op) -> bool {
    op.parent_named("gpu.module").is_none() && op.parent_named("gpu.launch").is_none()
}

/// What `take` makes of the operations behind `at`, given what it made of those before: as far as it takes each that touches memory.
pub fn following<T>(at: Op, take: impl Fn(Op, &[T]) -> Option<T>) -> Vec<T> {
    let mut taken = vec![];
    let mut next = at.next();
    while let Some(op) = next {
        next = op.next();
        if !leaves_memory_alone(op) {
            let Some(more) = take(op, &taken) else { break };
            taken.push(more);
        }
    }
    taken
}

/// Whether an operation of a host function may neither read nor write memory that kernels see.
pub fn leaves_memory_alone(op: Op) -> bool {
    let name = op.name();
    match name.as_str() {
        // New memory, and what only describes it.
        "memref.alloc" | "memref.alloca" | "memref.dim" | "memref.rank" | "memref.get_global" => true,
        "nvgpu.tma.create.descriptor" => true,
        "memref.extract_aligned_pointer_as_index" | "memref.assume_alignment" | "func.constant" => true,
        "affine.apply" | "affine.min" | "affine.max" | "ub.poison" | "cf.assert" => true,
        "arith.divsi" | "builtin.unrealized_conversion_cast" => true,
        _ => {
            VIEWS.contains(&name.as_str())
                || ["arith.", "math.", "index.", "complex."].iter().any(|dialect| name.starts_with(dialect))
        }
    }
}
