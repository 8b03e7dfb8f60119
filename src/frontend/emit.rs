//! A graph as MLIR text.

use super::{
    body::{Body, literal},
    function::Function,
    graph::{Argument, Id, Inner, Map, Node, Op, Reduction, Value},
    reshape,
    shaping::read_in_place,
    types::Type,
};
use crate::DType;
use std::{collections::HashMap, fmt::Write};

/// Emits what `results` need of a graph without errors.
pub(super) fn function(graph: &Inner, name: &str, results: &[(&str, Value)]) -> Function {
    let mut order: Vec<&Argument> = graph.arguments.iter().collect();
    order.sort_by_key(|a| a.captured.is_some());
    let mut emitter = Emitter { graph, lines: String::new(), next: 0, values: HashMap::new(), fulls: HashMap::new() };
    for id in needed(graph, results) {
        let value = emitter.node(id);
        emitter.values.insert(id, value);
    }
    let (mut values, mut types, mut annotated) = (Vec::new(), Vec::new(), Vec::new());
    for (label, value) in results {
        let ty = graph.nodes[value.id].ty.mlir();
        values.push(emitter.full(value.id));
        annotated.push(format!("{ty} {{tinymlir.name = {label:?}}}"));
        types.push(ty);
    }
    let _ = match values.is_empty() {
        true => writeln!(emitter.lines, "return"),
        false => writeln!(emitter.lines, "return {} : {}", values.join(", "), types.join(", ")),
    };
    let arguments: Vec<String> = order
        .iter()
        .map(|a| {
            let range = a.range.as_ref().map(|r| format!(", tinymlir.range = [{}, {}]", r.start, r.end));
            let (ssa, ty, label) = (ssa_name(&a.name), a.ty.mlir(), &a.name);
            let writable = if a.writable { ", tinymlir.writable" } else { "" };
            format!("    {ssa}: {ty} {{tinymlir.name = {label:?}{}{writable}}}", range.unwrap_or_default())
        })
        .collect();
    let body: String = emitter.lines.lines().map(|line| format!("  {line}\n")).collect();
    Function {
        name: name.to_string(),
        text: format!("func.func @{name}(\n{}\n) -> ({}) {{\n{body}}}\n", arguments.join(",\n"), annotated.join(", ")),
        arguments: order.into_iter().cloned().collect(),
        results: results.iter().map(|(label, v)| (label.to_string(), graph.nodes[v.id].ty.clone())).collect(),
    }
}

/// An SSA name for an argument, never a number.
fn ssa_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._$-".contains(c) { c } else { '_' }).collect();
    format!("%{}{plain}", if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "_" })
}

/// The nodes that the results depend on, operands first.
fn needed(graph: &Inner, results: &[(&str, Value)]) -> Vec<Id> {
    let mut needed = vec![false; graph.nodes.len()];
    for (_, value) in results {
        needed[value.id] = true;
    }
    // Operands have smaller ids than what uses them.
    for id in (0..graph.nodes.len()).rev() {
        if !needed[id] {
            continue;
        }
        match &graph.nodes[id].op {
            Op::Argument(_) | Op::Constant(_) => {}
            Op::Map(_, args) => {
                for &arg in args {
                    // A number is part of the body.
                    needed[arg] |= !matches!(graph.nodes[arg].op, Op::Constant(_));
                }
            }
            Op::Matmul(a, b) => {
                for (&arg, &other) in [(a, b), (b, a)] {
                    needed[read_in_place(&graph.nodes, arg, other).0] = true;
                }
            }
            Op::Concat(args, _) => args.iter().for_each(|&arg| needed[arg] = true),
            Op::Gather { table, ids, .. } => (needed[*table], needed[*ids]) = (true, true),
            Op::Update { target, rows, position, .. } => {
                (needed[*target], needed[*rows]) = (true, true);
                needed[*position] |= !matches!(graph.nodes[*position].op, Op::Constant(_));
            }
            Op::Store { value, target } => (needed[*value], needed[*target]) = (true, true),
            Op::Reduce(_, _, arg) | Op::Reshape(arg) | Op::Transpose(arg, _) | Op::Slice { arg, .. } => {
                needed[*arg] = true
            }
        }
    }
    (0..needed.len()).filter(|&id| needed[id]).collect()
}

pub(super) struct Emitter<'a> {
    pub(super) graph: &'a Inner,
    lines: String,
    pub(super) next: usize,
    /// Each node's value without its phantom axes.
    values: HashMap<Id, String>,
    /// Those that were needed with them.
    fulls: HashMap<Id, String>,
}

/// An operand or the result of a `linalg` operation.
pub(super) struct Port {
    value: String,
    ty: Type,
    map: String,
}

impl<'a> Emitter<'a> {
    pub(super) fn op(&mut self, operation: std::fmt::Arguments) -> String {
        let name = format!("%{}", self.next);
        self.next += 1;
        let _ = writeln!(self.lines, "{name} = {operation}");
        name
    }

    fn node(&mut self, id: Id) -> String {
        let graph: &'a Inner = self.graph;
        let node = &graph.nodes[id];
        match &node.op {
            Op::Argument(index) => ssa_name(&graph.arguments[*index].name),
            Op::Constant(value) => {
                let number = literal(node.ty.dtype, *value);
                let number = number.split(" : ").next().unwrap_or(&number);
                self.op(format_args!("arith.constant dense<{number}> : {}", node.ty.mlir()))
            }
            Op::Map(map, args) => self.map(node, *map, args),
            Op::Reduce(kind, axes, arg) => self.reduce(node, *kind, axes, *arg),
            Op::Matmul(a, b) => self.matmul(node, *a, *b),
            Op::Reshape(arg) if node.phantom.contains(&true) || same_emitted(node, &graph.nodes[*arg]) => {
                self.values[arg].clone()
            }
            Op::Reshape(arg) => {
                let value = self.full(*arg);
                self.reshape(value, node.ty.dtype, &graph.nodes[*arg].ty.shape, &node.ty.shape)
            }
            Op::Transpose(arg, permutation) => {
                let rank = permutation.len();
                let mut loops = vec![0; rank];
                permutation.iter().enumerate().for_each(|(i, &p)| loops[p] = i);
                let input = self.port(*arg, map(rank, loops.iter().map(|&d| Some(d))));
                self.generic(&vec!["parallel"; rank], vec![input], node.ty.clone(), identity(rank), None, |_, args| {
                    args[0].clone()
                })
            }
            // `tensor.extract_slice` refuses an offset at the end, also of an empty slice.
            Op::Slice { .. } if node.ty.shape.contains(&0) => self.init(&node.ty, None),
            Op::Slice { arg, offsets, strides, dropped } => {
                let value = self.full(*arg);
                let mut kept = node.ty.shape.iter();
                let sizes: Vec<usize> =
                    dropped.iter().map(|&d| if d { 1 } else { kept.next().copied().unwrap_or(1) }).collect();
                let (source, target) = (graph.nodes[*arg].ty.mlir(), node.ty.mlir());
                self.op(format_args!(
                    "tensor.extract_slice {value}{offsets:?} {sizes:?} {strides:?} : {source} to {target}"
                ))
            }
            Op::Concat(args, axis) => self.concat(node, args, *axis),
            Op::Gather { table, ids, axis } => self.gather(node, *table, *ids, *axis),
            Op::Update { target, rows, position, axis } => self.update(node, *target, *rows, *position, *axis),
            Op::Store { value, target } => {
                let (value, target, ty) = (self.full(*value), self.full(*target), node.ty.mlir());
                self.op(format_args!(
                    "bufferization.materialize_in_destination {value} in {target} : ({ty}, {ty}) -> {ty}"
                ))
            }
        }
    }

    /// The node's value with every axis of its type.
    pub(super) fn full(&mut self, id: Id) -> String {
        let node = &self.graph.nodes[id];
        if !node.phantom.contains(&true) {
            return self.values[&id].clone();
        }
        if let Some(value) = self.fulls.get(&id) {
            return value.clone();
        }
        let value = self.values[&id].clone();
        let value = self.reshape(value, node.ty.dtype, &emitted(node), &node.ty.shape);
        self.fulls.insert(id, value.clone());
        value
    }

    fn reshape(&mut self, mut value: String, dtype: DType, from: &[usize], to: &[usize]) -> String {
        for operation in reshape::operations(dtype, from, to) {
            value = self.op(format_args!("{}", operation.replacen("{}", &value, 1)));
        }
        value
    }

    pub(super) fn port(&mut self, id: Id, map: String) -> Port {
        Port { value: self.full(id), ty: self.graph.nodes[id].ty.clone(), map }
    }

    /// A `linalg.generic` of one result, over an empty tensor or one filled with `fill`. `body` gets the elements of the
    /// inputs, then that of the result.
    pub(super) fn generic(
        &mut self,
        iterators: &[&str],
        inputs: Vec<Port>,
        ty: Type,
        map: String,
        fill: Option<f64>,
        body: impl FnOnce(&mut Body, &[String]) -> String,
    ) -> String {
        let init = self.init(&ty, fill);
        let output = Port { value: init, ty, map };
        let mut args = Vec::new();
        let mut signature = Vec::new();
        for port in inputs.iter().chain([&output]) {
            let name = format!("%{}", self.next);
            self.next += 1;
            signature.push(format!("{name}: {}", port.ty.dtype));
            args.push(name);
        }
        let mut scalar = Body { lines: String::new(), next: &mut self.next };
        let result = body(&mut scalar, &args);
        let lines = scalar.lines;
        let maps: Vec<&str> = inputs.iter().chain([&output]).map(|p| p.map.as_str()).collect();
        let iterators: Vec<String> = iterators.iter().map(|i| format!("{i:?}")).collect();
        let ins = match inputs.is_empty() {
            true => String::new(),
            false => {
                let values: Vec<&str> = inputs.iter().map(|p| p.value.as_str()).collect();
                let types: Vec<String> = inputs.iter().map(|p| p.ty.mlir()).collect();
                format!("ins({} : {}) ", values.join(", "), types.join(", "))
            }
        };
        let ty = output.ty.mlir();
        self.op(format_args!(
            "linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} {ins}outs({} : {}) {{\n^bb0({}):\n{lines}  linalg.yield {result} : {}\n}} -> {}",
            maps.join(", "),
            iterators.join(", "),
            output.value,
            ty,
            signature.join(", "),
            output.ty.dtype,
            ty
        ))
    }

    pub(super) fn init(&mut self, ty: &Type, fill: Option<f64>) -> String {
        let mlir = ty.mlir();
        let empty = self.op(format_args!("tensor.empty() : {mlir}"));
        let Some(fill) = fill else { return empty };
        let number = self.op(format_args!("arith.constant {}", literal(ty.dtype, fill)));
        self.op(format_args!("linalg.fill ins({number} : {}) outs({empty} : {mlir}) -> {mlir}", ty.dtype))
    }

    fn map(&mut self, node: &Node, kind: Map, args: &[Id]) -> String {
        let graph = self.graph;
        let rank = node.ty.shape.len();
        let ty = Type { dtype: node.ty.dtype, shape: emitted(node) };
        // The loop of each axis; phantom axes have none.
        let mut loops = 0;
        let dimensions: Vec<Option<usize>> = node
            .phantom
            .iter()
            .map(|&phantom| {
                (!phantom).then(|| {
                    loops += 1;
                    loops - 1
                })
            })
            .collect();
        let mut inputs = Vec::new();
        for &arg in args {
            let operand = &graph.nodes[arg];
            if matches!(operand.op, Op::Constant(_)) {
                continue;
            }
            let missing = rank - operand.ty.shape.len();
            let (mut indices, mut shape) = (Vec::new(), Vec::new());
            for (axis, &size) in operand.ty.shape.iter().enumerate() {
                let stretched = size == 1 && node.ty.shape[missing + axis] != 1;
                if !operand.phantom[axis] && !stretched {
                    indices.push(dimensions[missing + axis]);
                    shape.push(size);
                }
            }
            let value = self.values[&arg].clone();
            let value = self.reshape(value, operand.ty.dtype, &emitted(operand), &shape);
            inputs.push(Port { value, ty: Type::new(operand.ty.dtype, &shape), map: map(loops, indices.into_iter()) });
        }
        // The condition of a select is not of the type that it chooses from.
        let from = args.last().map_or(ty.dtype, |&a| graph.nodes[a].ty.dtype);
        let dtype = ty.dtype;
        self.generic(&vec!["parallel"; loops], inputs, ty, identity(loops), None, |body, elements| {
            let mut elements = elements.iter();
            let args: Vec<String> = args
                .iter()
                .map(|&arg| match graph.nodes[arg].op {
                    Op::Constant(value) => body.constant(graph.nodes[arg].ty.dtype, value),
                    _ => elements.next().cloned().unwrap_or_default(),
                })
                .collect();
            body.map(kind, &args, from, dtype, &dimensions)
        })
    }

    fn reduce(&mut self, node: &Node, kind: Reduction, axes: &[usize], arg: Id) -> String {
        let rank = self.graph.nodes[arg].ty.shape.len();
        let iterators: Vec<&str> =
            (0..rank).map(|i| if axes.contains(&i) { "reduction" } else { "parallel" }).collect();
        let input = self.port(arg, identity(rank));
        let kept = map(rank, (0..rank).filter(|i| !axes.contains(i)).map(Some));
        let dtype = node.ty.dtype;
        let start = match kind {
            Reduction::Sum => 0.0,
            Reduction::Max if dtype.is_float() => f64::NEG_INFINITY,
            Reduction::Max if dtype == DType::I32 => f64::from(i32::MIN),
            Reduction::Max => i64::MIN as f64,
            Reduction::Min if dtype.is_float() => f64::INFINITY,
            Reduction::Min if dtype == DType::I32 => f64::from(i32::MAX),
            // As an integer it is the largest one: the conversion saturates.
            Reduction::Min => i64::MAX as f64,
        };
        self.generic(&iterators, vec![input], node.ty.clone(), kept, Some(start), |body, args| {
            body.reduce(kind, &args[0], &args[1], dtype)
        })
    }
}

/// The sizes without phantom axes.
fn emitted(node: &Node) -> Vec<usize> {
    node.ty.shape.iter().zip(&node.phantom).filter(|(_, p)| !**p).map(|(&n, _)| n).collect()
}

fn same_emitted(node: &Node, source: &Node) -> bool {
    emitted(node) == emitted(source)
}

pub(super) fn identity(rank: usize) -> String {
    map(rank, (0..rank).map(Some))
}

pub(super) fn map(loops: usize, results: impl Iterator<Item = Option<usize>>) -> String {
    let list = |axes: &mut dyn Iterator<Item = usize>| axes.map(|d| format!("d{d}")).collect::<Vec<_>>().join(", ");
    format!("affine_map<({}) -> ({})>", list(&mut (0..loops)), list(&mut results.flatten()))
}
