//! `tinymlir-runtime-checks`: what the types do not say is checked at run time, with the operation's location.
//!
//! Upstream takes sizes that are known at run time only on trust: a product of a 2x4 and a 3x2 matrix reads past the end,
//! a gather reads wherever its index points. This inserts a `cf.assert` where
//! - operands of a linalg operation differ in a size that must agree, or a window reaches past its input,
//! - an element is read or written (`memref.load`, `memref.store`) at an index that is computed from data,
//! - a view (`memref.subview`, `memref.cast`, `memref.expand_shape`, `memref.reshape`) or a copy does not fit its source,
//! - an integer is divided by zero, a loop has a step that is not positive, a dimension is asked for that there is none of,
//! - the size of a new buffer is computed from data: a negative one, or more than an address space holds, would be
//!   allocated as what is left after the multiplication overflowed.
//!
//! An element that a selection discards may lie outside, as a masked gather's does: it is not read then.
//!
//! What is certain from static sizes, constants and loop bounds gets no check, so that code of static shapes stays as it
//! is; checks of shapes stand before the loops. In hand-written code on memrefs an index that depends on loops alone is
//! trusted. Upstream's `generate-runtime-verification` checks every access and prints the operation where this names the
//! sizes. Runs in the bufferize stage, before deallocation, for every target. It refuses linalg operations whose static sizes
//! contradict one another.

use crate::{
    indices::{from_data, make_available, range, used_when},
    ir::{Attr, Failed, Op, Pass, PassCx, PassResult, Value},
    misfits::misfit,
    tinymlir_entry_arguments::BUFFERIZED,
    view_checks::{Checks, cast, copy, expand_shape, reshape, subview},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-runtime-checks",
    description: "Check at run time the sizes and indices that are not known before",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("checks", "Assertions inserted")],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__cf__,
        mlirGetDialectHandle__memref__,
    ],
    run,
};

/// The mark on a function that holds its checks.
const CHECKED: &str = "tinymlir.checked";

fn run(cx: &PassCx, module: Op) -> PassResult {
    for function in module.body().into_iter().filter(|op| op.is("func.func") && !op.blocks(0).is_empty()) {
        if function.attr(CHECKED).is_some() {
            continue;
        }
        let tensors = function.attr(BUFFERIZED).is_some();
        let mut inserted = 0;
        for op in function.walk().into_iter().filter(|op| op.parent_named("gpu.launch").is_none()) {
            inserted += check(cx, op, tensors)?;
        }
        if inserted > 0 {
            function.set_attr(CHECKED, Attr::unit(module.ctx()));
        }
    }
    Ok(())
}

/// Inserts the checks of one operation; their number.
fn check(cx: &PassCx, op: Op, tensors: bool) -> Result<usize, Failed> {
    // The name that the user wrote.
    let name = op.name();
    let name = match name.as_str() {
        "memref.alloc" if tensors => "tensor.empty",
        "memref.load" if tensors => "tensor.extract",
        "memref.store" if tensors => "tensor.insert",
        "memref.subview" if tensors => "tensor.extract_slice",
        "memref.cast" if tensors => "tensor.cast",
        "memref.expand_shape" if tensors => "tensor.expand_shape",
        "memref.reshape" if tensors => "tensor.reshape",
        "memref.dim" if tensors => "tensor.dim",
        other => other,
    };
    let mut checks = Checks { name, operands: op.operands(), text: String::new(), count: 0, replaced: vec![] };
    let mut before = op;
    match op.name().as_str() {
        "memref.alloc" | "memref.alloca" => allocation(op, &mut checks),
        "memref.load" => access(op, 0, tensors, &mut checks),
        "memref.store" => access(op, 1, tensors, &mut checks),
        "memref.subview" => subview(op, &mut checks),
        "memref.cast" => cast(op, &mut checks),
        "memref.copy" => copy(op, &mut checks),
        "memref.expand_shape" => expand_shape(op, &mut checks),
        "memref.reshape" => {
            let (Some(next), true) = (op.next(), op.operand(0).ty().is_memref() && op.result(0).ty().is_memref())
            else {
                return Ok(0);
            };
            before = next;
            checks.operands = vec![op.operand(0), op.result(0)];
            reshape(&mut checks);
        }
        "memref.dim" => dimension(op, &mut checks),
        "scf.for" => steps(&[2], &mut checks),
        "scf.parallel" => {
            let dims = op.operands().len() / 3;
            // Initial values of reductions follow the steps.
            let dims = op.blocks(0).first().map_or(dims, |body| body.arguments().len());
            steps(&(2 * dims..3 * dims).collect::<Vec<_>>(), &mut checks);
        }
        "arith.divsi" | "arith.divui" | "arith.remsi" | "arith.remui" | "arith.ceildivsi" | "arith.ceildivui"
        | "arith.floordivsi" => division(op, &mut checks),
        _ if op.is_linalg() => {
            if let Some(fact) = misfit(op) {
                return Err(cx.error(op, &fact));
            }
            linalg(op, &mut checks);
        }
        _ => {}
    }
    if checks.count > 0 {
        let names: Vec<String> = (0..checks.operands.len()).map(|i| format!("v{i}")).collect();
        let inputs: Vec<(&str, Value)> =
            names.iter().map(String::as_str).zip(checks.operands.iter().copied()).collect();
        // The location is the operation's also where the checks stand before its successor.
        let (values, types): (Vec<_>, Vec<_>) =
            checks.replaced.iter().map(|(_, name)| (format!("%{name}"), "index")).unzip();
        if !values.is_empty() {
            checks.line(&format!("return {} : {}", values.join(", "), types.join(", ")));
        }
        let place = before.loc();
        before.set_loc(op.loc());
        let built = cx.check(op, before.build_before(&inputs, "", &checks.text));
        before.set_loc(place);
        let built = built?;
        for ((operand, _), value) in checks.replaced.iter().zip(built) {
            op.set_operand(*operand, value);
        }
        (0..checks.count).for_each(|_| cx.count("checks"));
    }
    Ok(checks.count)
}

/// Sizes along one loop dimension must agree; what a composed index reaches must be inside.
fn linalg(op: Op, checks: &mut Checks) {
    let maps = op.linalg_maps();
    if maps.len() != checks.operands.len() || checks.operands.iter().any(|v| v.ty().is_tensor()) {
        return;
    }
    let shapes: Vec<Vec<Option<i64>>> = checks.operands.iter().map(|v| v.ty().shape().unwrap_or_default()).collect();
    let dims = maps.first().map_or(0, |m| m.num_dims());
    // For each loop dimension the operand and axis that it is taken from: one of static size if there is one.
    let mut sources: Vec<Option<(usize, usize)>> = vec![None; dims];
    for (d, source) in sources.iter_mut().enumerate() {
        let places: Vec<(usize, usize)> = maps
            .iter()
            .enumerate()
            .flat_map(|(i, map)| {
                map.dims().into_iter().enumerate().filter(|(_, x)| *x == Some(d)).map(move |(axis, _)| (i, axis))
            })
            .collect();
        let known = places.iter().find(|(i, axis)| shapes[*i][*axis].is_some());
        let Some(&(i, axis)) = known.or(places.first()) else { continue };
        *source = Some((i, axis));
        for &(j, other) in places.iter().filter(|(j, other)| shapes[*j][*other].is_none() && (*j, *other) != (i, axis))
        {
            let (a, b) = (format!("s{j}_{other}_{d}"), format!("t{i}_{axis}_{j}_{other}"));
            checks.size(&a, j, other);
            checks.size(&b, i, axis);
            let message = format!(
                "sizes differ: {{0}} and {{1}}, along dimension {other} of operand {j} and dimension {axis} of operand {i}"
            );
            checks.assert("eq", &a, &b, &message);
        }
    }
    // Composed indices, as a convolution has: the last one read is inside.
    for (i, map) in maps.iter().enumerate() {
        for (axis, dim) in map.dims().into_iter().enumerate() {
            let used = map.dims_of(axis);
            let unknown = shapes[i][axis].is_none()
                || used.iter().any(|d| sources[*d].is_some_and(|(j, other)| shapes[j][other].is_none()));
            if dim.is_some() || used.is_empty() || !unknown || used.iter().any(|d| sources[*d].is_none()) {
                continue;
            }
            let tag = format!("c{i}_{axis}");
            checks.constant(&format!("{tag}_one"), 1);
            checks.constant(&format!("{tag}_zero"), 0);
            let mut last = vec![];
            for (d, source) in sources.iter().enumerate() {
                match source.filter(|_| used.contains(&d)) {
                    Some((j, other)) => {
                        checks.size(&format!("{tag}_{d}"), j, other);
                        checks.line(&format!("%{tag}_{d}_last = arith.subi %{tag}_{d}, %{tag}_one : index"));
                        last.push(format!("%{tag}_{d}_last"));
                    }
                    None => last.push(format!("%{tag}_zero")),
                }
            }
            checks.line(&format!("%{tag}_last = affine.apply {}({})", map.result(axis), last.join(", ")));
            checks.size(&format!("{tag}_size"), i, axis);
            let message = format!(
                "window is out of bounds: it reaches index {{0}} of dimension {axis} of operand {i}, whose size is {{1}}"
            );
            checks.assert("slt", &format!("{tag}_last"), &format!("{tag}_size"), &message);
        }
    }
}

/// What an address space can hold.
const ADDRESSABLE: i64 = 1 << 47;

/// The dynamic sizes of a new buffer, the first operands: none is negative, and their product with the static ones fits an
/// address space. Sizes of other buffers are possible as they are.
fn allocation(op: Op, checks: &mut Checks) {
    let ty = op.result(0).ty();
    let (Some(shape), Some(bytes)) = (ty.shape(), ty.element().and_then(|e| e.bytes())) else { return };
    let fixed = shape.iter().flatten().try_fold(bytes.max(1), |n, size| n.checked_mul((*size).max(1)));
    let Some(limit) = fixed.map(|fixed| ADDRESSABLE / fixed).filter(|limit| *limit > 0) else { return };
    let dynamic: Vec<usize> = (0..shape.len()).filter(|axis| shape[*axis].is_none()).collect();
    if !dynamic.iter().enumerate().any(|(i, _)| from_data(op.operand(i))) {
        return;
    }
    checks.constant("limit0", limit);
    for (i, axis) in dynamic.iter().enumerate() {
        let message = format!(
            "size is not possible: {{0}} along dimension {axis}, where at most {{1}} elements can be addressed"
        );
        checks.assert("ule", &format!("v{i}"), &format!("limit{i}"), &message);
        if i + 1 < dynamic.len() {
            checks.constant(&format!("one{i}"), 1);
            checks.line(&format!("%least{i} = arith.maxui %v{i}, %one{i} : index"));
            checks.line(&format!("%limit{} = arith.divui %limit{i}, %least{i} : index", i + 1));
        }
    }
}

/// The indices of a load or a store, which follow operand `buffer`.
fn access(op: Op, buffer: usize, tensors: bool, checks: &mut Checks) {
    let Some(shape) = op.operand(buffer).ty().shape() else { return };
    let mut guard = None;
    for (axis, size) in shape.into_iter().enumerate() {
        let operand = buffer + 1 + axis;
        let index = op.operand(operand);
        let inside = size.is_some_and(|size| range(index).is_some_and(|(low, high)| low >= 0 && high < size));
        let constant = index.constant();
        if inside || !tensors && constant.is_none() && !from_data(index) {
            continue;
        }
        let whole = format!("size{axis}");
        checks.size(&whole, buffer, axis);
        // A comparison of constants goes away, and its operands with it.
        let message = match (constant, size) {
            (Some(at), Some(size)) => {
                format!("index is out of bounds: {at} along dimension {axis}, whose size is {size}")
            }
            _ => format!("index is out of bounds: {{0}} along dimension {axis}, whose size is {{1}}"),
        };
        if guard.is_none() && op.is("memref.load") {
            guard = used_when(op).filter(|(condition, _)| make_available(*condition, op));
            if let Some((condition, when)) = guard {
                checks.operands.push(condition);
                checks.line(&format!("%when = arith.constant {when}"));
                checks.line(&format!("%unused = arith.cmpi ne, %v{}, %when : i1", checks.operands.len() - 1));
                checks.constant("first", 0);
            }
        }
        if guard.is_none() {
            checks.assert("ult", &format!("v{operand}"), &whole, &message);
            continue;
        }
        checks.count += 1;
        checks.line(&format!("%inside{axis} = arith.cmpi ult, %v{operand}, %{whole} : index"));
        checks.line(&format!("%fine{axis} = arith.ori %inside{axis}, %unused : i1"));
        checks.line(&format!("cf.assert %fine{axis}, \"'{}' op {message}\"", checks.name));
        checks.line(&format!("%safe{axis} = arith.select %inside{axis}, %v{operand}, %first : index"));
        checks.replaced.push((operand, format!("safe{axis}")));
    }
}

/// The dimension that a size is asked of, where it is no constant, which upstream checks.
fn dimension(op: Op, checks: &mut Checks) {
    let Some(rank) = op.operand(0).ty().shape().map(|shape| shape.len() as i64) else { return };
    if range(op.operand(1)).is_some_and(|(low, high)| low >= 0 && high < rank) {
        return;
    }
    checks.constant("rank", rank);
    checks.assert("ult", "v1", "rank", "there is no dimension {0} of {1}");
}

/// Steps of loops, among the operands, that are computed from data.
fn steps(operands: &[usize], checks: &mut Checks) {
    for i in operands.iter().copied() {
        let step = checks.operands[i];
        if step.constant().is_some() || !from_data(step) {
            continue;
        }
        let ty = step.ty();
        checks.line(&format!("%none{i} = arith.constant 0 : {ty}\n%ok{i} = arith.cmpi sgt, %v{i}, %none{i} : {ty}"));
        checks.line(&format!("cf.assert %ok{i}, \"'{}' op has a step that is not positive\"", checks.name));
        checks.count += 1;
    }
}

fn division(op: Op, checks: &mut Checks) {
    let divisor = op.operand(1);
    let ty = divisor.ty();
    if !ty.is_integer_or_index() || range(divisor).is_some_and(|(low, high)| low > 0 || high < 0) {
        return;
    }
    checks.line(&format!("%zero = arith.constant 0 : {ty}\n%ok = arith.cmpi ne, %v1, %zero : {ty}"));
    checks.line(&format!("cf.assert %ok, \"'{}' op divides by zero\"", checks.name));
    checks.count += 1;
}
