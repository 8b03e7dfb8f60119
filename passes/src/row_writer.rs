//! The text that computes a row of a group of [`crate::rows`], operation by operation.
//!
//! Every operand is read once, 16 bytes at a time where it allows it; what is between stays in registers; reductions go by
//! shuffles (`templates/row_reduce.mlir`) in a fixed order.

use crate::{
    ir::{AffineMap, Value},
    memory::is_aligned,
    row_tile::{Tile, bytes, element, zero},
    rows::{Group, Kind, Member},
};
use std::collections::HashMap;

/// Where a value lives: in each thread for its columns, or the same in all threads.
#[derive(Clone)]
pub enum Place {
    Lanes(String),
    Row(String),
}

/// The text of a group's operations, as far as it is written.
pub struct Writer<'a> {
    pub group: &'a Group,
    pub tile: Tile,
    pub text: String,
    pub functions: String,
    pub buffers: Vec<Value>,
    /// What a buffer holds, for those that the group wrote, and what was read, by buffer and map.
    pub values: HashMap<Value, Place>,
    read: HashMap<(Value, Vec<Option<usize>>), Place>,
    next: usize,
    /// The types of the reductions' slots.
    pub slots: Vec<String>,
    /// For a prologue the number of its first operand among its kernel's.
    pub operands: Option<usize>,
    /// The threads of a block, which shares them among rows where a row has fewer.
    pub block: i64,
}

impl<'a> Writer<'a> {
    pub fn new(group: &'a Group) -> Self {
        let tile = Tile::of(group.columns);
        Writer {
            group,
            block: tile.threads,
            tile,
            text: String::new(),
            functions: String::new(),
            buffers: vec![],
            values: HashMap::new(),
            read: HashMap::new(),
            next: 0,
            slots: vec![],
            operands: None,
        }
    }

    /// A line of text.
    pub fn line(&mut self, text: &str) {
        self.text += "    ";
        self.text += text;
        self.text.push('\n');
    }

    /// A name that no other value has.
    pub fn fresh(&mut self, base: &str) -> String {
        self.next += 1;
        format!("%{base}{}", self.next)
    }

    /// The name of a buffer's argument.
    pub fn buffer(&mut self, buffer: Value) -> String {
        let place = self.buffers.iter().position(|b| *b == buffer).unwrap_or_else(|| {
            self.buffers.push(buffer);
            self.buffers.len() - 1
        });
        self.operands.map_or(format!("%b{place}"), |first| format!("%o{}", first + place))
    }

    fn slots_type(&self, element: &str) -> String {
        format!("memref<{}x{element}, #gpu.address_space<workgroup>>", self.block / 32)
    }

    /// Constants, the thread's place and the row's coordinates.
    pub fn head(&mut self) {
        let Tile { threads, vector, columns, .. } = self.tile;
        for (name, value) in
            [("zero", 0), ("warp_size", 32), ("width", vector), ("columns", columns), ("last", columns - vector)]
        {
            self.line(&format!("%{name} = arith.constant {value} : index"));
        }
        for element in ["f32", "i32", "f16", "bf16"] {
            let zero = zero(element);
            let lanes = self.tile.lanes(element);
            self.line(&format!("%none_{element} = arith.constant dense<{zero}> : {lanes}"));
        }
        if self.operands.is_none() {
            self.line("%row = gpu.block_id x");
            self.line(&format!("%thread = gpu.thread_id x upper_bound {threads}"));
            self.line("%warp = arith.divui %thread, %warp_size : index");
            self.line("%lane = arith.remui %thread, %warp_size : index");
        }
        self.line("%is_first = arith.cmpi eq, %thread, %zero : index");
        self.line("%start = arith.muli %thread, %width : index");
        let mut rest = "%row".to_string();
        for (i, size) in self.group.rows.clone().into_iter().enumerate().rev() {
            self.line(&format!("%size{i} = arith.constant {size} : index"));
            self.line(&format!("%row{i} = arith.remui {rest}, %size{i} : index"));
            self.line(&format!("%rest{i} = arith.divui {rest}, %size{i} : index"));
            rest = format!("%rest{i}");
        }
    }

    /// Inside of a sweep: `%j`, the first column of the thread, `%jc`, the same within the columns, and `%in`.
    pub fn columns(&mut self) {
        let step = self.tile.threads * self.tile.vector;
        self.line(&format!("  %j = affine.apply affine_map<(s, e) -> (s + e * {step})>(%start, %e)"));
        self.line("  %jc = arith.minui %j, %last : index");
        self.line("  %in = arith.cmpi ult, %j, %columns : index");
    }

    /// An index for each axis of an operand.
    pub fn indices(&self, axes: &[Option<usize>], column: &str) -> String {
        let index = |axis: &Option<usize>| match axis {
            None => "%zero".to_string(),
            Some(d) if *d == self.group.rows.len() => column.to_string(),
            Some(d) => format!("%row{d}"),
        };
        axes.iter().map(index).collect::<Vec<_>>().join(", ")
    }

    /// Whether an operand's columns can be accessed as vectors.
    pub fn is_vector(&self, buffer: Value, axes: &[Option<usize>]) -> bool {
        let column = Some(self.group.rows.len());
        let Some(memref) = buffer.ty().memref() else { return false };
        let multiple = |v: &Option<i64>| v.is_some_and(|v| v % 4 == 0);
        self.tile.vector > 1
            && axes.last() == Some(&column)
            && axes.iter().filter(|a| **a == column).count() == 1
            && memref.strides.last() == Some(&Some(1))
            && memref.strides[..memref.strides.len() - 1].iter().all(multiple)
            && multiple(&memref.offset)
            && is_aligned(buffer)
    }

    /// What an operand holds at the block's row.
    pub fn value(&mut self, buffer: Value, axes: &[Option<usize>]) -> Place {
        if let Some(place) = self.values.get(&buffer) {
            return place.clone();
        }
        let key = (buffer, axes.to_vec());
        if let Some(place) = self.read.get(&key) {
            return place.clone();
        }
        let (name, ty) = (self.buffer(buffer), buffer.ty());
        let place = if axes.contains(&Some(self.group.rows.len())) {
            let element = element(buffer);
            let (lanes, width, sweeps) = (self.tile.lanes(&element), self.tile.vector, self.tile.sweeps);
            let result = self.fresh("read");
            self.line(&format!(
                "{result} = affine.for %e = 0 to {sweeps} iter_args(%f = %none_{element}) -> ({lanes}) {{"
            ));
            self.columns();
            if self.is_vector(buffer, axes) {
                let at = self.indices(axes, "%jc");
                let alignment = width * bytes(&element);
                self.line(&format!(
                    "  %v = vector.load {name}[{at}] {{alignment = {alignment} : i64}} : {ty}, vector<{width}x{element}>"
                ));
                self.line(&format!("  %g = vector.insert %v, %f[%e] : vector<{width}x{element}> into {lanes}"));
            } else {
                let at = self.indices(axes, "%ju");
                self.line(&format!("  %g = affine.for %u = 0 to {width} iter_args(%h = %f) -> ({lanes}) {{"));
                self.line("    %ju = arith.addi %jc, %u : index");
                self.line(&format!("    %v = memref.load {name}[{at}] : {ty}"));
                self.line(&format!("    %h1 = vector.insert %v, %h[%e, %u] : {element} into {lanes}"));
                self.line(&format!("    affine.yield %h1 : {lanes}"));
                self.line("  }");
            }
            self.line(&format!("  affine.yield %g : {lanes}"));
            self.line("}");
            Place::Lanes(result)
        } else {
            let result = self.fresh("read");
            let at = self.indices(axes, "");
            self.line(&format!("{result} = memref.load {name}[{at}] : {ty}"));
            Place::Row(result)
        };
        self.read.insert(key, place.clone());
        place
    }

    /// A member's operands with the group's dimension along each axis.
    pub fn inputs(&self, member: &Member) -> Vec<(Value, Vec<Option<usize>>)> {
        let axes = |map: &AffineMap| map.dims().into_iter().map(|d| d.map(|d| member.dims[d])).collect();
        member.op.operands().into_iter().zip(member.op.linalg_maps().iter().map(axes)).collect()
    }

    /// Computes a member.
    pub fn member(&mut self, i: usize, member: &Member) {
        let maps = member.op.linalg_maps();
        let axes = |map: usize| -> Vec<Option<usize>> {
            maps[map].dims().into_iter().map(|d| d.map(|d| member.dims[d])).collect()
        };
        let operands = member.op.operands();
        let inputs = operands.len() - 1;
        let places: Vec<Place> = (0..inputs).map(|o| self.value(operands[o], &axes(o))).collect();
        let column = self.group.rows.len();
        // The dimensions whose indices the body asks for.
        let asked: Vec<usize> = member.op.blocks(0)[0]
            .ops()
            .into_iter()
            .filter(|o| o.is("linalg.index"))
            .map(|o| member.dims[o.attr("dim").and_then(|a| a.as_int()).unwrap_or(0) as usize])
            .collect();
        let elements: Vec<String> = operands.iter().map(|o| element(*o)).collect();
        let element = elements[inputs].clone();
        let mut types: Vec<&str> = elements.iter().map(String::as_str).collect();
        types.extend(vec!["index"; asked.len()]);
        let parameters: Vec<String> = types.iter().enumerate().map(|(n, t)| format!("%a{n}: {t}")).collect();
        self.functions += &format!(
            "func.func private @operation{i}({}) -> {element} {{\nreturn %a{inputs} : {element}\n}}\n",
            parameters.join(", ")
        );
        let signature = format!("({}) -> {element}", types.join(", "));
        // Arguments of the body for one element, after the lines that take them out of their vectors.
        let arguments = |writer: &mut Self, accumulator: &str| -> String {
            let mut list = vec![];
            for (n, place) in places.iter().enumerate() {
                match place {
                    Place::Row(name) => list.push(name.clone()),
                    Place::Lanes(name) => {
                        let (element, lanes) = (&elements[n], writer.tile.lanes(&elements[n]));
                        writer.line(&format!("    %x{n} = vector.extract {name}[%e, %u] : {element} from {lanes}"));
                        list.push(format!("%x{n}"));
                    }
                }
            }
            list.push(accumulator.to_string());
            list.extend(asked.iter().map(|d| if *d == column { "%ju".into() } else { format!("%row{d}") }));
            list.join(", ")
        };
        let (lanes, width, sweeps) = (self.tile.lanes(&element), self.tile.vector, self.tile.sweeps);
        let out = operands[inputs];
        let zero = zero(&element);
        let place = match &member.kind {
            Kind::Map => {
                let result = self.fresh("map");
                self.line(&format!("%unused{i} = arith.constant {zero} : {element}"));
                self.line(&format!(
                    "{result} = affine.for %e = 0 to {sweeps} iter_args(%f = %none_{element}) -> ({lanes}) {{"
                ));
                self.columns();
                self.line(&format!("  %g = affine.for %u = 0 to {width} iter_args(%h = %f) -> ({lanes}) {{"));
                self.line("    %ju = arith.addi %jc, %u : index");
                let list = arguments(self, &format!("%unused{i}"));
                self.line(&format!("    %y = func.call @operation{i}({list}) : {signature}"));
                self.line(&format!("    %h1 = vector.insert %y, %h[%e, %u] : {element} into {lanes}"));
                self.line(&format!("    affine.yield %h1 : {lanes}"));
                self.line("  }");
                self.line(&format!("  affine.yield %g : {lanes}"));
                self.line("}");
                Place::Lanes(result)
            }
            Kind::RowMap => {
                let result = self.fresh("map");
                self.line(&format!("%unused{i} = arith.constant {zero} : {element}"));
                let list = arguments(self, &format!("%unused{i}"));
                self.line(&format!("{result} = func.call @operation{i}({list}) : {signature}"));
                Place::Row(result)
            }
            Kind::Reduce { combiner, neutral, fill } => {
                let suffix = combiner.trim_start_matches("arith.").to_string();
                let start = match fill {
                    Some((_, constant)) => {
                        let name = self.fresh("start");
                        let value =
                            constant.def().and_then(|d| d.attr("value")).map(|v| v.to_string()).unwrap_or_default();
                        self.line(&format!("{name} = arith.constant {value}"));
                        name
                    }
                    None => match self.value(out, &axes(inputs)) {
                        Place::Row(name) | Place::Lanes(name) => name,
                    },
                };
                self.line(&format!("%neutral{i} = arith.constant {neutral} : {element}"));
                let partial = self.fresh("partial");
                self.line(&format!(
                    "{partial} = affine.for %e = 0 to {sweeps} iter_args(%s = %neutral{i}) -> ({element}) {{"
                ));
                self.columns();
                self.line(&format!("  %g = affine.for %u = 0 to {width} iter_args(%t = %s) -> ({element}) {{"));
                self.line("    %ju = arith.addi %jc, %u : index");
                let list = arguments(self, "%t");
                self.line(&format!("    %y = func.call @operation{i}({list}) : {signature}"));
                let exact = self.tile.is_exact();
                if !exact {
                    self.line(&format!("    %z = arith.select %in, %y, %t : {element}"));
                }
                self.line(&format!("    affine.yield {} : {element}", if exact { "%y" } else { "%z" }));
                self.line("  }");
                self.line(&format!("  affine.yield %g : {element}"));
                self.line("}");
                let (total, result) = (self.fresh("total"), self.fresh("sum"));
                let slots = format!("%slots{}", self.slots.len());
                let ty = self.slots_type(&element);
                self.slots.push(ty.clone());
                self.line(&format!("{total} = func.call @reduce_{suffix}({partial}, {slots}, %warp, %lane) : ({element}, {ty}, index, index) -> {element}"));
                self.line(&format!(
                    "{result} = func.call @combine_{suffix}({start}, {total}) : ({element}, {element}) -> {element}"
                ));
                Place::Row(result)
            }
        };
        self.values.insert(out, place);
    }
}
