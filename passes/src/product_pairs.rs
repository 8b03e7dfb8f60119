//! Two products of one row as one kernel: what an elementwise operation makes of the first is the row of the second, and nothing
//! else reads it, such as the two layers of a perceptron.
//!
//! A block of `templates/matmul_pair.mlir` makes some elements of the row between and adds what they contribute to the result by
//! atomic operations, so that sums are added up in an order that differs from run to run: `reductions=atomic` asks for it. The
//! result is a buffer of its own, zeroed before (`zeroed.rs`): the row that a norm before the first product reads is often what is added to the
//! result, and is read by every block. The operation after the second product must do nothing but add to its sum; the first block does.

use crate::{
    contraction::Contraction,
    device::source,
    epilogue::Epilogue,
    host::{Operand, Text},
    ir::{Op, PassCx, PassResult, Value},
    kernels::{Instance, Kernels, set_whole_body},
    matrices::Matrices,
    memory::{between, erase_unread, only_used_by, users, writes},
    narrow,
    pair_blocks::Blocks,
    products::{self, Work},
    prologue::{self, Prologue},
    row_text,
    row_tile::bytes,
    schedule::PAIR,
    zeroed::{Zeroed, can_be_added_to},
};

/// The product of one row of f32 by a matrix of which 16 bytes can be read at once, and the matrix's element type: with the fill before
/// it, and the operation after it where a template takes it.
fn one_row(op: Op, contraction: &Contraction) -> Option<(Work, String)> {
    let Matrices { size, a, b, c, element, b_element, .. } = Matrices::of_widened(op, contraction).ok()??;
    let [batch, m, n, k] = size;
    let (fill, epilogue) = products::neighbours(op, &c, [&a, &b], size);
    let epilogue = epilogue.filter(Epilogue::is_f32);
    let target = epilogue.as_ref().map_or_else(|| products::whole(&c, size), |e| e.target.clone());
    let pieces = 16 / bytes(&b_element);
    let fits = (batch, m) == (1, 1)
        && element == "f32"
        && PAIR.elements.contains(&b_element.as_str())
        && n % pieces == 0
        && b.reads_groups([1, k, n], pieces)
        && fill.is_some();
    fits.then_some((Work { op, size, a, b, target, fill, epilogue, splits: 1, tail: None }, b_element))
}

/// A pair.
pub struct Pair {
    first: Work,
    pub second: Work,
    prologue: Option<Prologue>,
    element: String,
    blocks: Blocks,
}

impl Pair {
    /// The pair that starts with a product; `None` where there is none or no kernel takes it.
    pub fn of(op: Op, contraction: &Contraction, chip: u32) -> Option<Pair> {
        let (first, element) = one_row(op, contraction)?;
        let row = source(first.target.buffer);
        let second = users(row)
            .into_iter()
            .find(|u| u.is_linalg() && *u != op && Contraction::of(*u).is_ok() && source(u.operand(0)) == row)?;
        let (second, second_element) = one_row(second, &Contraction::of(second).ok()?)?;
        let [_, _, units, depth] = first.size;
        let [_, _, columns, second_depth] = second.size;
        let chained = element == second_element
            && units == second_depth
            && (first.target.group.0, first.target.inner) == (1, (units, 1))
            && second.a.strides[2] == 1
            && second.a.offset == first.target.offset
            && source(second.a.buffer) == row
            && chip >= PAIR.chip;
        let members: Vec<Op> = [&first, &second]
            .into_iter()
            .flat_map(|w| [Some(w.op), w.fill, w.epilogue.as_ref().map(|e| e.op)])
            .flatten()
            .collect();
        if !chained || !only_used_by(first.target.buffer, &members) {
            return None;
        }
        // All is computed where the second product is: until then nothing writes what the first one reads.
        let way: Vec<Op> = between(first.at(), second.at())?.into_iter().filter(|o| !members.contains(o)).collect();
        let extras = first.extras().chain(second.extras()).map(|e| e.buffer);
        let others: Vec<Value> = [first.b.buffer, second.b.buffer].into_iter().chain(extras).collect();
        let prologue = prologue::find(op, &first.a, (1, depth), second.at(), &[second.target.buffer], &others);
        let a = prologue.is_none().then_some(first.a.buffer);
        let reads: Vec<Value> = [first.b.buffer].into_iter().chain(first.extras().map(|e| e.buffer)).chain(a).collect();
        let mut inputs = vec![second.b.buffer];
        inputs.extend(second.extras().map(|e| e.buffer));
        inputs.extend(&reads);
        let kept =
            way.iter().all(|o| reads.iter().all(|v| !writes(*o, *v))) && can_be_added_to(&second, &members, &inputs);
        let blocks = Blocks::of(bytes(&element), [depth, units, columns], chip).filter(|_| kept)?;
        Some(Pair { first, second, prologue, element, blocks })
    }

    /// Replaces both products, and what joins them, by the call.
    pub fn emit(self, cx: &PassCx, module: Op, kernels: &mut Kernels, zeroed: &mut Zeroed) -> PassResult {
        let op = self.first.op;
        let narrow_name = if self.element == "f32" { String::new() } else { format!("_{}", self.element) };
        let before = if self.prologue.is_some() { "_prologue" } else { "" };
        let name = format!("{}{narrow_name}{before}", PAIR.name);
        self.tell(cx, &name);
        let Pair { first, second, prologue, element, blocks } = self;
        let text_of = |p: &Prologue| {
            row_text::prologue(module.ctx(), &p.group, (blocks.threads(), blocks.threads()), 0, p.stores)
        };
        let made = cx.check(op, prologue.as_ref().map(text_of).transpose())?;
        let buffers = made.iter().flat_map(|m| m.buffers.clone()).collect::<Vec<_>>();
        let added: Vec<String> = (0..buffers.len()).map(|i| format!("%o{i}")).collect();
        let list =
            |part: &dyn Fn(usize) -> String| (0..buffers.len()).map(|i| format!(", {}", part(i))).collect::<String>();

        // The strides of both matrices are part of the kernel.
        let matrix =
            |stride: &str, space: &str| format!("memref<?x?x{element}, strided<[{stride}, 1], offset: ?>{space}>");
        let global = ", #gpu.address_space<global>";
        let [b_step, d_step] = [&first, &second].map(|w| w.b.strides[1].to_string());
        let row = "memref<?xf32, strided<[1], offset: ?>>";
        let extra = "memref<?xf32, strided<[?], offset: ?>>";
        let a_row = if first.a.strides[2] == 1 { row } else { extra };
        let mut parameters = blocks.parameters(&element, first.size, second.size[2]);
        parameters.extend([
            ("!a_view", a_row.to_string()),
            ("!b_view", matrix(&b_step, "")),
            ("!d_view", matrix(&d_step, "")),
            ("!b_global", matrix(&b_step, global)),
            ("!d_global", matrix(&d_step, global)),
            ("+operands", list(&|i| format!("%o{i} : {}", buffers[i].ty()))),
            ("+names", list(&|i| format!("%o{i}"))),
            ("+types", list(&|i| buffers[i].ty().to_string())),
        ]);
        if let Some(made) = &made {
            let depth = first.size[3];
            parameters.extend([
                ("#staged", "true".to_string()),
                ("#stage_depth", format!("{depth} : index")),
                ("!stage", format!("memref<1x{depth}xf32, #gpu.address_space<workgroup>>")),
                ("+functions", made.functions.clone()),
                ("+prologue", made.body.clone()),
            ]);
        }
        let parameters: Vec<_> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let instance = Instance { template: &PAIR.template, parameters: &parameters, launcher: "matmul", name: &name };
        let symbol = kernels.place(cx, op, module, instance, |kernels| {
            narrow::set_widen_of(kernels, &element, 16 / bytes(&element))?;
            if let Some(prologue) = &prologue {
                row_text::set_operations(kernels, &prologue.group)?;
            }
            for (work, function) in [(&first, "between"), (&second, "epilogue")] {
                if let Some(e) = &work.epilogue {
                    let inputs: Vec<_> = [e.sum].into_iter().chain(e.extras.iter().map(|(_, v)| *v)).collect();
                    set_whole_body(kernels, function, e.op.blocks(0)[0], &inputs)?;
                }
            }
            Ok(())
        })?;

        let [_, _, units, depth] = first.size;
        let columns = second.size[2];
        let mut text = Text::default();
        let mut inputs: Vec<(String, Value)> = vec![];
        let (mut arguments, mut types) = (vec![], vec![]);
        // A row of the prologue is what that reads.
        let read = prologue.as_ref().and_then(|p| p.group.reads().next());
        let a = read.map_or_else(|| first.a.clone(), |buffer| Operand { buffer, ..first.a.clone() });
        let target = Operand { buffer: second.target.buffer, offset: second.target.offset, strides: [0, 0, 1] };
        let mut operand = |name: &str, operand: &Operand, strides: &[i64], sizes: &[i64], ty: &str| {
            let base = text.operand(name, operand);
            let view = format!("{name}_view");
            let any = if sizes.len() == 2 { matrix("?", "") } else { extra.to_string() };
            text.view(&view, &base, strides, sizes, &any);
            if any != ty {
                text.line(&format!("%{view}_fixed = memref.cast %{view} : {any} to {ty}"));
            }
            arguments.push(if any == ty { format!("%{view}") } else { format!("%{view}_fixed") });
            types.push(ty.to_string());
            inputs.push((name.to_string(), operand.buffer));
        };
        operand("a", &a, &[a.strides[2]], &[depth], a_row);
        operand("b", &first.b, &first.b.strides[1..], &[depth, units], &matrix(&b_step, ""));
        operand("d", &second.b, &second.b.strides[1..], &[units, columns], &matrix(&d_step, ""));
        operand("c", &target, &[1], &[columns], row);
        for (work, names, size) in [(&first, ["bx", "by", "bz"], units), (&second, ["x", "y", "z"], columns)] {
            let [x, y] = work.two_extras();
            for (name, other) in names.into_iter().zip([x, y, work.third_extra()]) {
                // For what is not there something that stays: the first product's row may be the prologue's own.
                let other = if work.extras().any(|e| e.buffer == other.buffer) { other } else { target.clone() };
                operand(name, &other, &[other.strides[2]], &[size], extra);
            }
        }
        let stored = made.as_ref().and_then(|m| m.written).map(|place| arguments.len() + place);
        let writes: Vec<usize> = [3].into_iter().chain(stored).collect();
        arguments.extend(added.iter().cloned());
        types.extend(buffers.iter().map(|b| b.ty().to_string()));
        inputs.extend(added.iter().map(|name| name[1..].to_string()).zip(buffers));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        text.call_writing(&symbol, &arguments, &types, &writes);

        let at = second.at();
        let all = [first.fill, first.epilogue.as_ref().map(|e| e.op), second.fill, Some(second.op)];
        at.stand_for(all.into_iter().flatten().chain([op]));
        let inputs: Vec<(&str, Value)> = inputs.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        cx.check(op, at.build_before(&inputs, &text.declarations, &text.body).map(|_| ()))?;
        cx.check(op, zeroed.add(source(second.target.buffer)))?;
        let row = source(first.target.buffer);
        cx.count("substituted");
        cx.count("substituted");
        cx.count("pairs");
        let erases_row = first.epilogue.is_some() && source(op.operand(2)) == row;
        second.erase(cx);
        first.erase(cx);
        if !erases_row {
            erase_unread(row);
        }
        if let Some(prologue) = prologue {
            prologue.erase_unread();
            cx.count("prologues");
        }
        Ok(())
    }

    /// The remark.
    fn tell(&self, cx: &PassCx, name: &str) {
        let [_, _, units, depth] = self.first.size;
        let size = format!("1x{depth}x{units}x{}", self.second.size[2]);
        let tile = format!("{} of {units} elements between", self.blocks.units);
        let message = format!(
            "becomes {} ({}) with the product behind it: {size}, {tile} a block, sums by atomic additions",
            PAIR.name, PAIR.template.file
        );
        let why = format!("one row, reductions may be atomic, sm_{} or newer", PAIR.chip);
        let facts =
            [("kernel", name), ("template", PAIR.template.file), ("size", &size), ("tile", &tile), ("why", &why)];
        cx.passed_with(self.first.op, &message, &facts);
    }
}
