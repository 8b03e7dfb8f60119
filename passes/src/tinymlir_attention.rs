//! `tinymlir-attention`: softmax between two products, in one kernel that never writes the scores.
//!
//! Finds product, elementwise scores (scaling, masking), softmax over the columns, product, in the two orders in which
//! the quotient by the sum is written: of the exponentials, or of the second product (which may permute its result). Becomes a
//! call of `templates/attention_f32.mlir`, or of `templates/attention_row_f32.mlir` for one row. A mask that keeps a row's own
//! column and those before it, by index, makes the kernel skip what is after; for one row no masked key is read. The result
//! differs from the separate operations by rounding only.
//!
//! Takes f32 with static sizes, up to 64 elements a head, one row or more than 8, and at most one operand beside the products in
//! the scores, such as a mask; everything between must be read by nothing else. What it leaves, with a remark, goes to the kernels for products and rows.

use crate::{
    contraction::Contraction,
    device::source,
    epilogue::{self, fill_before},
    host::{Operand, Text, Workspaces},
    ir::{Op, Pass, PassCx, PassResult, Value},
    kernels::{Instance, Kernels, set_body},
    matrices::Matrices,
    memory::{between, erase_unread, may_alias, outputs, touches, writes},
    schedule::{ATTENTION, ATTENTION_ROW},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-attention",
    description: "Compute a softmax between two products in one kernel that never writes the scores",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("kernels", "Chains that became a kernel")],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__nvvm__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__vector__,
    ],
    run,
};

const MOST_DEPTH: i64 = 64;
const LEAST_ROWS: i64 = 9;
/// How many batches and keys the kernel for one row takes, the latter in each block.
const MOST_ROW_BATCHES: i64 = 4096;
const BLOCK_KEYS: i64 = 128;

fn run(cx: &PassCx, module: Op) -> PassResult {
    let mut kernels = Kernels::default();
    let mut workspaces = Workspaces::default();
    let products = || module.walk().into_iter().filter(|op| op.is_linalg() && Contraction::of(*op).is_ok());
    while let Some(chain) = products().find_map(Chain::ending_with) {
        chain.emit(cx, module, &mut kernels, &mut workspaces)?;
    }
    Ok(())
}

/// A chain that one kernel computes.
struct Chain {
    /// Batches, rows, keys, elements of a head.
    size: [i64; 4],
    q: Operand,
    k: Operand,
    v: Operand,
    out: Operand,
    /// The elementwise operation that makes scores of products.
    score: Option<Score>,
    /// The product with the values.
    second: Op,
    /// Everything that the kernel replaces, in order; the last one is where it is launched.
    ops: Vec<Op>,
}

/// An elementwise operation that makes scores: the argument of its body that is the product, and the operand beside it.
struct Score {
    op: Op,
    product: Value,
    extra: Option<usize>,
}

/// An elementwise operation with its input of the chain, in place or not.
struct Step {
    op: Op,
    /// The arguments of its body that stand for the elements of each input buffer, in the order asked for.
    arguments: Vec<Value>,
}

impl Chain {
    fn ending_with(second: Op) -> Option<Chain> {
        let product = Matrices::of(second, &Contraction::of(second).ok()?).ok()??;
        let [batch, m, depth, n] = product.size;
        if product.element != "f32" || depth > MOST_DEPTH || depth % 4 != 0 || !(m >= LEAST_ROWS || m == 1 && batch <= MOST_ROW_BATCHES) {
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
                let end = epilogue::find(second, product.c.buffer, [product.a.buffer, product.b.buffer], size).filter(|e| e.is_f32())?;
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
        let chain =
            Chain { size: [batch, m, n, depth], q: first_product.a, k, v: product.b, out, score, second, ops };
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

    fn emit(self, cx: &PassCx, module: Op, kernels: &mut Kernels, workspaces: &mut Workspaces) -> PassResult {
        let [batch, m, n, depth] = self.size;
        let at = self.ops[self.ops.len() - 1];
        let one_row = m == 1;
        let causal = !one_row && self.score.as_ref().is_some_and(|s| is_causal(s.op));
        let extra = self.score.as_ref().and_then(|s| s.extra.map(|i| s.op.operand(i)));
        let extra_type = extra.map_or("memref<f32>".to_string(), dynamic_type);
        let body = |kernels: Op| -> Result<(), String> {
            let Some(score) = &self.score else { return Ok(()) };
            score.set(kernels, "score", &score.op.blocks(0)[0].terminator().operands(), 1)?;
            match score.kept() {
                Some(kept) if one_row => score.set(kernels, "keep", &[kept], 0),
                _ => Ok(()),
            }
        };
        let mut parameters = vec![("!extra", extra_type.as_str())];
        if !one_row {
            parameters.push(("#causal", if causal { "true" } else { "false" }));
        }
        let (template, name) = match (one_row, causal) {
            (true, _) => (&ATTENTION_ROW, "attention_row_f32"),
            (false, true) => (&ATTENTION, "attention_causal_f32"),
            (false, false) => (&ATTENTION, "attention_f32"),
        };
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
        Ok(())
    }
}

impl Step {
    /// The two input buffers of an elementwise operation whose body is just `name` of the elements of an array of the
    /// output's shape and of one that has an element a row.
    fn of(op: Op, name: &str) -> Option<(Vec<Value>, Step)> {
        let step = Step::elementwise(op)?;
        let last = op.blocks(0).first()?.terminator().operands().first()?.def()?;
        step.rows(last, name)
    }

    fn elementwise(op: Op) -> Option<Step> {
        let loops = op.linalg_maps().first()?.num_dims();
        let plain = op.is("linalg.generic") && op.linalg_num_parallel() == loops && outputs(op).len() == 1;
        plain.then(|| Step { op, arguments: vec![] })
    }

    /// Whether `last` is `name` of two arguments, the second one of which moves with the rows only.
    fn rows(mut self, last: Op, name: &str) -> Option<(Vec<Value>, Step)> {
        let block = *self.op.blocks(0).first()?;
        let [a, b] = last.operands()[..] else { return None };
        if !last.is(name) {
            return None;
        }
        let arguments = block.arguments();
        let place = |v: Value| arguments.iter().position(|x| *x == v);
        let (full, row) = (place(a)?, place(b)?);
        let maps = self.op.linalg_maps();
        let (all, rows) = (maps[full].dims(), maps[row].dims());
        let column = all.last().copied().flatten()?;
        // In the order of the output, and the same without the columns.
        (rows[..] == all[..all.len() - 1] && !rows.contains(&Some(column))).then_some(())?;
        self.arguments = vec![a, b];
        Some((vec![self.op.operand(full), self.op.operand(row)], self))
    }
}

/// The inputs of `exp(x - maximum of the row)`.
fn exponential(op: Op) -> Option<(Vec<Value>, Step)> {
    let step = Step::elementwise(op)?;
    let exp = op.blocks(0).first()?.terminator().operands().first()?.def().filter(|d| d.is("math.exp"))?;
    let maps = op.linalg_maps();
    let identity = maps.last()?.is_identity();
    let (inputs, step) = step.rows(exp.operand(0).def()?, "arith.subf")?;
    identity.then_some((inputs, step))
}

impl Score {
    /// An elementwise operation on products, whose body is plain arithmetic and indices, with the product.
    fn of(op: Op) -> Option<(Op, Score)> {
        Step::elementwise(op)?;
        let body = *op.blocks(0).first()?;
        let arguments = body.arguments();
        let inside = body.ops();
        let known =
            |v: &Value| arguments.contains(v) || v.def().is_some_and(|d| d.is("arith.constant") || inside.contains(&d));
        let plain = inside.iter().all(|o| {
            let name = o.name();
            let kind =
                name.starts_with("arith.") || name.starts_with("math.") || name == "linalg.index" || name == "linalg.yield";
            kind && o.operands().iter().all(known)
        });
        let maps = op.linalg_maps();
        let rank = maps.first()?.num_dims();
        (plain && (2..=3).contains(&rank) && maps.last()?.is_identity()).then_some(())?;
        let mut found = None;
        let mut extra = None;
        for (i, argument) in arguments.iter().enumerate().filter(|(_, a)| !a.uses().is_empty()) {
            let operand = op.operand(i);
            let product = last_writer(op, operand).filter(|w| maps[i].is_identity() && Contraction::of(*w).is_ok());
            match (product, &found, &extra) {
                (Some(product), None, _) => found = Some((product, *argument)),
                (None, _, None) => {
                    let axes = maps[i].dims().into_iter().zip(maps[i].constants());
                    let simple = axes.into_iter().all(|(dim, constant)| dim.is_some() || constant == Some(0));
                    (simple && operand.ty().memref()?.space.is_none()).then_some(())?;
                    extra = Some(i);
                }
                _ => return None,
            }
        }
        let (first, product) = found?;
        Some((first, Score { op, product, extra }))
    }

    /// The condition outside of which the score is minus infinity whatever the product is.
    fn kept(&self) -> Option<Value> {
        let select = self.op.blocks(0).first()?.terminator().operands().first()?.def().filter(|d| d.is("arith.select"))?;
        let low = select.operand(2).def()?.attr("value")?.to_string();
        let condition = select.operand(0);
        let mut left = vec![condition];
        while let Some(value) = left.pop() {
            if value == self.product {
                return None;
            }
            left.extend(value.def().map(|d| d.operands()).unwrap_or_default());
        }
        low.starts_with("0xFF800000").then_some(condition)
    }

    /// Gives the template's function `name` this operation's body as far as it makes `results`. Its arguments from `first`
    /// on are batch, row, key and the extra operand; the product, where there is one, comes before.
    fn set(&self, kernels: Op, name: &str, results: &[Value], first: usize) -> Result<(), String> {
        let block = self.op.blocks(0)[0];
        let maps = self.op.linalg_maps();
        let rank = maps[0].num_dims();
        set_body(kernels, name, block, results, |arguments, end| {
            let places = &arguments[first + 3 - rank..first + 3];
            let mut bound = vec![];
            match first {
                0 => {
                    let zero = end.build_before(&[], "", "%zero = arith.constant 0.0 : f32\nreturn %zero : f32")?;
                    bound.push((self.product, zero[0]));
                }
                _ => bound.push((self.product, arguments[0])),
            }
            for index in block.ops().into_iter().filter(|o| o.is("linalg.index")) {
                let dim = index.attr("dim").and_then(|a| a.as_int()).unwrap_or(0) as usize;
                bound.push((index.result(0), places[dim]));
            }
            if let Some(extra) = self.extra {
                let array = arguments[first + 3];
                let element = self.op.operand(extra).ty().element().ok_or("internal error: no element type")?;
                let names: Vec<String> = (0..rank).map(|i| format!("i{i}")).collect();
                // Rows and keys past the last ones read the last element.
                let (mut text, mut list) = ("%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n".to_string(), vec![]);
                for (axis, dim) in maps[extra].dims().into_iter().enumerate() {
                    let Some(dim) = dim else {
                        list.push("%zero".to_string());
                        continue;
                    };
                    text += &format!(
                        "%axis{axis} = arith.constant {axis} : index\n%n{axis} = memref.dim %x, %axis{axis} : {ty}\n\
                         %last{axis} = arith.subi %n{axis}, %one : index\n%at{axis} = arith.minui %i{dim}, %last{axis} : index\n",
                        ty = array.ty()
                    );
                    list.push(format!("%at{axis}"));
                }
                let mut inputs = vec![("x", array)];
                inputs.extend(names.iter().map(String::as_str).zip(places.iter().copied()));
                text += &format!("%v = memref.load %x[{}] : {}\nreturn %v : {element}", list.join(", "), array.ty());
                let loaded = end.build_before(&inputs, "", &text)?;
                bound.push((block.arguments()[extra], loaded[0]));
            }
            Ok(bound)
        })
    }
}

/// The type of a buffer with everything but its rank and element left open.
fn dynamic_type(buffer: Value) -> String {
    let ty = buffer.ty();
    let (rank, element) = (ty.shape().map_or(0, |s| s.len()), ty.element().map(|e| e.to_string()).unwrap_or_default());
    let (sizes, strides) = ("?x".repeat(rank), vec!["?"; rank].join(", "));
    format!("memref<{sizes}{element}, strided<[{strides}], offset: ?>>")
}

/// A reduction over the columns of an array, with the fill of its output.
struct Reduction {
    op: Op,
    fill: Op,
}

/// The reduction of `input` by one of these operations that made what `user` finds in `output`.
fn reduction(user: Op, output: Value, input: Value, names: &[&str]) -> Option<Reduction> {
    let op = last_writer(user, output)?;
    let maps = op.linalg_maps();
    let [read, written] = maps[..] else { return None };
    let (all, rows) = (read.dims(), written.dims());
    let over_columns = read.is_identity() && rows[..] == all[..all.len().saturating_sub(1)];
    let last = op.blocks(0).first()?.terminator().operands().first()?.def()?;
    let arguments = op.blocks(0).first()?.arguments();
    let direct = names.contains(&last.name().as_str()) && last.operands().iter().all(|v| arguments.contains(v));
    let both = last.operands().first() != last.operands().get(1);
    let parallel = op.linalg_num_parallel() + 1 == all.len();
    let fits = op.is("linalg.generic") && over_columns && direct && both && parallel && op.operand(0) == input;
    let (fill, constant) = fill_before(op, output)?;
    let value = constant.def().and_then(|d| d.attr("value"))?.to_string();
    // A NaN is neutral for maxnumf, which keeps the number.
    let neutral = match last.name().as_str() {
        "arith.addf" => value.starts_with("0.000000e+00"),
        "arith.maxnumf" => ["0xFF800000", "0xFFC00000", "0x7FC00000"].iter().any(|low| value.starts_with(low)),
        _ => value.starts_with("0xFF800000"),
    };
    (fits && neutral).then_some(Reduction { op, fill })
}

/// The operation before `op` in its block that last touched a buffer for writing.
fn last_writer(op: Op, buffer: Value) -> Option<Op> {
    let ops = op.block()?.ops();
    let place = ops.iter().position(|o| *o == op)?;
    let writer = ops[..place].iter().rev().find(|o| writes(**o, buffer))?;
    (writer.is_linalg() && outputs(*writer).contains(&buffer)).then_some(*writer)
}

/// Whether the uses of a buffer, through any view, are these operations and its deallocation.
fn only_used_by(buffer: Value, ops: &[Op]) -> bool {
    let own = buffer.def().is_some_and(|d| d.is("memref.alloc"));
    let mut left = vec![buffer];
    while let Some(value) = left.pop() {
        for (user, _) in value.uses() {
            if user.results().len() == 1 && user.result(0).ty().is_memref() && source(user.result(0)) == buffer {
                left.push(user.result(0));
            } else if !user.is("memref.dealloc") && !ops.contains(&user) {
                return false;
            }
        }
    }
    own
}

/// Whether scores are minus infinity wherever the column's index is greater than the row's.
fn is_causal(score: Op) -> bool {
    let body = score.blocks(0)[0];
    let Some(select) = body.terminator().operands().first().and_then(|v| v.def()).filter(|d| d.is("arith.select")) else {
        return false;
    };
    let low = select.operand(2).def().and_then(|d| d.attr("value")).map(|v| v.to_string()).unwrap_or_default();
    let Some(compare) = select.operand(0).def().filter(|d| d.is("arith.cmpi")) else { return false };
    let rank = score.linalg_maps().first().map_or(0, |m| m.num_dims()) as i64;
    let dim = |v: Value| v.def().filter(|d| d.is("linalg.index")).and_then(|d| d.attr("dim")).and_then(|a| a.as_int());
    let (a, b) = (dim(compare.operand(0)), dim(compare.operand(1)));
    let (row, column) = (Some(rank - 2), Some(rank - 1));
    // arith.cmpi's predicates: 3 sle, 5 sge, 7 ule, 9 uge.
    let predicate = compare.attr("predicate").and_then(|p| p.as_int());
    let keeps = match predicate {
        Some(3 | 7) => (a, b) == (column, row),
        Some(5 | 9) => (a, b) == (row, column),
        _ => false,
    };
    keeps && low.starts_with("0xFF800000")
}
