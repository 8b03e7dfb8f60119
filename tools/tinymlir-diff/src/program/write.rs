//! Programs with forms that the frontend does not make, as MLIR: the text of each step, put together.

use super::{Fill, Op, Program, Spelling, forms, spell, text};
use anyhow::{Context as _, Result};
use std::fmt::Write;
use tinymlir::{DType, frontend::Type};

impl Program {
    /// The program as a public function `name`, with what else a module must hold for it. Fails when the frontend refuses.
    pub fn text(&self, name: &str) -> Result<String> {
        if !self.memrefs && !self.steps.iter().any(forms::is_written) {
            return Ok(self.build(name)?.text().to_owned());
        }
        let types = self.types().context("a step does not apply")?;
        let mut writer = Writer { name, types, memrefs: self.memrefs, ..Writer::default() };
        for (id, op) in self.steps.iter().enumerate() {
            let value = writer.step(id, op)?;
            writer.values.push(value);
        }
        let results: Vec<&str> = self.results.iter().map(|&r| writer.values[r].as_str()).collect();
        let types: Vec<String> = self.results.iter().map(|&r| writer.types[r].mlir()).collect();
        let named: Vec<String> =
            types.iter().enumerate().map(|(i, t)| format!("{t} {{tinymlir.name = \"r{i}\"}}")).collect();
        Ok(format!(
            "{}func.func @{name}(\n{}\n) -> ({}) {{\n{}  return {} : {}\n}}\n{}",
            writer.globals,
            writer.arguments.join(",\n"),
            named.join(", "),
            writer.body,
            results.join(", "),
            types.join(", "),
            writer.helpers
        ))
    }
}

#[derive(Default)]
struct Writer<'a> {
    name: &'a str,
    memrefs: bool,
    types: Vec<Type>,
    /// The value of each step.
    values: Vec<String>,
    arguments: Vec<String>,
    globals: String,
    body: String,
    helpers: String,
}

impl Writer<'_> {
    /// Writes a step, and returns its value's name.
    fn step(&mut self, id: usize, op: &Op) -> Result<String> {
        let operands: Vec<Type> = op.operands().iter().map(|&a| self.types[a].clone()).collect();
        let result = self.types[id].clone();
        match op {
            Op::Input { dtype, shape, fill, .. } => Ok(self.input(id, *dtype, shape, *fill)),
            Op::Form(form, _) => {
                let (text, globals) = text::text(form, &format!("{}_{id}", self.name), &operands, &result);
                self.globals += &globals;
                self.paste(id, op, &text)
            }
            Op::Spelled(Spelling::Call, inner) => {
                let text = alone(&forms::on_operands(inner), &operands)?;
                let types: Vec<String> = operands.iter().map(Type::mlir).collect();
                let (call, r) = (self.helper(id, "x", &types, &result.mlir(), &text), result.mlir());
                self.paste(id, op, &format!("%r = {call}\nreturn %r : {r}\n"))
            }
            Op::Spelled(spelling, inner) => {
                let text = spell::text(*spelling, &forms::on_operands(inner), &operands, &result)
                    .with_context(|| format!("no {spelling:?} for {inner:?}"))?;
                if *spelling != Spelling::Dynamic {
                    return self.paste(id, op, &text);
                }
                let types: Vec<String> = operands.iter().map(spell::dynamic).collect();
                let mut body = String::new();
                for (i, (ty, open)) in operands.iter().zip(&types).enumerate() {
                    let _ = writeln!(body, "%o{i} = tensor.cast %x{i} : {} to {open}", ty.mlir());
                }
                let (open, r) = (spell::dynamic(&result), result.mlir());
                let call = self.helper(id, "o", &types, &open, &text);
                let _ = write!(body, "%d = {call}\n%r = tensor.cast %d : {open} to {r}\nreturn %r : {r}\n");
                self.paste(id, op, &body)
            }
            _ => {
                let text = alone(&forms::on_operands(op), &operands)?;
                self.paste(id, op, &text)
            }
        }
    }

    /// An argument; one of a buffer has any strides.
    fn input(&mut self, id: usize, dtype: DType, shape: &[usize], fill: Fill) -> String {
        let ty = Type::new(dtype, shape).mlir();
        let range = match fill {
            Fill::Below(n) => format!(", tinymlir.range = [0, {n}]"),
            _ => String::new(),
        };
        let attributes = format!("{{tinymlir.name = \"x{id}\"{range}}}");
        if !self.memrefs || shape.is_empty() {
            self.arguments.push(format!("    %x{id}: {ty} {attributes}"));
            return format!("%x{id}");
        }
        let open = vec!["?"; shape.len()].join(", ");
        let sizes: String = shape.iter().map(|n| format!("{n}x")).collect();
        let memref = format!("memref<{sizes}{dtype}, strided<[{open}], offset: ?>>");
        self.arguments.push(format!("    %m{id}: {memref} {attributes}"));
        let _ = writeln!(self.body, "  %x{id} = bufferization.to_tensor %m{id} restrict : {memref} to {ty}");
        format!("%x{id}")
    }

    /// Defines a private function, and returns a call of it on values `%x0`, `%x1` and so on, where `operand` is `x`.
    fn helper(&mut self, id: usize, operand: &str, types: &[String], result: &str, body: &str) -> String {
        let symbol = format!("{}_{id}", self.name);
        let names = |prefix: &str| (0..types.len()).map(|i| format!("%{prefix}{i}")).collect::<Vec<_>>();
        let parameters: Vec<String> = names("x").iter().zip(types).map(|(n, t)| format!("{n}: {t}")).collect();
        let _ =
            writeln!(self.helpers, "func.func private @{symbol}({}) -> {result} {{\n{body}}}", parameters.join(", "));
        format!("call @{symbol}({}) : ({}) -> {result}", names(operand).join(", "), types.join(", "))
    }

    /// Appends a function's body with its values renamed: `%x0` and so on are the step's operands. What it returns.
    fn paste(&mut self, id: usize, op: &Op, text: &str) -> Result<String> {
        let operands: Vec<String> = op.operands().iter().map(|&a| self.values[a].clone()).collect();
        let renamed = renamed(text, &|name| {
            let operand = name.strip_prefix('x').and_then(|i| i.parse::<usize>().ok()).and_then(|i| operands.get(i));
            operand.cloned().unwrap_or_else(|| format!("%s{id}_{name}"))
        });
        let mut lines: Vec<&str> = renamed.lines().collect();
        let end = lines.pop().and_then(|line| line.trim().strip_prefix("return ")).context("a body without an end")?;
        lines.iter().for_each(|line| {
            let _ = writeln!(self.body, "  {line}");
        });
        Ok(end.split(" : ").next().unwrap_or_default().to_owned())
    }
}

/// The body of the frontend's function for an operation on inputs of these types.
fn alone(op: &Op, operands: &[Type]) -> Result<String> {
    let input = |t: &Type| Op::Input { dtype: t.dtype, shape: t.shape.clone(), seed: 0, fill: Fill::Grid };
    let steps: Vec<Op> = operands.iter().map(input).chain([op.clone()]).collect();
    let results = vec![operands.len()];
    let function = Program { steps, results, memrefs: false }.build("alone")?;
    let text = function.text();
    let start = text.find("\n) -> ").and_then(|at| text[at + 1..].find('\n').map(|end| at + end + 2));
    let body = start.and_then(|start| text[start..].strip_suffix("}\n")).context("a function without a body")?;
    Ok(body.to_owned())
}

/// A text in which each value has another name.
fn renamed(text: &str, name: &dyn Fn(&str) -> String) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('%') {
        out += &rest[..at];
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        out += &name(&rest[..end]);
        rest = &rest[end..];
    }
    out + rest
}
