//! Masks of scores: the condition outside of which they are minus infinity, by selection or by addition, and what they are inside.

use crate::{
    attention_steps::{Along, Score, wider},
    ir::{Op, Value},
    key_rows::{constant, is_lowest},
};

impl Score {
    /// The condition outside of which the score is minus infinity whatever the product is, and the score where it holds.
    fn masked(&self) -> Option<(Value, Value)> {
        let last = self.op.blocks(0).first()?.terminator().operands().first()?.def()?;
        let low = |select: &Op| is_lowest(&constant(select.operand(2))) && !self.depends(select.operand(0));
        if last.is("arith.select") {
            return low(&last).then(|| (last.operand(0), last.operand(1)));
        }
        // A mask that is added: zero inside.
        let zero = |select: &Op| constant(select.operand(1)).starts_with("0.000000e+00 :");
        let [a, b] = last.operands()[..] else { return None };
        let added = |mask: Value, rest: Value| {
            let select = mask.def().filter(|d| d.is("arith.select") && low(d) && zero(d))?;
            Some((select.operand(0), rest))
        };
        if last.is("arith.addf") { added(a, b).or_else(|| added(b, a)) } else { None }
    }

    /// The condition outside of which the score is minus infinity whatever the product is.
    pub fn kept(&self) -> Option<Value> {
        self.masked().map(|(condition, _)| condition)
    }

    /// Turns a selection of minus infinity where a comparison of integers holds around, to one where the opposite does not, so that what
    /// looks for masks finds it.
    pub fn turn_selection(&self) -> Result<(), String> {
        let found = || {
            let last = self.op.blocks(0).first()?.terminator().operands().first()?.def()?;
            // A mask that is added may be selected as well.
            let selects = |v: Value| v.def().filter(|d| d.is("arith.select"));
            let select = if last.is("arith.select") { last } else { last.operands().into_iter().find_map(selects)? };
            let turned = is_lowest(&constant(select.operand(1))) && !is_lowest(&constant(select.operand(2)));
            let compare = select.operand(0).def().filter(|d| turned && d.is("arith.cmpi"))?;
            // eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge.
            let opposite = ["ne", "eq", "sge", "sgt", "sle", "slt", "uge", "ugt", "ule", "ult"];
            Some((select, compare, *opposite.get(compare.attr("predicate")?.as_int()? as usize)?))
        };
        let Some((select, compare, opposite)) = found() else { return Ok(()) };
        let (a, b) = (compare.operand(0), compare.operand(1));
        let text = format!("%c = arith.cmpi {opposite}, %a, %b : {}\nreturn %c : i1", a.ty());
        let kept = select.build_before(&[("a", a), ("b", b)], "", &text)?;
        select.set_operands(&[kept[0], select.operand(2), select.operand(1)]);
        Ok(())
    }

    fn depends(&self, value: Value) -> bool {
        value == self.product || value.def().is_some_and(|d| d.operands().into_iter().any(|v| self.depends(v)))
    }

    /// The positive number that scores are products times, and the condition outside of which they are minus infinity instead
    /// where there is one; nothing where they are made of products in another way.
    pub fn multiple(&self) -> Option<(f64, Option<Value>)> {
        let last = *self.op.blocks(0).first()?.terminator().operands().first()?;
        let (condition, scaled) = self.masked().map_or((None, last), |(condition, inside)| (Some(condition), inside));
        let mut scaled = wider(scaled);
        let mut factor = 1.0;
        if let Some(op) = scaled.def().filter(|d| d.is("arith.mulf") || d.is("arith.divf")) {
            let number = |v: Value| constant(wider(v)).split(' ').next().and_then(|n| n.parse::<f64>().ok());
            let (a, b) = (op.operand(0), op.operand(1));
            (factor, scaled) = match op.is("arith.mulf") {
                true => number(b).map(|n| (n, wider(a))).or_else(|| Some((number(a)?, wider(b))))?,
                false => (1.0 / number(b)?, wider(a)),
            };
        }
        (scaled == self.product && (1e-20..1e20).contains(&factor)).then_some((factor, condition))
    }

    /// Gives the template's function `name` the product where a condition holds, else minus infinity.
    pub fn set_masked(&self, kernels: Op, name: &str, condition: Value) -> Result<(), String> {
        self.set(kernels, name, &[condition], 1, None)?;
        let missing = || format!("internal error: no function @{name}");
        let body = kernels.lookup(name).and_then(|f| f.blocks(0).first().copied()).ok_or_else(missing)?;
        let end = body.terminator();
        let (product, holds) = (*body.arguments().first().ok_or_else(missing)?, end.operand(0));
        let text = "%low = arith.constant 0xFF800000 : f32\n%s = arith.select %holds, %p, %low : f32\nreturn %s : f32";
        let score = end.build_before(&[("p", product), ("holds", holds)], "", text)?;
        end.set_operands(&score);
        Ok(())
    }

    /// The condition, where scores are minus infinity wherever the key's number is greater than the row's, that it is not.
    pub fn causal(&self) -> Option<Value> {
        let kept = self.kept()?;
        let compare = kept.def().filter(|d| d.is("arith.cmpi"))?;
        let (a, b) = (self.linear(compare.operand(0))?, self.linear(compare.operand(1))?);
        let difference = (a.0 - b.0, a.1 - b.1, a.2 - b.2);
        // Numbers of rows and keys are not negative, so that an unsigned comparison of the two is as a signed one.
        let plain = [a, b].iter().all(|side| [(1, 0, 0), (0, 1, 0)].contains(side));
        // arith.cmpi's predicates: 2 slt, 3 sle, 4 sgt, 5 sge, 6 ult, 7 ule, 8 ugt, 9 uge.
        let keeps = match compare.attr("predicate").and_then(|p| p.as_int())? {
            3 => difference == (-1, 1, 0),
            5 => difference == (1, -1, 0),
            2 => difference == (-1, 1, -1),
            4 => difference == (1, -1, 1),
            7 => plain && difference == (-1, 1, 0),
            9 => plain && difference == (1, -1, 0),
            _ => false,
        };
        keeps.then_some(kept)
    }

    /// A value as a multiple of the row's number, one of the key's and a number, all small.
    fn linear(&self, value: Value) -> Option<(i64, i64, i64)> {
        const MOST: i64 = 1 << 20;
        if let Some(number) = value.constant() {
            return (number.abs() < MOST).then_some((0, 0, number));
        }
        let op = value.def()?;
        let combined = |sign: i64| {
            let ((row, key, number), (r, k, n)) = (self.linear(op.operand(0))?, self.linear(op.operand(1))?);
            Some((row + sign * r, key + sign * k, number + sign * n))
        };
        match op.name().as_str() {
            "linalg.index" => match self.loops.get(op.attr("dim")?.as_int()? as usize)? {
                Along::Row => Some((1, 0, 0)),
                Along::Key => Some((0, 1, 0)),
                _ => None,
            },
            // Numbers of rows and keys fit 32 bits.
            "arith.index_cast" if ["i32", "i64", "index"].iter().any(|ty| value.ty().is(ty)) => {
                self.linear(op.operand(0))
            }
            "arith.addi" => combined(1),
            "arith.subi" => combined(-1),
            _ => None,
        }
    }
}
