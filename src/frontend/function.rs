//! What a graph becomes: a function as MLIR text, with its arguments.

use super::{
    emit,
    graph::{Argument, Graph, INVALID, Value},
    types::Type,
};
use crate::Tensor;
use anyhow::{Result, ensure};

/// A function as MLIR text, with what its caller has to know.
#[derive(Clone, Debug)]
pub struct Function {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) arguments: Vec<Argument>,
    pub(super) results: Vec<(String, Type)>,
}

impl Function {
    /// The symbol.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The `func.func` operation. Every argument has the attribute `tinymlir.name`, an input with a range also
    /// `tinymlir.range = [FIRST, END]` (the end is not valid), every result `tinymlir.name`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The arguments in order: inputs as they were made, then captured arrays.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// Names and types of the results.
    pub fn results(&self) -> &[(String, Type)] {
        &self.results
    }

    /// The captured arrays, the trailing arguments.
    pub fn captured(&self) -> Vec<(String, Tensor)> {
        self.arguments.iter().filter_map(|a| Some((a.name.clone(), a.captured.clone()?))).collect()
    }
}

/// A module of the functions, as MLIR text.
pub fn module(functions: &[Function]) -> String {
    let body: String = functions.iter().flat_map(|f| f.text.lines()).map(|line| format!("  {line}\n")).collect();
    format!("module {{\n{body}}}\n")
}

impl Graph {
    /// The function `name` that returns `results`. Fails with the first error that an operation met; the message has its
    /// operation, the line of the model, and both shapes.
    pub fn finish(&self, name: &str, results: &[(&str, Value)]) -> Result<Function> {
        if let Some(error) = self.take_error() {
            return Err(error);
        }
        ensure!(
            results.iter().all(|(_, v)| std::ptr::eq(v.graph, self) && v.id != INVALID),
            "a result of '{name}' is no value of its graph"
        );
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        ensure!(
            name.chars().all(plain) && name.starts_with(|c: char| !c.is_ascii_digit()),
            "'{name}' is no function name: use letters, digits and underscores"
        );
        Ok(emit::function(&self.inner.borrow(), name, results))
    }
}
