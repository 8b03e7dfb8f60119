//! Softmax between two products of a batch of matrices, found on memrefs from the second product backwards.
//!
//! The quotient by the sum is of the exponentials or of the second product, which then may permute its result. Factors are all of
//! one type, f32, f16 or bf16; what lies between is of that type or of f32, and the exponentials or quotients may be rounded
//! where they are made. Nothing else sees what lies between.

use crate::{
    attention_steps::{Score, Step, exponential, last_writer, reduction},
    contraction::Contraction,
    device::source,
    epilogue,
    host::Operand,
    ir::{Op, Value},
    matrices::Matrices,
    memory::{between, erase_unread, may_alias, only_used_by, outputs, touches, writes},
};

/// The most elements of a head.
pub const MOST_DEPTH: i64 = 64;
/// The least rows, unless there is one, of which so many batches are taken.
pub const LEAST_ROWS: i64 = 9;
pub const MOST_ROW_BATCHES: i64 = 4096;

/// The chains of a module, in order.
pub fn chains(module: Op) -> impl Iterator<Item = Chain> {
    let products = module.walk().into_iter().filter(|op| op.is_linalg() && Contraction::of(*op).is_ok());
    products.filter_map(Chain::ending_with)
}

/// A chain that one kernel computes.
#[derive(Clone)]
pub struct Chain {
    /// Batches, rows, keys, elements of a head.
    pub size: [i64; 4],
    /// The element type of queries, keys and values.
    pub element: String,
    pub q: Operand,
    pub k: Operand,
    pub v: Operand,
    pub out: Operand,
    /// The elementwise operation that makes scores of products.
    pub score: Option<Score>,
    /// Whether a row whose scores are all minus infinity gives zeros, and not quotients of zeros.
    pub empty_is_zero: bool,
    /// The product with the values.
    pub second: Op,
    /// Everything that the kernel replaces, in order; the last one is where it is launched.
    pub ops: Vec<Op>,
    /// The buffers that nothing else may see.
    pub between: Vec<Value>,
}

/// A product whose factors are of one type and which is summed up in that or in f32.
fn matrices(op: Op) -> Option<Matrices> {
    let product = Matrices::of_halves(op, &Contraction::of(op).ok()?).ok()??;
    ["f32", "f16", "bf16"].contains(&product.element.as_str()).then_some(product)
}

impl Chain {
    /// The chain of operations on batches of matrices that ends with the product `second` or the quotient after it.
    pub fn ending_with(second: Op) -> Option<Chain> {
        let product = matrices(second)?;
        let [batch, m, depth, n] = product.size;
        if depth > MOST_DEPTH || depth % 4 != 0 || !(m >= LEAST_ROWS || m == 1 && batch <= MOST_ROW_BATCHES) {
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
        let first_product = matrices(first)?;
        if first_product.size != [batch, m, n, depth]
            || !whole(&first_product.c)
            || first_product.element != product.element
        {
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
                let end = epilogue::find(second, product.c.buffer, [product.a.buffer, product.b.buffer], size)?;
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
        let mut between = vec![scores, maxima, exponentials, weights, first_product.c.buffer, outputs(sum.op)[0]];
        if source(product.c.buffer) != source(out.buffer) {
            between.push(product.c.buffer);
        }
        let element = product.element;
        let chain = Chain {
            size: [batch, m, n, depth],
            element,
            q: first_product.a,
            k,
            v: product.b,
            out,
            score,
            empty_is_zero: false,
            second,
            ops,
            between,
        };
        (chain.fits() && chain.has_floats() && chain.is_closed()).then_some(chain)
    }

    /// The chain and a copy to bf16 that alone reads its result, where there is one.
    pub fn rounded(self) -> Chain {
        let with_copy = || {
            let last = *self.ops.last()?;
            let own = source(self.out.buffer).def().filter(|d| d.is("memref.alloc") && d.operands().is_empty())?;
            let copy = views(own.result(0)).into_iter().find_map(|view| {
                let reader = |(user, place): &(Op, usize)| user.is("linalg.copy") && *place == 0;
                view.uses().into_iter().find(reader).map(|(copy, _)| copy)
            })?;
            let [from, to] = copy.operands()[..] else { return None };
            let plain = |v: Value| v.ty().memref().is_some_and(|m| m.is_identity() && m.space.is_none());
            let narrows = element(from) == "f32" && element(to) == "bf16" && from.ty().shape() == to.ty().shape();
            let after = copy.block() == last.block() && plain(from) && plain(to) && plain(own.result(0));
            (narrows && after).then_some(())?;
            let mut chain = self.clone();
            chain.out.buffer = to;
            chain.ops.push(copy);
            chain.between.push(self.out.buffer);
            (chain.fits() && chain.is_closed()).then_some(chain)
        };
        with_copy().unwrap_or(self)
    }

    /// Whether all that lies between, and the result, is of the factors' type or of f32.
    fn has_floats(&self) -> bool {
        let known = |v: Value| element(v) == "f32" || element(v) == self.element;
        self.between.iter().chain([&self.out.buffer]).all(|v| known(*v))
    }

    /// Whether the kernel can read and write its operands.
    pub fn fits(&self) -> bool {
        let [batch, m, n, depth] = self.size;
        self.q.reads_vectors([batch, m, depth])
            && self.k.reads_vectors([batch, n, depth])
            && self.v.reads_vectors([batch, n, depth])
            && self.out.reads_vectors([batch, m, depth])
            && self.read().all(|x| !may_alias(x, self.out.buffer))
    }

    /// What the scores read beside the products.
    pub fn extra(&self) -> Option<Value> {
        self.score.as_ref().and_then(|s| s.extra.map(|i| s.op.operand(i)))
    }

    /// The buffers that the kernel reads.
    pub fn read(&self) -> impl Iterator<Item = Value> {
        [self.q.buffer, self.k.buffer, self.v.buffer].into_iter().chain(self.extra())
    }

    /// Gives the functions `@score` and `@keep` of a template for one row their bodies.
    pub fn set_row_score(&self, kernels: Op) -> Result<(), String> {
        let Some(score) = &self.score else { return Ok(()) };
        let results = score.op.blocks(0)[0].terminator().operands();
        score.set(kernels, "score", &results, 1, None)?;
        score.kept().map_or(Ok(()), |kept| score.set(kernels, "keep", &[kept], 0, None))
    }

    /// Whether nothing else sees what lies between, and nothing on the way changes what the kernel reads later than before.
    fn is_closed(&self) -> bool {
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
        let out = source(self.out.buffer);
        kept && self.between.iter().map(|b| source(*b)).all(|b| out != b && only_used_by(b, &self.ops))
    }

    /// Removes what was replaced, and the buffers in between.
    pub fn erase(self) {
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

/// The name of a buffer's element type.
pub fn element(buffer: Value) -> String {
    buffer.ty().element().map(|e| e.to_string()).unwrap_or_default()
}

/// A buffer and everything that is another form of it.
fn views(buffer: Value) -> Vec<Value> {
    let mut found = vec![buffer];
    let mut next = 0;
    while let Some(value) = found.get(next).copied() {
        let forms = value.uses().into_iter().filter(|(user, _)| user.results().len() == 1);
        found.extend(forms.map(|(user, _)| user.result(0)).filter(|v| v.ty().is_memref() && source(*v) == buffer));
        next += 1;
    }
    found
}
