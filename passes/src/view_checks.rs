//! The text of `tinymlir-runtime-checks`, and what it checks of views and copies.

use crate::{
    indices::range,
    ir::{Op, Value},
};

/// Checks as text over operands `%v0`, `%v1`, ...
pub(crate) struct Checks<'a> {
    pub name: &'a str,
    pub operands: Vec<Value>,
    pub text: String,
    pub count: usize,
    /// Operands of the operation that a value of the text takes the place of.
    pub replaced: Vec<(usize, String)>,
}

impl Checks<'_> {
    /// One more line.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }
    /// `%{name}`: a constant.
    pub fn constant(&mut self, name: &str, value: i64) {
        self.line(&format!("%{name} = arith.constant {value} : index"));
    }
    /// `%{name}`: the size of operand `i` along `axis`.
    pub fn size(&mut self, name: &str, i: usize, axis: usize) {
        let ty = self.operands[i].ty();
        match ty.shape().and_then(|shape| shape[axis]) {
            Some(size) => self.constant(name, size),
            None => {
                self.constant(&format!("{name}_axis"), axis as i64);
                self.line(&format!("%{name} = memref.dim %v{i}, %{name}_axis : {ty}"));
            }
        }
    }
    /// Asserts a comparison of two indices; `{0}` and `{1}` of the message are their values.
    pub fn assert(&mut self, predicate: &str, a: &str, b: &str, message: &str) {
        let n = self.count;
        self.count += 1;
        self.line(&format!("%ok{n} = arith.cmpi {predicate}, %{a}, %{b} : index"));
        self.line(&format!("cf.assert %ok{n}, \"'{}' op {message}\"", self.name));
    }
}

/// Offsets, sizes and strides of a view, each an attribute and the values for what is dynamic.
pub(crate) fn subview(op: Op, checks: &mut Checks) {
    let parts = |name: &str| op.attr(name).and_then(|a| a.as_static_sizes());
    let (Some(offsets), Some(sizes), Some(strides)) =
        (parts("static_offsets"), parts("static_sizes"), parts("static_strides"))
    else {
        return;
    };
    let Some(shape) = op.operand(0).ty().shape() else { return };
    // The value that each dynamic part has.
    let mut next = 1;
    let mut values = |parts: &[Option<i64>]| -> Vec<Option<usize>> {
        parts
            .iter()
            .map(|part| {
                part.is_none().then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect()
    };
    let (offset_values, size_values, stride_values) = (values(&offsets), values(&sizes), values(&strides));
    for axis in 0..shape.len() {
        if let (Some(offset), Some(size), Some(stride), Some(whole)) =
            (offsets[axis], sizes[axis], strides[axis], shape[axis])
            && (size == 0 || offset >= 0 && offset + (size - 1) * stride < whole)
        {
            continue;
        }
        // A place that loops of known bounds go through.
        let place = offset_values[axis].and_then(|v| range(checks.operands[v]));
        if let (Some((low, high)), Some(size), Some(stride), Some(whole)) =
            (place, sizes[axis], strides[axis], shape[axis])
            && (low >= 0 && stride > 0 && high + (size - 1).max(0) * stride < whole)
        {
            continue;
        }
        // A whole dimension, however long.
        if offsets[axis] == Some(0)
            && strides[axis] == Some(1)
            && size_values[axis].is_some_and(|v| is_size(checks.operands[v], checks.operands[0], axis))
        {
            continue;
        }
        let mut part = |name: &str, fixed: Option<i64>, value: Option<usize>| match (fixed, value) {
            (None, Some(value)) => format!("v{value}"),
            (fixed, _) => {
                checks.constant(&format!("{name}{axis}"), fixed.unwrap_or(0));
                format!("{name}{axis}")
            }
        };
        let offset = part("offset", offsets[axis], offset_values[axis]);
        let size = part("size", sizes[axis], size_values[axis]);
        let stride = part("stride", strides[axis], stride_values[axis]);
        let whole = format!("whole{axis}");
        checks.size(&whole, 0, axis);
        if size_values[axis].is_some() {
            checks.constant(&format!("none{axis}"), 0);
            checks.assert(
                "sge",
                &size,
                &format!("none{axis}"),
                &format!("size is negative: {{0}} along dimension {axis}"),
            );
        }
        let message = format!("offset is out of bounds: {{0}} along dimension {axis}, whose size is {{1}}");
        checks.assert("ule", &offset, &whole, &message);
        checks.constant(&format!("one{axis}"), 1);
        checks.line(&format!("%before{axis} = arith.subi %{size}, %one{axis} : index"));
        checks.line(&format!("%reach{axis} = arith.muli %before{axis}, %{stride} : index"));
        checks.line(&format!("%last{axis} = arith.addi %{offset}, %reach{axis} : index"));
        checks.line(&format!("%end{axis} = arith.addi %last{axis}, %one{axis} : index"));
        let message = format!("slice is out of bounds: it ends at {{0}} along dimension {axis}, whose size is {{1}}");
        checks.assert("sle", &format!("end{axis}"), &whole, &message);
    }
}

/// Whether a value is the size of a buffer along an axis.
fn is_size(value: Value, buffer: Value, axis: usize) -> bool {
    value.def().is_some_and(|def| {
        def.is("memref.dim")
            && def.operand(0) == buffer
            && def.operand(1).def().and_then(|c| c.attr("value")).and_then(|v| v.as_int()) == Some(axis as i64)
    })
}

/// A cast to what the type did not say before.
pub(crate) fn cast(op: Op, checks: &mut Checks) {
    let (from, to) = (op.operand(0).ty(), op.result(0).ty());
    let Some(shape) = to.shape() else { return };
    if from.is_unranked_memref() {
        checks.line(&format!("%rank = memref.rank %v0 : {from}"));
        checks.constant("wanted", shape.len() as i64);
        checks.assert("eq", "rank", "wanted", "ranks differ: {0} of the source and {1} of the result");
    }
    let known = from.shape();
    for (axis, size) in shape.iter().enumerate() {
        let Some(size) = size.filter(|_| known.as_ref().is_none_or(|known| known[axis].is_none())) else { continue };
        checks.constant(&format!("axis{axis}"), axis as i64);
        checks.line(&format!("%size{axis} = memref.dim %v0, %axis{axis} : {from}"));
        checks.constant(&format!("wanted{axis}"), size);
        let message = format!("sizes differ: {{0}} of the source and {{1}} of the result, along dimension {axis}");
        checks.assert("eq", &format!("size{axis}"), &format!("wanted{axis}"), &message);
    }
}

pub(crate) fn copy(op: Op, checks: &mut Checks) {
    let (Some(from), Some(to)) = (op.operand(0).ty().shape(), op.operand(1).ty().shape()) else { return };
    for axis in (0..from.len().min(to.len())).filter(|axis| from[*axis].is_none() || to[*axis].is_none()) {
        // A constant stays on the right, where canonicalisation puts it.
        let (left, right) = if from[axis].is_some() { (1, 0) } else { (0, 1) };
        checks.size(&format!("a{axis}"), left, axis);
        checks.size(&format!("b{axis}"), right, axis);
        let message = format!("sizes differ: {{0}} and {{1}}, of source and target along dimension {axis}");
        checks.assert("eq", &format!("a{axis}"), &format!("b{axis}"), &message);
    }
}

/// The sizes that a dimension is split into must multiply to its size.
pub(crate) fn expand_shape(op: Op, checks: &mut Checks) {
    let groups = op.attr("reassociation").and_then(|a| a.elements()).unwrap_or_default();
    let Some(wanted) = op.attr("static_output_shape").and_then(|a| a.as_static_sizes()) else { return };
    let Some(shape) = op.operand(0).ty().shape() else { return };
    let place = |axis: usize| 1 + wanted[..axis].iter().filter(|size| size.is_none()).count();
    for (axis, group) in groups.iter().enumerate() {
        let parts: Vec<usize> =
            group.elements().unwrap_or_default().iter().filter_map(|a| a.as_int()).map(|v| v as usize).collect();
        if shape.get(axis).is_none_or(|size| size.is_some()) && parts.iter().all(|p| wanted[*p].is_some()) {
            continue;
        }
        let mut product = format!("one{axis}");
        checks.constant(&product, 1);
        for part in parts {
            let factor = match wanted[part] {
                Some(size) => {
                    checks.constant(&format!("size{part}"), size);
                    format!("size{part}")
                }
                None => format!("v{}", place(part)),
            };
            checks.line(&format!("%product{part} = arith.muli %{product}, %{factor} : index"));
            product = format!("product{part}");
        }
        checks.size(&format!("whole{axis}"), 0, axis);
        let message = format!("sizes do not multiply: to {{0}}, where dimension {axis} has {{1}}");
        checks.assert("eq", &product, &format!("whole{axis}"), &message);
    }
}

/// Source and result, operands 0 and 1 of the checks, must hold the same number of elements.
pub(crate) fn reshape(checks: &mut Checks) {
    let shapes: Vec<_> = checks.operands.iter().map(|v| v.ty().shape().unwrap_or_default()).collect();
    if shapes.iter().flatten().all(|size| size.is_some()) {
        return;
    }
    for (i, shape) in shapes.iter().enumerate() {
        checks.constant(&format!("count{i}_0"), 1);
        for axis in 0..shape.len() {
            checks.size(&format!("size{i}_{axis}"), i, axis);
            checks.line(&format!("%count{i}_{} = arith.muli %count{i}_{axis}, %size{i}_{axis} : index", axis + 1));
        }
    }
    for (axis, _) in shapes[1].iter().enumerate().filter(|(_, size)| size.is_none()) {
        checks.constant(&format!("none{axis}"), 0);
        let message = format!("size is negative: {{0}} along dimension {axis}");
        checks.assert("sge", &format!("size1_{axis}"), &format!("none{axis}"), &message);
    }
    let last = |i: usize| format!("count{i}_{}", shapes[i].len());
    checks.assert("eq", &last(0), &last(1), "numbers of elements differ: {0} of the source and {1} of the result");
}
