//! Entry points: functions of one shape, so that any function of a module can be called through a pointer.
//!
//! For a public function `f` of n LLVM parameters this adds `void __tinymlir_call_f(void **slots)`: parameter i is loaded
//! from `*slots[i]`; the result's scalars (a struct's in order, nested ones flattened) are stored to `*slots[n]`,
//! `*slots[n + 1]` and so on. All else that the module defines becomes internal under a name that no library has, so
//! that a module may define `malloc`, `free` or `printf`. Global constructors and destructors, which no one would run,
//! become [`INITIALIZE`] and [`FINALIZE`].

#![allow(non_upper_case_globals)] // LLVM's names in patterns

use super::{
    jit,
    llvm::{Module, name_of},
};
use anyhow::{Result, ensure};
use mlir_sys::*;
use std::{collections::BTreeSet, ffi::CString};

/// Runs the global constructors.
pub(super) const INITIALIZE: &str = "__tinymlir_initialize";
/// Runs the global destructors.
pub(super) const FINALIZE: &str = "__tinymlir_finalize";

/// The symbol through which `function` is called.
pub(super) fn symbol(function: &str) -> String {
    format!("__tinymlir_call_{function}")
}

/// A scalar of LLVM IR as it crosses the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaf {
    Pointer,
    Int(u32),
    Half,
    BFloat,
    Float,
    Double,
    /// What no argument or result can be: vectors, wide floats.
    Other,
}

/// A callable function: what each parameter consists of, and the result.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: String,
    pub parameters: Vec<Vec<Leaf>>,
    pub results: Vec<Leaf>,
}

/// Adds an entry point for every function in `public` that has a body, and makes everything else internal.
pub(super) fn add(module: &Module, public: &BTreeSet<String>) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut kept = BTreeSet::from([INITIALIZE.to_owned(), FINALIZE.to_owned()]);
    // SAFETY: all values and types belong to the live module; names are NUL-terminated.
    unsafe {
        for function in module.functions() {
            let name = name_of(function);
            if LLVMIsDeclaration(function) == 0 && public.contains(&name) {
                entries.push(add_entry(module, function, &name)?);
                kept.insert(symbol(&name));
            }
        }
        add_structors(module, "llvm.global_ctors", INITIALIZE, false);
        add_structors(module, "llvm.global_dtors", FINALIZE, true);
        for value in module.functions().into_iter().chain(module.globals()) {
            let name = name_of(value);
            if LLVMIsDeclaration(value) == 0 && !kept.contains(&name) && !name.starts_with("llvm.") {
                let renamed = format!("tinymlir.{name}");
                LLVMSetValueName2(value, renamed.as_ptr().cast(), renamed.len());
                LLVMSetLinkage(value, LLVMLinkage_LLVMInternalLinkage);
            }
        }
    }
    module.verify()?;
    Ok(entries)
}

/// The names that the module refers to and nothing defines.
pub(super) fn unresolved(module: &Module) -> Vec<String> {
    // SAFETY: all values belong to the live module.
    unsafe {
        let used_declaration = |v: &LLVMValueRef| {
            LLVMIsDeclaration(*v) != 0
                && !LLVMGetFirstUse(*v).is_null()
                && LLVMGetLinkage(*v) != LLVMLinkage_LLVMExternalWeakLinkage
        };
        let names = module.functions().into_iter().chain(module.globals()).filter(used_declaration).map(|v| name_of(v));
        names
            .filter(|name| !name.starts_with("llvm."))
            .filter(|name| CString::new(name.as_str()).map_or(true, |name| jit::resolve(&name).is_none()))
            .collect()
    }
}

unsafe fn add_entry(module: &Module, function: LLVMValueRef, name: &str) -> Result<Entry> {
    // SAFETY: the caller's function belongs to the live module, and so does all that is made here.
    unsafe {
        let c_symbol = CString::new(symbol(name))?;
        let pointer = LLVMPointerTypeInContext(module.context, 0);
        let mut slots_type = pointer;
        let wrapper_type = LLVMFunctionType(LLVMVoidTypeInContext(module.context), &mut slots_type, 1, 0);
        let wrapper = LLVMAddFunction(module.raw, c_symbol.as_ptr(), wrapper_type);
        let builder = LLVMCreateBuilderInContext(module.context);
        let entry = LLVMAppendBasicBlockInContext(module.context, wrapper, c"".as_ptr());
        LLVMPositionBuilderAtEnd(builder, entry);
        let slots = LLVMGetParam(wrapper, 0);
        let slot = |index: usize| {
            let mut index = LLVMConstInt(LLVMInt64TypeInContext(module.context), index as u64, 0);
            let address = LLVMBuildGEP2(builder, pointer, slots, &mut index, 1, c"".as_ptr());
            LLVMBuildLoad2(builder, pointer, address, c"".as_ptr())
        };

        let function_type = LLVMGlobalGetValueType(function);
        let count = LLVMCountParamTypes(function_type) as usize;
        let mut types = vec![std::ptr::null_mut(); count];
        LLVMGetParamTypes(function_type, types.as_mut_ptr());
        let mut arguments: Vec<_> =
            types.iter().enumerate().map(|(i, t)| LLVMBuildLoad2(builder, *t, slot(i), c"".as_ptr())).collect();
        let result =
            LLVMBuildCall2(builder, function_type, function, arguments.as_mut_ptr(), count as u32, c"".as_ptr());
        LLVMSetInstructionCallConv(result, LLVMGetFunctionCallConv(function));

        let result_type = LLVMGetReturnType(function_type);
        let mut results = Vec::new();
        if LLVMGetTypeKind(result_type) != LLVMTypeKind_LLVMVoidTypeKind {
            flatten(result_type, &mut |path, leaf| {
                let value = path.iter().fold(result, |v, i| LLVMBuildExtractValue(builder, v, *i, c"".as_ptr()));
                LLVMBuildStore(builder, value, slot(count + results.len()));
                results.push(leaf);
            });
        }
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);

        let leaves = |t: &LLVMTypeRef| {
            let mut leaves = Vec::new();
            flatten(*t, &mut |_, leaf| leaves.push(leaf));
            leaves
        };
        ensure!(LLVMIsFunctionVarArg(function_type) == 0, "`{name}` takes a variable number of arguments");
        Ok(Entry { name: name.to_owned(), parameters: types.iter().map(leaves).collect(), results })
    }
}

/// Calls `visit` for each scalar of a type, with the indices that lead to it.
unsafe fn flatten(ty: LLVMTypeRef, visit: &mut dyn FnMut(&[u32], Leaf)) {
    unsafe fn go(ty: LLVMTypeRef, path: &mut Vec<u32>, visit: &mut dyn FnMut(&[u32], Leaf)) {
        // SAFETY: the caller's type is alive; an aggregate has as many elements as LLVM counts.
        unsafe {
            let kind = LLVMGetTypeKind(ty);
            let count = match kind {
                LLVMTypeKind_LLVMStructTypeKind => u64::from(LLVMCountStructElementTypes(ty)),
                LLVMTypeKind_LLVMArrayTypeKind => LLVMGetArrayLength2(ty),
                _ => return visit(path, leaf(ty)),
            };
            for i in 0..count as u32 {
                let element = match kind {
                    LLVMTypeKind_LLVMStructTypeKind => LLVMStructGetTypeAtIndex(ty, i),
                    _ => LLVMGetElementType(ty),
                };
                path.push(i);
                go(element, path, visit);
                path.pop();
            }
        }
    }
    // SAFETY: the caller's type is alive.
    unsafe { go(ty, &mut Vec::new(), visit) }
}

unsafe fn leaf(ty: LLVMTypeRef) -> Leaf {
    // SAFETY: the caller's type is alive.
    match unsafe { LLVMGetTypeKind(ty) } {
        LLVMTypeKind_LLVMPointerTypeKind => Leaf::Pointer,
        // SAFETY: it is an integer type.
        LLVMTypeKind_LLVMIntegerTypeKind => Leaf::Int(unsafe { LLVMGetIntTypeWidth(ty) }),
        LLVMTypeKind_LLVMHalfTypeKind => Leaf::Half,
        LLVMTypeKind_LLVMBFloatTypeKind => Leaf::BFloat,
        LLVMTypeKind_LLVMFloatTypeKind => Leaf::Float,
        LLVMTypeKind_LLVMDoubleTypeKind => Leaf::Double,
        _ => Leaf::Other,
    }
}

/// Replaces a list of constructors or destructors by a function that calls them by ascending priority, or descending.
unsafe fn add_structors(module: &Module, list: &str, symbol: &str, descending: bool) {
    // SAFETY: all values belong to the live module; the verifier has checked the list's type, [n x {i32, ptr, ptr}].
    unsafe {
        let c_symbol = CString::new(symbol).unwrap_or_default();
        let c_list = CString::new(list).unwrap_or_default();
        let void = LLVMVoidTypeInContext(module.context);
        let function_type = LLVMFunctionType(void, std::ptr::null_mut(), 0, 0);
        let function = LLVMAddFunction(module.raw, c_symbol.as_ptr(), function_type);
        let builder = LLVMCreateBuilderInContext(module.context);
        let entry = LLVMAppendBasicBlockInContext(module.context, function, c"".as_ptr());
        LLVMPositionBuilderAtEnd(builder, entry);
        let global = LLVMGetNamedGlobal(module.raw, c_list.as_ptr());
        if !global.is_null() {
            let initializer = LLVMGetInitializer(global);
            let count = if initializer.is_null() { 0 } else { LLVMGetNumOperands(initializer) };
            let mut structors: Vec<_> = (0..count as u32)
                .map(|i| LLVMGetOperand(initializer, i))
                .map(|item| (LLVMConstIntGetZExtValue(LLVMGetOperand(item, 0)), LLVMGetOperand(item, 1)))
                .collect();
            structors.sort_by_key(|(priority, _)| if descending { u64::MAX - priority } else { *priority });
            for (_, structor) in structors {
                LLVMBuildCall2(builder, function_type, structor, std::ptr::null_mut(), 0, c"".as_ptr());
            }
            LLVMDeleteGlobal(global);
        }
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);
    }
}
