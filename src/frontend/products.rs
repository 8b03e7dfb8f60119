//! Products, concatenation, gathers and updates as MLIR text: what is more than one loop over its operands.

use super::{
    body::Body,
    emit::{Emitter, identity, map},
    graph::{Id, Node, Op},
    shaping::read_in_place,
    types::Type,
};
use std::fmt::Write;

impl Emitter<'_> {
    pub(super) fn matmul(&mut self, node: &Node, a: Id, b: Id) -> String {
        let graph = self.graph;
        let ((a, a_turned), (b, b_turned)) = (read_in_place(&graph.nodes, a, b), read_in_place(&graph.nodes, b, a));
        let rank = |id: Id| graph.nodes[id].ty.shape.len();
        let (mut operands, mut maps) = ([a, b], String::new());
        let name = match (rank(a), rank(b)) {
            (1, 1) => "dot",
            // The transpose of a matrix times a vector is the vector times the matrix.
            (1, 2) if b_turned => {
                operands = [b, a];
                "matvec"
            }
            (2, 1) if a_turned => {
                operands = [b, a];
                "vecmat"
            }
            (1, 2) => "vecmat",
            (2, 1) => "matvec",
            (m, n) => {
                let batched = m.max(n) == 3;
                let of = |batch: bool, turned: bool, row: &str, column: &str| {
                    let (row, column) = if turned { (column, row) } else { (row, column) };
                    format!("({}{row}, {column})", if batch { "b, " } else { "" })
                };
                if a_turned || b_turned || m != n {
                    let loops = if batched { "(b, m, n, k)" } else { "(m, n, k)" };
                    let map = |results: String| format!("affine_map<{loops} -> {results}>");
                    let lhs = map(of(m == 3, a_turned, "m", "k"));
                    let rhs = map(of(n == 3, b_turned, "k", "n"));
                    let result = map(of(batched, false, "m", "n"));
                    maps = format!(" indexing_maps = [{lhs}, {rhs}, {result}]");
                }
                if batched { "batch_matmul" } else { "matmul" }
            }
        };
        let init = self.init(&node.ty, Some(0.0));
        let [lhs, rhs] = operands.map(|id| self.full(id));
        let [lhs_ty, rhs_ty] = operands.map(|id| graph.nodes[id].ty.mlir());
        let ty = node.ty.mlir();
        self.op(format_args!("linalg.{name}{maps} ins({lhs}, {rhs} : {lhs_ty}, {rhs_ty}) outs({init} : {ty}) -> {ty}"))
    }

    pub(super) fn concat(&mut self, node: &Node, args: &[Id], axis: usize) -> String {
        let target = node.ty.mlir();
        let mut result = self.init(&node.ty, None);
        let (mut offsets, strides) = (vec![0; node.ty.shape.len()], vec![1; node.ty.shape.len()]);
        for &arg in args {
            let ty = &self.graph.nodes[arg].ty;
            // `tensor.insert_slice` refuses an offset at the end, also of an empty operand.
            if ty.shape.contains(&0) {
                continue;
            }
            let (value, sizes, source) = (self.full(arg), &ty.shape, ty.mlir());
            result = self.op(format_args!(
                "tensor.insert_slice {value} into {result}{offsets:?} {sizes:?} {strides:?} : {source} into {target}"
            ));
            offsets[axis] += sizes[axis];
        }
        result
    }

    /// In place, one element an iteration, so that on a device the position is read where the rows are written.
    pub(super) fn update(&mut self, node: &Node, target: Id, rows: Id, position: Id, axis: usize) -> String {
        let graph = self.graph;
        let (rank, ty) = (node.ty.shape.len(), node.ty.mlir());
        let (into, from, rows_ty) = (self.full(target), self.full(rows), &graph.nodes[rows].ty);
        let ones = vec![1; rank];
        if let Op::Constant(start) = graph.nodes[position].op {
            let mut offsets = vec![0; rank];
            offsets[axis] = start as usize;
            let (sizes, source) = (&rows_ty.shape, rows_ty.mlir());
            return self.op(format_args!(
                "tensor.insert_slice {from} into {into}{offsets:?} {sizes:?} {ones:?} : {source} into {ty}"
            ));
        }
        let (at, at_ty) = (self.full(position), &graph.nodes[position].ty);
        let mut name = |prefix: &str| {
            self.next += 1;
            format!("%{prefix}{}", self.next - 1)
        };
        let indices: Vec<String> = (0..rank).map(|_| name("i")).collect();
        let target = name("o");
        let sizes = rows_ty.shape.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        let element = Type::new(node.ty.dtype, &ones).mlir();
        let mut body = Body { lines: String::new(), next: &mut self.next };
        let zeros: Vec<String> =
            at_ty.shape.iter().map(|_| body.op(format_args!("arith.constant 0 : index"))).collect();
        let start = body.op(format_args!("tensor.extract {at}[{}] : {}", zeros.join(", "), at_ty.mlir()));
        let start = body.op(format_args!("arith.index_cast {start} : {} to index", at_ty.dtype));
        let place = body.op(format_args!("arith.addi {start}, {} : index", indices[axis]));
        let from_place = indices.join(", ");
        let value = body.op(format_args!(
            "tensor.extract_slice {from}[{from_place}] {ones:?} {ones:?} : {} to {element}",
            rows_ty.mlir()
        ));
        let mut to_place = indices.clone();
        to_place[axis] = place;
        let (lines, to_place) = (body.lines, to_place.join(", "));
        self.op(format_args!(
            "scf.forall ({from_place}) in ({sizes}) shared_outs({target} = {into}) -> ({ty}) {{\n{lines}  \
             scf.forall.in_parallel {{\n    tensor.parallel_insert_slice {value} into {target}[{to_place}] {ones:?} {ones:?} : \
             {element} into {ty}\n  }}\n}}"
        ))
    }

    pub(super) fn gather(&mut self, node: &Node, table: Id, ids: Id, axis: usize) -> String {
        let graph = self.graph;
        let label = |id: Id| match graph.nodes[id].op {
            Op::Argument(index) => format!("'{}'", graph.arguments[index].name),
            _ => "its operand".to_string(),
        };
        let (rank, ids_rank) = (node.ty.shape.len(), graph.nodes[ids].ty.shape.len());
        let table_ty = &graph.nodes[table].ty;
        let size = table_ty.shape[axis];
        let message =
            format!("gather: an index of {} lies outside axis {axis} of {}, of size {size}", label(ids), label(table));
        let source = self.full(table);
        let index = self.port(ids, map(rank, (axis..axis + ids_rank).map(Some)));
        let id_dtype = graph.nodes[ids].ty.dtype;
        self.generic(&vec!["parallel"; rank], vec![index], node.ty.clone(), identity(rank), None, |body, args| {
            let position = body.op(format_args!("arith.index_cast {} : {id_dtype} to index", args[0]));
            let size = body.op(format_args!("arith.constant {size} : index"));
            // Unsigned, so that a negative index is too large.
            let valid = body.op(format_args!("arith.cmpi ult, {position}, {size} : index"));
            let _ = writeln!(body.lines, "  cf.assert {valid}, {message:?}");
            let indices: Vec<String> = (0..table_ty.shape.len())
                .map(|i| match i {
                    _ if i < axis => body.index(Some(i)),
                    _ if i == axis => position.clone(),
                    _ => body.index(Some(i + ids_rank - 1)),
                })
                .collect();
            body.op(format_args!("tensor.extract {source}[{}] : {}", indices.join(", "), table_ty.mlir()))
        })
    }
}
