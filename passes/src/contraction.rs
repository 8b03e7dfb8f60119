//! What a contraction on memrefs is, for the passes that substitute one.

use crate::{
    ir::{AffineMap, MemRef, Op, Type, Value},
    misfits::misfit,
};

/// What the body of a contraction does with an element of each input and one of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// `out + a * b`, all of one floating-point type.
    MultiplyAdd,
    /// The inputs are extended to the output's floating-point type first.
    ExtendMultiplyAdd,
    /// Each input is converted by the operation given, if any, to the output's floating-point type first.
    ConvertMultiplyAdd([Option<&'static str>; 2]),
}

impl Body {
    /// The operation that converts an element of each input to the output's type, if one does.
    pub fn conversions(self) -> [Option<&'static str>; 2] {
        match self {
            Body::MultiplyAdd => [None, None],
            Body::ExtendMultiplyAdd => [Some("arith.extf"); 2],
            Body::ConvertMultiplyAdd(conversions) => conversions,
        }
    }
}

/// An operand: a strided memref and the loop dimension that each of its axes runs along.
#[derive(Clone)]
pub struct View {
    /// The memref type.
    pub ty: Type,
    /// Its parts.
    pub memref: MemRef,
    /// For each axis the loop dimension.
    pub dims: Vec<usize>,
}

impl std::ops::Deref for View {
    type Target = MemRef;
    fn deref(&self) -> &MemRef {
        &self.memref
    }
}

impl View {
    /// Text that takes `%name` apart into `%name_buffer`, `%name_offset`, `%name_sizeAXIS` and `%name_strideAXIS`.
    pub fn metadata(&self, name: &str) -> String {
        let rank = self.dims.len();
        let axes = |what: &str| (0..rank).map(|i| format!(", %{name}_{what}{i}")).collect::<String>();
        let space = self.space.map(|s| format!(", {s}")).unwrap_or_default();
        format!(
            "%{name}_buffer, %{name}_offset{}{} = memref.extract_strided_metadata %{name} : {} -> memref<{}{space}>{}\n",
            axes("size"),
            axes("stride"),
            self.ty,
            self.element,
            ", index".repeat(1 + 2 * rank)
        )
    }
}

/// A contraction: `out[C dims] += a[A dims] * b[B dims]` over loop dimensions.
pub struct Contraction {
    /// The two inputs and the output.
    pub operands: [Value; 3],
    /// The same as views.
    pub views: [View; 3],
    /// The size of each loop dimension where it is static.
    pub sizes: Vec<Option<i64>>,
    /// What it computes.
    pub body: Body,
}

impl Contraction {
    /// Takes a contraction on memrefs apart. Fails, with the reason, on one that is on tensors, that has an operand
    /// without a strided layout or with another map than a choice of dimensions, or that computes something else.
    pub fn of(op: Op) -> Result<Contraction, String> {
        if !op.results().is_empty() {
            return Err("it has a result".into());
        }
        let operands = op.operands();
        let [a, b, c] = operands[..] else { return Err(format!("it has {} operands, not 3", operands.len())) };
        let body = body_of(op)?;
        let maps = op.linalg_maps();
        let [map_a, map_b, map_c] = maps[..] else { return Err("it has no indexing maps".into()) };
        if let Some(fact) = misfit(op) {
            return Err(fact);
        }
        let views = [view(a, map_a)?, view(b, map_b)?, view(c, map_c)?];
        let sizes = (0..map_a.num_dims())
            .map(|d| views.iter().find_map(|v| v.dims.iter().position(|x| *x == d).and_then(|axis| v.shape[axis])))
            .collect();
        Ok(Contraction { operands: [a, b, c], views, sizes, body })
    }

    /// Whether operand `i` has loop dimension `dim`, and as which axis.
    pub fn axis(&self, i: usize, dim: usize) -> Option<usize> {
        self.views[i].dims.iter().position(|d| *d == dim)
    }

    /// The stride of operand `i` along loop dimension `dim`: `None` where it is dynamic or there is no such axis.
    pub fn stride(&self, i: usize, dim: usize) -> Option<i64> {
        self.axis(i, dim).and_then(|axis| self.views[i].strides[axis])
    }

    /// The loop dimensions that both operands of `inside` have and operand `outside` has not.
    pub fn dims(&self, inside: [usize; 2], outside: usize) -> Vec<usize> {
        (0..self.sizes.len())
            .filter(|d| inside.iter().all(|i| self.axis(*i, *d).is_some()) && self.axis(outside, *d).is_none())
            .collect()
    }

    /// Of [`Contraction::dims`] the one to compute along: one with neighbouring elements in some operand, else the last.
    pub fn innermost(&self, inside: [usize; 2], outside: usize) -> Option<usize> {
        let dims = self.dims(inside, outside);
        let near = dims.iter().rev().find(|d| inside.iter().any(|i| self.stride(*i, **d) == Some(1)));
        near.or(dims.last()).copied()
    }

    /// The name, in text over views `v0` to `v2` taken apart by [`View::metadata`], of the size of a loop dimension.
    pub fn size_value(&self, dim: usize) -> String {
        let found = (0..3).find_map(|i| self.axis(i, dim).map(|axis| format!("%v{i}_size{axis}")));
        found.unwrap_or_else(|| "%c1".into())
    }

    /// Text that defines `%name`, over views `%v0` to `%v2`, as the size of a loop dimension.
    pub fn size(&self, name: &str, dim: usize) -> String {
        if let Some(size) = self.sizes[dim] {
            return format!("%{name} = arith.constant {size} : index\n");
        }
        let (i, axis) = (0..3).find_map(|i| self.axis(i, dim).map(|axis| (i, axis))).unwrap_or((2, 0));
        let ty = self.views[i].ty;
        format!("%{name}_axis = arith.constant {axis} : index\n%{name} = memref.dim %v{i}, %{name}_axis : {ty}\n")
    }
}

fn view(value: Value, map: AffineMap) -> Result<View, String> {
    let ty = value.ty();
    let memref = ty.memref().ok_or_else(|| format!("operand type {ty} is not a strided memref"))?;
    let dims: Option<Vec<usize>> = map.dims().into_iter().collect();
    let dims = dims.ok_or("an indexing map is more than a choice of dimensions")?;
    if (0..dims.len()).any(|i| dims[..i].contains(&dims[i])) {
        return Err("an indexing map repeats a dimension".into());
    }
    Ok(View { ty, memref, dims })
}

/// Reads the body of a contraction: a product of the inputs, each at most extended, added to the output, yielded.
pub(crate) fn body_of(op: Op) -> Result<Body, String> {
    let other = || "its body is not a floating-point multiply-add".to_string();
    let block = *op.blocks(0).first().ok_or_else(other)?;
    let [a, b, c] = block.arguments()[..] else { return Err(other()) };
    let yielded = *block.terminator().operands().first().ok_or_else(other)?;
    let binary = |value: Value, name: &str| {
        value.def().filter(|d| d.is(name) && d.operands().len() == 2).map(|d| (d.operand(0), d.operand(1)))
    };
    let (x, y) = binary(yielded, "arith.addf").ok_or_else(other)?;
    let product = if x == c { y } else { x };
    if x != c && y != c {
        return Err(other());
    }
    let (x, y) = binary(product, "arith.mulf").ok_or_else(other)?;
    let source = |value: Value| match value.def() {
        Some(def) if def.is("arith.extf") => (def.operand(0), Some("arith.extf")),
        Some(def) if def.is("arith.sitofp") => (def.operand(0), Some("arith.sitofp")),
        _ => (value, None),
    };
    let ((x, x_conversion), (y, y_conversion)) = (source(x), source(y));
    let conversions = match (x, y) {
        both if both == (a, b) => [x_conversion, y_conversion],
        both if both == (b, a) => [y_conversion, x_conversion],
        _ => return Err(other()),
    };
    Ok(match conversions {
        [None, None] => Body::MultiplyAdd,
        [Some("arith.extf"), Some("arith.extf")] => Body::ExtendMultiplyAdd,
        _ => Body::ConvertMultiplyAdd(conversions),
    })
}
