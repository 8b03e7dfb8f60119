//! `tinymlir-attention`: softmax between two products, in one kernel that never writes the scores.
//!
//! Finds product, elementwise scores (scaling, masking), softmax over the columns, product, in the two orders in which
//! the quotient by the sum is written: of the exponentials, or of the second product (which may permute its result). Becomes a
//! call of `templates/attention_async_f32.mlir` (`templates/attention_f32.mlir` before sm_80), or of
//! `templates/attention_row_f32.mlir` for one row. A mask that keeps a row's own
//! column and those before it, by index, makes the kernel skip what is after; for one row no masked key is read. The result
//! differs from the separate operations by rounding only.
//!
//! Takes f32 with static sizes, up to 64 elements a head, one row or more than 8, and at most one operand beside the products in
//! the scores, such as a mask; everything between must be read by nothing else. What it leaves, with a remark, goes to the kernels for products and rows.

use crate::{
    attention_steps::{Score, Step, causal, exponential, last_writer, only_used_by, reduction},
    contraction::Contraction,
    device::source,
    epilogue,
    host::{Operand, Text, Workspaces},
    ir::{Op, Opt, Pass, PassCx, PassResult, Value},
    kernels::{Instance, Kernels, set_conversion},
    matrices::Matrices,
    memory::{between, erase_unread, may_alias, outputs, touches, writes},
    schedule::{ATTENTION_ROW, Precision, attention, chip_number},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-attention",
    description: "Compute a softmax between two products in one kernel that never writes the scores",
    anchor: "builtin.module",
    options: &[
        Opt::string("chip", "sm_80", "The chip that the kernels are for"),
        Opt::string("precision", "fp32", "How factors of f32 may be rounded: fp32, or tf32 or bf16 on tensor cores"),
    ],
    statistics: &[("kernels", "Chains that became a kernel")],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__llvm__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__nvgpu__,
        mlirGetDialectHandle__nvvm__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__vector__,
    ],
    run,
};

const MOST_DEPTH: i64 = 64;
const LEAST_ROWS: i64 = 9;
/// How many rows kernels on tensor cores are for.
const LEAST_ROUNDED_ROWS: i64 = 33;
/// How many batches and keys the kernel for one row takes, the latter in each block.
const MOST_ROW_BATCHES: i64 = 4096;
const BLOCK_KEYS: i64 = 128;

fn run(cx: &PassCx, module: Op) -> PassResult {
    let chip = cx.string("chip");
    let Some(chip) = chip_number(&chip) else {
        return Err(cx.error(module, &format!("cannot choose kernels: chip '{chip}' is none (sm_NN)")));
    };
    let precision = cx.string("precision").parse::<Precision>();
    let precision = cx.check(module, precision.map_err(|reason| format!("cannot choose kernels: {reason}")))?;
    let mut kernels = Kernels::default();
    let mut workspaces = Workspaces::default();
    while let Some(chain) = chains(module).next() {
        chain.emit(cx, (chip, precision), module, &mut kernels, &mut workspaces)?;
    }
    Ok(())
}

/// The chains of a module, in order.
pub(crate) fn chains(module: Op) -> impl Iterator<Item = Chain> {
    let products = module.walk().into_iter().filter(|op| op.is_linalg() && Contraction::of(*op).is_ok());
    products.filter_map(Chain::ending_with)
}

/// A chain that one kernel computes.
pub(crate) struct Chain {
    /// Batches, rows, keys, elements of a head.
    pub(crate) size: [i64; 4],
    pub(crate) q: Operand,
    pub(crate) k: Operand,
    pub(crate) v: Operand,
    pub(crate) out: Operand,
    /// The elementwise operation that makes scores of products.
    pub(crate) score: Option<Score>,
    /// The product with the values.
    second: Op,
    /// Everything that the kernel replaces, in order; the last one is where it is launched.
    pub(crate) ops: Vec<Op>,
}

impl Chain {
    fn ending_with(second: Op) -> Option<Chain> {
        let product = Matrices::of(second, &Contraction::of(second).ok()?).ok()??;
        let [batch, m, depth, n] = product.size;
        if product.element != "f32"
            || depth > MOST_DEPTH
            || depth % 4 != 0
            || !(m >= LEAST_ROWS || m == 1 && batch <= MOST_ROW_BATCHES)
        {
            return None;
        }
        let whole = |o: &Operand| o.offset == 0 && (batch == 1 || o.strides[0] == m * n) && o.strides[1..] == [n, 1];
        if !whole(&product.a) {
            return None;
        }
        // Backwards: a quotient by the sum or not, the exponentials, the scores, the first product.
        let weights = product.a.buffer;
        let mut ops = vec![];
        let last = last_writer(second, weights)?;
        let (exponentials, quotient) = match Step::of(last, "arith.divf") {
            Some((inputs, _)) => (inputs[0], Some((last, inputs[1]))),
            None => (weights, None),
        };
        let exp = if quotient.is_some() { last_writer(last, exponentials)? } else { last };
        let (inputs, _) = exponential(exp)?;
        let (scores, maxima) = (inputs[0], inputs[1]);
        let maximum = reduction(exp, maxima, scores, &["arith.maximumf", "arith.maxnumf"])?;
        let before = maximum.op;
        let scored = last_writer(before, scores)?;
        let (first, score) = if Contraction::of(scored).is_ok() {
            (scored, None)
        } else {
            let (first, score) = Score::of(scored)?;
            (first, Some(score))
        };
        let first_product = Matrices::of(first, &Contraction::of(first).ok()?).ok()??;
        if first_product.size != [batch, m, n, depth] || !whole(&first_product.c) || first_product.element != "f32" {
            return None;
        }
        let first_fill = epilogue::zero_fill(first, first_product.c.buffer)?;
        let second_fill = epilogue::zero_fill(second, product.c.buffer)?;
        ops.extend([first_fill, first]);
        ops.extend(score.as_ref().map(|s| s.op));
        ops.extend([maximum.fill, maximum.op, exp]);
        // The sum, before the quotient or before the quotient of the second product.
        let size = [batch, m, depth];
        let (sum, out) = match quotient {
            Some((div, sums)) => {
                let sum = reduction(div, sums, exponentials, &["arith.addf"])?;
                ops.extend([sum.fill, sum.op, div, second_fill, second]);
                (sum, product.c.clone())
            }
            None => {
                let end = epilogue::find(second, product.c.buffer, [product.a.buffer, product.b.buffer], size)
                    .filter(|e| e.is_f32())?;
                let (inputs, _) = Step::of(end.op, "arith.divf")?;
                let [(extra, _)] = &end.extras[..] else { return None };
                let per_row = extra.strides == [if batch == 1 { 0 } else { m }, if m == 1 { 0 } else { 1 }, 0];
                let t = &end.target;
                if !per_row || source(inputs[0]) != source(product.c.buffer) || t.group.0 != 1 {
                    return None;
                }
                let sum = reduction(end.op, extra.buffer, exponentials, &["arith.addf"])?;
                let out = Operand { buffer: t.buffer, offset: t.offset, strides: [t.batch.1, t.row.1, t.inner.1] };
                ops.extend([second_fill, second, sum.fill, sum.op, end.op]);
                (sum, out)
            }
        };
        let k = first_product.b.transposed();
        let chain = Chain { size: [batch, m, n, depth], q: first_product.a, k, v: product.b, out, score, second, ops };
        let between_buffers = [scores, maxima, exponentials, weights, first_product.c.buffer, outputs(sum.op)[0]];
        (chain.fits() && chain.is_closed(&between_buffers, product.c.buffer)).then_some(chain)
    }

    /// Whether the kernel can read and write its operands.
    fn fits(&self) -> bool {
        let [batch, m, n, depth] = self.size;
        self.q.reads_vectors([batch, m, depth])
            && self.k.reads_vectors([batch, n, depth])
            && self.v.reads_vectors([batch, n, depth])
            && self.out.reads_vectors([batch, m, depth])
            && self.read().all(|x| !may_alias(x, self.out.buffer))
    }

    /// The buffers that the kernel reads.
    fn read(&self) -> impl Iterator<Item = Value> {
        let extra = self.score.as_ref().and_then(|s| s.extra.map(|i| s.op.operand(i)));
        [self.q.buffer, self.k.buffer, self.v.buffer].into_iter().chain(extra)
    }

    /// Whether nothing else sees what lies between, and nothing on the way changes what the kernel reads later than before.
    fn is_closed(&self, buffers: &[Value], product: Value) -> bool {
        let (Some(first), Some(last)) = (self.ops.get(1), self.ops.last()) else { return false };
        let others = |since: Op| -> Vec<Op> {
            let way = between(since, *last).unwrap_or_default();
            way.into_iter().filter(|o| !self.ops.contains(o)).collect()
        };
        let unwritten = |buffer: Value, since: Op| others(since).iter().all(|o| !writes(*o, buffer));
        let extra = self.score.as_ref().and_then(|s| s.extra.map(|i| (s.op.operand(i), s.op)));
        let kept = unwritten(self.q.buffer, *first)
            && unwritten(self.k.buffer, *first)
            && unwritten(self.v.buffer, self.second)
            && extra.is_none_or(|(buffer, score)| unwritten(buffer, score))
            && others(*first).iter().all(|o| !touches(*o, self.out.buffer));
        let mut inner: Vec<Value> = buffers.iter().map(|b| source(*b)).collect();
        if source(product) != source(self.out.buffer) {
            inner.push(source(product));
        }
        kept && inner.iter().all(|b| source(self.out.buffer) != *b && only_used_by(*b, &self.ops))
    }

    fn emit(
        self,
        cx: &PassCx,
        (chip, precision): (u32, Precision),
        module: Op,
        kernels: &mut Kernels,
        workspaces: &mut Workspaces,
    ) -> PassResult {
        let [batch, m, n, depth] = self.size;
        let at = self.ops[self.ops.len() - 1];
        let one_row = m == 1;
        // Few rows would fill no tile of a tensor core's.
        let precision = if m < LEAST_ROUNDED_ROWS { Precision::Fp32 } else { precision };
        let kept = self.score.as_ref().and_then(|s| causal(s.op)).filter(|_| !one_row);
        let causal = kept.is_some();
        let extra = self.score.as_ref().and_then(|s| s.extra.map(|i| s.op.operand(i)));
        let extra_type = extra.map_or("memref<f32>".to_string(), dynamic_type);
        let body = |kernels: Op| -> Result<(), String> {
            for name in ["factors", "result"].into_iter().filter(|name| kernels.lookup(name).is_some()) {
                set_conversion(kernels, name, "arith.truncf")?;
            }
            let Some(score) = &self.score else { return Ok(()) };
            let results = score.op.blocks(0)[0].terminator().operands();
            score.set(kernels, "score", &results, 1, None)?;
            match score.kept() {
                Some(kept) if one_row => score.set(kernels, "keep", &[kept], 0, None),
                _ if kernels.lookup("score_kept").is_some() => score.set(kernels, "score_kept", &results, 1, kept),
                _ => Ok(()),
            }
        };
        let mut parameters = vec![("!extra", extra_type.as_str())];
        if !one_row {
            parameters.push(("#causal", if causal { "true" } else { "false" }));
        }
        let (template, factors) = attention(chip, precision);
        let (template, name) = match (one_row, causal) {
            (true, _) => (&ATTENTION_ROW, "attention_row_f32".to_string()),
            (false, true) => (template, format!("attention_causal_{factors}")),
            (false, false) => (template, format!("attention_{factors}")),
        };
        let name = name.as_str();
        let instance = Instance { template, parameters: &parameters, launcher: "attention", name };
        let symbol = kernels.place(cx, at, module, instance, body)?;
        let ty = "memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>";
        let mut text = Text::default();
        let operands = [("q", &self.q, m), ("k", &self.k, n), ("v", &self.v, n), ("o", &self.out, m)];
        for (name, operand, rows) in operands {
            let base = text.operand(name, operand);
            text.view(&format!("{name}v"), &base, &operand.strides, &[batch, rows, depth], ty);
        }
        let mut inputs: Vec<(&str, Value)> = operands.iter().map(|(name, o, _)| (*name, o.buffer)).collect();
        let mut arguments = vec!["%qv", "%kv", "%vv", "%ov"];
        let mut types = vec![ty.to_string(); 4];
        if one_row {
            let parts = (n + BLOCK_KEYS - 1) / BLOCK_KEYS;
            let workspace = cx.check(at, workspaces.of(at, batch * parts * (depth + 2)))?;
            inputs.push(("w", workspace));
            let base = text.operand("w", &Operand { buffer: workspace, offset: 0, strides: [0; 3] });
            text.view("wv", &base, &[parts * (depth + 2), depth + 2, 1], &[batch, parts, depth + 2], ty);
            arguments.push("%wv");
            types.push(ty.to_string());
        }
        match extra {
            Some(extra) => {
                inputs.push(("x", extra));
                text.line(&format!("%xv = memref.cast %x : {} to {extra_type}", extra.ty()));
            }
            // Nothing reads it: the first element of Q.
            None => text.line("%xv = memref.reinterpret_cast %q_base to offset: [0], sizes: [], strides: [] : memref<f32> to memref<f32>"),
        }
        arguments.push("%xv");
        types.push(extra_type.clone());
        text.call(&symbol, &arguments, &types);
        let size = format!("{batch}x{m}x{n}x{depth}");
        let why = match (one_row, causal) {
            (true, _) => "products around a softmax of one row",
            (false, true) => "products around a softmax whose mask is causal: tiles past the diagonal are skipped",
            (false, false) => "products around a softmax",
        };
        let message = format!(
            "and {} operations before it become {name} ({}): {batch} batches, {m} rows, {n} keys of {depth}",
            self.ops.len() - 1,
            template.file
        );
        cx.passed_with(at, &message, &[("kernel", name), ("template", template.file), ("size", &size), ("why", why)]);
        at.stand_for(self.ops.iter().copied());
        cx.check(at, at.build_before(&inputs, &text.declarations, &text.body).map(|_| ()))?;
        cx.count("kernels");
        self.erase();
        Ok(())
    }

    /// Removes what was replaced, and the buffers in between.
    pub(crate) fn erase(self) {
        let mut buffers: Vec<Value> = vec![];
        for op in &self.ops {
            buffers.extend(outputs(*op).into_iter().map(source).filter(|b| *b != source(self.out.buffer)));
        }
        self.ops.iter().for_each(|op| op.erase());
        for (i, buffer) in buffers.iter().enumerate() {
            if !buffers[..i].contains(buffer) {
                erase_unread(*buffer);
            }
        }
    }
}

/// The type of a buffer with everything but its rank and element left open.
pub(crate) fn dynamic_type(buffer: Value) -> String {
    let ty = buffer.ty();
    let (rank, element) = (ty.shape().map_or(0, |s| s.len()), ty.element().map(|e| e.to_string()).unwrap_or_default());
    let (sizes, strides) = ("?x".repeat(rank), vec!["?"; rank].join(", "));
    format!("memref<{sizes}{element}, strided<[{strides}], offset: ?>>")
}
