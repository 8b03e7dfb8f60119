//! ORC's LLJIT: an object file becomes code in this process.
//!
//! A symbol that the object leaves undefined is looked for in the runtime's table, then in the process and in glibc's
//! libm and libmvec, which a program need not be linked with.

use super::llvm::{check, ffi, initialize};
use anyhow::{Context, Result, bail};
use libloading::os::unix::{Library, RTLD_NOW};
use mlir_sys::{LLVMCreateMemoryBufferWithMemoryRangeCopy, LLVMMemoryBufferRef};
use std::{
    collections::HashMap,
    ffi::{CStr, CString, c_char, c_void},
    ptr::null_mut,
    sync::{Mutex, OnceLock},
};

/// `llvm-c/{LLJIT,Orc}.h`.
mod orc {
    use super::*;

    macro_rules! opaque { ($($name:ident),*) => { $(#[repr(C)] pub struct $name([u8; 0]);)* } }
    opaque!(Jit, Builder, Session, Dylib, Generator, LookupState, Unit, PoolEntry);

    #[repr(C)]
    pub struct SymbolFlags {
        pub generic: u8,
        pub target: u8,
    }
    pub const EXPORTED: u8 = 1;
    pub const CALLABLE: u8 = 4;

    #[repr(C)]
    pub struct SymbolMapPair {
        pub name: *mut PoolEntry,
        pub address: u64,
        pub flags: SymbolFlags,
    }

    #[repr(C)]
    pub struct LookupElement {
        pub name: *mut PoolEntry,
        pub flags: u32,
    }

    pub type Generate = unsafe extern "C" fn(
        generator: *mut Generator,
        context: *mut c_void,
        state: *mut *mut LookupState,
        kind: u32,
        dylib: *mut Dylib,
        dylib_flags: u32,
        set: *const LookupElement,
        count: usize,
    ) -> *mut ffi::Error;

    unsafe extern "C" {
        pub fn LLVMOrcCreateLLJIT(result: *mut *mut Jit, builder: *mut Builder) -> *mut ffi::Error;
        pub fn LLVMOrcDisposeLLJIT(jit: *mut Jit) -> *mut ffi::Error;
        pub fn LLVMOrcLLJITGetExecutionSession(jit: *mut Jit) -> *mut Session;
        pub fn LLVMOrcLLJITGetMainJITDylib(jit: *mut Jit) -> *mut Dylib;
        pub fn LLVMOrcLLJITAddObjectFile(
            jit: *mut Jit,
            dylib: *mut Dylib,
            object: LLVMMemoryBufferRef,
        ) -> *mut ffi::Error;
        pub fn LLVMOrcLLJITLookup(jit: *mut Jit, result: *mut u64, name: *const c_char) -> *mut ffi::Error;
        pub fn LLVMOrcExecutionSessionSetErrorReporter(
            session: *mut Session,
            report: unsafe extern "C" fn(*mut c_void, *mut ffi::Error),
            context: *mut c_void,
        );
        pub fn LLVMOrcCreateCustomCAPIDefinitionGenerator(
            generate: Generate,
            context: *mut c_void,
            dispose: Option<unsafe extern "C" fn(*mut c_void)>,
        ) -> *mut Generator;
        pub fn LLVMOrcJITDylibAddGenerator(dylib: *mut Dylib, generator: *mut Generator);
        pub fn LLVMOrcSymbolStringPoolEntryStr(entry: *mut PoolEntry) -> *const c_char;
        pub fn LLVMOrcRetainSymbolStringPoolEntry(entry: *mut PoolEntry);
        pub fn LLVMOrcAbsoluteSymbols(pairs: *mut SymbolMapPair, count: usize) -> *mut Unit;
        pub fn LLVMOrcJITDylibDefine(dylib: *mut Dylib, unit: *mut Unit) -> *mut ffi::Error;
        pub fn LLVMOrcDisposeMaterializationUnit(unit: *mut Unit);
    }
}

/// The address of what compiled code may refer to by `name`: a function of the runtime, else of the process.
pub(super) fn resolve(name: &CStr) -> Option<u64> {
    struct Known {
        runtime: HashMap<&'static [u8], usize>,
        libraries: Vec<Library>,
    }
    static KNOWN: OnceLock<Known> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let runtime = tinymlir_runtime::symbols()
            .into_iter()
            .map(|(name, address)| (name.as_bytes(), address as usize))
            .collect();
        // SAFETY: the libraries' initialisers are glibc's own. A missing one matters only when a symbol is missing.
        let open = |name| unsafe { Library::open(Some(name), RTLD_NOW) }.ok();
        let libraries = std::iter::once(Library::this())
            .chain(["libm.so.6", "libmvec.so.1", "libgcc_s.so.1"].into_iter().filter_map(open))
            .collect();
        Known { runtime, libraries }
    });
    if let Some(address) = known.runtime.get(name.to_bytes()) {
        return Some(*address as u64);
    }
    known.libraries.iter().find_map(|library| {
        // SAFETY: only the address is taken.
        let symbol = unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) }.ok()?;
        Some(symbol.as_raw_ptr() as u64)
    })
}

/// Defines the symbols of a lookup that [`resolve`] knows.
unsafe extern "C" fn generate(
    _: *mut orc::Generator,
    _: *mut c_void,
    _: *mut *mut orc::LookupState,
    _: u32,
    dylib: *mut orc::Dylib,
    _: u32,
    set: *const orc::LookupElement,
    count: usize,
) -> *mut ffi::Error {
    // SAFETY: ORC passes `count` elements whose names are alive; the unit takes one reference to each name; a unit that
    // cannot be defined stays ours.
    unsafe {
        let mut pairs = Vec::new();
        for element in std::slice::from_raw_parts(set, count) {
            if let Some(address) = resolve(CStr::from_ptr(orc::LLVMOrcSymbolStringPoolEntryStr(element.name))) {
                orc::LLVMOrcRetainSymbolStringPoolEntry(element.name);
                let flags = orc::SymbolFlags { generic: orc::EXPORTED | orc::CALLABLE, target: 0 };
                pairs.push(orc::SymbolMapPair { name: element.name, address, flags });
            }
        }
        if pairs.is_empty() {
            return null_mut();
        }
        let unit = orc::LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
        let error = orc::LLVMOrcJITDylibDefine(dylib, unit);
        if !error.is_null() {
            orc::LLVMOrcDisposeMaterializationUnit(unit);
        }
        error
    }
}

/// Keeps what ORC reports beside the errors that it returns.
unsafe extern "C" fn report(messages: *mut c_void, error: *mut ffi::Error) {
    // SAFETY: the context is the Jit's Mutex, which outlives the session; the error is ours to consume.
    unsafe {
        if let (Err(error), Ok(mut messages)) = (check(error), (*messages.cast::<Mutex<Vec<String>>>()).lock()) {
            messages.push(error.to_string());
        }
    }
}

/// Code in this process; dropping it unmaps the code.
pub(super) struct Jit {
    raw: *mut orc::Jit,
    reports: Box<Mutex<Vec<String>>>,
}

// SAFETY: LLJIT locks its session; the reports are behind a Mutex.
unsafe impl Send for Jit {}
// SAFETY: as above.
unsafe impl Sync for Jit {}

impl Jit {
    /// Takes in an object file of this machine's code. Linking happens at the first lookup.
    pub fn new(object: &[u8]) -> Result<Jit> {
        initialize();
        let mut raw = null_mut();
        // SAFETY: the arguments are as the C API wants them; the session, dylib and generator belong to the JIT, and the
        // object buffer is a copy that the JIT takes over.
        unsafe {
            check(orc::LLVMOrcCreateLLJIT(&mut raw, null_mut()))?;
            let jit = Jit { raw, reports: Box::default() };
            let reports = (&raw const *jit.reports).cast_mut().cast();
            orc::LLVMOrcExecutionSessionSetErrorReporter(orc::LLVMOrcLLJITGetExecutionSession(raw), report, reports);
            let dylib = orc::LLVMOrcLLJITGetMainJITDylib(raw);
            let generator = orc::LLVMOrcCreateCustomCAPIDefinitionGenerator(generate, null_mut(), None);
            orc::LLVMOrcJITDylibAddGenerator(dylib, generator);
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(object.as_ptr().cast(), object.len(), c"object".as_ptr());
            check(orc::LLVMOrcLLJITAddObjectFile(raw, dylib, buffer))?;
            Ok(jit)
        }
    }

    /// The address of a symbol that the object defines. The first call links: it fails when a symbol is found nowhere.
    pub fn lookup(&self, name: &str) -> Result<*const c_void> {
        let c_name = CString::new(name).with_context(|| format!("the name `{name}` holds a NUL"))?;
        let mut address = 0;
        // SAFETY: the JIT is alive, the name NUL-terminated, the result writable.
        if let Err(error) = unsafe { check(orc::LLVMOrcLLJITLookup(self.raw, &mut address, c_name.as_ptr())) } {
            let reports = self.reports.lock().map(|r| r.join("; ")).unwrap_or_default();
            bail!("cannot link the compiled code: {}", if reports.is_empty() { error.to_string() } else { reports });
        }
        Ok(address as *const c_void)
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: ours, disposed once; an error at this point has no one to go to.
        let _ = unsafe { check(orc::LLVMOrcDisposeLLJIT(self.raw)) };
    }
}
