//! The kernels that a module's host code launches.

use crate::{costs::short_type, state::Sources};
use serde::Serialize;
use std::collections::BTreeMap;
use tinymlir_passes::{
    device::VIEWS,
    ir::{Op, Value},
};

/// One launch in the host's code.
#[derive(Clone, Debug, Serialize)]
pub struct Launch {
    /// The kernel.
    pub kernel: String,
    /// Where the launch came from, as a number of [`Sources`].
    pub source: u32,
    /// The function that launches.
    pub function: String,
    /// Blocks along x, y and z; `None` where only the run knows.
    pub grid: [Option<i64>; 3],
    /// Threads along x, y and z.
    pub block: [Option<i64>; 3],
    /// The buffers that it is given, as what lies under the views of them.
    pub shapes: String,
    /// Bytes of shared memory that the kernel declares, and that the launch adds.
    pub shared: Option<i64>,
}

/// Every launch of the module's functions, in their order.
pub fn launches(module: Op, sources: &mut Sources) -> Vec<Launch> {
    let kernels: BTreeMap<String, Op> =
        module.find(&["gpu.func"]).into_iter().filter_map(|f| Some((f.symbol()?, f))).collect();
    let launches = module.find(&["gpu.launch_func"]).into_iter().filter(|op| op.parent_named("func.func").is_some());
    launches.map(|op| launch(op, &kernels, sources)).collect()
}

fn launch(op: Op, kernels: &BTreeMap<String, Op>, sources: &mut Sources) -> Launch {
    let kernel = op.attr("kernel").and_then(|k| k.as_symbol_path()).map_or(String::new(), |(_, kernel)| kernel);
    // Asynchronous dependencies, grid, block, cluster (one each or none), dynamic shared memory, arguments, the stream.
    let counts: Vec<usize> = op
        .attr("operandSegmentSizes")
        .map(|sizes| sizes.to_string())
        .unwrap_or_default()
        .trim_start_matches("array<i32: ")
        .trim_end_matches('>')
        .split(", ")
        .filter_map(|n| n.parse().ok())
        .collect();
    let operands = op.operands();
    let group = |i: usize| -> &[Value] {
        let start: usize = counts.iter().take(i).sum();
        operands.get(start..start + counts.get(i).copied().unwrap_or_default()).unwrap_or_default()
    };
    let at = |i: usize| group(i).first().copied().and_then(constant);
    let dynamic = group(10).first().map_or(Some(0), |v| constant(*v));
    let declared = kernels.get(&kernel).map_or(Some(0), |f| workgroup_bytes(*f));
    let mut shapes: Vec<String> = Vec::new();
    for argument in group(11).iter().filter(|v| v.ty().is_memref()) {
        let shape = short_type(buffer_under(*argument));
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    Launch {
        kernel,
        source: sources.of(op),
        function: op.parent_named("func.func").and_then(|f| f.symbol()).unwrap_or_default(),
        grid: [at(1), at(2), at(3)],
        block: [at(4), at(5), at(6)],
        shapes: shapes.join(", "),
        shared: declared.zip(dynamic).map(|(a, b)| a + b),
    }
}

/// The buffer under views of it; not the arena that a buffer is a part of.
fn buffer_under(mut value: Value) -> Value {
    while let Some(def) = value.def().filter(|d| !d.is("memref.view") && VIEWS.contains(&d.name().as_str())) {
        value = def.operand(0);
    }
    value
}

fn constant(value: Value) -> Option<i64> {
    value.def().filter(|d| d.is("arith.constant")).and_then(|d| d.attr("value")).and_then(|a| a.as_int())
}

/// The bytes of a kernel's buffers in workgroup memory: arguments of its body behind those of its type.
fn workgroup_bytes(kernel: Op) -> Option<i64> {
    let inside = kernel.blocks(0).first().map(|b| b.arguments()).unwrap_or_default();
    let workgroup = |v: &&Value| v.ty().to_string().contains("#gpu.address_space<workgroup>");
    inside.iter().filter(workgroup).try_fold(0, |sum, v| Some(sum + crate::costs::bytes_of(*v)? as i64))
}
