//! Arithmetic, comparisons, choice and conversion, element by element with broadcasting.

use super::{
    graph::{Comparison, Graph, INVALID, Map, Op, Value},
    types::{Promotion, Type, broadcast, check_dtype},
};
use crate::DType;
use anyhow::{Result, bail, ensure};

/// What may stand beside a [`Value`] in an expression: another one, or a number that takes the value's element type.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'g> {
    /// A tensor.
    Value(Value<'g>),
    /// A number.
    Number(f64),
}

impl<'g> From<Value<'g>> for Operand<'g> {
    fn from(value: Value<'g>) -> Self {
        Operand::Value(value)
    }
}

impl From<f64> for Operand<'_> {
    fn from(number: f64) -> Self {
        Operand::Number(number)
    }
}

/// The operand types that an operation takes.
#[derive(Clone, Copy, PartialEq)]
enum Domain {
    /// Under NumPy's policy integers become `f64`.
    Float,
    Number,
    Integer,
    Bool,
    Any,
}

impl<'g> Value<'g> {
    /// The graph that it is part of.
    pub fn graph(self) -> &'g Graph {
        self.graph
    }

    /// The type; after an error that of a scalar.
    pub fn ty(self) -> Type {
        match self.id {
            INVALID => Type::new(DType::F32, &[]),
            id => self.graph.inner.borrow().nodes[id].ty.clone(),
        }
    }

    /// The sizes; none after an error.
    pub fn shape(self) -> Vec<usize> {
        self.ty().shape
    }

    /// The element type.
    pub fn dtype(self) -> DType {
        self.ty().dtype
    }

    /// The number of axes.
    pub fn rank(self) -> usize {
        self.ty().shape.len()
    }

    /// Runs `build` unless an operand is invalid already; its error is kept with the caller's place.
    #[track_caller]
    pub(super) fn apply(
        self,
        what: &str,
        others: &[Value<'g>],
        build: impl FnOnce() -> Result<Value<'g>>,
    ) -> Value<'g> {
        if self.id == INVALID || others.iter().any(|v| v.id == INVALID) {
            return Value { id: INVALID, ..self };
        }
        self.graph.record(what, || {
            ensure!(others.iter().all(|v| std::ptr::eq(v.graph, self.graph)), "an operand belongs to another graph");
            build()
        })
    }

    /// Converts to `dtype`: floats are rounded to nearest, or towards zero when they become integers; a bool is 0 or 1,
    /// and anything but zero is true.
    #[track_caller]
    pub fn cast(self, dtype: DType) -> Value<'g> {
        self.apply("cast", &[], || {
            check_dtype(dtype)?;
            Ok(self.converted(dtype))
        })
    }

    fn converted(self, dtype: DType) -> Value<'g> {
        let Type { dtype: from, shape } = self.ty();
        if from == dtype {
            return self;
        }
        let constant = match self.graph.inner.borrow().nodes[self.id].op {
            Op::Constant(value) if from.is_float() || dtype.is_float() => Some(value),
            _ => None,
        };
        let op = match constant {
            Some(value) if dtype.is_float() => Op::Constant(value),
            _ => Op::Map(Map::Cast, vec![self.id]),
        };
        self.graph.node(Type::new(dtype, &shape), op)
    }

    /// The bits of each `f32` or `f64`, as an `i32` or `i64`.
    #[track_caller]
    pub fn bits(self) -> Value<'g> {
        self.apply("bits", &[], || {
            let ty = self.ty();
            let dtype = match ty.dtype {
                DType::F32 => DType::I32,
                DType::F64 => DType::I64,
                other => bail!("takes f32 or f64, not {other}"),
            };
            Ok(self.graph.node(Type::new(dtype, &ty.shape), Op::Map(Map::Bits, vec![self.id])))
        })
    }

    #[track_caller]
    fn unary(self, what: &str, map: Map, domain: Domain) -> Value<'g> {
        self.apply(what, &[], || {
            let value = self.within(domain)?;
            Ok(value.graph.node(value.ty(), Op::Map(map, vec![value.id])))
        })
    }

    #[track_caller]
    fn binary(self, what: &str, map: Map, domain: Domain, other: Operand<'g>) -> Value<'g> {
        let others = match other {
            Operand::Value(v) => vec![v],
            Operand::Number(_) => vec![],
        };
        self.apply(what, &others, || {
            let (a, b) = self.unified(other)?;
            let (a, b) = (a.within(domain)?, b.within(domain)?);
            let shape = broadcast(&a.shape(), &b.shape())?;
            let dtype = if matches!(map, Map::Compare(_)) { DType::I1 } else { a.dtype() };
            Ok(a.graph.node(Type::new(dtype, &shape), Op::Map(map, vec![a.id, b.id])))
        })
    }

    /// Both operands under the element type that the policy gives them.
    fn unified(self, other: Operand<'g>) -> Result<(Value<'g>, Value<'g>)> {
        let (own, policy) = (self.dtype(), self.graph.promotion());
        match other {
            Operand::Value(other) => {
                let dtype = policy.resolve(own, other.dtype())?;
                Ok((self.converted(dtype), other.converted(dtype)))
            }
            Operand::Number(number) => {
                let fits = own.is_float() || (own != DType::I1 && number.fract() == 0.0);
                ensure!(
                    fits || policy == Promotion::NumPy,
                    "{number} is not a number of type {own} (cast, or switch NumPy's promotion on)"
                );
                let dtype = match fits {
                    true => own,
                    false => DType::F64,
                };
                let constant = self.graph.node(Type::new(dtype, &[]), Op::Constant(number));
                Ok((self.converted(dtype), constant))
            }
        }
    }

    fn within(self, domain: Domain) -> Result<Value<'g>> {
        let dtype = self.dtype();
        match domain {
            Domain::Any => Ok(self),
            Domain::Bool if dtype != DType::I1 => bail!("takes i1, not {dtype}"),
            Domain::Bool => Ok(self),
            Domain::Number if dtype == DType::I1 => bail!("takes numbers, not i1 (cast first)"),
            Domain::Number => Ok(self),
            Domain::Integer if dtype == DType::I1 || dtype.is_float() => bail!("takes integers, not {dtype}"),
            Domain::Integer => Ok(self),
            Domain::Float if dtype.is_float() => Ok(self),
            Domain::Float if self.graph.promotion() == Promotion::NumPy => Ok(self.converted(DType::F64)),
            Domain::Float => bail!("takes floats, not {dtype} (cast first, or switch NumPy's promotion on)"),
        }
    }

    /// This where `self` is true, `otherwise` elsewhere.
    #[track_caller]
    pub fn select(self, then: Value<'g>, otherwise: impl Into<Operand<'g>>) -> Value<'g> {
        let otherwise = otherwise.into();
        let mut others = vec![then];
        others.extend(match otherwise {
            Operand::Value(v) => Some(v),
            Operand::Number(_) => None,
        });
        self.apply("select", &others, || {
            self.within(Domain::Bool)?;
            let (then, otherwise) = then.unified(otherwise)?;
            let shape = broadcast(&broadcast(&self.shape(), &then.shape())?, &otherwise.shape())?;
            let op = Op::Map(Map::Select, vec![self.id, then.id, otherwise.id]);
            Ok(self.graph.node(Type::new(then.dtype(), &shape), op))
        })
    }

    /// `fill` wherever the position along the last axis is past the one along the axis before it.
    #[track_caller]
    pub fn causal_mask(self, fill: f64) -> Value<'g> {
        self.apply("causal_mask", &[], || {
            let ty = self.within(Domain::Number)?.ty();
            ensure!(ty.shape.len() >= 2, "takes at least two axes, not {:?}", ty.shape);
            ensure!(ty.dtype.is_float() || fill.fract() == 0.0, "{fill} is not a number of type {}", ty.dtype);
            Ok(self.graph.node(ty, Op::Map(Map::Causal(fill), vec![self.id])))
        })
    }

    /// `self` multiplied by itself `exponent - 1` times.
    #[track_caller]
    pub fn powi(self, exponent: u32) -> Value<'g> {
        match exponent {
            0 => self * 0.0 + 1.0,
            _ => (1..exponent).fold(self, |power, _| power * self),
        }
    }

    /// Copies `self` along new leading axes and axes of size 1.
    #[track_caller]
    pub fn broadcast_to(self, shape: &[usize]) -> Value<'g> {
        self.apply("broadcast_to", &[], || {
            let ty = self.ty();
            ensure!(
                broadcast(&ty.shape, shape).is_ok_and(|s| s == shape),
                "shape {:?} does not broadcast to {shape:?}",
                ty.shape
            );
            Ok(self.graph.node(Type::new(ty.dtype, shape), Op::Map(Map::Cast, vec![self.id])))
        })
    }
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $map:ident $domain:ident),* $(,)?) => {
        impl<'g> Value<'g> { $(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(self) -> Value<'g> { self.unary(stringify!($name), Map::$map, Domain::$domain) }
        )* }
    };
}

unary! {
    /// The absolute value.
    abs Abs Number,
    /// e to the power of each element.
    exp Exp Float,
    /// The natural logarithm.
    log Log Float,
    /// The square root.
    sqrt Sqrt Float,
    /// The hyperbolic tangent.
    tanh Tanh Float,
    /// The error function.
    erf Erf Float,
    /// The sine of radians.
    sin Sin Float,
    /// The cosine of radians.
    cos Cos Float,
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $map:expr, $domain:ident);* $(;)?) => {
        impl<'g> Value<'g> { $(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(self, other: impl Into<Operand<'g>>) -> Value<'g> {
                self.binary(stringify!($name), $map, Domain::$domain, other.into())
            }
        )* }
    };
}

binary! {
    /// `self` to the power of `other`.
    pow Map::Pow, Number;
    /// The larger one; NaN if either is.
    maximum Map::Maximum, Number;
    /// The smaller one; NaN if either is.
    minimum Map::Minimum, Number;
    /// The bits in which the integers differ.
    xor Map::Xor, Integer;
    /// The bits of an integer moved down by `other` places, fewer than it has; zeros come in.
    shift_right Map::ShiftRight, Integer;
    /// Whether both are equal, as `i1`.
    equals Map::Compare(Comparison::Eq), Any;
    /// Whether they differ, as `i1`; true for NaN.
    differs Map::Compare(Comparison::Ne), Any;
    /// Whether `self` is less, as `i1`.
    less Map::Compare(Comparison::Lt), Number;
    /// Whether `self` is less or equal, as `i1`.
    at_most Map::Compare(Comparison::Le), Number;
    /// Whether `self` is greater, as `i1`.
    greater Map::Compare(Comparison::Gt), Number;
    /// Whether `self` is greater or equal, as `i1`.
    at_least Map::Compare(Comparison::Ge), Number;
}

macro_rules! operators {
    ($($trait:ident $method:ident $map:ident $domain:ident),*) => { $(
        impl<'g, T: Into<Operand<'g>>> std::ops::$trait<T> for Value<'g> {
            type Output = Value<'g>;
            #[track_caller]
            fn $method(self, other: T) -> Value<'g> {
                self.binary(stringify!($method), Map::$map, Domain::$domain, other.into())
            }
        }
    )* };
}
operators! {
    Add add Add Number, Sub sub Sub Number, Mul mul Mul Number, Div div Div Float, BitAnd bitand And Bool, BitOr bitor Or Bool
}

macro_rules! number_first {
    ($($trait:ident $method:ident),*) => { $(
        impl<'g> std::ops::$trait<Value<'g>> for f64 {
            type Output = Value<'g>;
            #[track_caller]
            fn $method(self, other: Value<'g>) -> Value<'g> {
                let number = other.apply(stringify!($method), &[], || {
                    let (_, number) = other.unified(Operand::Number(self))?;
                    Ok(number)
                });
                number.$method(other)
            }
        }
    )* };
}
number_first! { Add add, Sub sub, Mul mul, Div div }

impl<'g> std::ops::Neg for Value<'g> {
    type Output = Value<'g>;
    #[track_caller]
    fn neg(self) -> Value<'g> {
        self.unary("neg", Map::Neg, Domain::Number)
    }
}

impl<'g> std::ops::Not for Value<'g> {
    type Output = Value<'g>;
    #[track_caller]
    fn not(self) -> Value<'g> {
        self.unary("not", Map::Not, Domain::Bool)
    }
}
