//! Operations over rows of keys, on memrefs of any rank and size: which made an array, and which loops run along batches, rows
//! and keys.
//!
//! The arrays are row-major memory of their own. Axes of size 1 aside, the last two are rows and keys (or elements); those before
//! are batches, counted by one number, which views may split and join from one operation to the next.

use crate::{
    device::source,
    epilogue::fill_before,
    ir::{AffineMap, Op, Value},
    memory::{outputs, writes},
};

/// The loop dimensions of an operation by what they run along in rows of scores (or of the result, whose columns are elements).
#[derive(Clone, PartialEq, Debug)]
pub struct Roles {
    pub batch: Vec<usize>,
    pub row: usize,
    pub column: usize,
}

impl Roles {
    fn of(axes: Vec<usize>) -> Option<Roles> {
        let [batch @ .., row, column] = &axes[..] else { return None };
        Some(Roles { batch: batch.to_vec(), row: *row, column: *column })
    }

    pub fn of_operand(op: Op, i: usize) -> Option<Roles> {
        Self::of(dense_axes(*op.linalg_maps().get(i)?, op.operand(i))?)
    }

    pub fn of_output(op: Op) -> Option<Roles> {
        Self::of_operand(op, op.operands().len() - 1)
    }

    /// Whether operand `i` has one element for each row.
    pub fn has_one_a_row(&self, op: Op, i: usize) -> bool {
        let axes = op.linalg_maps().get(i).and_then(|map| dense_axes(*map, op.operand(i)));
        axes.is_some_and(|axes| axes.split_last().is_some_and(|(row, batch)| *row == self.row && batch == self.batch))
    }
}

/// A reduction over the keys, with the fill of its output.
pub struct Reduction {
    pub op: Op,
    pub fill: Op,
}

/// The reduction of rows by one of these operations that made what `user` reads in `output`.
pub fn reduction(user: Op, output: Value, names: &[&str]) -> Result<Reduction, &'static str> {
    let missing = "no maximum or sum of a row is found";
    let (reduction, start) = over_keys(user, output).ok_or(missing)?;
    let body = reduction.op.blocks(0)[0];
    let last = body.terminator().operands().first().and_then(|v| v.def()).ok_or(missing)?;
    let (operands, arguments) = (last.operands(), body.arguments());
    let both = operands[..] == arguments[..] || operands.iter().rev().eq(arguments.iter());
    // A NaN is neutral for maxnumf, which keeps the number.
    let nan = ["0xFFC00000 :", "0x7FC00000 :", "0x7FF8000000000000 :"].iter().any(|nan| start.starts_with(nan));
    let neutral = match last.name().as_str() {
        "arith.addf" => start.starts_with("0.000000e+00 :"),
        "arith.maxnumf" => nan || is_lowest(&start),
        _ => is_lowest(&start),
    };
    (names.contains(&last.name().as_str()) && both && neutral).then_some(reduction).ok_or(missing)
}

/// The reduction that tells of each row whether all of it is minus infinity, which made what `user` reads in `output`.
pub fn all_masked(user: Op, output: Value) -> Result<Reduction, &'static str> {
    let found = || {
        let (reduction, start) = over_keys(user, output)?;
        let body = reduction.op.blocks(0)[0];
        let [element, so_far] = body.arguments()[..] else { return None };
        let both = body.terminator().operands().first()?.def().filter(|d| d.is("arith.andi"))?.operands();
        let [compared, other] = both[..] else { return None };
        let compared = if compared == so_far { other } else { compared };
        let compare = compared.def().filter(|d| d.is("arith.cmpf") && both.contains(&so_far))?;
        let equal = compare.attr("predicate").and_then(|p| p.as_int()) == Some(1); // oeq
        let value = compare.operand(0);
        let value = value.def().filter(|d| d.is("arith.extf")).map_or(value, |d| d.operand(0));
        (equal && value == element && is_lowest(&constant(compare.operand(1))) && start == "true").then_some(reduction)
    };
    found().ok_or("what tells the rows without keys is no such reduction")
}

/// A reduction over the keys that made what `user` reads in `output`, and the constant that it starts from.
fn over_keys(user: Op, output: Value) -> Option<(Reduction, String)> {
    let op = maker(user, output).filter(|op| op.is("linalg.generic") && op.operands().len() == 2)?;
    let roles = Roles::of_operand(op, 0).filter(|r| r.has_one_a_row(op, 1))?;
    let (fill, start) = fill_before(op, op.operand(1))?;
    let reduces = op.linalg_num_parallel() + 1 == loop_sizes(op).len()
        && !op.linalg_maps()[1].dims().contains(&Some(roles.column));
    reduces.then_some((Reduction { op, fill }, constant(start)))
}

/// The text of a constant's value; empty for any other value.
pub fn constant(value: Value) -> String {
    let attr = value.def().filter(|d| d.is("arith.constant")).and_then(|d| d.attr("value"));
    attr.map(|a| a.to_string()).unwrap_or_default()
}

/// Whether that is minus infinity.
pub fn is_lowest(constant: &str) -> bool {
    ["0xFF800000 : f32", "0xFFF0000000000000 : f64", "0xFF80 : bf16", "0xFC00 : f16"].contains(&constant)
}

/// An elementwise quotient of rows by one number each, with the places among its operands.
pub struct Quotient {
    pub op: Op,
    pub dividend: usize,
    pub divisor: usize,
    /// That of what selects zero instead of the quotient.
    pub without_keys: Option<usize>,
}

impl Quotient {
    /// An operation whose body is a quotient, or selects zero or a quotient.
    pub fn of(op: Op) -> Option<Quotient> {
        let body = *op.blocks(0).first().filter(|_| is_elementwise(op))?;
        let last = body.terminator().operands().first()?.def()?;
        let (condition, quotient) = match last.is("arith.select") {
            true if constant(last.operand(1)).starts_with("0.000000e+00 :") => {
                (Some(last.operand(0)), last.operand(2).def()?)
            }
            _ => (None, last),
        };
        let (dividend, divisor) = places(op, quotient, "arith.divf")?;
        let without_keys = match condition {
            Some(condition) => Some(body.arguments().iter().position(|a| *a == condition)?),
            None => None,
        };
        Some(Quotient { op, dividend, divisor, without_keys })
    }

    /// The roles of its loops, where the other operands have one element for each row.
    pub fn roles(&self) -> Result<Roles, &'static str> {
        let mut per_row = [self.divisor].into_iter().chain(self.without_keys);
        let roles = Roles::of_operand(self.op, self.dividend);
        let fits = |roles: &Roles| per_row.all(|i| roles.has_one_a_row(self.op, i));
        roles.filter(fits).ok_or("what is divided is not rows by one number each")
    }
}

/// The operation before `user` in its block that last wrote a buffer, where it made all of it as a linalg operation.
pub fn maker(user: Op, buffer: Value) -> Option<Op> {
    let ops = user.block()?.ops();
    let place = ops.iter().position(|o| *o == user)?;
    let writer = *ops[..place].iter().rev().find(|o| writes(**o, buffer))?;
    let [out] = outputs(writer)[..] else { return None };
    (writer.is_linalg() && source(out) == source(buffer) && is_whole(out) && is_whole(buffer)).then_some(writer)
}

/// Whether a view is all of new memory, its axes split and joined so that the last two of more than one element stay apart.
pub fn is_whole(mut view: Value) -> bool {
    while let Some(def) =
        view.def().filter(|d| ["memref.expand_shape", "memref.collapse_shape"].contains(&d.name().as_str()))
    {
        let shapes = [def.result(0), def.operand(0)].map(|v| v.ty().shape().unwrap_or_default());
        let split = if def.is("memref.expand_shape") { &shapes[0] } else { &shapes[1] };
        let groups: Vec<Vec<i64>> = def
            .attr("reassociation")
            .and_then(|a| a.elements())
            .unwrap_or_default()
            .into_iter()
            .map(|group| group.elements().unwrap_or_default().into_iter().filter_map(|axis| axis.as_int()).collect())
            .collect();
        let proper = groups.iter().map(|g| g.iter().filter(|a| split.get(**a as usize) != Some(&Some(1))).count());
        if proper.rev().filter(|count| *count > 0).take(2).any(|count| count > 1) {
            return false;
        }
        view = def.operand(0);
    }
    view.def().is_some_and(|d| d.is("memref.alloc"))
}

/// The loop dimension of every axis of more than one element of a dense buffer, each one once.
pub fn dense_axes(map: AffineMap, buffer: Value) -> Option<Vec<usize>> {
    let memref = buffer.ty().memref().filter(|m| m.is_identity())?;
    let proper = map.dims().into_iter().zip(memref.shape).filter(|(_, size)| *size != Some(1));
    let dims: Vec<usize> = proper.map(|(dim, _)| dim).collect::<Option<_>>()?;
    (0..dims.len()).all(|i| !dims[..i].contains(&dims[i])).then_some(dims)
}

/// The size of every loop of a linalg operation where it is static.
pub fn loop_sizes(op: Op) -> Vec<Option<i64>> {
    let maps = op.linalg_maps();
    let mut sizes = vec![None; maps.first().map_or(0, |m| m.num_dims())];
    for (map, operand) in maps.iter().zip(op.operands()) {
        for (dim, size) in map.dims().into_iter().zip(operand.ty().shape().unwrap_or_default()) {
            if let Some(dim) = dim {
                sizes[dim] = sizes[dim].or(size);
            }
        }
    }
    sizes
}

/// Whether each element of the one output is computed of elements of the inputs.
pub fn is_elementwise(op: Op) -> bool {
    op.is("linalg.generic") && op.linalg_num_parallel() == loop_sizes(op).len() && outputs(op).len() == 1
}

/// The places among an operation's operands of the two arguments of `last`, which is `name`.
fn places(op: Op, last: Op, name: &str) -> Option<(usize, usize)> {
    let arguments = op.blocks(0).first()?.arguments();
    let [a, b] = last.operands()[..] else { return None };
    let place = |v: Value| arguments.iter().position(|x| *x == v);
    last.is(name).then_some((place(a)?, place(b)?))
}

/// The places among the operands of `exp(x - maximum of the row)`.
pub fn exponential(op: Op) -> Option<(usize, usize)> {
    let body = *op.blocks(0).first().filter(|_| is_elementwise(op))?;
    let exp = body.terminator().operands().first()?.def().filter(|d| d.is("math.exp"))?;
    places(op, exp.operand(0).def()?, "arith.subf")
}
