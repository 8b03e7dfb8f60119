//! Products of halves on tensor cores: a call of `templates/matmul_wgmma.mlir` on sm_90a, of `templates/matmul_mma.mlir` on other
//! chips from sm_80 on, with the tile that suits the shape.
//!
//! Takes products of f16 or bf16, summed up in f32 and rounded once, at the store; on sm_90a also of f32 with `precision=tf32`.
//! Warpgroups read 4-byte elements with neighbours along K alone: a B of f32 that lies K x N is first transposed to memory
//! by a kernel of its own, where rows are many enough that it pays. Sizes and strides are static; rows of A and B begin at
//! multiples of 16 bytes. What is before and after the product joins it as in `tinymlir-tuned-matmul`.

use crate::{
    choice::Precision,
    contraction::Contraction,
    host::{Operand, Text, Workspaces},
    ir::{Failed, Op, PassCx, PassResult},
    kernels::{Instance, Kernels, set_body},
    matrices::Matrices,
    memory::is_aligned,
    mma_tiles::{FIRST_CHIP, MMA, Mma, mma},
    parts,
    products::{self, Work},
    row_tile::{bytes, element},
    schedule::SPLIT_REDUCE,
    template::Template,
    turns::ceildiv,
    warpgroup_tiles::{ROWS_SUM_BYTES, SUM_BYTES, TRANSPOSE, WARPGROUPS, Warpgroups, transposing_pays, warpgroups},
};

/// What a chip's tensor cores multiply halves by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cores {
    /// Warpgroups, sm_90a.
    Warpgroups,
    /// Single warps, the chip of this number.
    Warps(u32),
}

impl Cores {
    /// Those of a chip, as in `sm_90a`, with this number; none before sm_80.
    pub fn of(chip: &str, number: u32) -> Option<Cores> {
        if chip == "sm_90a" {
            return Some(Cores::Warpgroups);
        }
        (number >= FIRST_CHIP).then_some(Cores::Warps(number))
    }
}

/// A template's tile.
enum Tile {
    Warpgroups(Warpgroups),
    Warps(Mma),
}

impl Tile {
    /// Rows and columns.
    fn size(&self) -> (i64, i64) {
        match self {
            Tile::Warpgroups(tile) => tile.tile(),
            Tile::Warps(tile) => tile.tile(),
        }
    }

    fn template(&self) -> &'static Template {
        match self {
            Tile::Warpgroups(_) => &WARPGROUPS,
            Tile::Warps(_) => &MMA,
        }
    }
}

/// A product that a template takes.
pub struct Call {
    work: Work,
    element: String,
    sum: String,
    /// Whether the kernel reads B as N x K.
    along_k: bool,
    /// Whether B lies K x N and is transposed before.
    transposes: bool,
    pairs: bool,
    quads: bool,
    tile: Tile,
}

/// Products of f32 with fewer rows are bound by reading B, and have kernels of their own.
const FEW_ROWS: i64 = 32;

impl Call {
    /// The call for a product; the reason where the template does not take it.
    pub fn of(op: Op, contraction: &Contraction, cores: Cores, precision: Precision) -> Result<Option<Call>, String> {
        let Some(matrices) = Matrices::of_halves(op, contraction)? else { return Ok(None) };
        let Matrices { size, a, b, c, element, sum, .. } = matrices;
        let [batch, m, n, k] = size;
        let single = element == "f32";
        if single && (precision < Precision::Tf32 || m <= FEW_ROWS || cores != Cores::Warpgroups) {
            return Err("products of f32 are strict, of few rows, or of chips without warpgroups".into());
        }
        let group = 16 / bytes(&element);
        // A map's dimensions have strides of their own, also where there is one batch.
        let reads = |o: &Operand, sizes| o.reads_groups(sizes, group) && (batch == 1 || o.strides[0] > 0);
        let along_k = reads(&b.clone().transposed(), [batch, n, k]);
        let transposes = single && !along_k;
        // Of what is transposed a thread reads four columns.
        let b_reads = along_k || reads(&b, [batch, k, n]) && (!transposes || n % group == 0);
        if !reads(&a, [batch, m, k]) || !b_reads {
            return Err("rows of its operands do not begin at multiples of 16 bytes".into());
        }
        let (fill, found) = products::neighbours(op, &c, [&a, &b], size);
        let epilogue = found.filter(|e| {
            e.extras.len() <= 2 && e.target.inner.1 == 1 && e.extras.iter().all(|(x, _)| x.strides[2] == 1)
        });
        let target = epilogue.as_ref().map_or_else(|| products::whole(&c, size), |e| e.target.clone());
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
        // Four neighbours at once where they are 8 bytes and a row begins at a multiple of them.
        let quads = pairs
            && self::element(target.buffer) != "f32"
            && [n, target.inner.0, target.offset, target.batch.1, target.row.1, target.group.1]
                .iter()
                .all(|s| s % 4 == 0);
        let f32 = self::element(target.buffer) == "f32" && epilogue.as_ref().is_none_or(|e| e.is_f32());
        let mut work = Work { op, size, a, b, target, fill, epilogue, splits: 1, tail: None };
        let rate = if parts::joins(&work) { Some(ROWS_SUM_BYTES) } else { f32.then_some(SUM_BYTES) };
        let (tile, splits) = match cores {
            Cores::Warpgroups => {
                let (tile, splits, seconds) = warpgroups(single, rate, size);
                if transposes && !transposing_pays(size, seconds) {
                    return Err("its rows are too few to transpose B for them".into());
                }
                (Tile::Warpgroups(tile), splits)
            }
            Cores::Warps(chip) => {
                let (tile, splits) = mma(chip, rate, size);
                (Tile::Warps(tile), splits)
            }
        };
        work.splits = splits;
        Ok(Some(Call { work, element, sum, along_k: along_k || transposes, transposes, pairs, quads, tile }))
    }

    /// Replaces the product, and what joins it, by the call.
    pub fn emit(self, cx: &PassCx, module: Op, kernels: &mut Kernels, workspaces: &mut Workspaces) -> PassResult {
        let Work { op, size: [batch, m, n, k], splits, .. } = self.work;
        let split = splits > 1;
        let accumulate = if self.work.fill.is_some() { "false" } else { "true" };
        let mut text = Text::default();
        let bases = self.work.bases(&mut text);
        let [x, y] = self.work.two_extras();
        let (x_element, y_element) = (element(x.buffer), element(y.buffer));
        let out_element = if split { "f32".to_string() } else { element(self.work.target.buffer) };
        let view = |element: &str| format!("memref<?x?x?x{element}, strided<[?, ?, 1], offset: ?>>");
        let four =
            |element: &str, last: &str| format!("memref<?x?x?x?x{element}, strided<[?, ?, ?, {last}], offset: ?>>");
        // One batch has the stride of a whole matrix.
        let strides =
            |o: &Operand, rows: i64| [if batch == 1 { rows * o.strides[1] } else { o.strides[0] }, o.strides[1], 1];
        let b_rows = if self.along_k { self.work.b.clone().transposed() } else { self.work.b.clone() };
        let b_size = if self.along_k { [batch, n, k] } else { [batch, k, n] };
        // The workspace holds B transposed, rows at multiples of 16 bytes, and behind it the parts.
        let depth = (k + 3) / 4 * 4;
        let transposed = if self.transposes { batch * n * depth } else { 0 };
        let workspace = (split || self.transposes).then(|| Work::workspace(&mut text));
        let (a_strides, b_strides) = (strides(&self.work.a, m), strides(&b_rows, b_size[1]));
        text.view("av", &bases.a, &a_strides, &[batch, m, k], &view(&self.element));
        match workspace.as_ref().filter(|_| self.transposes) {
            Some(workspace) => {
                let symbol = self.place_transposition(cx, module, kernels)?;
                let from = &self.work.b.strides;
                text.view("bt", &bases.b, from, &[batch, k, n], &view("f32"));
                text.view("tv", workspace, &[n * depth, depth, 1], &[batch, n, depth], &view("f32"));
                text.call_writing(&symbol, &["%bt", "%tv"], &[view("f32"), view("f32")], &[1]);
                text.view("bv", workspace, &[n * depth, depth, 1], &b_size, &view("f32"));
            }
            None => text.view("bv", &bases.b, &b_strides, &b_size, &view(&self.element)),
        }
        text.view("xv", &bases.x, &x.strides, &[batch, m, n], &view(&x_element));
        text.view("yv", &bases.y, &y.strides, &[batch, m, n], &view(&y_element));
        let (whole_strides, whole_sizes) = self.work.result();
        let slabs = workspace.filter(|_| split).map(|(base, _)| {
            text.constant("parts", transposed);
            (base, "%parts".to_string())
        });
        let (c_strides, c_sizes) = match &slabs {
            Some(_) => ([m * n, n, 0, 1], [splits * batch, m, 1, n]),
            None => (whole_strides, whole_sizes),
        };
        text.view("cv", slabs.as_ref().unwrap_or(&bases.c), &c_strides, &c_sizes, &four(&out_element, "1"));
        // The strides of what a thread accesses are part of the kernel: addresses are cheap then. A and B are the tensor memory
        // accelerator's where there are warpgroups.
        let fixed = |element: &str, strides: &[i64]| {
            let sizes = "?x".repeat(strides.len());
            format!("memref<{sizes}{element}, strided<{strides:?}, offset: ?>>")
        };
        let x_type = fixed(&x_element, &x.strides);
        let y_type = fixed(&y_element, &y.strides);
        let c_type = fixed(&out_element, &c_strides);
        let (a_type, b_type) = match self.tile {
            Tile::Warpgroups(_) => (view(&self.element), view(&self.element)),
            Tile::Warps(_) => (fixed(&self.element, &a_strides), fixed(&self.element, &b_strides)),
        };
        for (name, from, to) in [
            ("av", view(&self.element), &a_type),
            ("bv", view(&self.element), &b_type),
            ("xv", view(&x_element), &x_type),
            ("yv", view(&y_element), &y_type),
            ("cv", four(&out_element, "1"), &c_type),
        ] {
            text.line(&format!("%{name}_fixed = memref.cast %{name} : {from} to {to}"));
        }
        let mut parameters = match &self.tile {
            Tile::Warpgroups(tile) => {
                let mut parameters = tile.parameters(&self.element, self.along_k);
                parameters.push(("!out_vector", format!("vector<{}x{out_element}>", tile.sums())));
                parameters
            }
            Tile::Warps(tile) => {
                let whole = k % 8 == 0 && (self.along_k || n % 8 == 0);
                let (strides, elements) = ([a_strides, b_strides], [&*out_element, &x_element, &y_element]);
                tile.parameters(&self.element, self.along_k, whole, strides, elements)
            }
        };
        let pair = |element: &str| format!("{} : i64", 2 * bytes(element));
        parameters.extend([
            ("#accumulate", (!split && self.work.fill.is_none()).to_string()),
            ("#grouped", (c_sizes[2] > 1).to_string()),
            ("#group_width", format!("{} : index", c_sizes[3])),
            ("#pairs", (if split { n % 2 == 0 } else { self.pairs }).to_string()),
            ("#quads", (!split && self.quads).to_string()),
            ("#out_quad", format!("{} : i64", 4 * bytes(&out_element))),
            ("!pair_bits", if out_element == "f32" { "i64" } else { "i32" }.to_string()),
            ("!out_elem", out_element.clone()),
            ("!out", c_type.clone()),
            ("#out_pair", pair(&out_element)),
            ("!x_elem", x_element.clone()),
            ("!x_view", x_type.clone()),
            ("#x_pair", pair(&x_element)),
            ("!y_elem", y_element.clone()),
            ("!y_view", y_type.clone()),
            ("#y_pair", pair(&y_element)),
        ]);
        let parameters: Vec<_> = parameters.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let joined = split && parts::joins(&self.work);
        let mut names = self.work.kernel_names(self.product_name());
        if joined {
            names.1.clear();
        }
        let body = |kernels: Op| {
            self.conversions(kernels, &out_element)?;
            if split { Ok(()) } else { self.epilogue_body(kernels, &out_element) }
        };
        let instance =
            Instance { template: self.tile.template(), parameters: &parameters, launcher: "matmul", name: &names.0 };
        let symbol = kernels.place(cx, op, module, instance, body)?;
        let chunk = ceildiv(k, splits);
        text.constant("splits", splits);
        text.constant("chunk", (chunk + 63) / 64 * 64);
        let index = || "index".to_string();
        let mut arguments = vec!["%av_fixed", "%bv_fixed", "%cv_fixed", "%xv_fixed", "%yv_fixed", "%splits", "%chunk"];
        let mut types = vec![a_type, b_type, c_type, x_type, y_type, index(), index()];
        if let Tile::Warpgroups(tile) = &self.tile {
            text.constant("blocks", tile.most_blocks());
            arguments.push("%blocks");
            types.push(index());
        }
        text.call_writing(&symbol, &arguments, &types, &[2]);
        let (a, b, c) = (self.work.a.buffer, self.work.b.buffer, self.work.target.buffer);
        let mut inputs = vec![("a", a), ("b", b), ("c", c), ("x", x.buffer), ("y", y.buffer)];
        let others = if joined { parts::inputs(&self.work) } else { vec![] };
        inputs.extend(others.iter().map(|(name, value)| (name.as_str(), *value)));
        if let Some((base, _)) = slabs.as_ref().filter(|_| joined) {
            cx.check(op, parts::write(&mut text, &self.work, base, transposed))?;
        } else if let Some(slabs) = &slabs {
            let (mut parameters, slabs_type) = self.work.sum_parameters(m);
            parameters.push(("#accumulate", accumulate.to_string()));
            let parameters: Vec<_> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let instance =
                Instance { template: &SPLIT_REDUCE, parameters: &parameters, launcher: "reduce", name: &names.1 };
            let reduce = kernels.place(cx, op, module, instance, |kernels| self.epilogue_body(kernels, "f32"))?;
            // The sum of the parts reads f32 alone: so does what is missing.
            let given = self.work.extras().count();
            let extras = [("xr", &bases.x, &x), ("yr", &bases.y, &y)];
            for (i, (name, base, extra)) in extras.into_iter().enumerate() {
                let (base, strides) = if i < given { (base, extra.strides) } else { (slabs, [0, 0, 1]) };
                text.view(name, base, &strides, &[batch, m, n], &view("f32"));
            }
            let slab = m * n;
            text.view("pv", slabs, &[slab * splits, slab, n, 1], &[batch, splits, m, n], &four("f32", "1"));
            text.line(&format!("%pv_fixed = memref.cast %pv : {} to {slabs_type}", four("f32", "1")));
            text.view("rv", &bases.c, &whole_strides, &whole_sizes, &four("f32", "?"));
            let types = [slabs_type, four("f32", "?"), view("f32"), view("f32")];
            text.call(&reduce, &["%pv_fixed", "%rv", "%xr", "%yr"], &types);
        }
        let parts = if split { batch * splits * m * n } else { 0 };
        if transposed + parts > 0 {
            inputs.push(("s", cx.check(op, workspaces.of(op, transposed + parts))?));
        }
        self.tell(cx, &names);
        let at = self.work.at();
        at.stand_for(self.work.fill.into_iter().chain([op]));
        cx.check(op, at.build_before(&inputs, &text.declarations, &text.body).map(|_| ()))?;
        if joined {
            cx.check(op, parts::set_body(&self.work))?;
        }
        cx.count("substituted");
        self.work.erase(cx);
        Ok(())
    }

    /// The function that launches the kernel which transposes B.
    fn place_transposition(&self, cx: &PassCx, module: Op, kernels: &mut Kernels) -> Result<String, Failed> {
        let instance =
            Instance { template: &TRANSPOSE, parameters: &[], launcher: "transpose", name: "transpose_tf32" };
        kernels.place(cx, self.work.op, module, instance, |_| Ok(()))
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
        let Some(epilogue) = &self.work.epilogue else { return Ok(()) };
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

    /// The kernel's name, without its epilogue.
    fn product_name(&self) -> String {
        let kind = if self.element == "f32" { "tf32" } else { &self.element };
        let layout = if self.along_k { "_nt" } else { "" };
        let (rows, columns) = self.tile.size();
        let family = match self.tile {
            Tile::Warpgroups(_) => "wgmma",
            Tile::Warps(_) => "mma",
        };
        format!("matmul_{family}_{kind}_{rows}x{columns}{layout}")
    }

    /// The remark: the tile and why.
    fn tell(&self, cx: &PassCx, names: &(String, String)) {
        let (rows, columns) = self.tile.size();
        let kind = if self.element == "f32" { "f32 in tf32" } else { &self.element };
        let layout = match (self.transposes, self.along_k) {
            (true, _) => "K x N, which is transposed first",
            (false, true) => "N x K",
            (false, false) => "K x N",
        };
        let chips = match self.tile {
            Tile::Warpgroups(_) => "sm_90a".to_string(),
            Tile::Warps(_) => format!("sm_{FIRST_CHIP} and newer"),
        };
        let why =
            format!("the tensor cores of {chips} take {kind}, B {layout}, and this tile has the least estimated time");
        self.work.tell(cx, &names.0, names, self.tile.template().file, &format!("{rows}x{columns}"), &why);
    }
}

/// The terminator of a private function of a template's gpu.module.
fn last(kernels: Op, name: &str) -> Result<Op, String> {
    let block = kernels.lookup(name).and_then(|f| f.blocks(0).first().copied());
    block.map(|b| b.terminator()).ok_or_else(|| format!("internal error: the template has no function @{name}"))
}
