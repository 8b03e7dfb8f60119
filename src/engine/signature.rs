//! What a function takes and returns, in MLIR's terms.
//!
//! A function that is lowered to the LLVM dialect has lost its types; `tinymlir.signature` (a function type),
//! `tinymlir.arg_attrs` and `tinymlir.res_attrs` (arrays of dictionaries) keep them. Without a record only a function of
//! scalars can be called.

use super::entry::{Entry, Leaf};
use crate::DType;
use serde::{Deserialize, Serialize};
use std::fmt;
use tinymlir_passes::ir::{Attr, Op, Type};

/// How a value crosses the boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValueType {
    /// A ranked tensor or memref.
    Array {
        /// The element type.
        dtype: DType,
        /// The sizes, outermost first; `None` is known at run time only.
        shape: Vec<Option<usize>>,
        /// Strides and offset in elements, absent for dense row-major order; `None` inside stands for any.
        layout: Option<(Vec<Option<usize>>, Option<usize>)>,
    },
    /// An unranked tensor or memref.
    Unranked(DType),
    /// A scalar.
    Scalar(DType),
    /// A type that cannot cross the boundary, as MLIR writes it.
    Unsupported(String),
}

impl ValueType {
    fn of(ty: Type) -> ValueType {
        let unsupported = || ValueType::Unsupported(ty.to_string());
        let dtype = |t: Type| DType::from_mlir(&t.to_string());
        let ranked = ty.is_tensor() || ty.is_memref();
        if !ranked && !ty.is_unranked_memref() {
            return dtype(ty).map_or_else(unsupported, ValueType::Scalar);
        }
        let Some(dtype) = ty.element().and_then(dtype) else { return unsupported() };
        let Some(shape) = ty.shape() else { return ValueType::Unranked(dtype) };
        let sizes = |v: &[Option<i64>]| v.iter().map(|n| n.map(usize::try_from).transpose().ok()).collect();
        let Some(shape) = sizes(&shape) else { return unsupported() };
        let layout = match ty.memref() {
            None if ty.is_memref() => return unsupported(), // an affine map that is no strided layout
            Some(m) if !m.is_identity() => match (sizes(&m.strides), m.offset.map(usize::try_from).transpose()) {
                (Some(strides), Ok(offset)) => Some((strides, offset)),
                _ => return unsupported(), // negative strides
            },
            _ => None,
        };
        ValueType::Array { dtype, shape, layout }
    }

    /// The element type.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            ValueType::Array { dtype, .. } | ValueType::Unranked(dtype) | ValueType::Scalar(dtype) => Some(*dtype),
            ValueType::Unsupported(_) => None,
        }
    }

    /// The sizes, where the type says them all.
    pub fn static_shape(&self) -> Option<Vec<usize>> {
        match self {
            ValueType::Array { shape, .. } => shape.iter().copied().collect(),
            ValueType::Scalar(_) => Some(Vec::new()),
            ValueType::Unranked(_) | ValueType::Unsupported(_) => None,
        }
    }

    /// Whether an array of these sizes is of this type.
    pub fn accepts(&self, sizes: &[usize]) -> bool {
        match self {
            ValueType::Array { shape, .. } => {
                shape.len() == sizes.len() && shape.iter().zip(sizes).all(|(a, b)| a.is_none_or(|a| a == *b))
            }
            ValueType::Scalar(_) => sizes.is_empty(),
            ValueType::Unranked(_) => true,
            ValueType::Unsupported(_) => false,
        }
    }

    /// The LLVM parameters that it becomes, and what each consists of.
    pub(super) fn parameters(&self) -> Vec<Vec<Leaf>> {
        match self {
            ValueType::Array { shape, .. } => {
                let integers = std::iter::repeat_n(vec![Leaf::Int(64)], 1 + 2 * shape.len());
                [vec![Leaf::Pointer], vec![Leaf::Pointer]].into_iter().chain(integers).collect()
            }
            ValueType::Unranked(_) => vec![vec![Leaf::Int(64)], vec![Leaf::Pointer]],
            ValueType::Scalar(dtype) => vec![scalar(*dtype)],
            ValueType::Unsupported(_) => vec![vec![Leaf::Other]],
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ValueType::Array { dtype, shape, .. } => {
                f.write_str("tensor<")?;
                for size in shape {
                    match size {
                        Some(n) => write!(f, "{n}x")?,
                        None => f.write_str("?x")?,
                    }
                }
                write!(f, "{dtype}>")
            }
            ValueType::Unranked(dtype) => write!(f, "tensor<*x{dtype}>"),
            ValueType::Scalar(dtype) => write!(f, "{dtype}"),
            ValueType::Unsupported(text) => f.write_str(text),
        }
    }
}

fn scalar(dtype: DType) -> Vec<Leaf> {
    use DType::*;
    match dtype {
        I1 => vec![Leaf::Int(1)],
        I4 => vec![Leaf::Int(4)],
        I8 | U8 => vec![Leaf::Int(8)],
        I16 | U16 => vec![Leaf::Int(16)],
        I32 | U32 => vec![Leaf::Int(32)],
        I64 | U64 | Index => vec![Leaf::Int(64)],
        F16 => vec![Leaf::Half],
        BF16 => vec![Leaf::BFloat],
        F32 => vec![Leaf::Float],
        F64 => vec![Leaf::Double],
        C64 => vec![Leaf::Float; 2],
        C128 => vec![Leaf::Double; 2],
    }
}

/// An argument of a function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Argument {
    /// `tinymlir.name`.
    pub name: Option<String>,
    /// Its type.
    pub ty: ValueType,
    /// `tinymlir.range`: the integers `lo..hi` that the function can take.
    pub range: Option<(i64, i64)>,
    /// Whether the function may write to it: what is marked `tinymlir.writable`, and a memref, unless our pipeline made it
    /// from a tensor (which `tinymlir.read_only` on the function tells).
    pub writable: bool,
    /// `tinymlir.host`: host code touches it, so that it must lie in memory that host and GPU share.
    pub host: bool,
}

/// A result of a function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Output {
    /// `tinymlir.name`, or that of `argument`.
    pub name: Option<String>,
    /// Its type.
    pub ty: ValueType,
    /// The writable argument that it is, updated in place; the code does not return it (`tinymlir.results`).
    pub argument: Option<usize>,
}

/// What a function takes and returns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Signature {
    /// The function's name.
    pub name: String,
    /// In order.
    pub arguments: Vec<Argument>,
    /// In order.
    pub results: Vec<Output>,
}

impl Signature {
    /// Of a `func.func`, or of an `llvm.func` that carries its record; `None` of anything else.
    pub fn of(function: Op) -> Option<Signature> {
        let (ty, arguments, results) = if function.is("func.func") {
            ("function_type", "arg_attrs", "res_attrs")
        } else if function.is("llvm.func") {
            ("tinymlir.signature", "tinymlir.arg_attrs", "tinymlir.res_attrs")
        } else {
            return None;
        };
        let (inputs, outputs) = function.attr(ty)?.as_type()?.function()?;
        let attributes = |list: &str| function.attr(list).and_then(Attr::elements).unwrap_or_default();
        let (argument_attrs, result_attrs) = (attributes(arguments), attributes(results));
        let bufferized = function.attr(tinymlir_passes::tinymlir_deallocate::READ_ONLY).is_some();
        let name = |attrs: Option<&Attr>| attrs.and_then(|a| a.get("tinymlir.name")).and_then(Attr::as_str);
        let argument = |(i, ty): (usize, Type)| {
            let attrs = argument_attrs.get(i);
            let range = attrs.and_then(|a| a.get("tinymlir.range")).and_then(|r| {
                let bounds: Vec<_> = r.elements()?.into_iter().map(Attr::as_int).collect::<Option<_>>()?;
                (bounds.len() == 2).then(|| (bounds[0], bounds[1]))
            });
            let writable = match attrs.and_then(|a| a.get("tinymlir.writable")) {
                Some(marked) => marked.as_bool().unwrap_or(true),
                None => !bufferized && (ty.is_memref() || ty.is_unranked_memref()),
            };
            Argument {
                name: name(attrs),
                ty: ValueType::of(ty),
                range,
                writable,
                host: attrs.is_some_and(|a| a.get("tinymlir.host").is_some()),
            }
        };
        let arguments: Vec<Argument> = inputs.into_iter().enumerate().map(argument).collect();
        let output = |(i, ty)| Output { name: name(result_attrs.get(i)), ty: ValueType::of(ty), argument: None };
        let mut results: Vec<Output> = outputs.into_iter().enumerate().map(output).collect();
        for (i, place) in function.attr("tinymlir.results").and_then(Attr::elements).into_iter().flatten().enumerate() {
            let place = place.as_int().and_then(|n| usize::try_from(n).ok()).filter(|n| *n < arguments.len());
            if let Some(place) = place.filter(|_| i <= results.len()) {
                let Argument { name, ty, .. } = arguments[place].clone();
                results.insert(i, Output { name, ty, argument: Some(place) });
            }
        }
        Some(Signature { name: function.symbol()?, arguments, results })
    }

    /// Of a function of scalars, by its LLVM types. `None` when there are others.
    pub(super) fn of_scalars(entry: &Entry) -> Option<Signature> {
        let scalar = |leaf: &Leaf| {
            Some(ValueType::Scalar(match leaf {
                Leaf::Int(1) => DType::I1,
                Leaf::Int(4) => DType::I4,
                Leaf::Int(8) => DType::I8,
                Leaf::Int(16) => DType::I16,
                Leaf::Int(32) => DType::I32,
                Leaf::Int(64) => DType::I64,
                Leaf::Half => DType::F16,
                Leaf::BFloat => DType::BF16,
                Leaf::Float => DType::F32,
                Leaf::Double => DType::F64,
                Leaf::Int(_) | Leaf::Pointer | Leaf::Other => return None,
            }))
        };
        let argument = |parameter: &Vec<Leaf>| {
            let [leaf] = parameter[..] else { return None };
            Some(Argument { name: None, ty: scalar(&leaf)?, range: None, writable: false, host: false })
        };
        Some(Signature {
            name: entry.name.clone(),
            arguments: entry.parameters.iter().map(argument).collect::<Option<_>>()?,
            results: entry
                .results
                .iter()
                .map(|l| Some(Output { name: None, ty: scalar(l)?, argument: None }))
                .collect::<Option<_>>()?,
        })
    }

    /// The results that the code returns.
    pub(super) fn returned(&self) -> impl Iterator<Item = &Output> {
        self.results.iter().filter(|r| r.argument.is_none())
    }

    /// Whether the LLVM function `entry` can be what this describes.
    pub(super) fn matches(&self, entry: &Entry) -> bool {
        let parameters = self.arguments.iter().flat_map(|a| a.ty.parameters());
        let results = self.returned().flat_map(|r| r.ty.parameters()).flatten();
        parameters.eq(entry.parameters.iter().cloned()) && results.eq(entry.results.iter().copied())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "@{}(", self.name)?;
        for (i, argument) in self.arguments.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            match &argument.name {
                Some(name) => write!(f, "{comma}{name}: {}", argument.ty)?,
                None => write!(f, "{comma}{}", argument.ty)?,
            }
        }
        let results: Vec<_> = self.results.iter().map(|r| r.ty.to_string()).collect();
        write!(f, ") -> ({})", results.join(", "))
    }
}
