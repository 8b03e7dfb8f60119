//! Passes and pipelines: how they are defined in Rust and made known to MLIR.

use super::{
    Loc, Op, Opt,
    diagnostics::diagnostic_text,
    options::{Kind, place},
    string_ref, to_string,
};
use mlir_sys::*;
use std::{
    ffi::{CString, c_char, c_int, c_void},
    panic::AssertUnwindSafe,
};

/// A pass. A file of a pass holds one of these as `PASS`.
pub struct Pass {
    /// As written on the command line; the file's name with dashes.
    pub argument: &'static str,
    /// One line for `--help`.
    pub description: &'static str,
    /// The operation that it runs on, or "" for any.
    pub anchor: &'static str,
    /// In the order of the command line's help.
    pub options: &'static [Opt],
    /// What `--mlir-pass-statistics` counts: name and description.
    pub statistics: &'static [(&'static str, &'static str)],
    /// The dialects whose operations it may create.
    pub dialects: &'static [unsafe extern "C" fn() -> MlirDialectHandle],
    /// The pass itself.
    pub run: fn(&PassCx, Op) -> PassResult,
}

/// A name for a list of passes.
pub struct Pipeline {
    /// As written on the command line.
    pub argument: &'static str,
    /// One line for `--help`.
    pub description: &'static str,
    /// In the order of the command line's help.
    pub options: &'static [Opt],
    /// The passes as text that is anchored on `builtin.module`.
    pub expand: fn(&Options) -> String,
}

/// The pass failed, after a diagnostic.
#[derive(Debug)]
pub struct Failed;
/// What a pass returns.
pub type PassResult = Result<(), Failed>;

/// What a running pass sees beside the IR: options, statistics, diagnostics, nested pipelines.
pub struct PassCx {
    pass: *mut c_void,
    definition: &'static Pass,
}

/// The options of a pipeline that is being expanded.
pub struct Options {
    raw: *const c_void,
    definition: &'static Pipeline,
}

impl Options {
    /// The value of a string option.
    pub fn string(&self, name: &str) -> String {
        // SAFETY: the place is that of an option of this kind (so below).
        to_string(unsafe { tmOptionsString(self.raw, place(self.definition.options, name, Kind::String)) })
    }
    /// The value of an integer option.
    pub fn integer(&self, name: &str) -> i64 {
        // SAFETY: as above.
        unsafe { tmOptionsInteger(self.raw, place(self.definition.options, name, Kind::Integer)) }
    }
    /// The value of a boolean option.
    pub fn boolean(&self, name: &str) -> bool {
        // SAFETY: as above.
        unsafe { tmOptionsBoolean(self.raw, place(self.definition.options, name, Kind::Boolean)) }
    }
}

impl PassCx {
    /// The value of a string option.
    pub fn string(&self, name: &str) -> String {
        // SAFETY: the place is that of an option of this kind (so below).
        to_string(unsafe { tmPassString(self.pass, place(self.definition.options, name, Kind::String)) })
    }
    /// The value of an integer option.
    pub fn integer(&self, name: &str) -> i64 {
        // SAFETY: as above.
        unsafe { tmPassInteger(self.pass, place(self.definition.options, name, Kind::Integer)) }
    }
    /// The value of a boolean option.
    pub fn boolean(&self, name: &str) -> bool {
        // SAFETY: as above.
        unsafe { tmPassBoolean(self.pass, place(self.definition.options, name, Kind::Boolean)) }
    }
    /// The value of an option that is a list of integers.
    pub fn integers(&self, name: &str) -> Vec<i64> {
        let mut data = std::ptr::null();
        // SAFETY: as above; `data` is valid for the length that is returned, until the pass ends.
        unsafe {
            let length = tmPassIntegers(self.pass, place(self.definition.options, name, Kind::Integers), &mut data);
            if length == 0 { vec![] } else { std::slice::from_raw_parts(data, length).to_vec() }
        }
    }
    /// Adds one to a statistic.
    pub fn count(&self, name: &str) {
        let place = self.definition.statistics.iter().position(|s| s.0 == name);
        // SAFETY: the place is in range.
        unsafe { tmPassCount(self.pass, place.unwrap_or_else(|| panic!("no such statistic: {name}")), 1) }
    }
    /// Runs passes, as text, on an operation at or inside the one that the pass runs on. Where one fails, its first error is
    /// emitted, with the name of the operation and without its text, since others follow from it.
    pub fn run_pipeline(&self, pipeline: &str, op: Op) -> PassResult {
        let mut first: Option<Error> = None;
        // SAFETY: the pass is running; the handler is detached before `first` goes, and runs on one thread at a time.
        let done = unsafe {
            let context = mlirOperationGetContext(op.0);
            let data = (&raw mut first).cast::<c_void>();
            let id = mlirContextAttachDiagnosticHandler(context, Some(keep_first_error), data, None);
            let done = tmPassRunPipeline(self.pass, string_ref(pipeline), op.0);
            mlirContextDetachDiagnosticHandler(context, id);
            done
        };
        if let Some((loc, message, note)) = first {
            self.emit(2, loc, &message, note.as_ref().map(|(loc, note)| (*loc, note.as_str())));
        }
        if done { Ok(()) } else { Err(Failed) }
    }
    /// An error at an operation, as upstream words it: `'name' op message`.
    pub fn error(&self, op: Op, message: &str) -> Failed {
        self.emit(2, op.loc(), &format!("'{}' op {message}", op.name()), None);
        Failed
    }
    /// An error with a note elsewhere.
    pub fn error_with_note(&self, op: Op, message: &str, note: (Loc, &str)) -> Failed {
        self.emit(2, op.loc(), &format!("'{}' op {message}", op.name()), Some(note));
        Failed
    }
    /// A warning at an operation.
    pub fn warn(&self, op: Op, message: &str) {
        self.emit(1, op.loc(), &format!("'{}' op {message}", op.name()), None);
    }
    /// For the remark engine (`--remarks`): a substitution that was made. `parts` are further facts by name, for programs.
    pub fn passed_with(&self, op: Op, message: &str, parts: &[(&str, &str)]) {
        self.remark(0, op, message, parts)
    }
    /// The same without further facts.
    pub fn passed(&self, op: Op, message: &str) {
        self.remark(0, op, message, &[])
    }
    /// For the remark engine: a substitution that was not made, and why.
    pub fn missed(&self, op: Op, message: &str) {
        self.remark(1, op, message, &[])
    }
    fn remark(&self, kind: c_int, op: Op, message: &str, parts: &[(&str, &str)]) {
        let function = op.parent_named("func.func").and_then(|f| f.symbol()).unwrap_or_default();
        let message = format!("'{}' {message}", op.name());
        let parts: Vec<MlirStringRef> = parts.iter().flat_map(|(k, v)| [string_ref(k), string_ref(v)]).collect();
        // SAFETY: a live location; the strings live through the call.
        unsafe {
            tmRemark(
                op.loc().0,
                kind,
                string_ref(self.definition.argument),
                string_ref(&function),
                string_ref(&message),
                parts.as_ptr(),
                parts.len() / 2,
            )
        }
    }
    fn emit(&self, severity: c_int, loc: Loc, message: &str, note: Option<(Loc, &str)>) {
        let (note_loc, note) = note.unwrap_or((loc, ""));
        // SAFETY: live locations; the strings live through the call.
        unsafe { tmEmit(loc.0, severity, string_ref(message), note_loc.0, string_ref(note)) }
    }
    /// Turns an internal failure into a diagnostic at `op`.
    pub fn check<T>(&self, op: Op, result: Result<T, String>) -> Result<T, Failed> {
        result.map_err(|message| self.error(op, &message))
    }
}

/// An error's place and text, and its first note.
type Error = (Loc, String, Option<(Loc, String)>);

/// A handler of diagnostics that keeps the first error, silences later ones, and passes on what is no error.
unsafe extern "C" fn keep_first_error(diagnostic: MlirDiagnostic, first: *mut c_void) -> MlirLogicalResult {
    // SAFETY: `first` is the cell of the caller, who waits; the diagnostic lives through the call.
    unsafe {
        if mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticSeverity_MlirDiagnosticError {
            return MlirLogicalResult { value: 0 };
        }
        let first = &mut *first.cast::<Option<Error>>();
        if first.is_none() {
            let (text, notes) = diagnostic_text(diagnostic);
            *first = Some((Loc(mlirDiagnosticGetLocation(diagnostic)), text, notes.into_iter().next()));
        }
    }
    MlirLogicalResult { value: 1 }
}

// ---- the shim's side ----

#[repr(C)]
struct RawOption {
    name: MlirStringRef,
    description: MlirStringRef,
    initial: MlirStringRef,
    kind: Kind,
}
#[repr(C)]
struct RawStatistic {
    name: *const c_char,
    description: *const c_char,
}
#[repr(C)]
struct RawPass {
    argument: MlirStringRef,
    description: MlirStringRef,
    anchor: MlirStringRef,
    options: *const RawOption,
    num_options: usize,
    statistics: *const RawStatistic,
    num_statistics: usize,
    definition: *const c_void,
}
#[repr(C)]
struct RawPipeline {
    argument: MlirStringRef,
    description: MlirStringRef,
    options: *const RawOption,
    num_options: usize,
    definition: *const c_void,
}

type Append = unsafe extern "C" fn(MlirStringRef, *mut c_void);

unsafe extern "C" {
    fn tmPassString(pass: *const c_void, i: usize) -> MlirStringRef;
    fn tmPassInteger(pass: *const c_void, i: usize) -> i64;
    fn tmPassBoolean(pass: *const c_void, i: usize) -> bool;
    fn tmPassIntegers(pass: *const c_void, i: usize, data: *mut *const i64) -> usize;
    fn tmPassCount(pass: *mut c_void, i: usize, by: u64);
    fn tmPassRunPipeline(pass: *mut c_void, pipeline: MlirStringRef, op: MlirOperation) -> bool;
    fn tmOptionsString(options: *const c_void, i: usize) -> MlirStringRef;
    fn tmOptionsInteger(options: *const c_void, i: usize) -> i64;
    fn tmOptionsBoolean(options: *const c_void, i: usize) -> bool;
    fn tmRegisterPass(pass: *const RawPass);
    fn tmRegisterPipeline(pipeline: *const RawPipeline);
    fn tmEmit(loc: MlirLocation, severity: c_int, message: MlirStringRef, note_loc: MlirLocation, note: MlirStringRef);
    fn tmRemark(
        loc: MlirLocation,
        kind: c_int,
        name: MlirStringRef,
        function: MlirStringRef,
        message: MlirStringRef,
        parts: *const MlirStringRef,
        count: usize,
    );
    pub(super) fn tmLocationFile(loc: MlirLocation, file: *mut MlirStringRef, line: *mut u32, column: *mut u32)
    -> bool;
    pub(super) fn tmLinalgIsLinalgOp(op: MlirOperation) -> bool;
    pub(super) fn tmAttributeIsMissingResource(attribute: MlirAttribute) -> bool;
    pub(super) fn tmAttributeResource(attribute: MlirAttribute) -> MlirStringRef;
    pub(super) fn tmLinalgFuse(op: MlirOperation) -> bool;
    pub(super) fn tmLinalgDecompose(op: MlirOperation) -> bool;
    pub(super) fn tmLinalgGeneralize(op: MlirOperation) -> MlirOperation;
    pub(super) fn tmLinalgCollapse(op: MlirOperation, dims: *const i64, count: usize) -> MlirOperation;
    pub(super) fn tmRegisterExtensions(registry: MlirDialectRegistry);
    pub(super) fn tmParseModule(context: MlirContext, source: MlirStringRef, file: MlirStringRef) -> MlirOperation;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tmPassDialects(definition: *const c_void, registry: MlirDialectRegistry) {
    // SAFETY: the shim hands back the definition that `register_pass` gave it.
    let pass = unsafe { &*definition.cast::<Pass>() };
    for handle in pass.dialects {
        // SAFETY: dialect handles of the C API.
        unsafe { mlirDialectHandleInsertDialect(handle(), registry) }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tmPassRun(definition: *const c_void, op: MlirOperation, pass: *mut c_void) -> bool {
    // SAFETY: the shim hands back the definition that `register_pass` gave it.
    let cx = PassCx { pass, definition: unsafe { &*definition.cast::<Pass>() } };
    // A panic must not unwind into C++: it becomes a diagnostic.
    match std::panic::catch_unwind(AssertUnwindSafe(|| (cx.definition.run)(&cx, Op(op)))) {
        Ok(result) => result.is_ok(),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| payload.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default();
            cx.emit(2, Op(op).loc(), &format!("internal error in {}: {text}", cx.definition.argument), None);
            false
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tmPipelineExpand(definition: *const c_void, raw: *const c_void, append: Append, out: *mut c_void) {
    // SAFETY: the shim hands back the definition that `register_pipeline` gave it.
    let definition = unsafe { &*definition.cast::<Pipeline>() };
    let text = (definition.expand)(&Options { raw, definition });
    // SAFETY: `append` copies the text.
    unsafe { append(string_ref(&text), out) }
}

fn raw_options(options: &'static [Opt]) -> (*const RawOption, usize) {
    let raw: Vec<_> = options
        .iter()
        .map(|o| RawOption {
            name: string_ref(o.name),
            description: string_ref(o.description),
            initial: string_ref(o.initial),
            kind: o.kind,
        })
        .collect();
    (Box::leak(raw.into_boxed_slice()).as_ptr(), options.len())
}

/// Makes a pass known to MLIR's registry. A second time does nothing.
pub fn register_pass(pass: &'static Pass) {
    let leak = |s: &str| CString::new(s).unwrap_or_default().into_raw().cast_const();
    let statistics: Vec<_> = pass
        .statistics
        .iter()
        .map(|(name, description)| RawStatistic { name: leak(name), description: leak(description) })
        .collect();
    let (options, num_options) = raw_options(pass.options);
    let raw = RawPass {
        argument: string_ref(pass.argument),
        description: string_ref(pass.description),
        anchor: string_ref(pass.anchor),
        options,
        num_options,
        num_statistics: statistics.len(),
        statistics: Box::leak(statistics.into_boxed_slice()).as_ptr(),
        definition: std::ptr::from_ref(pass).cast(),
    };
    // SAFETY: what is registered is leaked, for the registry keeps it as long as the process lives.
    unsafe { tmRegisterPass(Box::leak(Box::new(raw))) }
}

/// Makes a pipeline known to MLIR's registry. A second time does nothing.
pub fn register_pipeline(pipeline: &'static Pipeline) {
    let (options, num_options) = raw_options(pipeline.options);
    let raw = RawPipeline {
        argument: string_ref(pipeline.argument),
        description: string_ref(pipeline.description),
        options,
        num_options,
        definition: std::ptr::from_ref(pipeline).cast(),
    };
    // SAFETY: as above.
    unsafe { tmRegisterPipeline(Box::leak(Box::new(raw))) }
}
