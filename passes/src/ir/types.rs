//! Types.

use super::{Attr, Ctx, handle, printed};
use mlir_sys::*;

handle! {
    /// A type; the context keeps it.
    Type(MlirType)
}

/// What a ranked memref type says; `None` stands for what is known at run time only.
#[derive(Clone)]
pub struct MemRef {
    /// Sizes, outermost first.
    pub shape: Vec<Option<i64>>,
    /// The element type.
    pub element: Type,
    /// Elements between neighbours along each dimension.
    pub strides: Vec<Option<i64>>,
    /// The first element's place, in elements.
    pub offset: Option<i64>,
    /// The memory space, absent for the default one.
    pub space: Option<Attr>,
}

impl MemRef {
    /// Whether the elements lie in row-major order without gaps, starting at the aligned pointer.
    pub fn is_identity(&self) -> bool {
        let mut expected = Some(1);
        let dense = self.shape.iter().zip(&self.strides).rev().all(|(size, stride)| {
            let same = expected.is_none() || *size == Some(1) || *stride == expected;
            expected = expected.zip(*size).map(|(e, s)| e * s);
            same
        });
        // Without elements any strides do; MLIR gives zeros.
        (dense || self.shape.contains(&Some(0))) && self.offset == Some(0)
    }
}

impl Type {
    /// Parses a type as MLIR writes it. Fails on text that does not parse, after a diagnostic.
    pub fn parse(ctx: Ctx, text: &str) -> Option<Type> {
        let owned = std::ffi::CString::new(text).ok()?; // the lexer wants a NUL at the end
        let text = MlirStringRef { data: owned.as_ptr(), length: owned.as_bytes().len() };
        // SAFETY: the string lives through the call.
        let raw = unsafe { mlirTypeParseGet(ctx.0, text) };
        (!raw.ptr.is_null()).then_some(Type(raw))
    }
    /// The context.
    pub fn ctx(self) -> Ctx {
        // SAFETY: a live type (so below).
        Ctx(unsafe { mlirTypeGetContext(self.0) })
    }
    /// Whether it is a ranked or unranked tensor.
    pub fn is_tensor(self) -> bool {
        // SAFETY: as above.
        unsafe { mlirTypeIsATensor(self.0) }
    }
    /// Whether it is a ranked tensor with an encoding, such as a sparse one.
    pub fn has_encoding(self) -> bool {
        // SAFETY: the kind is checked first; an absent encoding is null.
        unsafe { mlirTypeIsARankedTensor(self.0) && !mlirRankedTensorTypeGetEncoding(self.0).ptr.is_null() }
    }
    /// Whether it is a ranked memref.
    pub fn is_memref(self) -> bool {
        // SAFETY: as above.
        unsafe { mlirTypeIsAMemRef(self.0) }
    }
    /// Whether it is an unranked memref.
    pub fn is_unranked_memref(self) -> bool {
        // SAFETY: as above.
        unsafe { mlirTypeIsAUnrankedMemRef(self.0) }
    }
    /// Whether it is a ranked memref whose layout is the identity map. Upstream lowers `gpu.memcpy` of no other one, not even where
    /// strides that are written out are those of dense elements.
    pub fn has_identity_map(self) -> bool {
        // SAFETY: the kind is checked first.
        unsafe { self.is_memref() && mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(self.0)) }
    }
    /// The parts of a ranked memref with a strided layout.
    pub fn memref(self) -> Option<MemRef> {
        if !self.is_memref() {
            return None;
        }
        let known = |v: i64| (v != i64::MIN).then_some(v); // ShapedType::kDynamic
        let shape = self.shape()?;
        let (mut strides, mut offset) = (vec![0; shape.len()], 0);
        // SAFETY: the kind is checked, and `strides` has room for the rank.
        unsafe {
            if mlirMemRefTypeGetStridesAndOffset(self.0, strides.as_mut_ptr(), &mut offset).value == 0 {
                return None;
            }
            Some(MemRef {
                shape,
                element: self.element()?,
                strides: strides.into_iter().map(known).collect(),
                offset: known(offset),
                space: Attr::some(mlirMemRefTypeGetMemorySpace(self.0)),
            })
        }
    }
    /// The sizes of a ranked shaped type.
    pub fn shape(self) -> Option<Vec<Option<i64>>> {
        // SAFETY: the kinds are checked first.
        unsafe {
            (mlirTypeIsAShaped(self.0) && mlirShapedTypeHasRank(self.0)).then(|| {
                (0..mlirShapedTypeGetRank(self.0))
                    .map(|i| {
                        (!mlirShapedTypeIsDynamicDim(self.0, i as isize))
                            .then(|| mlirShapedTypeGetDimSize(self.0, i as isize))
                    })
                    .collect()
            })
        }
    }
    /// The element type of a shaped type.
    pub fn element(self) -> Option<Type> {
        // SAFETY: the kind is checked first.
        unsafe { mlirTypeIsAShaped(self.0).then(|| Type(mlirShapedTypeGetElementType(self.0))) }
    }
    /// Inputs and results of a function type.
    pub fn function(self) -> Option<(Vec<Type>, Vec<Type>)> {
        // SAFETY: the kind is checked first; the indices are in range.
        unsafe {
            mlirTypeIsAFunction(self.0).then(|| {
                (
                    (0..mlirFunctionTypeGetNumInputs(self.0))
                        .map(|i| Type(mlirFunctionTypeGetInput(self.0, i)))
                        .collect(),
                    (0..mlirFunctionTypeGetNumResults(self.0))
                        .map(|i| Type(mlirFunctionTypeGetResult(self.0, i)))
                        .collect(),
                )
            })
        }
    }
    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        // SAFETY: as above.
        unsafe { mlirTypeIsAFloat(self.0) }
    }
    /// Whether it is an integer type or index.
    pub fn is_integer_or_index(self) -> bool {
        // SAFETY: as above.
        unsafe { mlirTypeIsAInteger(self.0) || mlirTypeIsAIndex(self.0) }
    }
    /// The bytes of one element of a buffer: of integers and floats rounded up to whole bytes. `None` for other types.
    pub fn bytes(self) -> Option<i64> {
        if self.is("index") {
            return Some(8);
        }
        if !self.is_float() && !self.is_integer_or_index() {
            let text = self.to_string();
            let part = text.strip_prefix("complex<")?.strip_suffix('>')?;
            return Type::parse(self.ctx(), part)?.bytes().map(|bytes| 2 * bytes);
        }
        // SAFETY: the kind is checked.
        let bits =
            unsafe { if self.is_float() { mlirFloatTypeGetWidth(self.0) } else { mlirIntegerTypeGetWidth(self.0) } };
        Some((i64::from(bits) + 7) / 8)
    }
    /// Whether MLIR prints it as `text`.
    pub fn is(self, text: &str) -> bool {
        self.to_string() == text
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        // SAFETY: a live type.
        f.write_str(&printed(|append, out| unsafe { mlirTypePrint(self.0, append, out) }))
    }
}
