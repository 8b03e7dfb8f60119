//! `tinymlir-tuned-matmul`: give products the fast kernel that the selection table has for their shape.
//!
//! Looks every product on memrefs up in [`crate::schedule`]. What it takes becomes a call of the template's launching
//! function on views of the operands, with the fill before it (the sum then starts at zero) and one elementwise operation
//! after it (bias, activation, residual, transposition of the result) inside the kernel's store; with few rows also the loops
//! that copy parts of the only row elsewhere, such as to a cache (`scatter.rs`), and before it what makes the rows,
//! such as a layer norm, which every block then computes for itself (`prologue.rs`). K is split over blocks
//! where the grid is small; the partial sums go to a buffer and are added in a fixed order.
//!
//! Sizes and strides must be static, the strides those that 16-byte loads need, and buffers whole allocations or arguments
//! (both are aligned to 16 bytes at least). Everything else is left to `tinymlir-tiled-matmul`, with a remark.

use crate::{
    contraction::Contraction,
    device::source,
    epilogue::{self, Epilogue, Extra, Target},
    host::{Operand, Text, Workspaces},
    ir::{Op, Opt, Pass, PassCx, PassResult, Value},
    kernels::{Instance, Kernels, set_whole_body},
    matrices::Matrices,
    memory::is_aligned,
    prologue::{self, Prologue},
    row_text,
    scatter::{self, Scatter},
    schedule::{
        Kind, Layout, PRODUCTS, Precision, Product, SKINNY_STEP, SKINNY_THREADS, SPLIT_REDUCE, chip_number, splits,
    },
    warpgroups,
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-tuned-matmul",
    description: "Replace matrix products on memrefs by calls of the fast GPU kernel for their shape",
    anchor: "builtin.module",
    options: &[
        Opt::string("chip", "sm_80", "The chip that the kernels are for"),
        Opt::string("precision", "fp32", "How products of f32 may be rounded: fp32, or tf32 or bf16 on tensor cores"),
    ],
    statistics: &[
        ("substituted", "Products replaced by a call"),
        ("fills", "Fills that a kernel makes unnecessary"),
        ("epilogues", "Elementwise operations computed in a kernel's store"),
        ("prologues", "Norms and the like computed by the product that reads their result"),
        ("scatters", "Loops that copy a result, computed in a kernel's store"),
        ("declined", "Products left to the simple kernels"),
    ],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__cf__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__nvgpu__,
        mlirGetDialectHandle__nvvm__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__vector__,
    ],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let chip = cx.string("chip");
    let has_warpgroups = chip == "sm_90a";
    let Some(chip) = chip_number(&chip) else {
        return Err(cx.error(module, &format!("cannot choose kernels: chip '{chip}' is none (sm_NN)")));
    };
    let precision = cx.string("precision").parse::<Precision>();
    let precision = cx.check(module, precision.map_err(|reason| format!("cannot choose kernels: {reason}")))?;
    let mut kernels = Kernels::default();
    let mut workspaces = Workspaces::default();
    // Collected first: elementwise operations join kernels on the way, and are gone.
    let products = module.walk().into_iter().filter(|op| op.is_linalg() && Contraction::of(*op).is_ok());
    for op in products.collect::<Vec<_>>() {
        let Ok(contraction) = Contraction::of(op) else { continue };
        let warpgroups = if has_warpgroups { warpgroups::Call::of(op, &contraction, precision) } else { Ok(None) };
        if let Ok(Some(call)) = warpgroups {
            call.emit(cx, module, &mut kernels, &mut workspaces)?;
            cx.count("substituted");
            continue;
        }
        match Call::of(op, &contraction, chip, precision) {
            Ok(None) => {}
            Ok(Some(call)) => call.emit(cx, module, &mut kernels, &mut workspaces)?,
            Err(reason) => {
                cx.missed(op, &format!("has no fast kernel: {reason}"));
                cx.count("declined");
            }
        }
    }
    Ok(())
}

/// A product that a template takes.
struct Call {
    op: Op,
    product: &'static Product,
    size: [i64; 4],
    a: Operand,
    b: Operand,
    target: Target,
    fill: Option<Op>,
    epilogue: Option<Epilogue>,
    scatters: Vec<Scatter>,
    prologue: Option<Prologue>,
    splits: i64,
}

impl Call {
    fn of(op: Op, contraction: &Contraction, chip: u32, precision: Precision) -> Result<Option<Call>, String> {
        let Some(matrices) = Matrices::of(op, contraction)? else { return Ok(None) };
        let Matrices { size: [batch, m, n, k], a, b, c, element, .. } = matrices;
        let output = c.buffer;
        let fill = epilogue::zero_fill(op, output);
        let inputs = [a.buffer, b.buffer];
        let epilogue = fill.and_then(|_| epilogue::find(op, output, inputs, [batch, m, n])).filter(|e| e.is_f32());
        let whole = Target {
            buffer: output,
            offset: c.offset,
            batch: (batch, c.strides[0]),
            row: (m, c.strides[1]),
            group: (1, 0),
            inner: (n, c.strides[2]),
        };
        // With the epilogue if a template takes it, else without; as it stands, or transposed for a matrix times few columns.
        let mut reason = String::new();
        for epilogue in epilogue.into_iter().map(Some).chain([None]) {
            let target = epilogue.as_ref().map_or(whole.clone(), |e| e.target.clone());
            let mut call = Call {
                op,
                product: &PRODUCTS[0],
                size: [batch, m, n, k],
                a: a.clone(),
                b: b.clone(),
                target,
                fill,
                epilogue,
                scatters: vec![],
                prologue: None,
                splits: 1,
            };
            if n < m && n <= 8 && call.target.group.0 == 1 {
                call = call.transposed();
            }
            match call.select(chip, precision, &element) {
                Ok(product) => {
                    call.product = product;
                    if let Kind::Tiled { rows, columns } = product.kind {
                        call.splits = splits(chip, product.rate, (rows, columns), call.size).0;
                    } else if product.layout == Layout::AlongN {
                        let extras = call.epilogue.iter().flat_map(|e| e.extras.iter().map(|(x, _)| x.buffer));
                        let inputs: Vec<_> = [call.a.buffer, call.b.buffer].into_iter().chain(extras).collect();
                        let at = call.epilogue.as_ref().map_or(call.op, |e| e.op);
                        call.scatters = scatter::find(at, &call.target, &inputs);
                        let written: Vec<_> = call
                            .scatters
                            .iter()
                            .flat_map(|s| s.buffers.iter().copied())
                            .chain([call.target.buffer])
                            .collect();
                        if batch == 1 && call.size == [batch, m, n, k] {
                            call.prologue = prologue::find(op, &call.a, (m, k), at, &written);
                        }
                        // The product reads its rows from workgroup memory; its operand A is one that nothing reads.
                        if let Some(row) = call.prologue.as_ref().and_then(|p| p.group.reads().next()) {
                            call.a.buffer = row;
                        }
                    }
                    return Ok(Some(call));
                }
                Err(why) => reason = why,
            }
        }
        Err(reason)
    }

    fn transposed(self) -> Call {
        let [batch, m, n, k] = self.size;
        let (a, b) = (self.b.transposed(), self.a.transposed());
        let target = Target { row: self.target.inner, inner: self.target.row, ..self.target };
        let epilogue = self.epilogue.map(|mut e| {
            for (extra, _) in &mut e.extras {
                extra.strides.swap(1, 2);
            }
            e
        });
        Call { size: [batch, n, m, k], a, b, target, epilogue, ..self }
    }

    /// The first row of the table that fits, or the quickest of those of its template for as many rows.
    fn select(&self, chip: u32, precision: Precision, element: &str) -> Result<&'static Product, String> {
        let [batch, m, n, k] = self.size;
        let along_n = n % 4 == 0 && self.b.reads_vectors([batch, k, n]);
        let columns_first = self.b.clone().transposed();
        let along_k = columns_first.reads_vectors([batch, n, k]);
        let a_rows = self.a.reads_vectors([batch, m, k]);
        let store = |step: i64, size: i64| size == 1 || step % 4 == 0;
        let t = &self.target;
        let stores_vectors = t.inner.1 == 1
            && t.inner.0 % 4 == 0
            && t.offset % 4 == 0
            && store(t.row.1, t.row.0)
            && store(t.group.1, t.group.0)
            && store(t.batch.1, t.batch.0)
            && is_aligned(t.buffer);
        let extras: Vec<&Extra> = self.epilogue.iter().flat_map(|e| e.extras.iter().map(|(x, _)| x)).collect();
        let extra_vectors = extras
            .iter()
            .all(|e| Operand { buffer: e.buffer, offset: e.offset, strides: e.strides }.reads_vectors([batch, m, n]));
        let extra_rows = extras.iter().all(|e| e.strides[2] == 1);
        let fits = |p: &&Product| {
            let layout = match (p.layout, p.kind) {
                (Layout::AlongN, Kind::Skinny) => along_n,
                (Layout::AlongN, Kind::Tiled { .. }) => along_n && a_rows && stores_vectors && extra_vectors,
                (Layout::AlongK, Kind::Skinny) => along_k && k % 4 == 0 && a_rows && t.group.0 == 1,
                (Layout::AlongK, Kind::Tiled { .. }) => along_k && a_rows && extra_rows && t.group.0 == 1,
            };
            layout && m <= p.most_rows && chip >= p.chip && p.element == element && p.precision <= precision
        };
        let first = PRODUCTS.iter().find(fits);
        let time = |p: &&Product| match p.kind {
            Kind::Tiled { rows, columns } => splits(chip, p.rate, (rows, columns), self.size).1,
            Kind::Skinny => 0.0,
        };
        let rivals = |first: &'static Product| {
            let alike = |p: &&Product| p.template.file == first.template.file && p.most_rows == first.most_rows;
            PRODUCTS.iter().filter(fits).filter(alike).min_by(|a, b| time(a).total_cmp(&time(b)))
        };
        first.and_then(rivals).ok_or_else(|| {
            format!(
                "no row of the table takes {element}, sm_{chip} and these strides (K or N contiguous, multiples of 4)"
            )
        })
    }

    fn emit(self, cx: &PassCx, module: Op, kernels: &mut Kernels, workspaces: &mut Workspaces) -> PassResult {
        let at = self.epilogue.as_ref().map_or(self.op, |e| e.op);
        let [batch, m, n, k] = self.size;
        let accumulate = if self.fill.is_some() { "false" } else { "true" };
        let mut text = Text::default();
        let (a, b) = (text.operand("a", &self.a), text.operand("b", &self.b));
        let c = text.operand("c", &Operand { buffer: self.target.buffer, offset: self.target.offset, strides: [0; 3] });
        let extras: Vec<Extra> = self.epilogue.iter().flat_map(|e| e.extras.iter().map(|(x, _)| x.clone())).collect();
        // A missing extra operand is one that nothing reads: the product's first.
        let extra =
            |i: usize| extras.get(i).cloned().unwrap_or(Extra { buffer: self.a.buffer, offset: 0, strides: [0, 0, 1] });
        let (x, y) = (extra(0), extra(1));
        let operand = |e: &Extra| Operand { buffer: e.buffer, offset: e.offset, strides: e.strides };
        let (xb, yb) = (text.operand("x", &operand(&x)), text.operand("y", &operand(&y)));
        let fill_body = |kernels: Op| -> Result<(), String> {
            let Some(epilogue) = &self.epilogue else { return Ok(()) };
            let block = epilogue.op.blocks(0)[0];
            let values = std::iter::once(epilogue.sum).chain(epilogue.extras.iter().map(|(_, v)| *v));
            let inputs: Vec<_> = values.collect();
            set_whole_body(kernels, "epilogue", block, &inputs)
        };
        let skinny = self.product.kind == Kind::Skinny;
        let along_k = self.product.layout == Layout::AlongK;
        let any = "strided<[?, ?, ?], offset: ?>";
        let rows = "strided<[?, ?, 1], offset: ?>";
        let view = |layout: &str| format!("memref<?x?x?xf32, {layout}>");
        let b_size = if along_k { [batch, n, k] } else { [batch, k, n] };
        let b_operand = if along_k { self.b.clone().transposed() } else { self.b.clone() };
        let a_type = view(if skinny && !along_k { any } else { rows });
        let extra_type = view(if skinny { any } else { rows });
        text.view("av", &a, &self.a.strides, &[batch, m, k], &a_type);
        text.view("bv", &b, &b_operand.strides, &b_size, &view(rows));
        // For few rows the addresses are what a thread computes most of: the strides of A and B are part of the kernel.
        let fixed = |strides: [i64; 3]| view(&format!("strided<{strides:?}, offset: ?>"));
        let fixes = skinny && !along_k;
        let (a_type, b_type) =
            if fixes { (fixed(self.a.strides), fixed(b_operand.strides)) } else { (a_type, view(rows)) };
        if fixes {
            text.line(&format!("%av_fixed = memref.cast %av : {} to {a_type}", view(any)));
            text.line(&format!("%bv_fixed = memref.cast %bv : {} to {b_type}", view(rows)));
        }
        let global = b_type.replace(", offset: ?>>", ", offset: ?>, #gpu.address_space<global>>");
        text.view("xv", &xb, &x.strides, &[batch, m, n], &extra_type);
        text.view("yv", &yb, &y.strides, &[batch, m, n], &extra_type);
        let t = &self.target;
        // Batch, row, group, column; without groups where B lies along K.
        let whole_strides = [t.batch.1, t.row.1, t.group.1, t.inner.1];
        let whole_sizes = [t.batch.0, t.row.0, t.group.0, t.inner.0];
        let four = |last: &str| format!("memref<?x?x?x?xf32, strided<[?, ?, ?, {last}], offset: ?>>");
        let c_type = match (along_k, skinny) {
            (true, _) => view(any),
            (false, true) => four("?"),
            (false, false) => four("1"),
        };
        let pick = |v: [i64; 4]| if along_k { vec![v[0], v[1], v[3]] } else { v.to_vec() };
        let (name, sum_name) = self.kernel_names();
        let split = self.splits > 1;
        if split {
            let slabs = self.splits * batch;
            text.line("%s_base, %s_at, %s_n, %s_step = memref.extract_strided_metadata %s : memref<?xf32> -> memref<f32>, index, index, index");
            let base = ("%s_base".to_string(), "%s_at".to_string());
            text.view("cv", &base, &pick([m * n, n, 0, 1]), &pick([slabs, m, 1, n]), &c_type);
        } else {
            text.view("cv", &c, &pick(whole_strides), &pick(whole_sizes), &c_type);
        }
        let rows_text = format!("{m} : index");
        let (sums, warp_sums) = if along_k {
            (format!("vector<{m}x4x4xf32>"), String::new())
        } else {
            (format!("vector<{m}x4xf32>"), format!("memref<16x{m}x16xf32, #gpu.address_space<workgroup>>"))
        };
        // Operands of the loops that copy the result, each once.
        let mut buffers = vec![];
        for buffer in self.scatters.iter().flat_map(|s| s.buffers.iter().copied()) {
            if !buffers.contains(&buffer) {
                buffers.push(buffer);
            }
        }
        // Behind them those of the prologue.
        let prologue = match &self.prologue {
            Some(p) => {
                Some(cx.check(self.op, row_text::prologue(module.ctx(), &p.group, SKINNY_THREADS, buffers.len()))?)
            }
            None => None,
        };
        let written = buffers.len();
        buffers.extend(prologue.iter().flat_map(|p| p.buffers.iter().copied()));
        let list = |part: &dyn Fn(usize, Value) -> String| -> String {
            buffers.iter().enumerate().map(|(i, b)| format!(", {}", part(i, *b))).collect()
        };
        let operands = list(&|i, b| format!("%o{i} : {}", b.ty()));
        let names = list(&|i, _| format!("%o{i}"));
        let operand_types = list(&|_, b| b.ty().to_string());
        let numbered = || self.scatters.iter().enumerate();
        let mut functions: String =
            numbered().map(|(i, s)| s.functions(i, (&operands, &names, &operand_types))).collect();
        functions.extend(prologue.iter().map(|p| p.functions.as_str()));
        let also: String = numbered()
            .map(|(i, _)| {
                format!("func.call @scatter{i}(%value, %column{names}) : (f32, index{operand_types}) -> ()\n")
            })
            .collect();
        let depth = format!("{k} : index");
        let group_width = format!("{} : index", self.target.inner.0);
        let stage = format!("memref<{m}x{k}xf32, #gpu.address_space<workgroup>>");
        let mut parameters = vec![("#accumulate", if split { "false" } else { accumulate })];
        parameters.extend_from_slice(self.product.parameters);
        if skinny {
            parameters.extend([("#rows", rows_text.as_str()), ("!sums", &sums)]);
            if !along_k {
                let exact = if k % SKINNY_STEP == 0 { "true" } else { "false" };
                parameters.extend([
                    ("!warp_sums", warp_sums.as_str()),
                    ("!a_view", &a_type),
                    ("!b_view", &b_type),
                    ("!global", &global),
                    ("#exact", exact),
                ]);
                parameters.extend([
                    ("+operands", operands.as_str()),
                    ("+names", &names),
                    ("+types", &operand_types),
                    ("+functions", &functions),
                    ("+also", &also),
                ]);
                if self.target.group.0 != 1 {
                    parameters.push(("#group_width", &group_width));
                }
                if let Some(prologue) = &prologue {
                    parameters.extend([
                        ("#staged", "true"),
                        ("#depth", &depth),
                        ("!stage", &stage),
                        ("+prologue", &prologue.body),
                    ]);
                }
            }
        }
        let body = |kernels: Op| {
            for (i, scatter) in numbered() {
                scatter.set(kernels, i, &buffers[..written])?;
            }
            if let Some(prologue) = &self.prologue {
                row_text::set_operations(kernels, &prologue.group)?;
            }
            if split { Ok(()) } else { fill_body(kernels) }
        };
        let symbol = kernels.place(
            cx,
            self.op,
            module,
            Instance { template: &self.product.template, parameters: &parameters, launcher: "matmul", name: &name },
            body,
        )?;
        let mut types = vec![a_type.clone(), b_type.clone(), c_type.clone(), extra_type.clone(), extra_type.clone()];
        let mut arguments = vec!["%av", "%bv", "%cv", "%xv", "%yv"];
        if fixes {
            arguments[..2].copy_from_slice(&["%av_fixed", "%bv_fixed"]);
        }
        let operand_names: Vec<String> = (0..buffers.len()).map(|i| format!("o{i}")).collect();
        let operand_values: Vec<String> = operand_names.iter().map(|n| format!("%{n}")).collect();
        arguments.extend(operand_values.iter().map(String::as_str));
        types.extend(buffers.iter().map(|b| b.ty().to_string()));
        if !skinny {
            let chunk = (k + self.splits - 1) / self.splits;
            text.constant("splits", self.splits);
            text.constant("chunk", (chunk + 15) / 16 * 16);
            types.extend(["index".into(), "index".into()]);
            arguments.extend(["%splits", "%chunk"]);
        }
        let writes: Vec<usize> = [2].into_iter().chain(5..5 + written).collect();
        text.call_writing(&symbol, &arguments, &types, &writes);
        if split {
            let reduce_parameters = [("#accumulate", accumulate)];
            let reduce = kernels.place(
                cx,
                self.op,
                module,
                Instance {
                    template: &SPLIT_REDUCE,
                    parameters: &reduce_parameters,
                    launcher: "reduce",
                    name: &sum_name,
                },
                fill_body,
            )?;
            let base = ("%s_base".to_string(), "%s_at".to_string());
            let slab = m * n;
            text.view("pv", &base, &[slab * self.splits, slab, n, 1], &[batch, self.splits, m, n], &four("1"));
            text.view("rv", &c, &whole_strides, &whole_sizes, &four("?"));
            text.call(&reduce, &["%pv", "%rv", "%xv", "%yv"], &[four("1"), four("?"), extra_type.clone(), extra_type]);
        }
        let mut inputs = vec![
            ("a", self.a.buffer),
            ("b", self.b.buffer),
            ("c", self.target.buffer),
            ("x", x.buffer),
            ("y", y.buffer),
        ];
        inputs.extend(operand_names.iter().map(String::as_str).zip(buffers.iter().copied()));
        if split {
            let elements = batch * self.splits * m * n;
            inputs.push(("s", cx.check(self.op, workspaces.of(self.op, elements))?));
        }
        self.tell(cx, if split { format!("{name}, {sum_name}") } else { name });
        at.stand_for(self.fill.into_iter().chain([self.op]));
        cx.check(self.op, at.build_before(&inputs, &text.declarations, &text.body).map(|_| ()))?;
        cx.count("substituted");
        self.clean(cx);
        Ok(())
    }

    /// The remark: which row of the table took it, and what the kernel does beside the product.
    fn tell(&self, cx: &PassCx, kernels: String) {
        let (product, [batch, m, n, k]) = (self.product, self.size);
        let size = if batch == 1 { format!("{m}x{k}x{n}") } else { format!("{batch}x{m}x{k}x{n}") };
        let tile = match product.kind {
            Kind::Skinny => format!("all {m} rows"),
            Kind::Tiled { rows, columns } => format!("{rows}x{columns}"),
        };
        let rows =
            if product.most_rows == i64::MAX { "any number of".into() } else { format!("up to {}", product.most_rows) };
        let layout = if product.layout == Layout::AlongN { "K x N" } else { "N x K" };
        let why = format!(
            "the first row of the table for {rows} rows, B {layout}, {} in {}, sm_{} or newer",
            product.element,
            product.precision.name(),
            product.chip
        );
        let epilogue = match (&self.fill, &self.epilogue) {
            (Some(_), Some(e)) => format!(", with the fill before and '{}' after it in its store", e.op.name()),
            (Some(_), None) => ", with the fill before it".into(),
            _ => String::new(),
        };
        let splits = if self.splits > 1 { format!(", K in {} parts", self.splits) } else { String::new() };
        let message =
            format!("becomes {} ({}): {size}, tile {tile}{splits}{epilogue}", product.name, product.template.file);
        let splits = self.splits.to_string();
        let facts = [
            ("kernel", kernels.as_str()),
            ("template", product.template.file),
            ("size", &size),
            ("tile", &tile),
            ("splits", &splits),
            ("why", &why),
        ];
        cx.passed_with(self.op, &message, &facts);
    }

    /// What the product's kernel is called, and that of the sum of its parts.
    fn kernel_names(&self) -> (String, String) {
        let rows = if self.product.kind == Kind::Skinny { format!("_{}", self.size[1]) } else { String::new() };
        let epilogue = if self.epilogue.is_some() { "_epilogue" } else { "" };
        let prologue = if self.prologue.is_some() { "_prologue" } else { "" };
        let product = format!("{}{rows}{prologue}", self.product.name);
        if self.splits == 1 {
            (product + epilogue, String::new())
        } else {
            (product, format!("split_sum_f32{epilogue}"))
        }
    }

    /// Erases what the kernel computes now, and the buffer between.
    fn clean(self, cx: &PassCx) {
        let buffer = source(self.op.operand(2));
        self.op.erase();
        if let Some(prologue) = self.prologue {
            prologue.erase_unread();
            cx.count("prologues");
        }
        for scatter in self.scatters {
            scatter.erase();
            cx.count("scatters");
        }
        if let Some(fill) = self.fill {
            fill.erase();
            cx.count("fills");
        }
        if let Some(epilogue) = self.epilogue {
            epilogue.op.erase();
            cx.count("epilogues");
            crate::memory::erase_unread(buffer);
        }
    }
}
