//! mlir-opt's main with our passes and flags of our own.

use super::{
    observe::{Observer, RawObserver},
    register, string_ref, to_string,
};
use mlir_sys::*;
use std::{
    ffi::{CString, OsString, c_char, c_int, c_uint, c_void},
    os::unix::ffi::OsStringExt,
};

/// A flag beside mlir-opt's own.
pub struct Flag {
    /// As written behind the dashes.
    pub name: &'static str,
    /// What its value is called in `--help`; "" where it takes none.
    pub value: &'static str,
    /// Whether the value may be left out.
    pub optional: bool,
    /// One line for `--help`.
    pub description: &'static str,
}

/// What the flags do.
pub trait Driver {
    /// In the order in which [`Driver::start`] gets their values.
    fn flags(&self) -> &'static [Flag];
    /// The command line was read: the value of each flag that is there, and the input's path (`-` for standard input).
    /// An exit code ends the program.
    fn start(&mut self, values: &[Option<String>], input: &str) -> Option<i32>;
    /// Who watches the passes.
    fn observer(&mut self) -> Option<&mut dyn Observer>;
    /// Everything has run with this exit code; returns the program's.
    fn finish(&mut self, code: i32) -> i32;
}

/// No flags, and nobody watches.
impl Driver for () {
    fn flags(&self) -> &'static [Flag] {
        &[]
    }
    fn start(&mut self, _: &[Option<String>], _: &str) -> Option<i32> {
        None
    }
    fn observer(&mut self) -> Option<&mut dyn Observer> {
        None
    }
    fn finish(&mut self, code: i32) -> i32 {
        code
    }
}

#[repr(C)]
struct RawFlag {
    name: MlirStringRef,
    value: MlirStringRef,
    description: MlirStringRef,
    optional: bool,
}

#[repr(C)]
struct RawDriver {
    this: *mut c_void,
    flags: *const RawFlag,
    num_flags: usize,
    start: unsafe extern "C" fn(*mut c_void, *const MlirStringRef, MlirStringRef) -> c_int,
    observe: unsafe extern "C" fn(*mut c_void) -> *const RawObserver,
}

unsafe extern "C" {
    fn tmOptMain(
        argc: c_int,
        argv: *mut *mut c_char,
        banner: MlirStringRef,
        register: extern "C" fn(),
        driver: *const RawDriver,
    ) -> c_int;
    fn tmLspServerMain(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn tmReduceMain(argc: c_int, argv: *mut *mut c_char, register: extern "C" fn()) -> c_int;
    fn tmPassOptions(
        argument: MlirStringRef,
        append: unsafe extern "C" fn(MlirStringRef, *mut c_void),
        out: *mut c_void,
    );
    fn LLVMGetVersion(major: *mut c_uint, minor: *mut c_uint, patch: *mut c_uint);
    fn tmDescribePass(
        argument: MlirStringRef,
        append: unsafe extern "C" fn(MlirStringRef, *mut c_void),
        out: *mut c_void,
    ) -> bool;
}

/// A running driver: what the shim hands back to the callbacks.
struct Running<'a> {
    driver: *mut (dyn Driver + 'a),
    flags: usize,
    /// The observer's holder and the shim's view of it, made when first asked for. Both live as long as the driver.
    holder: Option<&'a mut dyn Observer>,
    raw: Option<Box<RawObserver>>,
}

unsafe extern "C" fn start(this: *mut c_void, values: *const MlirStringRef, input: MlirStringRef) -> c_int {
    // SAFETY: the shim hands back what it got; it gives a value for each flag.
    let (running, values) = unsafe {
        let running = &*this.cast::<Running>();
        (running, if running.flags == 0 { &[] } else { std::slice::from_raw_parts(values, running.flags) })
    };
    let values: Vec<_> = values.iter().map(|v| (!v.data.is_null()).then(|| to_string(*v))).collect();
    // SAFETY: nothing else uses the driver meanwhile.
    unsafe { &mut *running.driver }.start(&values, &to_string(input)).unwrap_or(-1)
}

unsafe extern "C" fn observe(this: *mut c_void) -> *const RawObserver {
    // SAFETY: as above. The observer is part of the driver, which is not used while passes run.
    let running = unsafe { &mut *this.cast::<Running>() };
    // SAFETY: as above.
    let Some(observer) = (unsafe { &mut *running.driver }).observer() else { return std::ptr::null() };
    let holder = running.holder.insert(observer);
    let raw = RawObserver::new(std::ptr::from_mut::<&mut dyn Observer>(holder).cast());
    &raw const **running.raw.insert(Box::new(raw))
}

/// The arguments as C has them: NUL-terminated, and a null behind the last. They borrow from `owned`.
fn argv(arguments: impl IntoIterator<Item = OsString>, owned: &mut Vec<CString>) -> Vec<*mut c_char> {
    owned.extend(arguments.into_iter().filter_map(|a| CString::new(a.into_vec()).ok()));
    owned.iter().map(|a| a.as_ptr().cast_mut()).chain([std::ptr::null_mut()]).collect()
}

/// mlir-opt with our passes: runs on `arguments`, of which the first is the program's name; returns the exit code.
pub fn opt_main(driver: &mut dyn Driver, arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let mut owned = Vec::new();
    let mut argv = argv(arguments, &mut owned);
    let flags: Vec<_> = driver
        .flags()
        .iter()
        .map(|f| RawFlag {
            name: string_ref(f.name),
            value: string_ref(f.value),
            description: string_ref(f.description),
            optional: f.optional,
        })
        .collect();
    let mut running = Running { driver, flags: flags.len(), holder: None, raw: None };
    let raw =
        RawDriver { this: (&raw mut running).cast(), flags: flags.as_ptr(), num_flags: flags.len(), start, observe };
    // SAFETY: argv is NUL-terminated strings and a null; all of it lives through the call.
    let code = unsafe {
        tmOptMain(
            owned.len() as c_int,
            argv.as_mut_ptr(),
            string_ref("tinymlir modular optimizer driver\n"),
            register,
            &raw,
        )
    };
    // SAFETY: the driver outlives this function, and no callback is left.
    unsafe { &mut *running.driver }.finish(code)
}

/// The language server of MLIR with every dialect: speaks LSP on standard input and output; returns the exit code.
// Inlined, so that only the tool that calls it links the server.
#[inline]
pub fn lsp_server_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let mut owned = Vec::new();
    let mut argv = argv(arguments, &mut owned);
    // SAFETY: argv is NUL-terminated strings and a null; all of it lives through the call.
    unsafe { tmLspServerMain(owned.len() as c_int, argv.as_mut_ptr()) }
}

/// mlir-reduce with every dialect and our passes: runs on `arguments`; returns the exit code.
#[inline]
pub fn reduce_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let mut owned = Vec::new();
    let mut argv = argv(arguments, &mut owned);
    // SAFETY: as above.
    unsafe { tmReduceMain(owned.len() as c_int, argv.as_mut_ptr(), register) }
}

unsafe extern "C" fn append(part: MlirStringRef, out: *mut c_void) {
    // SAFETY: `out` is the String that the caller gave along.
    unsafe { &mut *out.cast::<String>() }.push_str(&to_string(part));
}

/// The options of a registered pass that it prints where it stands in a pipeline, as `{name=value name=value}`; empty where it has none, and
/// for pipelines.
pub fn printed_options(argument: &str) -> String {
    let mut out = String::new();
    // SAFETY: the strings live through the call.
    unsafe { tmPassOptions(string_ref(argument), append, (&raw mut out).cast()) };
    let options = out.split_once(&format!("{argument}{{")).and_then(|(_, rest)| rest.rsplit_once('}'));
    options.map(|(options, _)| format!("{{{options}}}")).unwrap_or_default()
}

/// LLVM's version.
pub fn llvm_version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: valid for the call.
    unsafe { LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// The description of a registered pass or pipeline, upstream's or ours; `None` where there is none.
pub fn described(argument: &str) -> Option<String> {
    let mut out = String::new();
    // SAFETY: the strings live through the call.
    unsafe { tmDescribePass(string_ref(argument), append, (&raw mut out).cast()) }.then_some(out)
}
