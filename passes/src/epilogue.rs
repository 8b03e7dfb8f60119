//! What may join a product: the fill of its output before it, and one elementwise operation on its output after it.
//!
//! Found on memrefs, in one block on the host. The elementwise operation may add a bias, apply a function, add a residual
//! and permute the result; it becomes the body of the template's @epilogue.

use crate::{
    device::source,
    host::Operand,
    ir::{AffineMap, Op, Value},
    memory::{between, may_alias, outputs, touches, writes},
};

/// An axis of a result: its size and the elements between neighbours.
pub type Axis = (i64, i64);

/// Where the rows and columns of a result go: a buffer, its first element, and per role the axis. A row of columns is cut
/// in groups.
#[derive(Clone)]
pub struct Target {
    pub buffer: Value,
    pub offset: i64,
    pub batch: Axis,
    pub row: Axis,
    pub group: Axis,
    pub inner: Axis,
}

/// The most operands of such an operation beside the product; a template takes as many or two.
pub const MOST_EXTRAS: usize = 3;

/// An elementwise operation that can be computed while a product is stored.
pub struct Epilogue {
    /// The operation: it goes.
    pub op: Op,
    /// The argument of its body that is the product's element.
    pub sum: Value,
    /// The operand that is the product.
    pub place: usize,
    /// The extra operands, at most [`MOST_EXTRAS`], with their arguments of the body.
    pub extras: Vec<(Operand, Value)>,
    /// Where the result goes.
    pub target: Target,
}

impl Epilogue {
    /// Whether everything that it reads and writes is f32.
    pub fn is_f32(&self) -> bool {
        let operands = self.extras.iter().map(|(e, _)| e.buffer).chain([self.target.buffer]);
        let f32 = |v: Value| v.ty().element().is_some_and(|e| e.is("f32"));
        self.sum.ty().is("f32") && operands.into_iter().all(f32)
    }
}

/// The fill with a constant that starts an operation's output, when nothing between them touches the output.
pub fn fill_before(op: Op, output: Value) -> Option<(Op, Value)> {
    let ops = op.block()?.ops();
    let place = ops.iter().position(|o| *o == op)?;
    let fill = *ops[..place].iter().rev().find(|o| touches(**o, output))?;
    let [value, whole] = fill.operands()[..] else { return None };
    let constant = value.def().is_some_and(|d| d.is("arith.constant"));
    (fill.is("linalg.fill") && whole == output && constant).then_some((fill, value))
}

/// The fill with zero that starts a product's output.
pub fn zero_fill(op: Op, output: Value) -> Option<Op> {
    let (fill, constant) = fill_before(op, output)?;
    let zero = constant.def().and_then(|d| d.attr("value"))?.to_string();
    zero.starts_with("0.000000e+00").then_some(fill)
}

/// The elementwise operation that alone reads what a product `op` of `batches` x `m` x `n` elements leaves in `output`.
///
/// The output must be memory of its own, row-major; between the two nothing may write what the product reads.
pub fn find(op: Op, output: Value, inputs: [Value; 2], size: [i64; 3]) -> Option<Epilogue> {
    let buffer = source(output);
    buffer.def().filter(|d| d.is("memref.alloc") && d.operands().is_empty())?;
    let memref = output.ty().memref()?;
    if !memref.is_identity() {
        return None;
    }
    let (user, view) = only_reader(op, buffer)?;
    let outs = outputs(user);
    let [out] = outs[..] else { return None };
    let maps = user.linalg_maps();
    let loops = maps.first()?.num_dims();
    if user.linalg_num_parallel() != loops || maps.len() != user.operands().len() {
        return None;
    }
    let clear = between(op, user)?.iter().all(|o| inputs.iter().all(|i| !writes(*o, *i)) && !touches(*o, out));
    if !clear || inputs.iter().any(|i| may_alias(*i, out)) {
        return None;
    }
    let body = *user.blocks(0).first()?;
    let arguments = body.arguments();
    let inside = body.ops();
    if inside.iter().any(|o| !(o.name().starts_with("arith.") || o.name().starts_with("math.") || o.is("linalg.yield")))
        || out != view && !arguments.last()?.uses().is_empty()
        || inside.iter().flat_map(|o| o.operands()).any(|v| !known_inside(v, &inside, &arguments))
    {
        return None;
    }
    let sizes = loop_sizes(&maps, &user.operands(), loops)?;
    let inputs_of = user.operands().len() - 1;
    let places: Vec<usize> = (0..user.operands().len()).filter(|i| user.operand(*i) == view).collect();
    let place = match (&places[..], out == view) {
        ([place], false) => *place,
        // In place: the output is the product's, and its argument of the body the product's element.
        ([place], true) => *place,
        ([place, last], true) if *last == inputs_of && arguments.last()?.uses().is_empty() => *place,
        _ => return None,
    };
    // Loop strides in the product's own order tell a loop's role.
    let own = strides(maps[place], view, loops)?;
    let roles = roles(&own.1, &sizes, size)?;
    let target = target(out, strides(*maps.last()?, out, loops)?, &sizes, &roles, size)?;
    let mut extras = vec![];
    for (i, operand) in user.operands().into_iter().enumerate() {
        if i == place || i == inputs_of {
            continue;
        }
        let (offset, steps) = strides(maps[i], operand, loops)?;
        let merged = |dims: &[usize], alone| merge(dims, &sizes, &steps, alone);
        let strides = [merged(&roles.batches, 0)?, merged(&roles.rows, 0)?, merged(&roles.columns, 1)?];
        let extra = Operand { buffer: operand, offset, strides };
        // In place only element by element: a thread reads what it writes.
        let goes_to = [target.batch.1, target.row.1, target.inner.1];
        if may_alias(operand, out) && !(extra.strides == goes_to && target.group.0 == 1 && offset == target.offset) {
            return None;
        }
        extras.push((extra, arguments[i]));
    }
    (extras.len() <= MOST_EXTRAS).then(|| Epilogue { op: user, sum: arguments[place], place, extras, target })
}

/// The linalg operation that reads a buffer after `op` and is the last to see what `op` left in it, with the view that it
/// reads it through: nothing reads the buffer later, or this operation overwrites it.
fn only_reader(op: Op, buffer: Value) -> Option<(Op, Value)> {
    let mut views = vec![];
    let mut left = vec![buffer];
    while let Some(value) = left.pop() {
        for (user, _) in value.uses() {
            if ["memref.expand_shape", "memref.collapse_shape", "memref.cast"].contains(&user.name().as_str()) {
                left.extend(user.results());
            } else {
                views.push((user, value));
            }
        }
    }
    // What uses it after the product, in this block; a use elsewhere counts as later.
    let ops = op.block()?.ops();
    let place = ops.iter().position(|o| *o == op)?;
    let earlier = |user: &Op| ops[..=place].contains(user);
    let next = *ops[place + 1..].iter().find(|o| touches(**o, buffer))?;
    let reads: Vec<_> = views.iter().filter(|(user, v)| *user == next && !outputs(next).contains(v)).collect();
    let overwrites = outputs(next).iter().any(|v| source(*v) == buffer);
    let later = views.iter().any(|(user, _)| !earlier(user) && *user != next && !user.is("memref.dealloc"));
    let view = match (&reads[..], overwrites) {
        ([(_, view)], false) if !later => *view,
        ([], true) => *next.operands().iter().find(|v| source(**v) == buffer)?,
        _ => return None,
    };
    next.is_linalg().then_some((next, view))
}

fn known_inside(value: Value, inside: &[Op], arguments: &[Value]) -> bool {
    arguments.contains(&value) || value.def().is_some_and(|d| d.is("arith.constant") || inside.contains(&d))
}

/// The static size of every loop.
fn loop_sizes(maps: &[AffineMap], operands: &[Value], loops: usize) -> Option<Vec<i64>> {
    let mut sizes = vec![None; loops];
    for (map, operand) in maps.iter().zip(operands) {
        let Some(shape) = operand.ty().shape() else { continue };
        for (dim, size) in map.dims().into_iter().zip(shape) {
            if let Some(dim) = dim {
                sizes[dim] = sizes[dim].or(size);
            }
        }
    }
    sizes.into_iter().collect()
}

/// The first element and, for every loop, the elements between neighbours of an operand; 0 where the loop does not move it.
fn strides(map: AffineMap, operand: Value, loops: usize) -> Option<(i64, Vec<i64>)> {
    let memref = operand.ty().memref()?;
    if memref.space.is_some() || !["f32", "f16", "bf16"].iter().any(|e| memref.element.is(e)) {
        return None;
    }
    let mut steps = vec![0; loops];
    for ((dim, constant), stride) in map.dims().into_iter().zip(map.constants()).zip(&memref.strides) {
        match (dim, constant) {
            (Some(dim), _) => steps[dim] += (*stride)?,
            (None, Some(0)) => {}
            _ => return None,
        }
    }
    Some((memref.offset?, steps))
}

/// The loops that run along a product's batches, rows and columns, each the innermost first.
struct Roles {
    batches: Vec<usize>,
    rows: Vec<usize>,
    columns: Vec<usize>,
}

/// Tells the roles of loops that move by `steps` in a row-major batches x m x n buffer.
fn roles(steps: &[i64], sizes: &[i64], [batches, m, n]: [i64; 3]) -> Option<Roles> {
    let mut order: Vec<usize> = (0..steps.len()).filter(|d| sizes[*d] > 1).collect();
    if order.iter().any(|d| steps[*d] == 0) {
        return None;
    }
    order.sort_by_key(|d| steps[*d]);
    let mut order = order.into_iter();
    let mut reach = 1;
    // The loops that together take as many steps, each a multiple of the one inside it.
    let mut along = |count: i64| -> Option<Vec<usize>> {
        let (mut dims, end) = (vec![], reach * count);
        while reach < end {
            let dim = order.next().filter(|d| steps[*d] == reach)?;
            reach *= sizes[dim];
            dims.push(dim);
        }
        (reach == end).then_some(dims)
    };
    let (columns, rows, batches) = (along(n)?, along(m)?, along(batches)?);
    order.next().is_none().then_some(Roles { batches, rows, columns })
}

/// The elements between neighbouring columns, rows or batches of an operand, when that is one number for all; `alone` where there is one.
fn merge(dims: &[usize], sizes: &[i64], steps: &[i64], alone: i64) -> Option<i64> {
    let first = dims.first().map_or(alone, |d| steps[*d]);
    let mut expected = first;
    for dim in dims {
        if steps[*dim] != expected {
            return None;
        }
        expected *= sizes[*dim];
    }
    Some(first)
}

fn target(
    out: Value,
    (offset, steps): (i64, Vec<i64>),
    sizes: &[i64],
    roles: &Roles,
    size: [i64; 3],
) -> Option<Target> {
    // Columns merge into at most two axes.
    let mut axes: Vec<Axis> = vec![];
    for dim in &roles.columns {
        match axes.last_mut() {
            Some((size, step)) if steps[*dim] == *step * *size => *size *= sizes[*dim],
            _ => axes.push((sizes[*dim], steps[*dim])),
        }
    }
    let inner = axes.first().copied().unwrap_or((1, 1));
    let group = axes.get(1).copied().unwrap_or((1, 0));
    let (batch, row) = (merge(&roles.batches, sizes, &steps, 0)?, merge(&roles.rows, sizes, &steps, 0)?);
    let distinct = steps.iter().zip(sizes).all(|(step, size)| *step != 0 || *size == 1);
    (axes.len() <= 2 && distinct).then(|| Target {
        buffer: out,
        offset,
        batch: (size[0], batch),
        row: (size[1], row),
        group,
        inner,
    })
}
