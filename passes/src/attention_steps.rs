//! The operations between the products of an attention: scores, their maximum, exponentials and sum, found backwards from one
//! another.

use crate::{
    contraction::Contraction,
    device::source,
    epilogue::fill_before,
    ir::{Op, Value},
    kernels::set_body,
    key_rows::is_lowest,
    memory::{between, outputs, users, writes},
};

/// An elementwise operation that makes scores: the argument of its body that is the product, and the operand beside it.
#[derive(Clone)]
pub struct Score {
    pub op: Op,
    pub product: Value,
    pub extra: Option<usize>,
    /// What its loops run along.
    pub loops: Vec<Along>,
}

/// What a loop over scores runs along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Along {
    /// Batches, or where several loops do, the batch's number divided by `inner`, modulo `size` where given.
    Batch {
        inner: i64,
        size: Option<i64>,
    },
    Row,
    Key,
    /// One element.
    One,
}

impl Along {
    /// The place that a loop is at in the batch, row and key given, as operations before `end`.
    fn place(self, [batch, row, key]: [Value; 3], end: Op) -> Result<Value, String> {
        let (inner, size) = match self {
            Along::Row => return Ok(row),
            Along::Key => return Ok(key),
            Along::Batch { inner: 1, size: None } => return Ok(batch),
            Along::One => {
                let made = end.build_before(&[], "", "%zero = arith.constant 0 : index\nreturn %zero : index")?;
                return Ok(made[0]);
            }
            Along::Batch { inner, size } => (inner, size),
        };
        let mut text = format!("%inner = arith.constant {inner} : index\n%all = arith.divui %batch, %inner : index\n");
        text += &match size {
            Some(size) => format!(
                "%size = arith.constant {size} : index\n%at = arith.remui %all, %size : index\nreturn %at : index"
            ),
            None => "return %all : index".into(),
        };
        Ok(end.build_before(&[("batch", batch)], "", &text)?[0])
    }
}

/// An elementwise operation with its input of the chain, in place or not.
pub struct Step {
    op: Op,
    /// The arguments of its body that stand for the elements of each input buffer, in the order asked for.
    arguments: Vec<Value>,
}

impl Step {
    /// The two input buffers of an elementwise operation whose body is just `name`, rounded or not, of the elements of an array
    /// of the output's shape and of one that has an element a row.
    pub fn of(op: Op, name: &str) -> Option<(Vec<Value>, Step)> {
        Step::elementwise(op)?.rows(made(op)?, name)
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

/// What was rounded or extended to a value.
pub fn wider(value: Value) -> Value {
    let conversion = value.def().filter(|d| d.is("arith.extf") || d.is("arith.truncf"));
    conversion.map_or(value, |d| wider(d.operand(0)))
}

/// What makes the result of an operation's body, before it is rounded where it is.
fn made(op: Op) -> Option<Op> {
    let last = op.blocks(0).first()?.terminator().operands().first()?.def()?;
    if last.is("arith.truncf") { last.operand(0).def() } else { Some(last) }
}

/// The inputs of `exp(x - maximum of the row)`, rounded or not.
pub fn exponential(op: Op) -> Option<(Vec<Value>, Step)> {
    let step = Step::elementwise(op)?;
    let exp = made(op).filter(|d| d.is("math.exp"))?;
    let maps = op.linalg_maps();
    let identity = maps.last()?.is_identity();
    let (inputs, step) = step.rows(exp.operand(0).def()?, "arith.subf")?;
    identity.then_some((inputs, step))
}

impl Score {
    /// An elementwise operation on products, whose body is plain arithmetic and indices, with the product.
    pub fn of(op: Op) -> Option<(Op, Score)> {
        Step::elementwise(op)?;
        let body = *op.blocks(0).first()?;
        let arguments = body.arguments();
        let inside = body.ops();
        let known =
            |v: &Value| arguments.contains(v) || v.def().is_some_and(|d| d.is("arith.constant") || inside.contains(&d));
        let plain = inside.iter().all(|o| {
            let name = o.name();
            let kind = name.starts_with("arith.")
                || name.starts_with("math.")
                || name == "linalg.index"
                || name == "linalg.yield";
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
        let loops = [Along::Batch { inner: 1, size: None }, Along::Row, Along::Key][3 - rank..].to_vec();
        Some((first, Score { op, product, extra, loops }))
    }

    /// The places of its loops in the batch, row and key given, as operations before `end`.
    fn places(&self, arguments: &[Value], end: Op) -> Result<Vec<Value>, String> {
        let at: [Value; 3] = arguments.try_into().map_err(|_| "internal error: no batch, row and key")?;
        self.loops.iter().map(|along| along.place(at, end)).collect()
    }

    /// Gives the template's function `name` this operation's body as far as it makes `results`. Its arguments from `first`
    /// on are batch, row, key and the extra operand; the product, where there is one, comes before. The condition `holds`,
    /// where one is given, is true there. The product and the score are f32, also where the operation's are narrower.
    pub fn set(
        &self,
        kernels: Op,
        name: &str,
        results: &[Value],
        first: usize,
        holds: Option<Value>,
    ) -> Result<(), String> {
        let block = self.op.blocks(0)[0];
        let maps = self.op.linalg_maps();
        set_body(kernels, name, block, results, |arguments, end| {
            let places = self.places(&arguments[first..first + 3], end)?;
            let mut bound = vec![];
            let ty = self.product.ty();
            let product = match first {
                0 => end.build_before(&[], "", &format!("%zero = arith.constant 0.0 : {ty}\nreturn %zero : {ty}"))?[0],
                _ if ty.is("f32") => arguments[0],
                _ => {
                    let line = format!("%p = arith.truncf %x : f32 to {ty}\nreturn %p : {ty}");
                    end.build_before(&[("x", arguments[0])], "", &line)?[0]
                }
            };
            bound.push((self.product, product));
            if let Some(condition) = holds {
                let yes = end.build_before(&[], "", "%true = arith.constant true\nreturn %true : i1")?;
                bound.push((condition, yes[0]));
            }
            for index in block.ops().into_iter().filter(|o| o.is("linalg.index")) {
                let dim = index.attr("dim").and_then(|a| a.as_int()).unwrap_or(0) as usize;
                bound.push((index.result(0), places[dim]));
            }
            if let Some(extra) = self.extra {
                let array = arguments[first + 3];
                let element = self.op.operand(extra).ty().element().ok_or("internal error: no element type")?;
                let names: Vec<String> = (0..places.len()).map(|i| format!("i{i}")).collect();
                // Rows and keys past the last ones read the last element.
                let (mut text, mut list) =
                    ("%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n".to_string(), vec![]);
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
        })?;
        let missing = || format!("internal error: no function @{name}");
        let end = kernels.lookup(name).and_then(|f| f.blocks(0).first().map(|b| b.terminator())).ok_or_else(missing)?;
        let score = end.operand(0);
        if ["f16", "bf16"].iter().any(|half| score.ty().is(half)) {
            let line = format!("%s = arith.extf %x : {} to f32\nreturn %s : f32", score.ty());
            let wide = end.build_before(&[("x", score)], "", &line)?;
            end.set_operands(&wide);
        }
        Ok(())
    }
}

/// What keeps keys, where it is computed of the key's number and one number in memory, such as a position: the operation that makes the mask
/// and that number's buffer.
#[derive(Clone, Copy)]
pub struct KeyMask {
    pub op: Op,
    pub number: Value,
}

impl Score {
    /// The mask outside of which scores are minus infinity, where it is such a one.
    pub fn key_mask(&self) -> Option<KeyMask> {
        let extra = self.extra?;
        let block = *self.op.blocks(0).first()?;
        let maps = self.op.linalg_maps();
        let key = self.loops.iter().position(|along| *along == Along::Key)?;
        let whole = maps[extra].dims() == [Some(key)] && self.kept() == Some(block.arguments()[extra]);
        let mask = self.op.operand(extra);
        // New memory is reached by its uses alone: one makes it, the others read it.
        let array = source(mask).def().filter(|d| d.is("memref.alloc") && whole)?.result(0);
        let others: Vec<Op> = users(array).into_iter().filter(|user| !user.is("memref.dealloc")).collect();
        let is_writer = |user: &&Op| !user.is_linalg() || outputs(**user).iter().any(|out| source(*out) == array);
        let makers: Vec<Op> = others.iter().filter(is_writer).copied().collect();
        let [op] = makers[..] else { return None };
        let body = *op.blocks(0).first().filter(|_| op.is("linalg.generic"))?;
        let [number, out] = op.operands()[..] else { return None };
        let maps = op.linalg_maps();
        let plain = |o: &Op| o.name().starts_with("arith.") || o.is("linalg.index") || o.is("linalg.yield");
        let inside = body.ops();
        let known = |v: &Value| {
            body.arguments()[..1].contains(v) || v.def().is_some_and(|d| d.is("arith.constant") || inside.contains(&d))
        };
        let fits = out == mask
            && between(op, self.op).is_some()
            && maps[0].dims().iter().all(Option::is_none)
            && maps[0].constants().iter().all(|c| *c == Some(0))
            && maps[1].is_identity()
            && maps[1].num_dims() == 1
            && op.linalg_num_parallel() == 1
            && inside.iter().all(plain)
            && inside.iter().flat_map(|o| o.operands()).all(|v| known(&v));
        fits.then_some(KeyMask { op, number })
    }

    /// Gives `@score` the scores of keys that are kept, and `@keep`, which has batch, row and key for arguments before the number's buffer, the
    /// mask's body.
    pub fn set_key_mask(&self, kernels: Op, mask: &KeyMask) -> Result<(), String> {
        let block = self.op.blocks(0)[0];
        let results = block.terminator().operands();
        let kept = self.kept().ok_or("internal error: scores without a mask")?;
        set_body(kernels, "score", block, &results, |arguments, end| {
            let yes = end.build_before(&[], "", "%true = arith.constant true\nreturn %true : i1")?;
            let places = self.places(&arguments[1..4], end)?;
            let mut bound = vec![(self.product, arguments[0]), (kept, yes[0])];
            for index in block.ops().into_iter().filter(|o| o.is("linalg.index")) {
                let dim = index.attr("dim").and_then(|a| a.as_int()).unwrap_or(0) as usize;
                bound.push((index.result(0), places[dim]));
            }
            Ok(bound)
        })?;
        let body = mask.op.blocks(0)[0];
        set_body(kernels, "keep", body, &body.terminator().operands(), |arguments, end| {
            let array = arguments[3];
            let zeros = vec!["%zero"; array.ty().shape().map_or(0, |s| s.len())].join(", ");
            let element = array.ty().element().ok_or("internal error: no element type")?;
            let text = format!(
                "%zero = arith.constant 0 : index\n%v = memref.load %x[{zeros}] : {}\nreturn %v : {element}",
                array.ty()
            );
            let mut bound = vec![(body.arguments()[0], end.build_before(&[("x", array)], "", &text)?[0])];
            let indices = body.ops().into_iter().filter(|o| o.is("linalg.index"));
            bound.extend(indices.map(|o| (o.result(0), arguments[2])));
            Ok(bound)
        })
    }
}

/// A reduction over the columns of an array, with the fill of its output.
pub struct Reduction {
    pub op: Op,
    pub fill: Op,
}

/// The reduction of `input` by one of these operations that made what `user` finds in `output`.
pub fn reduction(user: Op, output: Value, input: Value, names: &[&str]) -> Option<Reduction> {
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
        "arith.maxnumf" => is_lowest(&value) || ["0xFFC00000", "0x7FC00000"].iter().any(|low| value.starts_with(low)),
        _ => is_lowest(&value),
    };
    (fits && neutral).then_some(Reduction { op, fill })
}

/// The operation before `op` in its block that last touched a buffer for writing.
pub fn last_writer(op: Op, buffer: Value) -> Option<Op> {
    let ops = op.block()?.ops();
    let place = ops.iter().position(|o| *o == op)?;
    let writer = ops[..place].iter().rev().find(|o| writes(**o, buffer))?;
    (writer.is_linalg() && outputs(*writer).contains(&buffer)).then_some(*writer)
}
