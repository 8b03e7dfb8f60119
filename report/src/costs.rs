//! What operations on buffers cost: floating-point operations, and bytes that must move at least once.

use crate::state::Sources;
use serde::Serialize;
use tinymlir_passes::ir::{Op, Value};

/// The work of one operation on buffers of known sizes.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// The operation's name.
    pub name: String,
    /// What kind of loop it is: `product`, `reduction`, `elementwise` or `move`.
    pub family: &'static str,
    /// Where it came from, as a number of [`Sources`].
    pub source: u32,
    /// The function around it.
    pub function: String,
    /// Its operands' types without layouts, the outputs after an arrow.
    pub shapes: String,
    /// Operations of `arith` and `math` on floating-point numbers, each counted as one; `None` where a size is unknown.
    pub flops: Option<f64>,
    /// Every operand once.
    pub bytes: Option<f64>,
}

/// The cost of every linalg operation and copy on buffers that the host runs.
pub fn costs(module: Op, sources: &mut Sources) -> Vec<Cost> {
    let functions = module.body().into_iter().filter(|f| f.is("func.func"));
    let ops = functions.flat_map(|f| f.walk());
    ops.filter(|op| (op.is_linalg() && op.results().is_empty()) || op.is("memref.copy"))
        .map(|op| cost(op, sources))
        .collect()
}

/// `32x768xf32` of a memref of any layout, `f32` of a scalar.
pub fn short_type(value: Value) -> String {
    let ty = value.ty();
    match ty.shape() {
        Some(shape) => {
            let sizes: String = shape.iter().map(|s| s.map_or("?x".into(), |s| format!("{s}x"))).collect();
            format!("{sizes}{}", ty.element().map(|e| e.to_string()).unwrap_or_default())
        }
        None => ty.to_string(),
    }
}

/// The bytes of a memref of known size; 0 for anything that is none.
pub fn bytes_of(value: Value) -> Option<f64> {
    let ty = value.ty();
    let Some(memref) = ty.memref() else { return Some(0.0) };
    let element = memref.element.bytes()? as f64;
    memref.shape.iter().try_fold(element, |bytes, size| Some(bytes * (*size)? as f64))
}

fn cost(op: Op, sources: &mut Sources) -> Cost {
    let function = op.parent_named("func.func").and_then(|f| f.symbol()).unwrap_or_default();
    let operands = op.operands();
    // A generic's outputs are counted by an attribute; a named operation has one, the last.
    let outputs = if op.is("linalg.generic") { tinymlir_passes::memory::outputs(op).len() } else { 1 };
    let types: Vec<String> = operands.iter().map(|v| short_type(*v)).collect();
    let (inputs, results) = types.split_at(types.len() - outputs.min(types.len()));
    let shapes = format!("{} → {}", inputs.join(", "), results.join(", ")).trim_start().to_owned();
    let bytes = operands.iter().try_fold(0.0, |sum, v| Some(sum + bytes_of(*v)?));
    let loops = iterations(op);
    let per_point = op.blocks(0).first().map_or(0, |b| b.ops().into_iter().filter(|o| is_arithmetic(*o)).count());
    let flops = if op.is("memref.copy") || op.is("linalg.fill") {
        Some(0.0)
    } else {
        loops.as_ref().map(|sizes| sizes.iter().map(|s| *s as f64).product::<f64>() * per_point as f64)
    };
    let dims = op.linalg_maps().first().map_or(0, |m| m.num_dims());
    let family = if op.is("memref.copy") || op.is("linalg.fill") {
        "move"
    } else if op.is_contraction() {
        "product"
    } else if op.linalg_num_parallel() < dims {
        "reduction"
    } else if per_point == 0 {
        "move"
    } else {
        "elementwise"
    };
    Cost { name: op.name(), family, source: sources.of(op), function, shapes, flops, bytes }
}

/// The size of each loop of a linalg operation, where all are known.
fn iterations(op: Op) -> Option<Vec<i64>> {
    let maps = op.linalg_maps();
    let dims = maps.first()?.num_dims();
    let mut sizes = vec![None; dims];
    for (map, operand) in maps.iter().zip(op.operands()) {
        let Some(shape) = operand.ty().shape() else { continue };
        for (dim, size) in map.dims().into_iter().zip(shape) {
            if let Some(dim) = dim {
                sizes[dim] = sizes[dim].or(size);
            }
        }
    }
    sizes.into_iter().collect()
}

fn is_arithmetic(op: Op) -> bool {
    let name = op.name();
    let float = op.results().first().is_some_and(|r| r.ty().is_float());
    let moves =
        matches!(name.as_str(), "arith.constant" | "arith.select" | "arith.extf" | "arith.truncf" | "arith.bitcast");
    float && !moves && (name.starts_with("arith.") || name.starts_with("math."))
}
