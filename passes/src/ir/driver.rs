//! Contexts, parsing and running pipelines, for tools; and mlir-opt's main.

use super::{
    Context, Ctx, Loc, Module,
    diagnostics::{diagnostic_text, name_dialect},
    observe::{Observer, Watch},
    pass, printed, string_ref,
};
use mlir_sys::*;
use std::{
    cell::RefCell,
    ffi::{c_char, c_void},
};

/// Registers our passes and pipelines with MLIR's registry.
pub extern "C" fn register() {
    crate::PASSES.iter().for_each(|p| pass::register_pass(p));
    crate::PIPELINES.iter().for_each(|p| pass::register_pipeline(p));
}

/// [`Context::new`].
pub fn context() -> Context {
    Context::new()
}

/// Runs `body` and returns the errors and warnings that were emitted meanwhile, as `file:line:column: error: text` lines.
fn diagnosed<T>(context: MlirContext, body: impl FnOnce() -> T) -> (T, String) {
    unsafe extern "C" fn handle(diagnostic: MlirDiagnostic, out: *mut c_void) -> MlirLogicalResult {
        // SAFETY: `out` is the cell below; MLIR calls handlers one at a time.
        let (out, severity) = unsafe { (&*out.cast::<RefCell<String>>(), mlirDiagnosticGetSeverity(diagnostic)) };
        let kind = if severity == MlirDiagnosticSeverity_MlirDiagnosticError {
            "error"
        } else if severity == MlirDiagnosticSeverity_MlirDiagnosticWarning {
            "warning"
        } else {
            return MlirLogicalResult { value: 1 };
        };
        let place = |loc: Loc| match loc.file() {
            // Bytecode has no lines.
            Some((file, 0, _)) => format!("{file}: "),
            Some((file, line, column)) => format!("{file}:{line}:{column}: "),
            None => String::new(),
        };
        // SAFETY: a live diagnostic.
        let loc = Loc(unsafe { mlirDiagnosticGetLocation(diagnostic) });
        let (text, notes) = diagnostic_text(diagnostic);
        let mut lines = vec![format!("{}{kind}: {text}", place(loc))];
        lines.extend(notes.into_iter().map(|(loc, note)| format!("{}note: {note}", place(loc))));
        let mut out = out.borrow_mut();
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&lines.join("\n"));
        MlirLogicalResult { value: 1 }
    }
    let out = RefCell::new(String::new());
    // SAFETY: the handler is detached before `out` goes.
    let result = unsafe {
        let id = mlirContextAttachDiagnosticHandler(context, Some(handle), (&raw const out).cast_mut().cast(), None);
        let result = body();
        mlirContextDetachDiagnosticHandler(context, id);
        result
    };
    (result, out.into_inner())
}

/// Runs `body` and returns the errors and warnings emitted meanwhile.
pub fn with_diagnostics<T>(context: &Context, body: impl FnOnce() -> T) -> (T, String) {
    diagnosed(context.handle().0, body)
}

/// What `body` returns, without a word of the errors and warnings that it emits.
pub fn quietly<T>(ctx: Ctx, body: impl FnOnce() -> T) -> T {
    diagnosed(ctx.0, body).0
}

/// The marks that UTF-8 text and bytecode may begin with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const BYTECODE: &[u8] = b"ML\xefR";

/// Parses a module from text or bytecode; operations outside a module are put in one. `file` names it in locations and messages.
///
/// Fails with every diagnostic, one a line, each with its position.
pub fn parse<'c>(context: &'c Context, source: &[u8], file: &str) -> Result<Module<'c>, String> {
    let source = source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(source);
    // The lexer wants a NUL after the end.
    let mut owned = source.to_vec();
    owned.push(0);
    let text = MlirStringRef { data: owned.as_ptr().cast::<c_char>(), length: source.len() };
    let raw = context.handle().0;
    // SAFETY: the source lives through the call; the result is checked.
    let (op, messages) = diagnosed(raw, || unsafe { pass::tmParseModule(raw, text, string_ref(file)) });
    if op.ptr.is_null() {
        if messages.is_empty() {
            return Err(format!("{file}: error: no MLIR module in it"));
        }
        if !source.starts_with(BYTECODE) && std::str::from_utf8(source).is_err() {
            return Err(format!("{file}: error: neither text in UTF-8 nor bytecode of MLIR (convert it)"));
        }
        let lines = messages.lines().filter(|line| !line.contains(": note: Available dialects: "));
        return Err(lines.map(|line| name_dialect(line, source)).collect::<Vec<_>>().join("\n"));
    }
    // SAFETY: a builtin.module that nothing else owns.
    Ok(unsafe { Module::own(op) })
}

/// Runs a pipeline, such as `builtin.module(tinymlir-optimize)`, on a module and returns the warnings.
///
/// Fails with every error, one a line, each with its position; the module is then in no defined state.
pub fn run_pipeline(context: &Context, module: &mut Module, pipeline: &str) -> Result<String, String> {
    run(context, module, pipeline, None, false)
}

/// [`run_pipeline`], with someone who watches the passes and reads their remarks.
pub fn run_pipeline_watched(
    context: &Context,
    module: &mut Module,
    pipeline: &str,
    observer: Option<&mut dyn Observer>,
    timing: bool,
) -> Result<String, String> {
    run(context, module, pipeline, observer, timing)
}

/// [`run_pipeline`]; with `timing` a table of what each pass took goes to standard error, as of mlir-opt's `--mlir-timing`.
pub fn run_timed_pipeline(
    context: &Context,
    module: &mut Module,
    pipeline: &str,
    timing: bool,
) -> Result<String, String> {
    run(context, module, pipeline, None, timing)
}

fn run(
    context: &Context,
    module: &mut Module,
    pipeline: &str,
    observer: Option<&mut dyn Observer>,
    timing: bool,
) -> Result<String, String> {
    let raw = context.handle().0;
    let root = module.op();
    // SAFETY: the manager is destroyed at the end, the strings live through the calls.
    let (result, messages) = diagnosed(raw, || unsafe {
        let manager = mlirPassManagerCreate(raw);
        if timing {
            mlirPassManagerEnableTiming(manager);
        }
        let mut parse_error = String::new();
        unsafe extern "C" fn append(part: MlirStringRef, out: *mut c_void) {
            // SAFETY: `out` is `parse_error`.
            unsafe { &mut *out.cast::<String>() }.push_str(&super::to_string(part));
        }
        let top = mlirPassManagerGetAsOpPassManager(manager);
        let parsed = mlirParsePassPipeline(top, string_ref(pipeline), Some(append), (&raw mut parse_error).cast());
        let _watch = observer.map(|observer| Watch::new(raw, manager, observer));
        let result = if parsed.value == 0 {
            Err(parse_error.trim().to_string())
        } else if mlirPassManagerRunOnOp(manager, root.0).value == 0 {
            Err(String::new())
        } else {
            Ok(())
        };
        mlirPassManagerDestroy(manager);
        result
    });
    match result {
        Ok(()) => Ok(messages),
        Err(parse_error) if messages.is_empty() && parse_error.is_empty() => Err(format!("error: {pipeline} failed")),
        Err(parse_error) => Err(if messages.is_empty() { parse_error } else { messages }),
    }
}

/// The passes of a pipeline, with the names of pipelines expanded and every option written out.
pub fn expanded(context: &Context, pipeline: &str) -> Result<String, String> {
    unsafe extern "C" fn append(part: MlirStringRef, out: *mut c_void) {
        // SAFETY: `out` is `error` below.
        unsafe { &mut *out.cast::<String>() }.push_str(&super::to_string(part));
    }
    let mut error = String::new();
    // SAFETY: the manager is destroyed at the end, the strings live through the calls.
    unsafe {
        let manager = mlirPassManagerCreate(context.handle().0);
        let top = mlirPassManagerGetAsOpPassManager(manager);
        let parsed = mlirParsePassPipeline(top, string_ref(pipeline), Some(append), (&raw mut error).cast());
        let text = printed(|append, data| mlirPrintPassPipeline(top, append, data));
        mlirPassManagerDestroy(manager);
        if parsed.value == 0 { Err(error.trim().to_string()) } else { Ok(text) }
    }
}
