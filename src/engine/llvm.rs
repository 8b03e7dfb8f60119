//! LLVM's C API: from a module in the LLVM dialect to an object file for this machine.
//!
//! `mlir-sys` declares the core of that API; [`ffi`] declares what it leaves out. Everything here owns what LLVM gives it
//! and turns LLVM's errors into messages.

use anyhow::{Result, anyhow, bail, ensure};
use mlir_sys::*;
use std::{
    ffi::{CStr, CString, c_char},
    marker::PhantomData,
    ptr::{null, null_mut},
    sync::Once,
};
use tinymlir_passes::ir::Module as MlirModule;

/// What `mlir-sys` does not declare, as in `llvm-c/{Analysis,Error,Target,TargetMachine,Transforms/PassBuilder}.h`.
pub(super) mod ffi {
    use super::*;

    macro_rules! opaque { ($($name:ident),*) => { $(#[repr(C)] pub struct $name([u8; 0]);)* } }
    opaque!(Error, Target, TargetMachine, TargetData, PassBuilderOptions);

    unsafe extern "C" {
        pub fn LLVMVerifyModule(module: LLVMModuleRef, action: u32, message: *mut *mut c_char) -> i32;
        pub fn LLVMGetErrorMessage(error: *mut Error) -> *mut c_char;
        pub fn LLVMDisposeErrorMessage(message: *mut c_char);
        pub fn LLVMGetDefaultTargetTriple() -> *mut c_char;
        pub fn LLVMGetHostCPUName() -> *mut c_char;
        pub fn LLVMGetHostCPUFeatures() -> *mut c_char;
        pub fn LLVMGetTargetFromTriple(triple: *const c_char, target: *mut *mut Target, error: *mut *mut c_char)
        -> i32;
        pub fn LLVMCreateTargetMachine(
            target: *mut Target,
            triple: *const c_char,
            cpu: *const c_char,
            features: *const c_char,
            level: u32,
            reloc: u32,
            code_model: u32,
        ) -> *mut TargetMachine;
        pub fn LLVMDisposeTargetMachine(machine: *mut TargetMachine);
        pub fn LLVMCreateTargetDataLayout(machine: *mut TargetMachine) -> *mut TargetData;
        pub fn LLVMDisposeTargetData(data: *mut TargetData);
        pub fn LLVMSetModuleDataLayout(module: LLVMModuleRef, data: *mut TargetData);
        pub fn LLVMTargetMachineEmitToMemoryBuffer(
            machine: *mut TargetMachine,
            module: LLVMModuleRef,
            kind: u32,
            error: *mut *mut c_char,
            buffer: *mut LLVMMemoryBufferRef,
        ) -> i32;
        pub fn LLVMCreatePassBuilderOptions() -> *mut PassBuilderOptions;
        pub fn LLVMDisposePassBuilderOptions(options: *mut PassBuilderOptions);
        pub fn LLVMRunPasses(
            module: LLVMModuleRef,
            passes: *const c_char,
            machine: *mut TargetMachine,
            options: *mut PassBuilderOptions,
        ) -> *mut Error;
    }

    macro_rules! native_target { ($($arch:literal: $($function:ident),*);*) => { $(
        #[cfg(target_arch = $arch)]
        unsafe extern "C" { $(pub fn $function();)* }
        #[cfg(target_arch = $arch)]
        pub fn initialize_native_target() {
            // SAFETY: registration functions, called under a Once.
            unsafe { $($function();)* }
        }
    )* } }
    native_target!(
        "x86_64": LLVMInitializeX86TargetInfo, LLVMInitializeX86Target, LLVMInitializeX86TargetMC,
            LLVMInitializeX86AsmPrinter, LLVMInitializeX86AsmParser;
        "aarch64": LLVMInitializeAArch64TargetInfo, LLVMInitializeAArch64Target, LLVMInitializeAArch64TargetMC,
            LLVMInitializeAArch64AsmPrinter, LLVMInitializeAArch64AsmParser
    );
}

/// Takes a message that LLVM allocated.
///
/// # Safety
/// `message` is null or a NUL-terminated string that `LLVMDisposeMessage` frees.
unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: as promised.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Turns an `LLVMErrorRef` into a result, consuming it.
///
/// # Safety
/// `error` is null or an error that nobody has consumed.
pub(super) unsafe fn check(error: *mut ffi::Error) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: as promised; LLVMGetErrorMessage consumes the error.
    unsafe {
        let message = ffi::LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        ffi::LLVMDisposeErrorMessage(message);
        Err(anyhow!("LLVM: {text}"))
    }
}

extern "C" fn fatal_error(reason: *const c_char) {
    // SAFETY: LLVM passes a NUL-terminated string.
    eprintln!("error: LLVM: {}", unsafe { CStr::from_ptr(reason) }.to_string_lossy());
    std::process::exit(1);
}

/// Registers this machine's target and sets LLVM's process-wide options, once.
pub(super) fn initialize() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        ffi::initialize_native_target();
        // glibc's libmvec has vector versions of exp, log, sin, cos and pow (at most 4 ulp off).
        let arguments = [c"tinymlir".as_ptr(), c"-vector-library=LIBMVEC".as_ptr()];
        let count = if cfg!(all(target_arch = "x86_64", target_env = "gnu")) { 2 } else { 1 };
        // SAFETY: `count` valid C strings; the handler has the type LLVM expects and never returns.
        unsafe {
            LLVMParseCommandLineOptions(count, arguments.as_ptr(), null());
            LLVMInstallFatalErrorHandler(Some(fatal_error));
        }
    });
}

/// The version of LLVM in this program, such as `22.1.8`.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: three places to write to.
    unsafe { LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// The width in bits of the vector registers of the CPU that runs this program.
pub fn vector_bits() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512vl") {
            return 512;
        }
        if std::is_x86_feature_detected!("avx2") {
            return 256;
        }
    }
    128
}

/// The name of this machine's CPU as LLVM knows it, such as `sapphirerapids`.
pub fn host_cpu() -> String {
    // SAFETY: returns a fresh message.
    unsafe { take_message(ffi::LLVMGetHostCPUName()) }
}

/// A target machine for the CPU that runs this program.
pub(super) struct Machine {
    raw: *mut ffi::TargetMachine,
    triple: CString,
}

impl Machine {
    /// Position-independent code, as the linker of the JIT wants it; `level` is 0 to 3.
    pub fn host(level: u8) -> Result<Machine> {
        initialize();
        // SAFETY: every string is fresh, NUL-terminated and freed once; `target` is written before it is read.
        unsafe {
            let triple = CString::new(take_message(ffi::LLVMGetDefaultTargetTriple()))?;
            let cpu = CString::new(host_cpu())?;
            let mut features = take_message(ffi::LLVMGetHostCPUFeatures());
            if cfg!(target_arch = "x86_64") {
                // Their conversion to bf16 flushes subnormal numbers to zero.
                features.push_str(",-avx512bf16,-avxneconvert");
            }
            let features = CString::new(features)?;
            let (mut target, mut error) = (null_mut(), null_mut());
            if ffi::LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut error) != 0 {
                bail!("LLVM has no target for {}: {}", triple.to_string_lossy(), take_message(error));
            }
            const PIC: u32 = 2;
            const SMALL: u32 = 3;
            let raw = ffi::LLVMCreateTargetMachine(
                target,
                triple.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                level.min(3).into(),
                PIC,
                SMALL,
            );
            ensure!(!raw.is_null(), "LLVM cannot generate code for {}", triple.to_string_lossy());
            Ok(Machine { raw, triple })
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: ours, disposed once.
        unsafe { ffi::LLVMDisposeTargetMachine(self.raw) }
    }
}

/// An LLVM context.
pub(super) struct Context(LLVMContextRef);

impl Context {
    pub fn new() -> Context {
        // SAFETY: makes a fresh one.
        Context(unsafe { LLVMContextCreate() })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: ours, and every Module borrows it.
        unsafe { LLVMContextDispose(self.0) }
    }
}

/// A module of LLVM IR.
pub(super) struct Module<'c> {
    pub raw: LLVMModuleRef,
    pub context: LLVMContextRef,
    lifetime: PhantomData<&'c Context>,
}

impl<'c> Module<'c> {
    /// Translates a module in the LLVM dialect for `machine`. The reason of a failure is a diagnostic of the MLIR context.
    pub fn translate(module: &MlirModule, context: &'c Context, machine: &Machine) -> Result<Module<'c>> {
        // SAFETY: the operation is alive; the context outlives the result.
        let raw = unsafe { mlirTranslateModuleToLLVMIR(module.op().raw(), context.0) };
        ensure!(!raw.is_null(), "the module cannot be translated to LLVM IR");
        let module = Module { raw, context: context.0, lifetime: PhantomData };
        // SAFETY: module and machine are alive; the data layout is freed once.
        unsafe {
            LLVMSetTarget(raw, machine.triple.as_ptr());
            let data = ffi::LLVMCreateTargetDataLayout(machine.raw);
            ffi::LLVMSetModuleDataLayout(raw, data);
            ffi::LLVMDisposeTargetData(data);
        }
        Ok(module)
    }

    /// Checks the module's invariants.
    pub fn verify(&self) -> Result<()> {
        const RETURN_STATUS: u32 = 2;
        let mut message = null_mut();
        // SAFETY: the module is alive; the message is taken whatever the status.
        let (failed, message) = unsafe {
            let failed = ffi::LLVMVerifyModule(self.raw, RETURN_STATUS, &mut message);
            (failed != 0, take_message(message))
        };
        ensure!(!failed, "LLVM: {message}");
        Ok(())
    }

    /// Runs LLVM's default pipeline of `level` (0 to 3).
    pub fn optimise(&self, level: u8, machine: &Machine) -> Result<()> {
        let passes = CString::new(format!("default<O{}>", level.min(3)))?;
        // SAFETY: module and machine are alive; the options are freed once.
        unsafe {
            let options = ffi::LLVMCreatePassBuilderOptions();
            let error = ffi::LLVMRunPasses(self.raw, passes.as_ptr(), machine.raw, options);
            ffi::LLVMDisposePassBuilderOptions(options);
            check(error)
        }
    }

    /// The module as text.
    pub fn text(&self) -> String {
        // SAFETY: returns a fresh message.
        unsafe { take_message(LLVMPrintModuleToString(self.raw)) }
    }

    /// Machine code: the bytes of a relocatable object file.
    pub fn object(&self, machine: &Machine) -> Result<Vec<u8>> {
        const OBJECT_FILE: u32 = 1;
        let (mut error, mut buffer) = (null_mut(), null_mut());
        // SAFETY: module and machine are alive; the buffer is read while alive and disposed once.
        unsafe {
            if ffi::LLVMTargetMachineEmitToMemoryBuffer(machine.raw, self.raw, OBJECT_FILE, &mut error, &mut buffer)
                != 0
            {
                bail!("LLVM: {}", take_message(error));
            }
            let start = LLVMGetBufferStart(buffer).cast::<u8>();
            let bytes = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer)).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            Ok(bytes)
        }
    }

    /// Every function, defined or declared.
    pub fn functions(&self) -> Vec<LLVMValueRef> {
        // SAFETY: the module is alive, and the list is not changed while it is walked.
        unsafe { walk(LLVMGetFirstFunction(self.raw), |f| LLVMGetNextFunction(f)) }
    }

    /// Every global variable, defined or declared.
    pub fn globals(&self) -> Vec<LLVMValueRef> {
        // SAFETY: as above.
        unsafe { walk(LLVMGetFirstGlobal(self.raw), |g| LLVMGetNextGlobal(g)) }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, disposed once, before its context.
        unsafe { LLVMDisposeModule(self.raw) }
    }
}

fn walk(first: LLVMValueRef, next: impl Fn(LLVMValueRef) -> LLVMValueRef) -> Vec<LLVMValueRef> {
    let some = |value: LLVMValueRef| (!value.is_null()).then_some(value);
    std::iter::successors(some(first), |v| some(next(*v))).collect()
}

/// The name of a function or global variable.
///
/// # Safety
/// `value` is a live named value.
pub(super) unsafe fn name_of(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: LLVM returns `length` bytes that live as long as the value keeps its name.
    unsafe {
        let text = LLVMGetValueName2(value, &mut length).cast::<u8>();
        String::from_utf8_lossy(std::slice::from_raw_parts(text, length)).into_owned()
    }
}
