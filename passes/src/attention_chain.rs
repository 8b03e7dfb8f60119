//! Attention as operations on memrefs of any rank and size: product, elementwise scores, softmax over the keys, product.
//!
//! The arrays between them are rows of keys ([`crate::key_rows`]), and nothing else sees them. The quotient by the sum is of the
//! exponentials or of the second product.

use crate::{
    contraction::{Body, Contraction},
    device::source,
    epilogue::zero_fill,
    ir::{Op, Value},
    key_rows::{
        Quotient, Roles, all_masked, constant, exponential, is_elementwise, is_lowest, is_whole, loop_sizes, maker,
        reduction,
    },
    memory::{erase_unread, may_alias, outputs, touches, writes},
};

/// A buffer that the computation reads or writes: for each axis the loop dimension that runs along it, nothing where that is the
/// first place.
#[derive(Clone)]
pub struct Operand {
    pub buffer: Value,
    pub axes: Vec<Option<usize>>,
}

/// One of the operations, with what it reads or writes beside the arrays between.
pub struct Stage {
    pub op: Op,
    pub roles: Roles,
    /// The size of each loop dimension where it is static.
    pub sizes: Vec<Option<i64>>,
    pub operands: Vec<Operand>,
}

/// The elementwise operation that makes scores of products: the argument of its body that is the product, and the places among
/// its operands of the stage's.
pub struct Scores {
    pub stage: Stage,
    pub product: Value,
    pub places: Vec<usize>,
}

/// A chain that a loop over blocks of rows can compute.
pub struct AttentionChain {
    /// `f32` or `f64`.
    pub element: String,
    /// The first product: queries and keys, and the dimension that it sums over.
    pub products: Stage,
    pub depth: usize,
    pub scores: Option<Scores>,
    /// The second product: values, and the result where it is divided first; the dimension of their elements.
    pub context: Stage,
    pub width: usize,
    /// The quotient of the second product, with the result.
    pub end: Option<Stage>,
    /// Whether a row whose scores are all minus infinity gives zeros, and not quotients of zeros.
    pub empty_is_zero: bool,
    /// Everything that is replaced, in order; the last one is where the loop goes.
    pub ops: Vec<Op>,
}

type Found<T> = Result<T, &'static str>;

impl AttentionChain {
    /// The chain that ends in the product `second` or the quotient after it; nothing where that is no product of exponentials,
    /// and the reason where it is one that differs.
    pub fn ending_with(second: Op) -> Found<Option<AttentionChain>> {
        let Ok(product) = Contraction::of(second) else { return Ok(None) };
        let Some(last) = maker(second, product.operands[0]) else { return Ok(None) };
        let quotient = Quotient::of(last);
        let exp = match &quotient {
            Some(q) => maker(last, last.operand(q.dividend)),
            None => Some(last),
        };
        match exp.and_then(|exp| exponential(exp).map(|places| (exp, places))) {
            Some((exp, places)) => Self::around(second, product, quotient, exp, places).map(Some),
            None => Ok(None),
        }
    }

    fn around(
        second: Op,
        product: Contraction,
        quotient: Option<Quotient>,
        exp: Op,
        (of_score, of_maximum): (usize, usize),
    ) -> Found<AttentionChain> {
        let element = product.views[2].element.to_string();
        // Backwards: the exponentials, the maximum, the scores, the first product.
        let roles = Roles::of_operand(exp, of_score).ok_or("the scores are no rows of keys")?;
        if Roles::of_output(exp) != Some(roles.clone()) || !roles.has_one_a_row(exp, of_maximum) {
            return Err("the exponentials are not those of a row less its maximum");
        }
        let maximum = reduction(exp, exp.operand(of_maximum), &["arith.maximumf", "arith.maxnumf"])?;
        let scored = maker(exp, exp.operand(of_score)).ok_or("the scores are not made as a whole")?;
        if maker(maximum.op, maximum.op.operand(0)) != Some(scored) {
            return Err("the maximum is another array's");
        }
        let (first, scores) = match Contraction::of(scored) {
            Ok(_) => (scored, None),
            Err(_) => Scores::of(scored).map(|(first, scores)| (first, Some(scores)))?,
        };
        let (products, depth) = Stage::products(first)?;
        let first_fill = zero_fill(first, first.operand(2)).ok_or("the first product adds to what is there")?;
        let second_fill = zero_fill(second, product.operands[2]).ok_or("the second product adds to what is there")?;
        let (mut context, width) = Stage::context(second, product)?;
        let mut ops = vec![first_fill, first, maximum.fill, maximum.op, exp, second_fill, second];
        ops.extend(scores.as_ref().map(|s| s.stage.op));
        let mut end = None;
        let quotient = match quotient {
            Some(quotient) => {
                let roles = quotient.roles()?;
                if Roles::of_output(quotient.op) != Some(roles) {
                    return Err("the exponentials are not divided where they are");
                }
                quotient
            }
            None => {
                let (stage, quotient) = Stage::end(second, context.operands.pop())?;
                end = Some(stage);
                quotient
            }
        };
        let sum = reduction(quotient.op, quotient.op.operand(quotient.divisor), &["arith.addf"])?;
        if maker(sum.op, sum.op.operand(0)) != Some(exp) {
            return Err("the sum is another array's");
        }
        ops.extend([quotient.op, sum.fill, sum.op]);
        if let Some(place) = quotient.without_keys {
            let all = all_masked(quotient.op, quotient.op.operand(place))?;
            if maker(all.op, all.op.operand(0)) != Some(scored) {
                return Err("the rows without keys are another array's");
            }
            ops.extend([all.fill, all.op]);
        }
        let empty_is_zero = quotient.without_keys.is_some();
        let order = second.block().map(|b| b.ops()).unwrap_or_default();
        ops.sort_by_key(|op| order.iter().position(|o| o == op));
        let chain = AttentionChain { element, products, depth, scores, context, width, end, empty_is_zero, ops };
        chain.has_one_type()?;
        chain.has_matrices()?;
        chain.is_closed(&order)?;
        Ok(chain)
    }

    /// The stage that stores the result, which is the last of its operands.
    pub fn last_stage(&self) -> &Stage {
        self.end.as_ref().unwrap_or(&self.context)
    }

    fn stages(&self) -> impl Iterator<Item = &Stage> {
        [&self.products, &self.context].into_iter().chain(self.scores.as_ref().map(|s| &s.stage)).chain(&self.end)
    }

    /// Where the result goes.
    pub fn out(&self) -> &Operand {
        let operands = &self.last_stage().operands;
        &operands[operands.len() - 1]
    }

    fn has_one_type(&self) -> Found<()> {
        let same = |v: Value| v.ty().element().is_some_and(|e| e.is(&self.element));
        let products = self.products.operands.iter().chain(&self.context.operands).map(|o| o.buffer);
        let logical = |v: &Value| v.ty().element().is_some_and(|e| e.is("i1"));
        let between = self.ops.iter().flat_map(|op| outputs(*op)).filter(|v| !(self.empty_is_zero && logical(v)));
        if !["f32", "f64"].contains(&self.element.as_str()) || !products.chain(between).all(same) {
            return Err("not all is f32, or all f64");
        }
        let spaces = |s: &Stage| s.operands.iter().any(|o| o.buffer.ty().memref().is_none_or(|m| m.space.is_some()));
        if self.stages().any(spaces) {
            return Err("an operand lies in another memory space");
        }
        Ok(())
    }

    /// Whether CBLAS can be told of queries, keys and values as matrices.
    fn has_matrices(&self) -> Found<()> {
        let (p, c) = (&self.products, &self.context);
        let matrices = [
            (&p.operands[0], p, p.roles.row, self.depth),
            (&p.operands[1], p, p.roles.column, self.depth),
            (&c.operands[0], c, c.roles.column, self.width),
        ];
        for (operand, stage, x, y) in matrices {
            let strides = operand.buffer.ty().memref().map(|m| m.strides).unwrap_or_default();
            let stride = |dim: usize| operand.axes.iter().position(|a| *a == Some(dim)).and_then(|axis| strides[axis]);
            let (leading, row) = if stride(y) == Some(1) { (x, y) } else { (y, x) };
            if stride(row) != Some(1) {
                return Err("queries, keys or values have no neighbouring elements");
            }
            if stride(leading).zip(stage.sizes[row]).is_some_and(|(leading, row)| leading < row) {
                return Err("rows of queries, keys or values overlap");
            }
        }
        Ok(())
    }

    /// Whether nothing else sees the arrays between, and nothing on the way changes what is read later than before.
    fn is_closed(&self, order: &[Op]) -> Found<()> {
        let out = self.out().buffer;
        let place = |op: Op| order.iter().position(|o| *o == op).unwrap_or(0);
        let last = self.ops.last().map_or(0, |op| place(*op));
        let others = |since: Op| order[place(since)..last].iter().filter(|o| !self.ops.contains(o));
        for stage in self.stages() {
            for operand in stage.operands.iter().filter(|o| o.buffer != out) {
                if others(stage.op).any(|o| writes(*o, operand.buffer)) {
                    return Err("an operand changes on the way");
                }
                if may_alias(operand.buffer, out) {
                    return Err("the result may lie where an operand does");
                }
            }
        }
        if others(self.ops[0]).any(|o| touches(*o, out)) {
            return Err("the result's memory is used on the way");
        }
        let mut between: Vec<Value> = self.ops.iter().flat_map(|op| outputs(*op)).map(source).collect();
        between.retain(|b| *b != source(out));
        let unseen = |buffer: &Value| self.hides(*buffer, order, last);
        if between.iter().all(unseen) { Ok(()) } else { Err("an array between is used elsewhere") }
    }

    /// Whether a buffer is memory of the same block that nothing reads what the chain leaves in.
    fn hides(&self, buffer: Value, order: &[Op], last: usize) -> bool {
        let Some(alloc) = buffer.def().filter(|d| d.is("memref.alloc") && order.contains(d)) else { return false };
        // What uses it, by the operation of this block around the use.
        let mut users = vec![];
        let mut left = vec![buffer];
        while let Some(value) = left.pop() {
            for (mut user, _) in value.uses() {
                if user.results().len() == 1 && source(user.result(0)) == buffer {
                    left.push(user.result(0));
                    continue;
                }
                while user.block() != alloc.block() {
                    let Some(parent) = user.parent() else { return false };
                    user = parent;
                }
                users.push(user);
            }
        }
        let first = order.iter().position(|o| *o == self.ops[0]).unwrap_or(0);
        let used = |op: &Op| users.contains(op) && !op.is("memref.dealloc");
        let next = order[last + 1..].iter().find(|op| used(op));
        let overwritten = next.is_none_or(|op| op.is("linalg.fill") && is_whole(op.operand(1)));
        overwritten && order[first..=last].iter().all(|op| !used(op) || self.ops.contains(op))
    }

    /// Removes what was replaced, and the buffers in between.
    pub fn erase(self) {
        let out = source(self.out().buffer);
        let mut buffers: Vec<Value> = vec![];
        for buffer in self.ops.iter().flat_map(|op| outputs(*op)).map(source) {
            if buffer != out && !buffers.contains(&buffer) {
                buffers.push(buffer);
            }
        }
        self.ops.iter().for_each(|op| op.erase());
        for buffer in buffers {
            erase_unread(buffer);
        }
    }
}

impl Stage {
    /// The first product, with queries and keys as its operands, and the dimension that it sums over.
    fn products(op: Op) -> Found<(Stage, usize)> {
        let c = Contraction::of(op).map_err(|_| "the first product is none")?;
        let roles = Roles::of_operand(op, 2).ok_or("the first product makes no rows of keys")?;
        let has = |i: usize, dim: usize| c.axis(i, dim).is_some();
        let along = |q: usize, k: usize| {
            has(q, roles.row) && !has(k, roles.row) && has(k, roles.column) && !has(q, roles.column)
        };
        let (q, k) = if along(0, 1) { (0, 1) } else { (1, 0) };
        let summed = proper(&c, c.dims([0, 1], 2));
        let ([depth], true, Body::MultiplyAdd) = (&summed[..], along(q, k), c.body) else {
            return Err("the first product is not that of queries and keys");
        };
        Ok((Stage { op, roles, operands: [q, k].map(|i| operand(&c, i)).to_vec(), sizes: c.sizes.clone() }, *depth))
    }

    /// The second product, with values and result as its operands, and the dimension of their elements.
    fn context(op: Op, c: Contraction) -> Found<(Stage, usize)> {
        let roles = Roles::of_operand(op, 0).ok_or("the second product reads no rows of keys")?;
        let has = |i: usize, dim: usize| c.axis(i, dim).is_some();
        let width = proper(&c, c.dims([1, 2], 0));
        let fits = has(2, roles.row) && !has(1, roles.row) && has(1, roles.column) && !has(2, roles.column);
        let ([width], true, Body::MultiplyAdd) = (&width[..], fits && roles.batch.iter().all(|d| has(2, *d)), c.body)
        else {
            return Err("the second product is not that of weights and values");
        };
        Ok((Stage { op, roles, operands: [1, 2].map(|i| operand(&c, i)).to_vec(), sizes: c.sizes.clone() }, *width))
    }

    /// The quotient after the second product, whose result was `product`, with its result as its operand.
    fn end(second: Op, product: Option<Operand>) -> Found<(Stage, Quotient)> {
        let buffer = source(product.ok_or("internal error: a product without a result")?.buffer);
        let reader = std::iter::successors(second.next(), |op| op.next()).find(|op| touches(*op, buffer));
        let quotient = reader.and_then(Quotient::of).ok_or("the second product is not divided by the sum")?;
        let (op, roles) = (quotient.op, quotient.roles()?);
        if maker(op, op.operand(quotient.dividend)) != Some(second) {
            return Err("the second product is not divided as a whole");
        }
        let out = op.operands().len() - 1;
        let result = extra(op, out).ok_or("the quotient is stored by more than a choice of dimensions")?;
        Ok((Stage { op, roles, sizes: loop_sizes(op), operands: vec![result] }, quotient))
    }
}

impl Scores {
    /// An elementwise operation on products, whose body is plain arithmetic and indices, with the product.
    fn of(op: Op) -> Found<(Op, Scores)> {
        let roles =
            Roles::of_output(op).filter(|_| is_elementwise(op)).ok_or("the scores are not made element by element")?;
        let body = op.blocks(0)[0];
        let (arguments, inside) = (body.arguments(), body.ops());
        let known =
            |v: &Value| arguments.contains(v) || v.def().is_some_and(|d| d.is("arith.constant") || inside.contains(&d));
        let plain = |op: &Op| {
            let name = op.name();
            let arithmetic = name.starts_with("arith.") || name.starts_with("math.");
            (arithmetic || name == "linalg.index" || name == "linalg.yield") && op.operands().iter().all(known)
        };
        if !inside.iter().all(plain) {
            return Err("the scores are more than arithmetic");
        }
        let (mut first, mut places, mut operands) = (None, vec![], vec![]);
        for (i, argument) in arguments.iter().enumerate().filter(|(_, a)| !a.uses().is_empty()) {
            let product = maker(op, op.operand(i)).filter(|w| Contraction::of(*w).is_ok());
            match product.filter(|_| first.is_none() && Roles::of_operand(op, i).as_ref() == Some(&roles)) {
                Some(product) => first = Some((product, *argument)),
                None => {
                    places.push(i);
                    operands.push(extra(op, i).ok_or("the scores read by more than a choice of dimensions")?);
                }
            }
        }
        let (first, product) = first.ok_or("the scores are made of no product")?;
        Ok((first, Scores { stage: Stage { op, roles, sizes: loop_sizes(op), operands }, product, places }))
    }

    /// The condition on which a score is minus infinity whatever the product is, and whether that is where it holds (else where
    /// it does not).
    pub fn masked(&self) -> Option<(Value, bool)> {
        let last = self.stage.op.blocks(0)[0].terminator().operands().first()?.def()?;
        let select = match last.is("arith.addf") {
            // A mask that is added.
            true => {
                last.operands().into_iter().find_map(|v| v.def().filter(|d| d.is("arith.select") && !self.depends(v)))
            }
            false => Some(last).filter(|d| d.is("arith.select")),
        }?;
        let low = |i: usize| is_lowest(&constant(select.operand(i)));
        let condition = select.operand(0);
        (!self.depends(condition) && (low(1) != low(2))).then(|| (condition, low(1)))
    }

    /// Whether a value of the body depends on the product.
    fn depends(&self, value: Value) -> bool {
        value == self.product || value.def().is_some_and(|d| d.operands().into_iter().any(|v| self.depends(v)))
    }
}

/// Operand `i` of an operation whose axes run along loop dimensions or not at all.
fn extra(op: Op, i: usize) -> Option<Operand> {
    let map = op.linalg_maps()[i];
    op.operand(i).ty().memref()?;
    let axes = map.dims().into_iter().zip(map.constants());
    let axes =
        axes.map(|(dim, constant)| (dim.is_some() || constant == Some(0)).then_some(dim)).collect::<Option<_>>()?;
    Some(Operand { buffer: op.operand(i), axes })
}

fn operand(c: &Contraction, i: usize) -> Operand {
    Operand { buffer: c.operands[i], axes: c.views[i].dims.iter().map(|d| Some(*d)).collect() }
}

/// Those of a contraction's dimensions that are not of size 1.
fn proper(c: &Contraction, dims: Vec<usize>) -> Vec<usize> {
    dims.into_iter().filter(|d| c.sizes[*d] != Some(1)).collect()
}
