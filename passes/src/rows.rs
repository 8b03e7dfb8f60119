//! Groups of operations that a block can compute row by row: reductions over the columns with the elementwise operations
//! before and after them on the same rows, such as a softmax or a layer norm.
//!
//! A group works on rows x columns elements. Its operations read what the group wrote only at their own row, so that
//! intermediate values stay in registers.

use crate::{
    device::leaves_memory_alone,
    epilogue::fill_before,
    ir::{AffineMap, Op, Value},
    memory::{may_alias, outputs, touches, writes},
    parts::PARTS,
};
use std::collections::HashMap;

/// What a member of a group computes.
pub enum Kind {
    /// An element for each row and column.
    Map,
    /// One element a row from elements of the row.
    RowMap,
    /// One element a row from all columns, by the operation of this name, which starts at its neutral element; the fill of
    /// its output where there is one.
    Reduce { combiner: String, neutral: &'static str, fill: Option<(Op, Value)> },
}

/// An operation of a group.
pub struct Member {
    pub op: Op,
    pub kind: Kind,
    /// For each loop the dimension of the group; the columns come last.
    pub dims: Vec<usize>,
}

/// A group.
pub struct Group {
    /// The sizes of the dimensions of rows.
    pub rows: Vec<i64>,
    pub columns: i64,
    pub members: Vec<Member>,
    /// What members wrote: the group's dimension along each axis.
    written: HashMap<Value, Vec<Option<usize>>>,
    /// Operations in between that stay; the group is computed before the first.
    passed: Vec<Op>,
}

/// What a group reads and writes.
const ELEMENTS: [&str; 4] = ["f32", "i32", "f16", "bf16"];
/// Operations in between that a group may reach over.
const REACH: usize = 8;
/// The most columns, whose elements a block holds in registers.
const MOST_COLUMNS: i64 = 16384;
const COMBINERS: [(&str, &str); 9] = [
    ("arith.addf", "0.0"),
    ("arith.mulf", "1.0"),
    ("arith.maximumf", "0xFF800000"),
    ("arith.maxnumf", "0xFF800000"),
    ("arith.minimumf", "0x7F800000"),
    ("arith.minnumf", "0x7F800000"),
    ("arith.addi", "0"),
    ("arith.maxsi", "-2147483648"),
    ("arith.minsi", "2147483647"),
];

impl Group {
    /// The group that starts at an operation, when it has a reduction in it or starts with the sum of a product's parts.
    pub fn starting_at(op: Op) -> Option<Group> {
        let loops = Loops::of(op)?;
        let columns = match loops.reduction {
            Some(dim) => dim,
            None => *loops.maps.last()?.dims().last()?.as_ref()?,
        };
        let rows: Vec<usize> = (0..loops.sizes.len()).filter(|d| *d != columns).collect();
        let mut group = Group {
            rows: rows.iter().map(|d| loops.sizes[*d]).collect(),
            columns: loops.sizes[columns],
            members: vec![],
            written: HashMap::new(),
            passed: vec![],
        };
        if !(2..=MOST_COLUMNS).contains(&group.columns) {
            return None;
        }
        let dims = (0..loops.sizes.len()).map(|d| rows.iter().position(|r| *r == d).unwrap_or(rows.len())).collect();
        group.add(op, loops, dims)?;
        let mut next = op.next();
        while let Some(op) = next {
            next = op.next();
            if leaves_memory_alone(op) {
                continue;
            }
            let joined = Loops::of(op).and_then(|loops| {
                let dims = group.dims(op, &loops)?;
                group.is_free(op).then_some(())?;
                group.add(op, loops, dims)
            });
            // A fill that a later reduction takes with it stays between; so does what the group does not touch.
            if joined.is_none() {
                group.passed.push(op);
            }
            if group.passed.len() > REACH {
                break;
            }
        }
        let reduces = group.members.iter().any(|m| matches!(m.kind, Kind::Reduce { .. }));
        let near = group.members.iter().any(|m| m.reads_neighbours());
        ((reduces || op.attr(PARTS).is_some()) && near).then_some(group)
    }

    /// The same as far as this member, where there is a reduction before it.
    pub fn until(mut self, last: Op) -> Option<Group> {
        let place = self.members.iter().position(|m| m.op == last)?;
        self.members.truncate(place + 1);
        self.members.iter().any(|m| matches!(m.kind, Kind::Reduce { .. })).then_some(self)
    }

    /// Whether the group computes this operation.
    pub fn holds(&self, op: Op) -> bool {
        self.members.iter().any(|m| m.op == op) || self.fills().any(|f| f == op)
    }

    /// What members read that no member wrote.
    pub fn reads(&self) -> impl Iterator<Item = Value> {
        let written: Vec<Value> = self.members.iter().flat_map(|m| outputs(m.op)).collect();
        let inputs = self.members.iter().flat_map(|m| {
            let operands = m.op.operands();
            operands[..operands.len() - 1].to_vec()
        });
        inputs.filter(move |v| !written.contains(v))
    }

    /// Where the group is computed: before this operation, once what it needs was moved before it as well.
    pub fn place(&self) -> Op {
        let last = self.members.iter().map(|m| m.op).max_by_key(|o| position(*o)).unwrap_or(self.members[0].op);
        self.crossed().into_iter().min_by_key(|o| position(*o)).unwrap_or(last)
    }

    /// The operations that stay although they stand between members.
    fn crossed(&self) -> Vec<Op> {
        let last = self.members.iter().map(|m| position(m.op)).max().unwrap_or(0);
        let fills: Vec<Op> = self.fills().collect();
        self.passed.iter().copied().filter(|o| position(*o) < last && !fills.contains(o)).collect()
    }

    /// Fills that the group computes.
    pub fn fills(&self) -> impl Iterator<Item = Op> {
        self.members.iter().filter_map(|m| match &m.kind {
            Kind::Reduce { fill, .. } => fill.map(|(op, _)| op),
            _ => None,
        })
    }

    /// The dimensions of the group that an operation's loops are, by what it reads of the group.
    fn dims(&self, op: Op, loops: &Loops) -> Option<Vec<usize>> {
        let column = self.rows.len();
        let mut dims: Vec<Option<usize>> = vec![None; loops.sizes.len()];
        let inputs = op.operands().len() - 1;
        let mut linked = false;
        for (operand, map) in op.operands().into_iter().zip(&loops.maps).take(inputs) {
            let Some(axes) = self.written.get(&operand) else { continue };
            linked = true;
            for (dim, axis) in map.dims().into_iter().zip(axes) {
                let dim = dim?;
                if dims[dim].is_some_and(|d| Some(d) != *axis) {
                    return None;
                }
                dims[dim] = *axis;
            }
        }
        let missing: Vec<usize> = (0..dims.len()).filter(|d| dims[*d].is_none()).collect();
        match missing[..] {
            [] => {}
            [dim] if !dims.contains(&Some(column)) => dims[dim] = Some(column),
            _ => return None,
        }
        let dims: Vec<usize> = dims.into_iter().collect::<Option<_>>()?;
        let size = |d: usize| if d == column { self.columns } else { self.rows[d] };
        let fits = dims.iter().zip(&loops.sizes).all(|(d, s)| size(*d) == *s)
            && (0..column).all(|d| dims.iter().filter(|x| **x == d).count() == 1)
            && dims.iter().filter(|d| **d == column).count() <= 1
            && loops.reduction.is_none_or(|r| dims[r] == column);
        (linked && fits).then_some(dims)
    }

    /// Whether an operation may be computed before everything that the group passed.
    fn is_free(&self, op: Op) -> bool {
        let [out] = outputs(op)[..] else { return false };
        let fill = fill_before(op, out).map(|(f, _)| f);
        let fills: Vec<Op> = self.fills().chain(fill).collect();
        let passed: Vec<Op> = self.passed.iter().copied().filter(|p| !fills.contains(p)).collect();
        let inputs = op.operands();
        let kept = passed.iter().all(|p| !touches(*p, out) && inputs.iter().all(|i| !writes(*p, *i)));
        let first = passed.first().map(|p| position(*p));
        let operands_there = inputs.iter().all(|v| first.is_none_or(|first| can_stand_before(*v, op, first)));
        // Two views of one buffer cannot be told apart in registers.
        let known = self.members.iter().flat_map(|m| m.op.operands());
        let distinct = known.into_iter().all(|k| {
            inputs.iter().all(|v| *v == k || !may_alias(*v, k) || !(*v == out || self.written.contains_key(&k)))
        });
        kept && operands_there && distinct
    }

    fn add(&mut self, op: Op, loops: Loops, dims: Vec<usize>) -> Option<()> {
        let column = self.rows.len();
        let [out] = outputs(op)[..] else { return None };
        let map = loops.maps.last()?;
        let axes: Vec<Option<usize>> = map.dims().into_iter().map(|d| d.map(|d| dims[d])).collect();
        let body = *op.blocks(0).first()?;
        let reads_output = !body.arguments().last()?.uses().is_empty();
        let kind = match loops.reduction {
            Some(_) => {
                // Halves are read and written, and not summed up.
                let sum = out.ty().element()?;
                (sum.is("f32") || sum.is("i32")).then_some(())?;
                let (combiner, neutral) = combiner(op)?;
                Kind::Reduce { combiner, neutral, fill: fill_before(op, out) }
            }
            None if reads_output => return None,
            None if dims.contains(&column) => Kind::Map,
            None => Kind::RowMap,
        };
        let needed = if matches!(kind, Kind::Map) { column + 1 } else { column };
        let whole = axes.len() == needed && (0..needed).all(|d| axes.contains(&Some(d)));
        if !whole || self.written.get(&out).is_some_and(|a| *a != axes) {
            return None;
        }
        self.written.insert(out, axes);
        self.members.push(Member { op, kind, dims });
        Some(())
    }
}

impl Member {
    /// Whether it reads along the columns what lies side by side.
    fn reads_neighbours(&self) -> bool {
        let column = self.dims.iter().max().copied().unwrap_or(0);
        self.op.operands().into_iter().zip(self.op.linalg_maps()).any(|(operand, map)| {
            let strides = operand.ty().memref().map(|m| m.strides).unwrap_or_default();
            map.dims().into_iter().zip(strides).any(|(d, s)| d.is_some_and(|d| self.dims[d] == column) && s == Some(1))
        })
    }
}

/// The loops of an operation that a group may hold: a generic or a copy on static memrefs of f32, i32, f16 or bf16 whose body is
/// plain arithmetic.
struct Loops {
    maps: Vec<AffineMap>,
    sizes: Vec<i64>,
    reduction: Option<usize>,
}

impl Loops {
    fn of(op: Op) -> Option<Loops> {
        let copies = op.is("linalg.copy");
        if !(op.is("linalg.generic") || copies) || !op.results().is_empty() {
            return None;
        }
        let maps = op.linalg_maps();
        let count = maps.first()?.num_dims();
        let iterators = if copies { vec![] } else { op.attr("iterator_types")?.elements()? };
        let reductions: Vec<usize> =
            (0..iterators.len()).filter(|i| iterators[*i].to_string().contains("reduction")).collect();
        let reduction = match reductions[..] {
            [] => None,
            [dim] => Some(dim),
            _ => return None,
        };
        let mut sizes = vec![None; count];
        for (operand, map) in op.operands().into_iter().zip(&maps) {
            let memref = operand.ty().memref()?;
            if !ELEMENTS.iter().any(|e| memref.element.is(e)) || memref.space.is_some() {
                return None;
            }
            for ((dim, constant), size) in map.dims().into_iter().zip(map.constants()).zip(&memref.shape) {
                match (dim, constant) {
                    (Some(dim), _) => sizes[dim] = sizes[dim].or(Some((*size)?)),
                    (None, Some(0)) => {}
                    _ => return None,
                }
            }
        }
        let body = op.blocks(0).first()?.ops();
        let plain = |o: &Op| {
            o.num_regions() == 0
                && (o.name().starts_with("arith.")
                    || o.name().starts_with("math.")
                    || o.is("linalg.index")
                    || o.is("linalg.yield"))
        };
        let arguments = op.blocks(0).first()?.arguments();
        let inside =
            |v: &Value| arguments.contains(v) || v.def().is_some_and(|d| d.is("arith.constant") || body.contains(&d));
        let known = body.iter().flat_map(|o| o.operands()).all(|v| inside(&v));
        (op.operands().len() == maps.len() && body.iter().all(plain) && known).then_some(())?;
        Some(Loops { maps, sizes: sizes.into_iter().collect::<Option<_>>()?, reduction })
    }
}

/// The operation that combines the output's element with a new one, and its neutral element.
fn combiner(op: Op) -> Option<(String, &'static str)> {
    let body = *op.blocks(0).first()?;
    let output = *body.arguments().last()?;
    let last = body.terminator().operands().first()?.def()?;
    let (name, neutral) = COMBINERS.into_iter().find(|(name, _)| last.is(name))?;
    let once = output.uses().len() == 1 && last.operands().iter().filter(|v| **v == output).count() == 1;
    once.then(|| (name.to_string(), neutral))
}

fn position(op: Op) -> usize {
    op.block().and_then(|b| b.ops().iter().position(|o| *o == op)).unwrap_or(0)
}

/// Whether a value that `op` reads is there, or can be made, before the place `first` of the same block.
fn can_stand_before(value: Value, op: Op, first: usize) -> bool {
    let Some(def) = value.def() else { return true };
    if def.block() != op.block() || position(def) < first {
        return true;
    }
    let movable = ["memref.alloc", "memref.expand_shape", "memref.collapse_shape", "memref.subview", "memref.cast"];
    movable.contains(&def.name().as_str()) && def.operands().into_iter().all(|v| can_stand_before(v, op, first))
}

/// Moves what makes a value before an operation of the same block.
pub fn move_definition(value: Value, before: Op) {
    let Some(def) = value.def() else { return };
    if def.block() != before.block() || position(def) < position(before) {
        return;
    }
    def.operands().into_iter().for_each(|v| move_definition(v, before));
    def.move_before(before);
}
