//! Loops that copy a product's row elsewhere, such as keys and values to their place in a cache: `scf.forall` loops behind
//! a product, each of whose iterations copies one element of the result. The kernel that makes the element writes it there.

use crate::{
    device::{following, source},
    epilogue::Target,
    ir::{Block, Op, Value},
    kernels::set_body,
    memory::may_alias,
};

/// A loop that copies neighbouring columns of a product of one row.
pub struct Scatter {
    /// The loop: it goes.
    pub op: Op,
    /// The first of the columns.
    first: i64,
    /// The sizes of the loop.
    sizes: Vec<i64>,
    /// What its body reads and writes beside the product's result: operands of the kernel.
    pub buffers: Vec<Value>,
    /// What it writes, one of them.
    to: Value,
    body: Block,
    slice: Op,
}

/// The loops behind `at` that copy what it leaves in `target`, as far as nothing stands between that touches memory. They must
/// not write what the product reads, nor what another of them reads or writes.
pub fn find(at: Op, target: &Target, inputs: &[Value]) -> Vec<Scatter> {
    if target.batch.0 != 1 || target.row.0 != 1 || target.group.0 != 1 || target.inner.1 != 1 {
        return vec![];
    }
    following(at, |op, found: &[Scatter]| {
        let scatter = Scatter::of(op, at, target, inputs)?;
        found.iter().all(|other| scatter.is_apart(other)).then_some(scatter)
    })
}

impl Scatter {
    fn of(op: Op, at: Op, target: &Target, inputs: &[Value]) -> Option<Scatter> {
        if !op.is("scf.forall") || !op.operands().is_empty() || !op.results().is_empty() {
            return None;
        }
        let bounds = |name: &str| op.attr(name)?.as_static_sizes()?.into_iter().collect::<Option<Vec<i64>>>();
        let (lower, step, sizes) = (bounds("staticLowerBound")?, bounds("staticStep")?, bounds("staticUpperBound")?);
        if lower.iter().any(|v| *v != 0) || step.iter().any(|v| *v != 1) || sizes.iter().any(|v| *v < 1) {
            return None;
        }
        let body = *op.blocks(0).first()?;
        let (mut ops, counters) = (body.ops(), body.arguments());
        ops.pop();
        let mut copies = ops.iter().filter(|o| o.is("memref.copy"));
        let (copy, None) = (*copies.next()?, copies.next()) else { return None };
        let slice = copy.operand(0).def().filter(|d| d.is("memref.subview") && ops.contains(d))?;
        let place = copy.operand(1).def().filter(|d| d.is("memref.subview") && ops.contains(d))?;
        let result = slice.operand(0);
        let one = |v: Value| v.ty().shape().is_some_and(|s| s.iter().all(|n| *n == Some(1)));
        if source(result) != source(target.buffer) || !one(copy.operand(0)) || slice.result(0).uses().len() != 1 {
            return None;
        }
        // Element (i, j, ...) of the loop is column first + (i * sizes[1] + j) * ... of the product.
        let memref = result.ty().memref()?;
        let offsets = slice.attr("static_offsets")?.as_static_sizes()?;
        let mut dynamic = slice.operands().into_iter().skip(1);
        let mut steps = vec![0; counters.len()];
        for (offset, stride) in offsets.into_iter().zip(&memref.strides) {
            match offset {
                Some(0) => {}
                Some(_) => return None,
                None => {
                    let counter = dynamic.next()?;
                    steps[counters.iter().position(|c| *c == counter)?] += (*stride)?;
                }
            }
        }
        let dense = (0..sizes.len()).all(|i| sizes[i] == 1 || steps[i] == sizes[i + 1..].iter().product::<i64>());
        let first = memref.offset? - target.offset;
        let count: i64 = sizes.iter().product();
        if !dense || first < 0 || first + count > target.inner.0 || !memref.element.is("f32") {
            return None;
        }
        // The rest is arithmetic and checks on what is there before the product.
        let plain = |o: &Op| {
            [copy, slice, place].contains(o)
                || o.is("memref.load")
                || o.is("cf.assert")
                || o.name().starts_with("arith.")
        };
        let inside = |v: &Value| counters.contains(v) || v.def().is_some_and(|d| ops.contains(&d));
        let mut buffers: Vec<Value> = vec![];
        for value in ops.iter().filter(|o| **o != slice).flat_map(|o| o.operands()).filter(|v| !inside(v)) {
            let constant = value.def().is_some_and(|d| d.is("arith.constant"));
            if constant {
                continue;
            }
            if !value.ty().is_memref() || !stands_before(value, at) {
                return None;
            }
            if !buffers.contains(&value) {
                buffers.push(value);
            }
        }
        let to = place.operand(0);
        let others = buffers.iter().filter(|b| **b != to).chain(inputs);
        let apart =
            others.into_iter().all(|b| !may_alias(*b, to)) && buffers.iter().all(|b| !may_alias(*b, target.buffer));
        (ops.iter().all(plain) && apart && !inside(&to)).then_some(Scatter {
            op,
            first,
            sizes,
            buffers,
            to,
            body,
            slice,
        })
    }

    /// Whether neither writes what the other reads or writes: the kernel's threads would do so in any order.
    fn is_apart(&self, other: &Scatter) -> bool {
        self.buffers.iter().all(|b| !may_alias(*b, other.to)) && other.buffers.iter().all(|b| !may_alias(*b, self.to))
    }

    /// The template's functions for it: `@scatterN(value, column, operands)` writes what is in the loop's part of the row,
    /// by `@writeN`, whose body [`Scatter::set`] sets. `operands` is the text of the parameters, with names and types.
    pub fn functions(&self, number: usize, (operands, names, types): (&str, &str, &str)) -> String {
        let count: i64 = self.sizes.iter().product();
        let rank = self.sizes.len();
        let parameters: Vec<String> = (0..rank).map(|i| format!(", %i{i}: index")).collect();
        let places: Vec<String> = (0..rank).map(|i| format!(", %i{i}")).collect();
        let mut text = format!(
            "func.func private @write{number}(%value: f32{}{operands}) {{\nreturn\n}}\n\
             func.func private @scatter{number}(%value: f32, %column: index{operands}) {{\n\
             %first = arith.constant {} : index\n%count = arith.constant {count} : index\n\
             %place = arith.subi %column, %first : index\n%in = arith.cmpi ult, %place, %count : index\nscf.if %in {{\n",
            parameters.concat(),
            self.first
        );
        for (i, size) in self.sizes.iter().enumerate() {
            let step: i64 = self.sizes[i + 1..].iter().product();
            text += &format!(
                "%step{i} = arith.constant {step} : index\n%size{i} = arith.constant {size} : index\n\
                 %part{i} = arith.divui %place, %step{i} : index\n%i{i} = arith.remui %part{i}, %size{i} : index\n"
            );
        }
        text += &format!(
            "func.call @write{number}(%value{}{names}) : (f32{}{types}) -> ()\n}}\nreturn\n}}\n",
            places.concat(),
            ", index".repeat(rank)
        );
        text
    }

    /// Gives `@writeN` of the kernels the loop's body, with the product's element in the place of what it copies. `known` are
    /// the buffers that are operands, in their order.
    pub fn set(&self, kernels: Op, number: usize, known: &[Value]) -> Result<(), String> {
        let name = format!("write{number}");
        set_body(kernels, &name, self.body, &[], |arguments, _| {
            let counters = self.body.arguments();
            let mut bound = vec![(self.slice.result(0), arguments[0])];
            bound.extend(counters.iter().copied().zip(arguments[1..].iter().copied()));
            bound.extend(known.iter().copied().zip(arguments[1 + counters.len()..].iter().copied()));
            Ok(bound)
        })?;
        let function = kernels.lookup(&name).ok_or("internal error: no function to write by")?;
        for copy in function.find(&["memref.copy"]) {
            let to = copy.operand(1);
            let rank = to.ty().shape().map_or(0, |s| s.len());
            let at = vec!["%c0"; rank].join(", ");
            let text = format!("%c0 = arith.constant 0 : index\nmemref.store %v, %to[{at}] : {}", to.ty());
            copy.build_before(&[("v", copy.operand(0)), ("to", to)], "", &text)?;
            copy.erase();
        }
        Ok(())
    }

    /// Erases the loop.
    pub fn erase(self) {
        self.op.erase();
    }
}

/// Whether a value is an argument or made before `at` in its block.
pub fn stands_before(value: Value, at: Op) -> bool {
    let Some(def) = value.def() else { return true };
    let Some(block) = at.block() else { return false };
    let ops = block.ops();
    let place = |op: Op| ops.iter().position(|o| *o == op);
    def.block() == at.block() && place(def) < place(at)
}
