//! Runs of linalg operations on the host that can be computed row by row: row `i` of each depends on row `i` alone of what the
//! others write.
//!
//! Rows are outer parallel loops that index the leading dimensions of everything that an operation writes, each as it is.
//! What no operation of the run writes may be indexed in any way.

use crate::{
    device::source,
    ir::{AffineMap, Op, Value},
    memory::outputs,
    misfits::misfit,
    turns::ceildiv,
};

/// A size along a dimension: equal ones are the same number.
#[derive(Clone, Copy, PartialEq)]
pub enum Size {
    Known(i64),
    /// An index.
    Value(Value),
    /// Of a buffer, along an axis.
    Of(Value, usize),
}

/// A buffer that an operation reads or writes.
#[derive(Clone, Copy)]
pub struct Access {
    pub value: Value,
    write: bool,
    /// So many of the rows index its leading dimensions, in their order.
    aligned: usize,
}

/// An operation of a run.
pub struct Member {
    pub op: Op,
    /// The loops that are rows, outermost first.
    pub rows: Vec<usize>,
    /// Every buffer, those that the body loads from as well.
    pub accesses: Vec<Access>,
    /// For each row what its size is known to be equal to.
    sizes: Vec<Vec<Size>>,
    /// The size of each loop.
    loops: Vec<Option<i64>>,
    asserts: bool,
}

/// Operations that can be computed row by row, in their order.
#[derive(Default)]
pub struct Run {
    pub members: Vec<Member>,
    /// For each row that all have what its size is known to be equal to.
    pub sizes: Vec<Vec<Size>>,
}

/// How the rows of a run are cut: blocks of `block` iterations of row `rows - 1`, at one place of those before it.
pub struct Cut {
    pub rows: usize,
    pub block: i64,
}

/// Iterations of the inner loops that are a block's at least, where there are that many.
const LEAST: i64 = 512;
/// The same that keep a block's buffers in the first cache.
const LARGE: i64 = 4096;
/// The most iterations of a row that may keep others from threads.
const MOST_ALONE: i64 = 8192;
/// Rows that are enough for any number of threads.
const MANY: i64 = 64;
/// What a size stands for that is known at run time only.
const UNKNOWN: i64 = 64;

impl Size {
    /// The size of a buffer along an axis.
    pub fn of(value: Value, axis: usize) -> Size {
        let shape = value.ty().shape().unwrap_or_default();
        if let Some(Some(size)) = shape.get(axis) {
            return Size::Known(*size);
        }
        let Some(def) = value.def().filter(|_| axis < shape.len()) else { return Size::Of(value, axis) };
        let dynamic = |sizes: &[Option<i64>]| sizes[..axis].iter().filter(|s| s.is_none()).count();
        match def.name().as_str() {
            "memref.alloc" | "memref.alloca" => Size::from(def.operand(dynamic(&shape))),
            "memref.cast" if def.operand(0).ty().is_memref() => Size::of(def.operand(0), axis),
            "memref.subview" => {
                let sizes = |name| def.attr(name).and_then(|a| a.as_static_sizes()).unwrap_or_default();
                let (offsets, sizes) = (sizes("static_offsets"), sizes("static_sizes"));
                if sizes.len() != shape.len() {
                    return Size::Of(value, axis);
                }
                Size::from(def.operand(1 + offsets.iter().filter(|o| o.is_none()).count() + dynamic(&sizes)))
            }
            _ => Size::Of(value, axis),
        }
    }
    /// What an index is.
    fn from(value: Value) -> Size {
        let dim = value.def().filter(|def| def.is("memref.dim") && def.operand(0).ty().is_memref());
        match (value.constant(), dim.and_then(|def| Some((def.operand(0), def.operand(1).constant()?)))) {
            (Some(size), _) => Size::Known(size),
            (None, Some((buffer, axis))) => Size::of(buffer, axis as usize),
            (None, None) => Size::Value(value),
        }
    }
}

impl Access {
    /// How many rows two operations that access these can share at most, or why none.
    fn meets(&self, other: &Access) -> Result<usize, String> {
        if !(self.write || other.write) {
            return Ok(usize::MAX);
        }
        let ((a, a_rows), (b, b_rows)) = (unshaped(self.value), unshaped(other.value));
        if a == b {
            let same = if self.value == other.value { usize::MAX } else { a_rows.min(b_rows) };
            return match self.aligned.min(other.aligned).min(same) {
                0 => Err("it takes what the run writes at other rows".into()),
                rows => Ok(rows),
            };
        }
        if apart(self.value, other.value) { Ok(usize::MAX) } else { Err("two of its views may share memory".into()) }
    }
}

/// The buffer that a value is another shape of, and how many leading dimensions of both are the same.
fn unshaped(mut value: Value) -> (Value, usize) {
    let mut leading = usize::MAX;
    while let Some(def) = value.def() {
        let expanded = match def.name().as_str() {
            "memref.expand_shape" => value.ty().shape(),
            "memref.collapse_shape" => def.operand(0).ty().shape(),
            _ => break,
        };
        let groups = def.attr("reassociation").and_then(|a| a.elements()).unwrap_or_default();
        let sizes = groups.into_iter().map(|group| -> Vec<Option<i64>> {
            let axes = group.elements().unwrap_or_default().into_iter().filter_map(|axis| axis.as_int());
            axes.map(|axis| expanded.as_ref().and_then(|shape| *shape.get(axis as usize)?)).collect()
        });
        let (mut same, mut shifted) = (0, false);
        for sizes in sizes {
            if shifted || sizes.get(1..).is_none_or(|inner| inner.iter().any(|size| *size != Some(1))) {
                break;
            }
            shifted = sizes.len() > 1;
            same += 1;
        }
        leading = leading.min(same);
        value = def.operand(0);
    }
    (value, leading)
}

/// Whether two buffers are known to share no memory.
fn apart(a: Value, b: Value) -> bool {
    let (a, b) = (source(a), source(b));
    let made = |v: Value, names: &[&str]| v.def().is_some_and(|def| names.contains(&def.name().as_str()));
    let own = |v: Value| made(v, &["memref.alloc", "memref.alloca"]);
    let parameter = |v: Value| {
        let block = v.block_argument().map(|(block, _)| block);
        block.is_some_and(|b| b.parent().is("func.func") && b.parent().blocks(0).first() == Some(&b))
    };
    let other = |v: Value| own(v) || parameter(v) || made(v, &["memref.get_global"]);
    a != b && (own(a) && other(b) || own(b) && other(a))
}

/// Which loops of a linalg operation are parallel.
fn parallel(op: Op, maps: &[AffineMap], outputs: usize) -> Option<Vec<bool>> {
    if let Some(types) = op.attr("iterator_types").and_then(|a| a.elements()) {
        return Some(types.iter().map(|t| t.to_string().contains("parallel")).collect());
    }
    // The output of an operation with a name is indexed by its parallel loops.
    let mut parallel = vec![false; maps.first()?.num_dims()];
    for map in &maps[maps.len() - outputs..] {
        map.dims().into_iter().flatten().for_each(|d| parallel[d] = true);
    }
    (parallel.iter().filter(|p| **p).count() == op.linalg_num_parallel()).then_some(parallel)
}

impl Member {
    /// An operation by itself; the reason where it cannot be computed row by row.
    pub fn of(op: Op) -> Result<Member, String> {
        if !op.is_linalg() || !op.results().is_empty() || op.is_contraction() {
            return Err("it is a product, or no linalg operation on buffers".into());
        }
        let (maps, operands, outs) = (op.linalg_maps(), op.operands(), outputs(op));
        if maps.len() != operands.len() || outs.is_empty() {
            return Err("its operands have no maps".into());
        }
        if operands.iter().any(|v| v.ty().shape().is_some_and(|shape| shape.contains(&Some(0)))) {
            return Err("an operand has no elements".into());
        }
        if let Some(fact) = misfit(op) {
            return Err(fact);
        }
        let body: Vec<Op> = op.walk().into_iter().skip(1).collect();
        let plain = |o: &Op| {
            let names = ["linalg.index", "linalg.yield", "memref.load", "memref.dim", "cf.assert"];
            let dialects = ["arith.", "math.", "complex.", "index."];
            o.num_regions() == 0
                && (names.contains(&o.name().as_str()) || dialects.iter().any(|d| o.name().starts_with(d)))
        };
        if let Some(other) = body.iter().find(|o| !plain(o)) {
            return Err(format!("'{}' stands in its body", other.name()));
        }
        let parallel = parallel(op, &maps, outs.len()).ok_or("which of its loops are parallel is not known")?;
        let mut rows: Option<Vec<usize>> = None;
        for map in &maps[maps.len() - outs.len()..] {
            let leading: Vec<usize> = map.dims().into_iter().map_while(|d| d.filter(|d| parallel[*d])).collect();
            let common =
                rows.map(|rows| rows.iter().zip(&leading).take_while(|(a, b)| a == b).map(|(a, _)| *a).collect());
            rows = Some(common.unwrap_or(leading));
        }
        let mut rows = rows.unwrap_or_default();
        if let Some(again) = (1..rows.len()).find(|i| rows[..*i].contains(&rows[*i])) {
            rows.truncate(again);
        }
        let mut loops = vec![None; parallel.len()];
        let buffers: Vec<(Value, AffineMap)> =
            operands.iter().copied().zip(maps).filter(|(v, _)| v.ty().is_memref()).collect();
        for (value, map) in &buffers {
            let memref = value.ty().memref().filter(|m| m.space.is_none());
            let memref = memref.ok_or("an operand has no strides, or lies in another memory space")?;
            for ((axis, dim), size) in map.dims().into_iter().enumerate().zip(memref.shape) {
                match dim {
                    Some(dim) => loops[dim] = loops[dim].or(size),
                    // A row is cut by a view of each dimension that it indexes.
                    None => {
                        let inside = map.dims_of(axis);
                        rows.truncate(rows.iter().position(|d| inside.contains(d)).unwrap_or(rows.len()));
                    }
                }
            }
        }
        if rows.is_empty() {
            return Err("no parallel loop indexes the first dimension of all that it writes".into());
        }
        let aligned = |map: &AffineMap| map.dims().iter().zip(&rows).take_while(|(d, row)| **d == Some(**row)).count();
        let mut accesses: Vec<Access> = vec![];
        let inputs = buffers.len() - outs.len();
        for (i, (value, map)) in buffers.iter().enumerate() {
            accesses.push(Access { value: *value, write: i >= inputs, aligned: aligned(map) });
        }
        let loads = body.iter().filter(|o| o.is("memref.load"));
        accesses.extend(loads.map(|o| Access { value: o.operand(0), write: false, aligned: 0 }));
        let places = |row: usize| {
            let axes = buffers
                .iter()
                .flat_map(|(value, map)| map.dims().into_iter().enumerate().map(move |(i, d)| (*value, i, d)));
            axes.filter(move |(_, _, dim)| *dim == Some(row)).map(|(value, axis, _)| Size::of(value, axis)).collect()
        };
        let sizes = rows.iter().map(|row| places(*row)).collect();
        Ok(Member { op, rows, accesses, sizes, loops, asserts: body.iter().any(|o| o.is("cf.assert")) })
    }
    /// Iterations for one place of the first `rows` rows.
    fn work(&self, rows: usize) -> i64 {
        let inner = (0..self.loops.len()).filter(|d| !self.rows[..rows].contains(d));
        inner.fold(1, |work, d| self.loops[d].unwrap_or(UNKNOWN).saturating_mul(work))
    }
    /// For each axis of an operand the row that indexes it, of the first `rows`.
    pub fn axes(&self, map: AffineMap, rows: usize) -> Vec<Option<usize>> {
        map.dims().into_iter().map(|dim| self.rows[..rows].iter().position(|row| Some(*row) == dim)).collect()
    }
}

impl Run {
    /// Adds an operation that follows; the reason where it cannot be computed together with the others, which stay as they were.
    pub fn join(&mut self, member: Member) -> Result<(), String> {
        let first = self.members.is_empty();
        let equal = |(a, b): &(&Vec<Size>, &Vec<Size>)| first || a.iter().any(|size| b.contains(size));
        let known = if first { &member.sizes } else { &self.sizes };
        let mut rows = known.iter().zip(&member.sizes).take_while(equal).count();
        if rows == 0 {
            return Err("its rows are not known to be as many".into());
        }
        for (i, access) in member.accesses.iter().enumerate() {
            let before = self.members.iter().flat_map(|m| &m.accesses).chain(&member.accesses[..i]);
            for other in before {
                rows = rows.min(access.meets(other)?);
            }
        }
        // A message tells which check failed first.
        if member.asserts && self.members.iter().any(|m| m.asserts) {
            return Err("another operation checks something too".into());
        }
        let rows_of = |rows: usize| count(&known[..rows]).unwrap_or(i64::MAX);
        let fewer = rows_of(rows) == 1 || rows_of(rows) < MANY && rows_of(known.len()) >= MANY;
        if fewer && self.members.iter().chain([&member]).any(|m| m.work(rows) > MOST_ALONE) {
            return Err("the rows common to all are too few and long to be shared among threads".into());
        }
        if first {
            self.sizes = member.sizes.clone();
        }
        self.sizes.truncate(rows);
        for (all, new) in self.sizes.iter_mut().zip(&member.sizes) {
            new.iter().for_each(|size| {
                if !all.contains(size) {
                    all.push(*size)
                }
            });
        }
        self.members.push(member);
        Ok(())
    }
    /// How the rows are cut.
    pub fn cut(&self) -> Cut {
        let size = |row: usize| self.size(row);
        let work = |rows: usize| self.members.iter().map(|m| m.work(rows)).max().unwrap_or(1).max(1);
        let mut rows = self.sizes.len();
        // As few as there are enough of, so that a block is long without being large.
        let many = |rows: usize| count(&self.sizes[..rows]).is_none_or(|n| n >= MANY) && work(rows) <= LARGE;
        while rows > 1 && (many(rows - 1) || work(rows).saturating_mul(size(rows - 1).unwrap_or(UNKNOWN)) < LEAST) {
            rows -= 1;
        }
        let wanted = ceildiv(LEAST, work(rows));
        let block = match size(rows - 1) {
            Some(size) if size <= wanted => size.max(1),
            // Blocks of one size where that is near.
            Some(size) => (wanted..=2 * wanted).find(|block| size % block == 0).unwrap_or(wanted),
            None => wanted,
        };
        Cut { rows, block }
    }
    /// The size of a row, where it is known.
    pub fn size(&self, row: usize) -> Option<i64> {
        self.sizes[row].iter().find_map(|size| if let Size::Known(n) = size { Some(*n) } else { None })
    }
}

/// How many rows there are in all, where it is known.
fn count(sizes: &[Vec<Size>]) -> Option<i64> {
    sizes.iter().try_fold(1i64, |product, sizes| {
        sizes.iter().find_map(|size| if let Size::Known(n) = size { product.checked_mul(*n) } else { None })
    })
}
