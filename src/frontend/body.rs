//! The scalar code inside a `linalg.generic`.

use super::graph::{Comparison, Map, Reduction};
use crate::DType;
use std::fmt::Write;

/// A number as MLIR writes it with its type; integers and bools drop what they cannot hold.
pub(super) fn literal(dtype: DType, value: f64) -> String {
    match dtype {
        DType::I1 => (value != 0.0).to_string(),
        _ if !dtype.is_float() => format!("{} : {dtype}", value as i64),
        _ if value.is_finite() => {
            // MLIR wants a point, which Rust leaves out of "1e-5".
            let digits = format!("{value:?}");
            let point = if digits.contains('.') { "" } else { ".0" };
            format!("{} : {dtype}", digits.replacen('e', &format!("{point}e"), 1))
        }
        _ => {
            let bits = match dtype {
                DType::F16 => format!("{:#06X}", half::f16::from_f64(value).to_bits()),
                DType::BF16 => format!("{:#06X}", half::bf16::from_f64(value).to_bits()),
                DType::F64 => format!("{:#018X}", value.to_bits()),
                _ => format!("{:#010X}", (value as f32).to_bits()),
            };
            format!("{bits} : {dtype}")
        }
    }
}

/// Lines of scalar operations; every value's name is new in the function.
pub(super) struct Body<'n> {
    pub lines: String,
    pub next: &'n mut usize,
}

impl Body<'_> {
    /// Appends `%N = OPERATION`.
    pub fn op(&mut self, operation: std::fmt::Arguments) -> String {
        let name = format!("%{}", self.next);
        *self.next += 1;
        // Writing to a String does not fail.
        let _ = writeln!(self.lines, "  {name} = {operation}");
        name
    }

    pub fn constant(&mut self, dtype: DType, value: f64) -> String {
        self.op(format_args!("arith.constant {}", literal(dtype, value)))
    }

    /// `linalg.index`, or zero along an axis that the loops do not have.
    pub fn index(&mut self, dimension: Option<usize>) -> String {
        match dimension {
            Some(dimension) => self.op(format_args!("linalg.index {dimension} : index")),
            None => self.op(format_args!("arith.constant 0 : index")),
        }
    }

    /// One element of a map: `args` and their type, `dtype` the result's; `dimensions` the loop of each axis.
    pub fn map(
        &mut self,
        map: Map,
        args: &[String],
        from: DType,
        dtype: DType,
        dimensions: &[Option<usize>],
    ) -> String {
        let float = from.is_float();
        let pick = |f: &'static str, i: &'static str| if float { f } else { i };
        match map {
            Map::Cast => self.cast(&args[0], from, dtype),
            Map::Bits => self.op(format_args!("arith.bitcast {} : {from} to {dtype}", args[0])),
            Map::Select => self.op(format_args!("arith.select {}, {}, {} : {dtype}", args[0], args[1], args[2])),
            Map::Iota(axis) => {
                let index = self.index(dimensions[axis]);
                let integer = if dtype == DType::I32 { DType::I32 } else { DType::I64 };
                let position = self.op(format_args!("arith.index_cast {index} : index to {integer}"));
                self.cast(&position, integer, dtype)
            }
            Map::Causal(fill) => {
                let row = self.index(dimensions[dimensions.len() - 2]);
                let column = self.index(dimensions[dimensions.len() - 1]);
                let seen = self.op(format_args!("arith.cmpi ule, {column}, {row} : index"));
                let fill = self.constant(dtype, fill);
                self.op(format_args!("arith.select {seen}, {}, {fill} : {dtype}", args[0]))
            }
            Map::Neg if !float => {
                let zero = self.constant(dtype, 0.0);
                self.op(format_args!("arith.subi {zero}, {} : {dtype}", args[0]))
            }
            Map::Not => {
                let one = self.constant(DType::I1, 1.0);
                self.op(format_args!("arith.xori {}, {one} : i1", args[0]))
            }
            Map::Compare(comparison) => {
                use Comparison::*;
                let predicate = match comparison {
                    Eq => pick("oeq", "eq"),
                    Ne => pick("une", "ne"),
                    Lt => pick("olt", "slt"),
                    Le => pick("ole", "sle"),
                    Gt => pick("ogt", "sgt"),
                    Ge => pick("oge", "sge"),
                };
                let op = pick("arith.cmpf", "arith.cmpi");
                self.op(format_args!("{op} {predicate}, {}, {} : {from}", args[0], args[1]))
            }
            _ => {
                let name = match map {
                    Map::Neg => "arith.negf",
                    Map::Abs => pick("math.absf", "math.absi"),
                    Map::Exp => "math.exp",
                    Map::Log => "math.log",
                    Map::Sqrt => "math.sqrt",
                    Map::Tanh => "math.tanh",
                    Map::Erf => "math.erf",
                    Map::Sin => "math.sin",
                    Map::Cos => "math.cos",
                    Map::Add => pick("arith.addf", "arith.addi"),
                    Map::Sub => pick("arith.subf", "arith.subi"),
                    Map::Mul => pick("arith.mulf", "arith.muli"),
                    Map::Pow => pick("math.powf", "math.ipowi"),
                    Map::Maximum => pick("arith.maximumf", "arith.maxsi"),
                    Map::Minimum => pick("arith.minimumf", "arith.minsi"),
                    Map::And => "arith.andi",
                    Map::Or => "arith.ori",
                    Map::Xor => "arith.xori",
                    Map::ShiftRight => "arith.shrui",
                    // Division is refused for integers.
                    _ => "arith.divf",
                };
                self.op(format_args!("{name} {} : {dtype}", args.join(", ")))
            }
        }
    }

    pub fn reduce(&mut self, reduction: Reduction, element: &str, total: &str, dtype: DType) -> String {
        let name = match (reduction, dtype.is_float()) {
            (Reduction::Sum, true) => "arith.addf",
            (Reduction::Sum, false) => "arith.addi",
            (Reduction::Max, true) => "arith.maximumf",
            (Reduction::Max, false) => "arith.maxsi",
            (Reduction::Min, true) => "arith.minimumf",
            (Reduction::Min, false) => "arith.minsi",
        };
        self.op(format_args!("{name} {element}, {total} : {dtype}"))
    }

    fn cast(&mut self, value: &str, from: DType, to: DType) -> String {
        let name = match (from, to) {
            _ if from == to => return value.to_string(),
            (DType::I1, _) if to.is_float() => "arith.uitofp",
            (DType::I1, _) => "arith.extui",
            (_, DType::I1) => {
                let zero = self.constant(from, 0.0);
                let op = if from.is_float() { "arith.cmpf une" } else { "arith.cmpi ne" };
                return self.op(format_args!("{op}, {value}, {zero} : {from}"));
            }
            // Neither holds the other.
            (DType::F16, DType::BF16) | (DType::BF16, DType::F16) => {
                let wide = self.cast(value, from, DType::F32);
                return self.cast(&wide, DType::F32, to);
            }
            _ => match (from.is_float(), to.is_float(), from.size() < to.size()) {
                (true, true, true) => "arith.extf",
                (true, true, false) => "arith.truncf",
                (true, false, _) => "arith.fptosi",
                (false, true, _) => "arith.sitofp",
                (false, false, true) => "arith.extsi",
                (false, false, false) => "arith.trunci",
            },
        };
        self.op(format_args!("{name} {value} : {from} to {to}"))
    }
}
