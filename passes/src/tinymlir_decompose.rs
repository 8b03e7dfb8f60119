//! `tinymlir-decompose`: high-level operations become linalg and tensor operations that every target knows.
//!
//! TOSA and the shape dialect go through upstream's conversions; softmax, Winograd operations, pack and unpack through their
//! own decompositions, which no upstream pass offers. `tensor.gather` becomes a `tensor.generate` that reads one element,
//! `tensor.scatter` loops that write one, since nothing upstream bufferizes them. Buffers whose layout is no strides get the
//! shape that they have in memory, and an atomic product becomes a loop. What goes in and out of a global of ml_program is copied.
//! Affine loops that carry tensors become scf's, which upstream bufferizes. Runs first in the optimize stage, and again
//! before bufferization for modules that skip it; it finds nothing then. It refuses TOSA that has no conversion, is of unknown
//! rank or slices past the end, a pack or unpack that upstream cannot
//! lower, a softmax of anything but tensors of floats, and Winograd operations on anything but f32: upstream writes their
//! constants as f32, whatever the elements are, and past the end where these are smaller.
//!
//! A concatenation leaves out what is known to be empty, padding of nothing is all padding, and packing nothing is nothing:
//! upstream would take or fill an empty slice at the end of a tensor, which its own verifier refuses. Padding by less than
//! nothing, as PyTorch has it, cuts off. Tiles of a pack that do not fit a size known at run time only are an error then:
//! upstream reads past the end.

use crate::{
    buffers,
    ir::{Failed, Op, Pass, PassCx, PassResult, Type, Value},
    pads, tosa,
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-decompose",
    description: "Decompose TOSA, shape, softmax, pack, unpack, gather and scatter into linalg and tensor operations",
    anchor: "builtin.module",
    options: &[],
    statistics: &[],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__bufferization__,
        mlirGetDialectHandle__linalg__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__ml_program__,
        mlirGetDialectHandle__cf__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__tensor__,
    ],
    run,
};

/// Whose decompositions make constants of the element type, which they take for a float.
const FLOATS: [&str; 4] = [
    "linalg.softmax",
    "linalg.winograd_filter_transform",
    "linalg.winograd_input_transform",
    "linalg.winograd_output_transform",
];

const SHAPE: &str = "func.func(shape-to-shape-lowering,convert-shape-constraints),convert-shape-to-std";

fn run(cx: &PassCx, module: Op) -> PassResult {
    // Before any canonicalization: that takes a pad to its own type for no pad, whatever is cut off and added.
    for op in module.find(&["tensor.pad"]) {
        cx.check(op, pads::cut(op))?;
    }
    let dialects: Vec<String> = module.walk().iter().map(|op| op.name()).collect();
    if dialects.iter().any(|name| name.starts_with("tosa.variable")) {
        cx.run_pipeline(tosa::VARIABLES, module)?;
    }
    if dialects.iter().any(|name| name.starts_with("tosa.")) {
        module
            .walk()
            .into_iter()
            .filter(|op| op.name().starts_with("tosa."))
            .try_for_each(|op| tosa::prepare(cx, op))?;
        cx.run_pipeline(tosa::PIPELINE, module)?;
    }
    if dialects.iter().any(|name| name.starts_with("shape.")) {
        cx.run_pipeline(SHAPE, module)?;
    }
    for function in module.find(&["func.func"]) {
        let over_tensors = |op: &Op| op.results().iter().any(|value| value.ty().is_tensor());
        if function.find(&["affine.for", "affine.if", "affine.parallel"]).iter().any(over_tensors) {
            cx.run_pipeline("lower-affine", function)?;
        }
    }
    buffers::normalize_layouts(cx, module)?;
    for op in module.find(&["memref.atomic_rmw", "memref.generic_atomic_rmw"]) {
        cx.check(op, buffers::atomic(op))?;
    }
    for op in module.find(&["tensor.gather", "tensor.scatter"]) {
        let values = if op.is("tensor.gather") {
            op.build_before(&[("source", op.operand(0)), ("indices", op.operand(1))], "", &gather(op))
        } else {
            let inputs = [("source", op.operand(0)), ("target", op.operand(1)), ("indices", op.operand(2))];
            op.build_before(&inputs, "", &scatter(op))
        };
        op.replace_with(&cx.check(op, values)?);
    }
    for op in module.find(&["linalg.pack"]) {
        cx.check(op, pads::check_tiles(op))?;
    }
    for op in module.find(&["ml_program.global_load", "ml_program.global_store"]) {
        cx.check(op, buffers::copy_of_global(op))?;
    }
    for op in module.find(&["tensor.reshape", "memref.reshape"]) {
        if let Some(text) = buffers::ranked_reshape(op) {
            let inputs = [("source", op.operand(0)), ("sizes", op.operand(1))];
            let values = cx.check(op, op.build_before(&inputs, "", &text))?;
            op.replace_with(&values);
        }
    }
    for op in module.find(&["tensor.bitcast", "tensor.concat", "tensor.pad", "linalg.pack", "linalg.unpack"]) {
        let text = match op.name().as_str() {
            "tensor.bitcast" => pads::bitcast(op),
            "tensor.concat" => pads::concat(op),
            "tensor.pad" => pads::pad(op),
            _ => pads::empty(op),
        };
        if let Some((inputs, text)) = text {
            let names: Vec<String> = (0..inputs.len()).map(|i| format!("v{i}")).collect();
            let inputs: Vec<(&str, Value)> = names.iter().map(String::as_str).zip(inputs).collect();
            let values = cx.check(op, op.build_before(&inputs, "", &text))?;
            op.replace_with(&values);
        }
    }
    for op in module.find(&FLOATS) {
        let ty = op.operand(0).ty();
        if ty.is_memref() {
            return Err(cx.error(op, "cannot be lowered: its operands are buffers (use tensors)"));
        }
        if !ty.element().is_some_and(|e| e.is_float()) {
            return Err(cx.error(op, "cannot be lowered: its elements are no floating-point numbers"));
        }
    }
    for op in module.find(&FLOATS[1..]) {
        if op.operands().iter().any(|v| v.ty().element().is_none_or(|e| e.to_string() != "f32")) {
            return Err(cx.error(op, "cannot be lowered: its elements are not f32 (convert them)"));
        }
    }
    if module.linalg_decompose() { Ok(()) } else { Err(Failed) }
}

/// Text that reads the coordinates of one slice, `%x{d}` for each dimension of the whole tensor: those in `dims` from
/// `%indices` at `%i0` to `%i{batch - 1}`, the others from the loops after these.
fn coordinates(indices: Type, dims: &[usize], rank: usize, batch: usize, reduced: bool) -> String {
    let element = indices.element().map(|e| e.to_string()).unwrap_or_default();
    let place: String = (0..batch).map(|i| format!("%i{i}, ")).collect();
    let (mut text, mut next) = (String::new(), batch);
    for d in 0..rank {
        let Some(p) = dims.iter().position(|x| *x == d) else {
            text += &format!("%x{d} = arith.addi %i{next}, %c0 : index\n");
            next += 1;
            continue;
        };
        next += usize::from(!reduced);
        text += &format!("%p{d} = arith.constant {p} : index\n");
        let read = if element == "index" { "x" } else { "y" };
        text += &format!("%{read}{d} = tensor.extract %indices[{place}%p{d}] : {indices}\n");
        if element != "index" {
            text += &format!("%x{d} = arith.index_cast %y{d} : {element} to index\n");
        }
    }
    text
}

/// The dimensions that an attribute lists.
fn listed(op: Op, name: &str) -> Vec<usize> {
    let dims = op.attr(name).and_then(|a| a.as_static_sizes()).unwrap_or_default();
    dims.into_iter().flatten().filter_map(|d| usize::try_from(d).ok()).collect()
}

fn rank(ty: Type) -> usize {
    ty.shape().map_or(0, |shape| shape.len())
}

fn names(prefix: &str, count: usize) -> String {
    (0..count).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ")
}

fn gather(op: Op) -> String {
    let (source, indices, result) = (op.operand(0).ty(), op.operand(1).ty(), op.result(0).ty());
    let (dims, batch) = (listed(op, "gather_dims"), rank(indices) - 1);
    let reduced = rank(result) < batch + rank(source);
    // What each dimension of the result is a dimension of.
    let kept = (0..rank(source)).filter(|d| !reduced || !dims.contains(d)).map(|d| ("source", source, d));
    let from = (0..batch).map(|d| ("indices", indices, d)).chain(kept);
    let (mut text, mut sizes) = ("%c0 = arith.constant 0 : index\n".to_string(), vec![]);
    for (axis, (size, (name, ty, d))) in result.shape().unwrap_or_default().into_iter().zip(from).enumerate() {
        if size.is_none() {
            text += &format!("%a{axis} = arith.constant {d} : index\n%s{axis} = tensor.dim %{name}, %a{axis} : {ty}\n");
            sizes.push(format!("%s{axis}"));
        }
    }
    let loops = (0..rank(result)).map(|i| format!("%i{i}: index")).collect::<Vec<_>>().join(", ");
    text + &format!(
        "%r = tensor.generate {} {{\n^bb0({loops}):\n{}%v = tensor.extract %source[{}] : {source}\n\
         tensor.yield %v : {}\n}} : {result}\nreturn %r : {result}",
        sizes.join(", "),
        coordinates(indices, &dims, rank(source), batch, reduced),
        names("%x", rank(source)),
        result.element().map(|e| e.to_string()).unwrap_or_default()
    )
}

fn scatter(op: Op) -> String {
    let (source, target, indices) = (op.operand(0).ty(), op.operand(1).ty(), op.operand(2).ty());
    let (dims, batch, loops) = (listed(op, "scatter_dims"), rank(indices) - 1, rank(source));
    let mut text = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n".to_string();
    for i in 0..loops {
        text += &format!("%a{i} = arith.constant {i} : index\n%s{i} = tensor.dim %source, %a{i} : {source}\n");
    }
    for i in 0..loops {
        let before = if i == 0 { "%target".into() } else { format!("%t{}", i - 1) };
        text +=
            &format!("%r{i} = scf.for %i{i} = %c0 to %s{i} step %c1 iter_args(%t{i} = {before}) -> ({target}) {{\n");
    }
    text += &coordinates(indices, &dims, rank(target), batch, loops < batch + rank(target));
    text += &format!(
        "%v = tensor.extract %source[{}] : {source}\n%u = tensor.insert %v into %t{}[{}] : {target}\nscf.yield %u : {target}\n}}\n",
        names("%i", loops),
        loops - 1,
        names("%x", rank(target))
    );
    for i in (1..loops).rev() {
        text += &format!("scf.yield %r{i} : {target}\n}}\n");
    }
    text + &format!("return %r0 : {target}")
}
