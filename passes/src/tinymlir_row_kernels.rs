//! `tinymlir-row-kernels`: one kernel for reductions over columns and the elementwise operations around them.
//!
//! A softmax or a layer norm is a chain of operations on the same rows: maximum, exponential, sum, quotient. Each becomes one
//! kernel, in which a block computes a row: it reads every operand once, 16 bytes at a time where the operand allows it,
//! keeps what is between in registers, reduces by shuffles (`templates/row_reduce.mlir`) in a fixed order, and writes only
//! what is read later. [`crate::rows`] says what joins a group.
//!
//! Runs on memrefs with static sizes, f32, at most 16,384 columns; a group without a reduction, or one that reads no
//! neighbouring elements, is left to the loop path.

use crate::{
    device::source,
    ir::{Failed, Op, Pass, PassCx, PassResult, Value},
    kernels::{Kernels, set_whole_body},
    memory::{erase_unread, is_aligned, outputs},
    rows::{Group, Kind, Member, move_definition},
    schedule::ROW_REDUCE,
};
use mlir_sys::*;
use std::collections::HashMap;

pub static PASS: Pass = Pass {
    argument: "tinymlir-row-kernels",
    description: "Compute reductions over columns and the elementwise operations around them in one kernel",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("kernels", "Groups that became a kernel"), ("operations", "Operations in them")],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__vector__,
    ],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut kernels = Kernels::default();
    for function in module.find(&["func.func"]) {
        // Blocks on the host only: those of the operations themselves go with them.
        let inside = ["scf.parallel", "scf.forall", "gpu.launch"];
        let on_host = |op: &Op| !op.is_linalg() && !inside.iter().any(|n| op.is(n) || op.parent_named(n).is_some());
        let holders = function.walk().into_iter().filter(on_host);
        let blocks = holders.flat_map(|op| (0..op.num_regions()).flat_map(move |r| op.blocks(r)));
        for block in blocks.collect::<Vec<_>>() {
            // Found one at a time: a group takes its operations out of the block.
            while let Some(group) = block.ops().into_iter().find_map(Group::starting_at) {
                emit(cx, module, &mut kernels, group)?;
            }
        }
    }
    Ok(())
}

/// The shape of a block's work.
struct Tile {
    threads: i64,
    /// Elements that a thread reads together.
    vector: i64,
    /// How often the threads sweep along the columns.
    sweeps: i64,
    columns: i64,
}

impl Tile {
    fn of(columns: i64) -> Tile {
        let vector = if columns % 4 == 0 && columns >= 128 { 4 } else { 1 };
        let items = (columns + vector - 1) / vector;
        let most = if columns > 4096 { 512 } else { 256 };
        let threads = ((items + 31) / 32 * 32).min(most);
        Tile { threads, vector, sweeps: (items + threads - 1) / threads, columns }
    }
    fn is_exact(&self) -> bool {
        self.threads * self.vector * self.sweeps == self.columns
    }
    fn lanes(&self) -> String {
        format!("vector<{}x{}xf32>", self.sweeps, self.vector)
    }
}

fn emit(cx: &PassCx, module: Op, kernels: &mut Kernels, group: Group) -> PassResult {
    let at = group.place();
    let first = group.members[0].op;
    for member in &group.members {
        member.op.operands().into_iter().for_each(|v| move_definition(v, at));
    }
    let kernel = Writer::new(&group).write();
    let text = cx.check(first, module_text(module, &kernel))?;
    let parsed = Op::parse(module.ctx(), &text, ROW_REDUCE.file).ok_or(Failed);
    let parsed = parsed.map_err(|_| cx.error(first, &format!("internal error: no kernel of\n{text}")))?;
    let bodies = |kernels: Op| -> Result<(), String> {
        for (i, member) in group.members.iter().enumerate() {
            let block = member.op.blocks(0)[0];
            let mut inputs = block.arguments();
            inputs.extend(block.ops().into_iter().filter(|o| o.is("linalg.index")).map(|o| o.result(0)));
            set_whole_body(kernels, &format!("operation{i}"), block, &inputs)?;
        }
        Ok(())
    };
    let symbol = kernels.place_parsed(cx, first, module, parsed, ("rows", &kernel.name), bodies)?;
    let names: Vec<String> = (0..kernel.buffers.len()).map(|i| format!("b{i}")).collect();
    let inputs: Vec<(&str, Value)> = names.iter().map(String::as_str).zip(kernel.buffers.iter().copied()).collect();
    let types = kernel.buffers.iter().map(|b| b.ty().to_string()).collect::<Vec<_>>().join(", ");
    let arguments = names.iter().map(|n| format!("%{n}")).collect::<Vec<_>>().join(", ");
    let declaration = format!("func.func private @{symbol}({types})");
    tell(cx, &group, &kernel);
    at.stand_for(group.members.iter().map(|m| m.op));
    cx.check(first, at.build_before(&inputs, &declaration, &format!("func.call @{symbol}({arguments}) : ({types}) -> ()")).map(|_| ()))?;
    cx.count("kernels");
    let written: Vec<Value> = group.members.iter().flat_map(|m| outputs(m.op)).map(source).collect();
    group.fills().for_each(|f| f.erase());
    for member in &group.members {
        member.op.erase();
        cx.count("operations");
    }
    let mut erased: Vec<Value> = vec![];
    for buffer in written {
        if !erased.contains(&buffer) && buffer.def().is_some_and(|d| d.is("memref.alloc")) && erase_unread(buffer) {
            erased.push(buffer);
        }
    }
    Ok(())
}

/// The remark: what the kernel computes, and how a block shares a row.
fn tell(cx: &PassCx, group: &Group, kernel: &Kernel) {
    let (first, others) = (group.members[0].op, group.members.len() - 1);
    let joined = match others {
        0 => "becomes".to_owned(),
        1 => "and one operation after it become".to_owned(),
        _ => format!("and {others} operations after it become"),
    };
    let message = format!("{joined} {} ({}): a block of {} threads computes a row", kernel.name, ROW_REDUCE.file, kernel.threads);
    let threads = kernel.threads.to_string();
    let reductions = group.members.iter().filter(|m| matches!(m.kind, Kind::Reduce { .. })).count();
    let why = format!("{reductions} reductions over columns among {} operations on the same rows", group.members.len());
    let facts = [("kernel", kernel.name.as_str()), ("template", ROW_REDUCE.file), ("threads", &threads), ("why", &why)];
    cx.passed_with(first, &message, &facts);
}

/// The template's functions, one reduction for each combiner, and the kernel.
fn module_text(module: Op, kernel: &Kernel) -> Result<String, String> {
    let warps = format!("{} : index", kernel.threads / 32);
    let slots = format!("memref<{}xf32, #gpu.address_space<workgroup>>", kernel.threads / 32);
    let parsed = ROW_REDUCE.instantiate(module.ctx(), &[("#warps", &warps), ("!slots", &slots)])?;
    let mut functions = String::new();
    for combiner in &kernel.combiners {
        let suffix = combiner.trim_start_matches("arith.");
        for function in parsed.find(&["func.func"]) {
            let text = function.to_string();
            // @combine and @reduce, by names of their own.
            let text = text.replace("@combine(", &format!("@combine_{suffix}(")).replace("@reduce(", &format!("@reduce_{suffix}("));
            functions += &text.replace("arith.addf ", &format!("{combiner} "));
            functions.push('\n');
        }
    }
    parsed.destroy();
    Ok(format!("module attributes {{gpu.container_module}} {{\ngpu.module @rows_kernels {{\n{functions}{}}}\n{}}}\n", kernel.device, kernel.host))
}

/// A kernel as text, with what it is called on.
struct Kernel {
    name: String,
    threads: i64,
    combiners: Vec<String>,
    buffers: Vec<Value>,
    device: String,
    host: String,
}

/// Where a value lives: in each thread for its columns, or the same in all threads.
#[derive(Clone)]
enum Place {
    Lanes(String),
    Row(String),
}

struct Writer<'a> {
    group: &'a Group,
    tile: Tile,
    text: String,
    functions: String,
    buffers: Vec<Value>,
    /// What a buffer holds, for those that the group wrote, and what was read, by buffer and map.
    values: HashMap<Value, Place>,
    read: HashMap<(Value, Vec<Option<usize>>), Place>,
    next: usize,
    slots: usize,
}

impl<'a> Writer<'a> {
    fn new(group: &'a Group) -> Self {
        Writer {
            group,
            tile: Tile::of(group.columns),
            text: String::new(),
            functions: String::new(),
            buffers: vec![],
            values: HashMap::new(),
            read: HashMap::new(),
            next: 0,
            slots: 0,
        }
    }

    fn line(&mut self, text: &str) {
        self.text += "    ";
        self.text += text;
        self.text.push('\n');
    }

    fn fresh(&mut self, base: &str) -> String {
        self.next += 1;
        format!("%{base}{}", self.next)
    }

    /// The name of a buffer's argument.
    fn buffer(&mut self, buffer: Value) -> String {
        let place = self.buffers.iter().position(|b| *b == buffer).unwrap_or_else(|| {
            self.buffers.push(buffer);
            self.buffers.len() - 1
        });
        format!("%b{place}")
    }

    fn write(mut self) -> Kernel {
        self.head();
        for (i, member) in self.group.members.iter().enumerate() {
            self.member(i, member);
        }
        self.stores();
        let lanes = self.tile.threads;
        let rows: i64 = self.group.rows.iter().product();
        let parameters: Vec<String> = self.buffers.iter().enumerate().map(|(i, b)| format!("%b{i}: {}", b.ty())).collect();
        // Every thread reads all slots, which LLVM joins to loads of 16 bytes.
        let slot = |i| format!("%slots{i}: {} {{llvm.align = 16 : i64}}", self.slots_type());
        let slots: Vec<String> = (0..self.slots).map(slot).collect();
        let slots = if slots.is_empty() { String::new() } else { format!(" workgroup({})", slots.join(", ")) };
        let parameters = parameters.join(", ");
        let mut combiners: Vec<String> = vec![];
        for member in &self.group.members {
            if let Kind::Reduce { combiner, .. } = &member.kind
                && !combiners.contains(combiner)
            {
                combiners.push(combiner.clone());
            }
        }
        let verbs: Vec<&str> = combiners.iter().map(|c| c.trim_start_matches("arith.").trim_end_matches('f')).collect();
        let name = format!("rows_{}_{}x{}_f32", verbs.join("_"), rows, self.group.columns);
        let device = format!(
            "{}gpu.func @{name}({parameters}){slots} kernel attributes {{known_block_size = array<i32: {lanes}, 1, 1>}} {{\n{}    gpu.return\n}}\n",
            self.functions, self.text
        );
        let arguments: Vec<String> = self.buffers.iter().enumerate().map(|(i, b)| format!("%b{i} : {}", b.ty())).collect();
        let host = format!(
            "func.func private @rows({parameters}) attributes {{tinymlir.kernel}} {{\n%c1 = arith.constant 1 : index\n\
             %rows = arith.constant {rows} : index\n%threads = arith.constant {lanes} : index\n\
             gpu.launch_func @rows_kernels::@{name} blocks in (%rows, %c1, %c1) threads in (%threads, %c1, %c1) args({})\nreturn\n}}\n",
            arguments.join(", ")
        );
        Kernel { name, threads: lanes, combiners, buffers: self.buffers, device, host }
    }

    fn slots_type(&self) -> String {
        format!("memref<{}xf32, #gpu.address_space<workgroup>>", self.tile.threads / 32)
    }

    /// Constants, the thread's place and the row's coordinates.
    fn head(&mut self) {
        let Tile { threads, vector, columns, .. } = self.tile;
        let lanes = self.tile.lanes();
        for (name, value) in [("zero", 0), ("warp_size", 32), ("width", vector), ("columns", columns), ("last", columns - vector)] {
            self.line(&format!("%{name} = arith.constant {value} : index"));
        }
        self.line(&format!("%none = arith.constant dense<0.0> : {lanes}"));
        self.line("%row = gpu.block_id x");
        self.line(&format!("%thread = gpu.thread_id x upper_bound {threads}"));
        self.line("%warp = arith.divui %thread, %warp_size : index");
        self.line("%lane = arith.remui %thread, %warp_size : index");
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
    fn columns(&mut self) {
        let step = self.tile.threads * self.tile.vector;
        self.line(&format!("  %j = affine.apply affine_map<(s, e) -> (s + e * {step})>(%start, %e)"));
        self.line("  %jc = arith.minui %j, %last : index");
        self.line("  %in = arith.cmpi ult, %j, %columns : index");
    }

    /// An index for each axis of an operand.
    fn indices(&self, axes: &[Option<usize>], column: &str) -> String {
        let index = |axis: &Option<usize>| match axis {
            None => "%zero".to_string(),
            Some(d) if *d == self.group.rows.len() => column.to_string(),
            Some(d) => format!("%row{d}"),
        };
        axes.iter().map(index).collect::<Vec<_>>().join(", ")
    }

    /// Whether an operand's columns can be accessed as vectors.
    fn is_vector(&self, buffer: Value, axes: &[Option<usize>]) -> bool {
        let column = Some(self.group.rows.len());
        let Some(memref) = buffer.ty().memref() else { return false };
        let multiple = |v: &Option<i64>| v.is_some_and(|v| v % 4 == 0);
        self.tile.vector == 4
            && axes.last() == Some(&column)
            && axes.iter().filter(|a| **a == column).count() == 1
            && memref.strides.last() == Some(&Some(1))
            && memref.strides[..memref.strides.len() - 1].iter().all(multiple)
            && multiple(&memref.offset)
            && is_aligned(buffer)
    }

    /// What an operand holds at the block's row.
    fn value(&mut self, buffer: Value, axes: &[Option<usize>]) -> Place {
        if let Some(place) = self.values.get(&buffer) {
            return place.clone();
        }
        let key = (buffer, axes.to_vec());
        if let Some(place) = self.read.get(&key) {
            return place.clone();
        }
        let (name, ty) = (self.buffer(buffer), buffer.ty());
        let place = if axes.contains(&Some(self.group.rows.len())) {
            let (lanes, width, sweeps) = (self.tile.lanes(), self.tile.vector, self.tile.sweeps);
            let result = self.fresh("read");
            self.line(&format!("{result} = affine.for %e = 0 to {sweeps} iter_args(%f = %none) -> ({lanes}) {{"));
            self.columns();
            if self.is_vector(buffer, axes) {
                let at = self.indices(axes, "%jc");
                self.line(&format!("  %v = vector.load {name}[{at}] {{alignment = 16 : i64}} : {ty}, vector<{width}xf32>"));
                self.line(&format!("  %g = vector.insert %v, %f[%e] : vector<{width}xf32> into {lanes}"));
            } else {
                let at = self.indices(axes, "%ju");
                self.line(&format!("  %g = affine.for %u = 0 to {width} iter_args(%h = %f) -> ({lanes}) {{"));
                self.line("    %ju = arith.addi %jc, %u : index");
                self.line(&format!("    %v = memref.load {name}[{at}] : {ty}"));
                self.line(&format!("    %h1 = vector.insert %v, %h[%e, %u] : f32 into {lanes}"));
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

    fn member(&mut self, i: usize, member: &Member) {
        let maps = member.op.linalg_maps();
        let axes = |map: usize| -> Vec<Option<usize>> { maps[map].dims().into_iter().map(|d| d.map(|d| member.dims[d])).collect() };
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
        let mut types = vec!["f32"; inputs + 1];
        types.extend(vec!["index"; asked.len()]);
        let parameters: Vec<String> = types.iter().enumerate().map(|(n, t)| format!("%a{n}: {t}")).collect();
        self.functions += &format!(
            "func.func private @operation{i}({}) -> f32 {{\nreturn %a0 : f32\n}}\n",
            parameters.join(", ")
        );
        let signature = format!("({}) -> f32", types.join(", "));
        // Arguments of the body for one element, after the lines that take them out of their vectors.
        let arguments = |writer: &mut Self, accumulator: &str| -> String {
            let lanes = writer.tile.lanes();
            let mut list = vec![];
            for (n, place) in places.iter().enumerate() {
                match place {
                    Place::Row(name) => list.push(name.clone()),
                    Place::Lanes(name) => {
                        writer.line(&format!("    %x{n} = vector.extract {name}[%e, %u] : f32 from {lanes}"));
                        list.push(format!("%x{n}"));
                    }
                }
            }
            list.push(accumulator.to_string());
            list.extend(asked.iter().map(|d| if *d == column { "%ju".into() } else { format!("%row{d}") }));
            list.join(", ")
        };
        let (lanes, width, sweeps) = (self.tile.lanes(), self.tile.vector, self.tile.sweeps);
        let out = operands[inputs];
        let place = match &member.kind {
            Kind::Map => {
                let result = self.fresh("map");
                self.line("%unused = arith.constant 0.0 : f32".replace("unused", &format!("unused{i}")).as_str());
                self.line(&format!("{result} = affine.for %e = 0 to {sweeps} iter_args(%f = %none) -> ({lanes}) {{"));
                self.columns();
                self.line(&format!("  %g = affine.for %u = 0 to {width} iter_args(%h = %f) -> ({lanes}) {{"));
                self.line("    %ju = arith.addi %jc, %u : index");
                let list = arguments(self, &format!("%unused{i}"));
                self.line(&format!("    %y = func.call @operation{i}({list}) : {signature}"));
                self.line(&format!("    %h1 = vector.insert %y, %h[%e, %u] : f32 into {lanes}"));
                self.line(&format!("    affine.yield %h1 : {lanes}"));
                self.line("  }");
                self.line(&format!("  affine.yield %g : {lanes}"));
                self.line("}");
                Place::Lanes(result)
            }
            Kind::RowMap => {
                let result = self.fresh("map");
                self.line(&format!("%unused{i} = arith.constant 0.0 : f32"));
                let list = arguments(self, &format!("%unused{i}"));
                self.line(&format!("{result} = func.call @operation{i}({list}) : {signature}"));
                Place::Row(result)
            }
            Kind::Reduce { combiner, neutral, fill } => {
                let suffix = combiner.trim_start_matches("arith.").to_string();
                let start = match fill {
                    Some((_, constant)) => {
                        let name = self.fresh("start");
                        let value = constant.def().and_then(|d| d.attr("value")).map(|v| v.to_string()).unwrap_or_default();
                        self.line(&format!("{name} = arith.constant {value}"));
                        name
                    }
                    None => match self.value(out, &axes(inputs)) {
                        Place::Row(name) | Place::Lanes(name) => name,
                    },
                };
                self.line(&format!("%neutral{i} = arith.constant {neutral} : f32"));
                let partial = self.fresh("partial");
                self.line(&format!("{partial} = affine.for %e = 0 to {sweeps} iter_args(%s = %neutral{i}) -> (f32) {{"));
                self.columns();
                self.line(&format!("  %g = affine.for %u = 0 to {width} iter_args(%t = %s) -> (f32) {{"));
                self.line("    %ju = arith.addi %jc, %u : index");
                let list = arguments(self, "%t");
                self.line(&format!("    %y = func.call @operation{i}({list}) : {signature}"));
                let exact = self.tile.is_exact();
                if !exact {
                    self.line("    %z = arith.select %in, %y, %t : f32");
                }
                self.line(&format!("    affine.yield {} : f32", if exact { "%y" } else { "%z" }));
                self.line("  }");
                self.line("  affine.yield %g : f32");
                self.line("}");
                let (total, result) = (self.fresh("total"), self.fresh("sum"));
                let slots = format!("%slots{}", self.slots);
                self.slots += 1;
                let ty = self.slots_type();
                self.line(&format!("{total} = func.call @reduce_{suffix}({partial}, {slots}, %warp, %lane) : (f32, {ty}, index, index) -> f32"));
                self.line(&format!("{result} = func.call @combine_{suffix}({start}, {total}) : (f32, f32) -> f32"));
                Place::Row(result)
            }
        };
        self.values.insert(out, place);
    }

    /// Writes what something outside of the group reads.
    fn stores(&mut self) {
        let members: Vec<Op> = self.group.members.iter().map(|m| m.op).chain(self.group.fills()).collect();
        let mut done = vec![];
        for member in self.group.members.iter().rev() {
            let out = member.op.operand(member.op.operands().len() - 1);
            if done.contains(&out) {
                continue;
            }
            done.push(out);
            if !is_read_elsewhere(out, &members) {
                continue;
            }
            let map = member.op.linalg_maps().last().copied();
            let axes: Vec<Option<usize>> =
                map.map(|m| m.dims()).unwrap_or_default().into_iter().map(|d| d.map(|d| member.dims[d])).collect();
            let (name, ty) = (self.buffer(out), out.ty());
            let (lanes, width, sweeps) = (self.tile.lanes(), self.tile.vector, self.tile.sweeps);
            match self.values[&out].clone() {
                Place::Row(value) => {
                    let at = self.indices(&axes, "");
                    self.line("scf.if %is_first {");
                    self.line(&format!("  memref.store {value}, {name}[{at}] : {ty}"));
                    self.line("}");
                }
                Place::Lanes(value) => {
                    self.line(&format!("affine.for %e = 0 to {sweeps} {{"));
                    self.columns();
                    self.line("  scf.if %in {");
                    if self.is_vector(out, &axes) {
                        let at = self.indices(&axes, "%j");
                        self.line(&format!("    %v = vector.extract {value}[%e] : vector<{width}xf32> from {lanes}"));
                        self.line(&format!("    vector.store %v, {name}[{at}] {{alignment = 16 : i64}} : {ty}, vector<{width}xf32>"));
                    } else {
                        let at = self.indices(&axes, "%ju");
                        self.line(&format!("    affine.for %u = 0 to {width} {{"));
                        self.line("      %ju = arith.addi %j, %u : index");
                        self.line(&format!("      %v = vector.extract {value}[%e, %u] : f32 from {lanes}"));
                        self.line(&format!("      memref.store %v, {name}[{at}] : {ty}"));
                        self.line("    }");
                    }
                    self.line("  }");
                    self.line("}");
                }
            }
        }
    }
}

/// Whether anything but these operations reads a buffer, or it is not the function's own.
fn is_read_elsewhere(buffer: Value, members: &[Op]) -> bool {
    let root = source(buffer);
    if root.def().is_none_or(|d| !d.is("memref.alloc")) {
        return true;
    }
    let mut left = vec![root];
    while let Some(value) = left.pop() {
        for (user, _) in value.uses() {
            if user.results().len() == 1 && source(user.result(0)) == root {
                left.push(user.result(0));
            } else if !user.is("memref.dealloc") && !members.contains(&user) {
                return true;
            }
        }
    }
    false
}
