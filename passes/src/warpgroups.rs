//! Products on the warpgroups of sm_90a: a call of `templates/matmul_wgmma.mlir` with the tile that suits the shape.
//!
//! Takes products of f16 or bf16, summed up in f32 and rounded once, at the store; and of f32 with `precision=tf32` where B
//! lies N x K, which is how the instruction reads 4-byte elements. Sizes and strides are static; rows of A and B begin at
//! multiples of 16 bytes. What is before and after the product joins it as in `tinymlir-tuned-matmul`.

use crate::{
    contraction::Contraction,
    device::source,
    epilogue::{self, Epilogue, Extra, Target},
    host::{Operand, Text, Workspaces},
    ir::{Op, PassCx, PassResult, Value},
    kernels::{Instance, Kernels, set_body},
    matrices::Matrices,
    memory::is_aligned,
    schedule::{Precision, SPLIT_REDUCE, WARPGROUPS, Warpgroups, warpgroups},
};

/// A product that the template takes.
pub struct Call {
    op: Op,
    size: [i64; 4],
    a: Operand,
    b: Operand,
    element: String,
    sum: String,
    along_k: bool,
    target: Target,
    fill: Option<Op>,
    epilogue: Option<Epilogue>,
    pairs: bool,
    tile: Warpgroups,
    splits: i64,
}

/// Products of f32 with fewer rows are bound by reading B, and have kernels of their own.
const FEW_ROWS: i64 = 32;

fn element(buffer: Value) -> String {
    buffer.ty().element().map(|e| e.to_string()).unwrap_or_default()
}

fn bytes(element: &str) -> i64 {
    if element == "f32" { 4 } else { 2 }
}

impl Call {
    /// The call for a product; the reason where the template does not take it.
    pub fn of(op: Op, contraction: &Contraction, precision: Precision) -> Result<Option<Call>, String> {
        let Some(matrices) = Matrices::of_halves(op, contraction)? else { return Ok(None) };
        let Matrices { size, a, b, c, element, sum } = matrices;
        let [batch, m, n, k] = size;
        let single = element == "f32";
        if single && (precision < Precision::Tf32 || m <= FEW_ROWS) {
            return Err("products of f32 are strict, or of few rows".into());
        }
        let group = 16 / bytes(&element);
        // A map's dimensions have strides of their own, also where there is one batch.
        let reads = |o: &Operand, sizes| o.reads_groups(sizes, group) && (batch == 1 || o.strides[0] > 0);
        let along_k = reads(&b.clone().transposed(), [batch, n, k]);
        if !reads(&a, [batch, m, k]) || !along_k && (single || !reads(&b, [batch, k, n])) {
            return Err("rows of its operands do not begin at multiples of 16 bytes".into());
        }
        let output = c.buffer;
        let fill = epilogue::zero_fill(op, output);
        let found = fill.and_then(|_| epilogue::find(op, output, [a.buffer, b.buffer], [batch, m, n]));
        let whole = Target {
            buffer: output,
            offset: c.offset,
            batch: (batch, c.strides[0]),
            row: (m, c.strides[1]),
            group: (1, 0),
            inner: (n, c.strides[2]),
        };
        let epilogue = found.filter(|e| e.target.inner.1 == 1 && e.extras.iter().all(|(x, _)| x.strides[2] == 1));
        let target = epilogue.as_ref().map_or(whole, |e| e.target.clone());
        if target.inner.1 != 1 {
            return Err("columns of its result are no neighbours".into());
        }
        let even = |offset: i64, strides: &[i64], buffer| {
            offset % 2 == 0 && strides.iter().all(|s| s % 2 == 0) && is_aligned(buffer)
        };
        let pairs = n % 2 == 0
            && target.inner.0 % 2 == 0
            && even(target.offset, &[target.batch.1, target.row.1, target.group.1], target.buffer)
            && epilogue.iter().flat_map(|e| &e.extras).all(|(x, _)| even(x.offset, &x.strides[..2], x.buffer));
        let f32 = self::element(target.buffer) == "f32" && epilogue.as_ref().is_none_or(|e| e.is_f32());
        let (tile, splits) = warpgroups(single, f32, size);
        Ok(Some(Call { op, size, a, b, element, sum, along_k, target, fill, epilogue, pairs, tile, splits }))
    }

    /// Replaces the product, and what joins it, by the call.
    pub fn emit(self, cx: &PassCx, module: Op, kernels: &mut Kernels, workspaces: &mut Workspaces) -> PassResult {
        let at = self.epilogue.as_ref().map_or(self.op, |e| e.op);
        let [batch, m, n, k] = self.size;
        let split = self.splits > 1;
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
        let (x_element, y_element) = (element(x.buffer), element(y.buffer));
        let out_element = if split { "f32".to_string() } else { element(self.target.buffer) };
        let view = |element: &str| format!("memref<?x?x?x{element}, strided<[?, ?, 1], offset: ?>>");
        let four =
            |element: &str, last: &str| format!("memref<?x?x?x?x{element}, strided<[?, ?, ?, {last}], offset: ?>>");
        // One batch has the stride of a whole matrix.
        let strides =
            |o: &Operand, rows: i64| [if batch == 1 { rows * o.strides[1] } else { o.strides[0] }, o.strides[1], 1];
        let b_rows = if self.along_k { self.b.clone().transposed() } else { self.b.clone() };
        let b_size = if self.along_k { [batch, n, k] } else { [batch, k, n] };
        text.view("av", &a, &strides(&self.a, m), &[batch, m, k], &view(&self.element));
        text.view("bv", &b, &strides(&b_rows, b_size[1]), &b_size, &view(&self.element));
        text.view("xv", &xb, &x.strides, &[batch, m, n], &view(&x_element));
        text.view("yv", &yb, &y.strides, &[batch, m, n], &view(&y_element));
        let t = &self.target;
        let (whole_strides, whole_sizes) =
            ([t.batch.1, t.row.1, t.group.1, t.inner.1], [t.batch.0, t.row.0, t.group.0, t.inner.0]);
        if split {
            text.line("%s_base, %s_at, %s_n, %s_step = memref.extract_strided_metadata %s : memref<?xf32> -> memref<f32>, index, index, index");
            let base = ("%s_base".to_string(), "%s_at".to_string());
            text.view("cv", &base, &[m * n, n, 0, 1], &[self.splits * batch, m, 1, n], &four("f32", "1"));
        } else {
            text.view("cv", &c, &whole_strides, &whole_sizes, &four(&out_element, "1"));
        }
        let mut parameters = self.tile.parameters(&self.element, self.along_k);
        let pair = |element: &str| format!("{} : i64", 2 * bytes(element));
        parameters.extend([
            ("#accumulate", (!split && self.fill.is_none()).to_string()),
            ("#grouped", (!split && t.group.0 > 1).to_string()),
            ("#pairs", (if split { n % 2 == 0 } else { self.pairs }).to_string()),
            ("!out_elem", out_element.clone()),
            ("!out", four(&out_element, "1")),
            ("#out_pair", pair(&out_element)),
            ("!x_elem", x_element.clone()),
            ("!x_view", view(&x_element)),
            ("#x_pair", pair(&x_element)),
            ("!y_elem", y_element.clone()),
            ("!y_view", view(&y_element)),
            ("#y_pair", pair(&y_element)),
        ]);
        let parameters: Vec<_> = parameters.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let (name, sum_name) = self.kernel_names();
        let body = |kernels: Op| {
            self.conversions(kernels, &out_element)?;
            if split { Ok(()) } else { self.epilogue_body(kernels, &out_element) }
        };
        let instance = Instance { template: &WARPGROUPS, parameters: &parameters, launcher: "matmul", name: &name };
        let symbol = kernels.place(cx, self.op, module, instance, body)?;
        let chunk = (k + self.splits - 1) / self.splits;
        text.constant("splits", self.splits);
        text.constant("chunk", (chunk + 63) / 64 * 64);
        text.constant("blocks", self.tile.blocks());
        let index = || "index".to_string();
        text.call(
            &symbol,
            &["%av", "%bv", "%cv", "%xv", "%yv", "%splits", "%chunk", "%blocks"],
            &[
                view(&self.element),
                view(&self.element),
                four(&out_element, "1"),
                view(&x_element),
                view(&y_element),
                index(),
                index(),
                index(),
            ],
        );
        let mut inputs = vec![
            ("a", self.a.buffer),
            ("b", self.b.buffer),
            ("c", self.target.buffer),
            ("x", x.buffer),
            ("y", y.buffer),
        ];
        if split {
            let reduce_parameters = [("#accumulate", accumulate)];
            let instance = Instance {
                template: &SPLIT_REDUCE,
                parameters: &reduce_parameters,
                launcher: "reduce",
                name: &sum_name,
            };
            let reduce = kernels.place(cx, self.op, module, instance, |kernels| self.epilogue_body(kernels, "f32"))?;
            let base = ("%s_base".to_string(), "%s_at".to_string());
            let slab = m * n;
            // The sum of the parts reads f32 alone: so does what is missing.
            let unread = ("%s_base".to_string(), "%s_at".to_string());
            let f32_view = |text: &mut Text, name: &str, given: bool, base: &(String, String), strides: &[i64]| {
                let (base, strides) = if given { (base, strides) } else { (&unread, &[0, 0, 1][..]) };
                text.view(name, base, strides, &[batch, m, n], &view("f32"));
            };
            f32_view(&mut text, "xr", !extras.is_empty(), &xb, &x.strides);
            f32_view(&mut text, "yr", extras.len() > 1, &yb, &y.strides);
            text.view("pv", &base, &[slab * self.splits, slab, n, 1], &[batch, self.splits, m, n], &four("f32", "1"));
            text.view("rv", &c, &whole_strides, &whole_sizes, &four("f32", "?"));
            text.call(
                &reduce,
                &["%pv", "%rv", "%xr", "%yr"],
                &[four("f32", "1"), four("f32", "?"), view("f32"), view("f32")],
            );
            inputs.push(("s", cx.check(self.op, workspaces.of(self.op, batch * self.splits * m * n))?));
        }
        self.tell(cx, if split { format!("{name}, {sum_name}") } else { name });
        at.stand_for(self.fill.into_iter().chain([self.op]));
        cx.check(self.op, at.build_before(&inputs, &text.declarations, &text.body).map(|_| ()))?;
        self.clean(cx);
        Ok(())
    }

    /// How an element of C becomes f32 and a sum an element of C, where there is no epilogue.
    fn conversions(&self, kernels: Op, out: &str) -> Result<(), String> {
        if out == "f32" {
            return Ok(());
        }
        for (name, operation, from, to) in [("epilogue", "truncf", "f32", out), ("old", "extf", out, "f32")] {
            let end = last(kernels, name)?;
            let argument = end.block().ok_or("internal error: no block")?.arguments()[0];
            let line = format!("%r = arith.{operation} %v : {from} to {to}\nreturn %r : {to}");
            let made = end.build_before(&[("v", argument)], "", &line)?;
            end.set_operands(&made);
        }
        Ok(())
    }

    /// The elementwise operation as the body of @epilogue, whose sum is f32.
    fn epilogue_body(&self, kernels: Op, out: &str) -> Result<(), String> {
        let Some(epilogue) = &self.epilogue else { return Ok(()) };
        let block = epilogue.op.blocks(0)[0];
        let results = block.terminator().operands();
        let sum_type = &self.sum;
        set_body(kernels, "epilogue", block, &results, |arguments, end| {
            // Rounded first to what the product is of.
            let sum = if sum_type == "f32" {
                arguments[0]
            } else {
                let line = format!("%r = arith.truncf %v : f32 to {sum_type}\nreturn %r : {sum_type}");
                end.build_before(&[("v", arguments[0])], "", &line)?[0]
            };
            let extras = epilogue.extras.iter().map(|(_, v)| *v).zip(arguments[1..].iter().copied());
            Ok(std::iter::once((epilogue.sum, sum)).chain(extras).collect())
        })?;
        let end = last(kernels, "epilogue")?;
        let made = end.operand(0).ty().to_string();
        if made == out { Ok(()) } else { Err(format!("internal error: an epilogue makes {made}, not {out}")) }
    }

    fn kernel_names(&self) -> (String, String) {
        let kind = if self.element == "f32" { "tf32" } else { &self.element };
        let layout = if self.along_k { "_nt" } else { "" };
        let (rows, columns) = self.tile.tile();
        let product = format!("matmul_wgmma_{kind}_{rows}x{columns}{layout}");
        let epilogue = if self.epilogue.is_some() { "_epilogue" } else { "" };
        if self.splits == 1 {
            (product + epilogue, String::new())
        } else {
            (product, format!("split_sum_f32{epilogue}"))
        }
    }

    /// The remark: the tile, and what the kernel does beside the product.
    fn tell(&self, cx: &PassCx, kernels: String) {
        let [batch, m, n, k] = self.size;
        let size = if batch == 1 { format!("{m}x{k}x{n}") } else { format!("{batch}x{m}x{k}x{n}") };
        let (rows, columns) = self.tile.tile();
        let tile = format!("{rows}x{columns}");
        let kind = if self.element == "f32" { "f32 in tf32" } else { &self.element };
        let layout = if self.along_k { "N x K" } else { "K x N" };
        let why =
            format!("the tensor cores of sm_90a take {kind}, B {layout}, and this tile has the least estimated time");
        let epilogue = match (&self.fill, &self.epilogue) {
            (Some(_), Some(e)) => format!(", with the fill before and '{}' after it in its store", e.op.name()),
            (Some(_), None) => ", with the fill before it".into(),
            _ => String::new(),
        };
        let splits = if self.splits > 1 { format!(", K in {} parts", self.splits) } else { String::new() };
        let name = self.kernel_names().0;
        let message = format!("becomes {name} ({}): {size}, tile {tile}{splits}{epilogue}", WARPGROUPS.file);
        let splits = self.splits.to_string();
        let facts = [
            ("kernel", kernels.as_str()),
            ("template", WARPGROUPS.file),
            ("size", &size),
            ("tile", &tile),
            ("splits", &splits),
            ("why", &why),
        ];
        cx.passed_with(self.op, &message, &facts);
    }

    /// Erases what the kernel computes now, and the buffer between.
    fn clean(self, cx: &PassCx) {
        let buffer = source(self.op.operand(2));
        self.op.erase();
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

/// The terminator of a private function of a template's gpu.module.
fn last(kernels: Op, name: &str) -> Result<Op, String> {
    let block = kernels.lookup(name).and_then(|f| f.blocks(0).first().copied());
    block.map(|b| b.terminator()).ok_or_else(|| format!("internal error: the template has no function @{name}"))
}
