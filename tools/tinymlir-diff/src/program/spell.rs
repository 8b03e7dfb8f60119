//! Other texts for operations of the frontend: bodies of functions of `%x0`, `%x1` and so on.

use super::{Binary, Op, Reduction, Spelling, Unary};
use std::fmt::Write;
use tinymlir::{DType, frontend::Type};

/// The body of a function that computes `op`, whose operands are numbered from 0; `None` where the spelling has no such operation.
pub fn text(spelling: Spelling, op: &Op, operands: &[Type], result: &Type) -> Option<String> {
    let body = match spelling {
        Spelling::Call => return None,
        Spelling::Tosa => tosa(op, operands, result)?,
        Spelling::Elementwise => elementwise(op, operands, result)?,
        Spelling::Named => Named { dynamic: false, operands, result }.body(op)?,
        Spelling::Dynamic => Named { dynamic: true, operands, result }.body(op)?,
    };
    let ty = if spelling == Spelling::Dynamic { dynamic(result) } else { result.mlir() };
    Some(format!("{body}return %r : {ty}\n"))
}

/// The type with every size left open.
pub fn dynamic(ty: &Type) -> String {
    format!("tensor<{}{}>", "?x".repeat(ty.shape.len()), ty.dtype)
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// The operation of arith or math.
fn scalar_name(op: &Op, dtype: DType) -> Option<String> {
    let float = dtype.is_float();
    let pick = |f: &str, i: &str| format!("arith.{}", if float { f } else { i });
    Some(match op {
        Op::Binary(op, ..) => match op {
            Binary::Add => pick("addf", "addi"),
            Binary::Sub => pick("subf", "subi"),
            Binary::Mul => pick("mulf", "muli"),
            Binary::Div if float => "arith.divf".into(),
            Binary::Maximum => pick("maximumf", "maxsi"),
            Binary::Minimum => pick("minimumf", "minsi"),
            Binary::And => "arith.andi".into(),
            Binary::Or => "arith.ori".into(),
            _ => return None,
        },
        Op::Unary(op, _) if float => match op {
            Unary::Neg => "arith.negf".into(),
            Unary::Abs => "math.absf".into(),
            Unary::Exp => "math.exp".into(),
            Unary::Log => "math.log".into(),
            Unary::Sqrt => "math.sqrt".into(),
            Unary::Tanh => "math.tanh".into(),
            Unary::Erf => "math.erf".into(),
            Unary::Sin => "math.sin".into(),
            Unary::Cos => "math.cos".into(),
            Unary::Not => return None,
        },
        _ => return None,
    })
}

fn comparison(op: Binary, dtype: DType) -> Option<String> {
    let word = match op {
        Binary::Eq => "eq",
        Binary::Ne => "ne",
        Binary::Lt => "lt",
        Binary::Le => "le",
        Binary::Gt => "gt",
        Binary::Ge => "ge",
        _ => return None,
    };
    Some(match (dtype, word) {
        (DType::I1, "eq" | "ne") => format!("arith.cmpi {word},"),
        (DType::I1, _) => return None,
        (d, "ne") if d.is_float() => "arith.cmpf une,".into(),
        (d, _) if d.is_float() => format!("arith.cmpf o{word},"),
        (_, "eq" | "ne") => format!("arith.cmpi {word},"),
        _ => format!("arith.cmpi s{word},"),
    })
}

fn elementwise(op: &Op, operands: &[Type], result: &Type) -> Option<String> {
    let ty = operands.first()?;
    if result.shape.is_empty() || operands.iter().any(|t| t.shape != result.shape) {
        return None;
    }
    let t = ty.mlir();
    Some(match op {
        Op::Binary(compare, ..) if compare.compares() => {
            format!("%r = {} %x0, %x1 : {t}\n", comparison(*compare, ty.dtype)?)
        }
        Op::Binary(..) => format!("%r = {} %x0, %x1 : {t}\n", scalar_name(op, ty.dtype)?),
        Op::Unary(..) => format!("%r = {} %x0 : {t}\n", scalar_name(op, ty.dtype)?),
        Op::Select(..) => format!("%r = arith.select %x0, %x1, %x2 : {t}, {}\n", operands[1].mlir()),
        _ => return None,
    })
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// TOSA's operations on the types that it has.
fn tosa(op: &Op, operands: &[Type], result: &Type) -> Option<String> {
    use DType::*;
    let ty = operands.first()?;
    let known = |t: &Type| matches!(t.dtype, F32 | F16 | BF16 | I32 | I1) && !t.shape.contains(&0);
    if !operands.iter().chain([result]).all(known) {
        return None;
    }
    // Broadcasting keeps the rank.
    let elementwise = operands.iter().all(|t| t.shape.len() == result.shape.len());
    let types = operands.iter().map(Type::mlir).collect::<Vec<_>>().join(", ");
    let arguments = (0..operands.len()).map(|i| format!("%x{i}")).collect::<Vec<_>>().join(", ");
    let r = result.mlir();
    let plain = |name: &str| Some(format!("%r = tosa.{name} {arguments} : ({types}) -> {r}\n"));
    let shape = |name: &str, sizes: &[usize]| {
        let n = sizes.len();
        format!(
            "%{name} = tosa.const_shape {{values = dense<[{}]> : tensor<{n}xindex>}} : () -> !tosa.shape<{n}>\n",
            list(sizes)
        )
    };
    match op {
        Op::Binary(op, ..) if elementwise => match op {
            Binary::Add if ty.dtype != I1 => plain("add"),
            Binary::Sub => plain("sub"),
            Binary::Maximum => plain("maximum"),
            Binary::Minimum => plain("minimum"),
            Binary::Pow if ty.dtype == F32 => plain("pow"),
            Binary::And => plain("logical_and"),
            Binary::Or => plain("logical_or"),
            Binary::Eq if ty.dtype != I1 => plain("equal"),
            Binary::Gt => plain("greater"),
            Binary::Ge => plain("greater_equal"),
            Binary::Mul => Some(format!(
                "%s = \"tosa.const\"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>\n\
                 %r = tosa.mul %x0, %x1, %s : ({types}, tensor<1xi8>) -> {r}\n"
            )),
            _ => None,
        },
        Op::Unary(op, _) => match op {
            Unary::Abs => plain("abs"),
            Unary::Exp => plain("exp"),
            Unary::Log => plain("log"),
            Unary::Tanh => plain("tanh"),
            Unary::Erf => plain("erf"),
            Unary::Sin => plain("sin"),
            Unary::Cos => plain("cos"),
            Unary::Not => plain("logical_not"),
            _ => None,
        },
        Op::Select(..) if elementwise => plain("select"),
        Op::Cast(_, to) if *to != ty.dtype && to.is_float() && ty.dtype != I1 => plain("cast"),
        Op::Reduce(kind, _, axes, true) if axes.len() == 1 && !is_half(ty.dtype) => {
            let name = match kind {
                Reduction::Sum => "reduce_sum",
                Reduction::Max => "reduce_max",
                Reduction::Mean => return None,
            };
            Some(format!("%r = tosa.{name} %x0 {{axis = {} : i32}} : ({types}) -> {r}\n", axes[0]))
        }
        Op::Matmul(..) if ty.dtype == F32 && operands.iter().all(|t| t.shape.len() == 3) => {
            (operands[0].shape[0] == operands[1].shape[0]).then(|| {
                format!(
                    "%z = \"tosa.const\"() <{{values = dense<0.0> : tensor<1xf32>}}> : () -> tensor<1xf32>\n\
                     %r = tosa.matmul %x0, %x1, %z, %z : ({types}, tensor<1xf32>, tensor<1xf32>) -> {r}\n"
                )
            })
        }
        Op::Reshape(_, sizes) if !sizes.is_empty() && !ty.shape.is_empty() => Some(format!(
            "{}%r = tosa.reshape %x0, %s : ({types}, !tosa.shape<{}>) -> {r}\n",
            shape("s", sizes),
            sizes.len()
        )),
        Op::Transpose(_, permutation) => {
            Some(format!("%r = tosa.transpose %x0 {{perms = array<i32: {}>}} : ({types}) -> {r}\n", list(permutation)))
        }
        Op::Slice { axis, start, step: 1, .. } => {
            let mut starts = vec![0; ty.shape.len()];
            starts[*axis] = *start;
            let n = starts.len();
            Some(format!(
                "{}{}%r = tosa.slice %x0, %b, %s : ({types}, !tosa.shape<{n}>, !tosa.shape<{n}>) -> {r}\n",
                shape("b", &starts),
                shape("s", &result.shape)
            ))
        }
        Op::Concat(_, axis) => {
            Some(format!("%r = tosa.concat {arguments} {{axis = {axis} : i32}} : ({types}) -> {r}\n"))
        }
        _ => None,
    }
}

/// linalg's named operations, on sizes that are known or not.
struct Named<'a> {
    dynamic: bool,
    operands: &'a [Type],
    result: &'a Type,
}

impl Named<'_> {
    fn ty(&self, ty: &Type) -> String {
        if self.dynamic { dynamic(ty) } else { ty.mlir() }
    }

    /// An empty tensor `%e` of the result's type, whose sizes are those of dimensions of operands.
    fn empty(&self, from: &[(usize, usize)]) -> String {
        let (mut text, mut sizes) = (String::new(), vec![]);
        if self.dynamic {
            for (i, (operand, axis)) in from.iter().enumerate() {
                let ty = self.ty(&self.operands[*operand]);
                let _ = writeln!(
                    text,
                    "%a{i} = arith.constant {axis} : index\n%d{i} = tensor.dim %x{operand}, %a{i} : {ty}"
                );
                sizes.push(format!("%d{i}"));
            }
        }
        text + &format!("%e = tensor.empty({}) : {}\n", sizes.join(", "), self.ty(self.result))
    }

    /// `%o`, the empty tensor filled with a number.
    fn filled(&self, number: &str) -> String {
        let (dtype, r) = (self.result.dtype, self.ty(self.result));
        format!("%z = arith.constant {number} : {dtype}\n%o = linalg.fill ins(%z : {dtype}) outs(%e : {r}) -> {r}\n")
    }

    fn body(&self, op: &Op) -> Option<String> {
        let (operands, result) = (self.operands, self.result);
        let ty = operands.first()?;
        let (t, r) = (self.ty(ty), self.ty(result));
        let same = operands.iter().all(|t| t.shape == result.shape && t.shape.iter().all(|n| *n > 0));
        let zero = if ty.dtype.is_float() { "0.0" } else { "0" };
        let ins = |n: usize| {
            let names = (0..n).map(|i| format!("%x{i}")).collect::<Vec<_>>().join(", ");
            format!("ins({names} : {})", operands[..n].iter().map(|t| self.ty(t)).collect::<Vec<_>>().join(", "))
        };
        let own: Vec<(usize, usize)> = (0..result.shape.len()).map(|axis| (0, axis)).collect();
        Some(match op {
            Op::Binary(op, ..) if same && ty.dtype != DType::I1 => {
                let name = match op {
                    Binary::Add => "add",
                    Binary::Sub => "sub",
                    Binary::Mul => "mul",
                    Binary::Div if ty.dtype.is_float() => "div",
                    Binary::Maximum => "max",
                    Binary::Minimum => "min",
                    Binary::Pow if ty.dtype.is_float() => "powf",
                    _ => return None,
                };
                format!("{}%r = linalg.{name} {} outs(%e : {r}) -> {r}\n", self.empty(&own), ins(2))
            }
            Op::Unary(op, _) if same && ty.dtype.is_float() => {
                let name = match op {
                    Unary::Neg => "negf",
                    Unary::Abs => "abs",
                    Unary::Exp => "exp",
                    Unary::Log => "log",
                    Unary::Sqrt => "sqrt",
                    Unary::Tanh => "tanh",
                    Unary::Erf => "erf",
                    _ => return None,
                };
                format!("{}%r = linalg.{name} {} outs(%e : {r}) -> {r}\n", self.empty(&own), ins(1))
            }
            Op::Select(..) if same => {
                format!("{}%r = linalg.select {} outs(%e : {r}) -> {r}\n", self.empty(&own), ins(3))
            }
            Op::Matmul(..) => {
                let (name, sizes): (_, &[_]) = match (operands[0].shape.len(), operands[1].shape.len()) {
                    (2, 2) => ("matmul", &[(0, 0), (1, 1)]),
                    (2, 1) => ("matvec", &[(0, 0)]),
                    (1, 2) => ("vecmat", &[(1, 1)]),
                    (3, 3) if operands[0].shape[0] == operands[1].shape[0] => {
                        ("batch_matmul", &[(0, 0), (0, 1), (1, 2)])
                    }
                    _ => return None,
                };
                let out = self.empty(sizes) + &self.filled(zero);
                format!("{out}%r = linalg.{name} {} outs(%o : {r}) -> {r}\n", ins(2))
            }
            Op::Transpose(_, permutation) => {
                let from: Vec<_> = permutation.iter().map(|&axis| (0, axis)).collect();
                let permutation = list(permutation);
                format!(
                    "{}%r = linalg.transpose {} outs(%e : {r}) permutation = [{permutation}]\n",
                    self.empty(&from),
                    ins(1)
                )
            }
            Op::Reduce(kind, _, axes, false) if *kind == Reduction::Max || !is_half(ty.dtype) => {
                let (name, start) = match (kind, ty.dtype) {
                    (Reduction::Sum, d) if d.is_float() => ("addf", "0.0"),
                    (Reduction::Sum, _) => ("addi", "0"),
                    (Reduction::Max, DType::F32) => ("maximumf", "0xFF800000"),
                    (Reduction::Max, DType::F64) => ("maximumf", "0xFFF0000000000000"),
                    (Reduction::Max, DType::F16) => ("maximumf", "0xFC00"),
                    (Reduction::Max, DType::I32) => ("maxsi", "-2147483648"),
                    _ => return None,
                };
                let kept: Vec<_> = (0..ty.shape.len()).filter(|i| !axes.contains(i)).map(|axis| (0, axis)).collect();
                let (out, axes) = (self.empty(&kept) + &self.filled(start), list(axes));
                format!("{out}%r = linalg.reduce {{ arith.{name} }} {} outs(%o : {r}) dimensions = [{axes}]\n", ins(1))
            }
            Op::Softmax(_, axis) if !is_half(ty.dtype) && !ty.shape.contains(&0) => {
                format!("{}%r = linalg.softmax dimension({axis}) {} outs(%e : {r}) -> {r}\n", self.empty(&own), ins(1))
            }
            Op::Concat(all, axis) if !self.dynamic => {
                let arguments = (0..all.len()).map(|i| format!("%x{i}")).collect::<Vec<_>>().join(", ");
                let types = operands.iter().map(Type::mlir).collect::<Vec<_>>().join(", ");
                format!("%r = tensor.concat dim({axis}) {arguments} : ({types}) -> {r}\n")
            }
            Op::Reshape(_, shape) if !self.dynamic && !shape.is_empty() => format!(
                "%s = arith.constant dense<[{}]> : tensor<{n}xindex>\n%r = tensor.reshape %x0(%s) : ({t}, tensor<{n}xindex>) -> {r}\n",
                list(shape),
                n = shape.len()
            ),
            Op::Broadcast(_, shape) if !self.dynamic && shape.ends_with(&ty.shape) => {
                let added: Vec<usize> = (0..shape.len() - ty.shape.len()).collect();
                format!(
                    "{}%r = linalg.broadcast {} outs(%e : {r}) dimensions = [{}]\n",
                    self.empty(&[]),
                    ins(1),
                    list(&added)
                )
            }
            _ => return None,
        })
    }
}
