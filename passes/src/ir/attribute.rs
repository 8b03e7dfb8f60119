//! Attributes and affine maps.

use super::{Ctx, Type, handle, printed, string_ref, to_string};
use mlir_sys::*;
use std::ffi::c_int;

handle! {
    /// An attribute; the context keeps it.
    Attr(MlirAttribute)
}

impl Attr {
    pub(crate) fn some(raw: MlirAttribute) -> Option<Attr> {
        (!raw.ptr.is_null()).then_some(Attr(raw))
    }
    /// Parses an attribute as MLIR writes it. Fails on text that does not parse, after a diagnostic.
    pub fn parse(ctx: Ctx, text: &str) -> Option<Attr> {
        let owned = std::ffi::CString::new(text).ok()?; // the lexer wants a NUL at the end
        let text = MlirStringRef { data: owned.as_ptr(), length: owned.as_bytes().len() };
        // SAFETY: the string lives through the call.
        Attr::some(unsafe { mlirAttributeParseGet(ctx.0, text) })
    }
    /// A string.
    pub fn string(ctx: Ctx, text: &str) -> Attr {
        // SAFETY: the string lives through the call.
        Attr(unsafe { mlirStringAttrGet(ctx.0, string_ref(text)) })
    }
    /// A reference to a symbol.
    pub fn symbol(ctx: Ctx, name: &str) -> Attr {
        // SAFETY: the string lives through the call.
        Attr(unsafe { mlirFlatSymbolRefAttrGet(ctx.0, string_ref(name)) })
    }
    /// A reference to a symbol inside of another, `@holder::@name`.
    pub fn symbol_in(ctx: Ctx, holder: &str, name: &str) -> Attr {
        let inner = Attr::symbol(ctx, name).0;
        // SAFETY: the string and the reference live through the call.
        Attr(unsafe { mlirSymbolRefAttrGet(ctx.0, string_ref(holder), 1, &inner) })
    }
    /// The unit attribute.
    pub fn unit(ctx: Ctx) -> Attr {
        // SAFETY: a live context.
        Attr(unsafe { mlirUnitAttrGet(ctx.0) })
    }
    /// A boolean.
    pub fn boolean(ctx: Ctx, value: bool) -> Attr {
        // SAFETY: a live context.
        Attr(unsafe { mlirBoolAttrGet(ctx.0, value.into()) })
    }
    /// A type as an attribute.
    pub fn of_type(ty: Type) -> Attr {
        // SAFETY: a live type.
        Attr(unsafe { mlirTypeAttrGet(ty.0) })
    }
    /// An array.
    pub fn array(ctx: Ctx, elements: &[Attr]) -> Attr {
        let raw: Vec<_> = elements.iter().map(|e| e.0).collect();
        // SAFETY: `raw` lives through the call.
        Attr(unsafe { mlirArrayAttrGet(ctx.0, raw.len() as isize, raw.as_ptr()) })
    }
    /// A dictionary.
    pub fn dictionary(ctx: Ctx, entries: &[(String, Attr)]) -> Attr {
        // SAFETY: the strings and the vector live through the calls.
        unsafe {
            let raw: Vec<_> = entries
                .iter()
                .map(|(name, value)| mlirNamedAttributeGet(mlirIdentifierGet(ctx.0, string_ref(name)), value.0))
                .collect();
            Attr(mlirDictionaryAttrGet(ctx.0, raw.len() as isize, raw.as_ptr()))
        }
    }
    /// The text of a string attribute.
    pub fn as_str(self) -> Option<String> {
        // SAFETY: the kind is checked first (so below).
        unsafe { mlirAttributeIsAString(self.0).then(|| to_string(mlirStringAttrGetValue(self.0))) }
    }
    /// The name in a flat symbol reference, or the root of a nested one.
    pub fn as_symbol(self) -> Option<String> {
        // SAFETY: as above.
        unsafe { mlirAttributeIsASymbolRef(self.0).then(|| to_string(mlirSymbolRefAttrGetRootReference(self.0))) }
    }
    /// The names of the root and of the leaf of a symbol reference, as they are: printed they are quoted and escaped where they
    /// hold anything but letters, digits and `_$.`.
    pub fn as_symbol_path(self) -> Option<(String, String)> {
        // SAFETY: as above.
        let leaf =
            unsafe { mlirAttributeIsASymbolRef(self.0).then(|| to_string(mlirSymbolRefAttrGetLeafReference(self.0))) };
        Some((self.as_symbol()?, leaf?))
    }
    /// The value of an integer attribute.
    pub fn as_int(self) -> Option<i64> {
        // SAFETY: as above.
        unsafe { mlirAttributeIsAInteger(self.0).then(|| mlirIntegerAttrGetValueInt(self.0)) }
    }
    /// The value of a boolean attribute.
    pub fn as_bool(self) -> Option<bool> {
        // SAFETY: as above.
        unsafe { mlirAttributeIsABool(self.0).then(|| mlirBoolAttrGetValue(self.0)) }
    }
    /// The type in a type attribute.
    pub fn as_type(self) -> Option<Type> {
        // SAFETY: as above.
        unsafe { mlirAttributeIsAType(self.0).then(|| Type(mlirTypeAttrGetValue(self.0))) }
    }
    /// The code in a `#gpu.object`.
    pub fn gpu_object(self) -> Option<Vec<u8>> {
        // SAFETY: as above; the attribute owns the bytes, which are copied.
        unsafe {
            mlirAttributeIsAGPUObjectAttr(self.0).then(|| {
                let code = mlirGPUObjectAttrGetObject(self.0);
                match code.length {
                    0 => Vec::new(),
                    length => std::slice::from_raw_parts(code.data.cast::<u8>(), length).to_vec(),
                }
            })
        }
    }
    /// The elements of an array attribute.
    pub fn elements(self) -> Option<Vec<Attr>> {
        // SAFETY: as above, within the number of elements.
        unsafe {
            mlirAttributeIsAArray(self.0).then(|| {
                (0..mlirArrayAttrGetNumElements(self.0)).map(|i| Attr(mlirArrayAttrGetElement(self.0, i))).collect()
            })
        }
    }
    /// An entry of a dictionary attribute.
    pub fn get(self, name: &str) -> Option<Attr> {
        // SAFETY: as above; absent is null.
        unsafe {
            mlirAttributeIsADictionary(self.0)
                .then(|| mlirDictionaryAttrGetElementByName(self.0, string_ref(name)))
                .and_then(Attr::some)
        }
    }
    /// The entries of a dictionary attribute.
    pub fn entries(self) -> Vec<(String, Attr)> {
        // SAFETY: as above, within the number of entries.
        unsafe {
            if !mlirAttributeIsADictionary(self.0) {
                return vec![];
            }
            (0..mlirDictionaryAttrGetNumElements(self.0))
                .map(|i| {
                    let entry = mlirDictionaryAttrGetElement(self.0, i);
                    (to_string(mlirIdentifierStr(entry.name)), Attr(entry.attribute))
                })
                .collect()
        }
    }
    /// The values of an elements attribute of integers (`dense<[...]> : tensor<...xi64>`).
    pub fn as_dense_ints(self) -> Option<Vec<i64>> {
        // SAFETY: the kinds are checked first.
        unsafe {
            if !mlirAttributeIsADenseIntElements(self.0) {
                return None;
            }
            let splat = mlirDenseElementsAttrIsSplat(self.0);
            Some(
                (0..mlirElementsAttrGetNumElements(self.0))
                    .map(|i| {
                        if splat {
                            mlirDenseElementsAttrGetInt64SplatValue(self.0)
                        } else {
                            mlirDenseElementsAttrGetInt64Value(self.0, i as isize)
                        }
                    })
                    .collect(),
            )
        }
    }
    /// The values of a `array<i64: ...>`; `None` in it stands for what is known at run time only.
    pub fn as_static_sizes(self) -> Option<Vec<Option<i64>>> {
        // SAFETY: as above, within the number of elements.
        unsafe {
            mlirAttributeIsADenseI64Array(self.0).then(|| {
                (0..mlirDenseArrayGetNumElements(self.0))
                    .map(|i| mlirDenseI64ArrayGetElement(self.0, i))
                    .map(|v| (v != i64::MIN).then_some(v)) // ShapedType::kDynamic
                    .collect()
            })
        }
    }
    /// The values of a `array<i32: ...>`, such as how many operands belong to each part of an operation.
    pub fn as_i32_array(self) -> Option<Vec<i32>> {
        // SAFETY: as above, within the number of elements.
        unsafe {
            mlirAttributeIsADenseI32Array(self.0).then(|| {
                (0..mlirDenseArrayGetNumElements(self.0)).map(|i| mlirDenseI32ArrayGetElement(self.0, i)).collect()
            })
        }
    }
    /// Whether it stands for elements that the file does not hold: a resource that was left out when it was printed.
    pub fn is_missing_resource(self) -> bool {
        // SAFETY: a live attribute.
        unsafe { super::pass::tmAttributeIsMissingResource(self.0) }
    }
    /// How many bytes the resource of a `dense_resource` has; `None` where it is none or the file does not hold it.
    pub fn resource_bytes(self) -> Option<usize> {
        // SAFETY: a live attribute.
        let bytes = unsafe { super::pass::tmAttributeResource(self.0) };
        (!bytes.data.is_null()).then_some(bytes.length)
    }
    /// The type of a typed attribute, such as elements.
    pub fn ty(self) -> Type {
        // SAFETY: a live attribute; one without a type has the type `none`.
        Type(unsafe { mlirAttributeGetType(self.0) })
    }
    /// Booleans of a resource, one byte each, as an attribute that holds them itself; `None` where it is none of those.
    pub fn inline_booleans(self) -> Option<Attr> {
        let ty = self.ty();
        let count = ty.shape()?.into_iter().try_fold(1usize, |n, size| n.checked_mul(usize::try_from(size?).ok()?))?;
        if !ty.element()?.is("i1") || self.resource_bytes() != Some(count) {
            return None;
        }
        // SAFETY: the resource has that many bytes, the type as many elements.
        unsafe {
            let bytes = super::pass::tmAttributeResource(self.0);
            let bytes = std::slice::from_raw_parts(bytes.data.cast::<u8>(), bytes.length);
            let values: Vec<c_int> = bytes.iter().map(|byte| c_int::from(*byte != 0)).collect();
            Some(Attr(mlirDenseElementsAttrBoolGet(ty.0, values.len() as isize, values.as_ptr())))
        }
    }
    /// The affine map in an affine map attribute.
    pub fn as_map(self) -> Option<AffineMap> {
        // SAFETY: as above.
        unsafe { mlirAttributeIsAAffineMap(self.0).then(|| AffineMap(mlirAffineMapAttrGetValue(self.0))) }
    }
}

impl std::fmt::Display for Attr {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        // SAFETY: a live attribute.
        f.write_str(&printed(|append, out| unsafe { mlirAttributePrint(self.0, append, out) }))
    }
}

handle! {
    /// An affine map; the context keeps it.
    AffineMap(MlirAffineMap)
}

impl AffineMap {
    /// The number of dimensions.
    pub fn num_dims(self) -> usize {
        // SAFETY: a live map (so below).
        unsafe { mlirAffineMapGetNumDims(self.0) as usize }
    }
    /// For each result the dimension that it is, or `None` where it is another expression.
    pub fn dims(self) -> Vec<Option<usize>> {
        // SAFETY: within the number of results; the kind is checked first.
        unsafe {
            (0..mlirAffineMapGetNumResults(self.0))
                .map(|i| {
                    let e = mlirAffineMapGetResult(self.0, i);
                    mlirAffineExprIsADim(e).then(|| mlirAffineDimExprGetPosition(e) as usize)
                })
                .collect()
        }
    }
    /// For each result the constant that it is, or `None`.
    pub fn constants(self) -> Vec<Option<i64>> {
        // SAFETY: as above.
        unsafe {
            (0..mlirAffineMapGetNumResults(self.0))
                .map(|i| {
                    let e = mlirAffineMapGetResult(self.0, i);
                    mlirAffineExprIsAConstant(e).then(|| mlirAffineConstantExprGetValue(e))
                })
                .collect()
        }
    }
    /// The map of result `i` alone.
    pub fn result(self, i: usize) -> AffineMap {
        let mut place = i as isize;
        // SAFETY: within the number of results.
        AffineMap(unsafe { mlirAffineMapGetSubMap(self.0, 1, &mut place) })
    }
    /// The dimensions that result `i` depends on.
    pub fn dims_of(self, i: usize) -> Vec<usize> {
        // SAFETY: within the number of results.
        unsafe {
            let e = mlirAffineMapGetResult(self.0, i as isize);
            (0..self.num_dims()).filter(|d| mlirAffineExprIsFunctionOfDim(e, *d as isize)).collect()
        }
    }
    /// What result `i` is where the dimensions have these values; `None` where it depends on symbols, or divides by zero.
    pub fn value(self, i: usize, at: &[i64]) -> Option<i64> {
        assert_eq!(at.len(), self.num_dims(), "{self}");
        // SAFETY: within the number of results; there is a constant for each dimension.
        unsafe {
            let ctx = mlirAffineMapGetContext(self.0);
            let mut constants: Vec<_> = at.iter().map(|value| mlirAffineConstantExprGet(ctx, *value)).collect();
            let place = mlirAffineMapGet(ctx, 0, 0, constants.len() as isize, constants.as_mut_ptr());
            let e = mlirAffineExprCompose(mlirAffineMapGetResult(self.0, i as isize), place);
            mlirAffineExprIsAConstant(e).then(|| mlirAffineConstantExprGetValue(e))
        }
    }
    /// Whether result i is dimension i, for all.
    pub fn is_identity(self) -> bool {
        // SAFETY: a live map.
        unsafe { mlirAffineMapIsIdentity(self.0) }
    }
}

impl std::fmt::Display for AffineMap {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        // SAFETY: a live map.
        let text = printed(|append, out| unsafe { mlirAffineMapPrint(self.0, append, out) });
        write!(f, "affine_map<{text}>")
    }
}
