//! A product as matrices: static sizes, and operands as rows and columns in memory.

use crate::{
    contraction::{Body, Contraction},
    host::Operand,
    ir::Op,
    row_tile,
    tinymlir_tiled_matmul::{Plan, plan, roles},
};

/// C += A B for a batch of matrices with static sizes and strides. A role without a dimension is of size 1 and stride 0.
pub struct Matrices {
    /// Batches, rows, columns, summed elements.
    pub size: [i64; 4],
    /// Rows along m, columns along k.
    pub a: Operand,
    /// Rows along k, columns along n.
    pub b: Operand,
    /// Rows along m, columns along n.
    pub c: Operand,
    /// The element type of A.
    pub element: String,
    /// That of B.
    pub b_element: String,
    /// That of C.
    pub sum: String,
}

impl Matrices {
    /// Takes a product apart; nothing where no dimension is summed, and the reason where it is no batch of static matrices.
    pub fn of(op: Op, contraction: &Contraction) -> Result<Option<Matrices>, String> {
        let Some((_, plan)) = plan(op, contraction)? else { return Ok(None) };
        Self::made(contraction, plan).map(Some)
    }

    /// The same, also for a product of f32 by a matrix of narrower elements, which are extended and summed up in f32. Either
    /// operand may be the narrow one.
    pub fn of_widened(op: Op, contraction: &Contraction) -> Result<Option<Matrices>, String> {
        let elements = [0, 1, 2].map(|i| contraction.views[i].element.to_string());
        let widens = |i: usize, conversion: Option<&str>| match conversion {
            None => elements[i] == "f32",
            Some("arith.sitofp") => elements[i] == "i8",
            Some(_) => ["f16", "bf16"].contains(&elements[i].as_str()),
        };
        match contraction.body {
            Body::ConvertMultiplyAdd([a, b])
                if elements[2] == "f32" && a.is_some() != b.is_some() && widens(0, a) && widens(1, b) =>
            {
                let Some(plan) = roles(op, contraction)? else { return Ok(None) };
                Self::made(contraction, plan).map(Some)
            }
            _ => Self::of(op, contraction),
        }
    }

    /// The same as [`Matrices::of`], also for a product of f16 or bf16 that is summed up in f32, with C of f32 or of the same type.
    pub fn of_halves(op: Op, contraction: &Contraction) -> Result<Option<Matrices>, String> {
        let Some(plan) = roles(op, contraction)? else { return Ok(None) };
        let [a, b, c] = [0, 1, 2].map(|i| contraction.views[i].element.to_string());
        let half = ["f16", "bf16"].contains(&a.as_str());
        let fits = match contraction.body {
            Body::MultiplyAdd => c == a && (half || a == "f32"),
            Body::ExtendMultiplyAdd => half && c == "f32",
            Body::ConvertMultiplyAdd(_) => false,
        };
        if a != b || !fits {
            return Err("its element types are mixed".into());
        }
        Self::made(contraction, plan).map(Some)
    }

    fn made(contraction: &Contraction, plan: Plan) -> Result<Matrices, String> {
        if !plan.loops.is_empty() {
            return Err("it has more dimensions than a batch of matrices".into());
        }
        let size = |dim: Option<usize>| dim.map_or(Some(1), |d| contraction.sizes[d]).ok_or("a size is dynamic");
        let size = [size(plan.batch)?, size(plan.row)?, size(plan.column)?, size(plan.sum)?];
        if size.contains(&0) {
            return Err("it is empty".into());
        }
        let operand = |i: usize, roles: [Option<usize>; 2]| -> Result<Operand, String> {
            let buffer = plan.operands[i];
            let memref = buffer.ty().memref().ok_or("an operand has no strides")?;
            let mut strides = [0; 3];
            for (to, dim) in strides.iter_mut().zip([plan.batch, roles[0], roles[1]]) {
                if let Some(axis) = dim.and_then(|d| plan.places[d][i]) {
                    *to = memref.strides[axis].ok_or("a stride is dynamic")?;
                }
            }
            Ok(Operand { buffer, offset: memref.offset.ok_or("an offset is dynamic")?, strides })
        };
        let a = operand(0, [plan.row, plan.sum])?;
        let b = operand(1, [plan.sum, plan.column])?;
        let c = operand(2, [plan.row, plan.column])?;
        let [element, b_element] = [0, 1].map(|i| row_tile::element(plan.operands[i]));
        Ok(Matrices { size, a, b, c, element, b_element, sum: plan.element })
    }
}
