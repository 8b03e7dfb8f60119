//! Contexts, parsing and running pipelines, for tools; and mlir-opt's main.

use super::{
    Loc, Op,
    observe::{Observer, Watch},
    pass, printed, string_ref,
};
use melior::{Context, ir::Module};
use mlir_sys::*;
use std::{
    cell::RefCell,
    ffi::{c_char, c_void},
    sync::Once,
};

/// Registers our passes and pipelines with MLIR's registry.
pub extern "C" fn register() {
    crate::PASSES.iter().for_each(|p| pass::register_pass(p));
    crate::PIPELINES.iter().for_each(|p| pass::register_pipeline(p));
}

/// A context with every dialect, extension, translation and pass of upstream's, and ours. Loads nothing early.
pub fn context() -> Context {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: once in the process.
        unsafe { mlirRegisterAllPasses() };
        register();
    });
    let registry = melior::dialect::DialectRegistry::new();
    melior::utility::register_all_dialects(&registry);
    // SAFETY: a live registry.
    unsafe { pass::tmRegisterExtensions(registry.to_raw()) };
    let context = Context::new();
    context.append_dialect_registry(&registry);
    melior::utility::register_all_llvm_translations(&context);
    context
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
        let write = |kind: &str, diagnostic: MlirDiagnostic| {
            // SAFETY: a live diagnostic.
            let loc = Loc(unsafe { mlirDiagnosticGetLocation(diagnostic) });
            // SAFETY: a live diagnostic.
            let text = printed(|append, data| unsafe { mlirDiagnosticPrint(diagnostic, append, data) });
            let place = loc.file().map(|(f, l, c)| format!("{f}:{l}:{c}: ")).unwrap_or_default();
            let mut out = out.borrow_mut();
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&format!("{place}{kind}: {text}"));
        };
        write(kind, diagnostic);
        // SAFETY: within the number of notes.
        unsafe {
            (0..mlirDiagnosticGetNumNotes(diagnostic))
                .for_each(|i| write("note", mlirDiagnosticGetNote(diagnostic, i)));
        }
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
    diagnosed(context.to_raw(), body)
}

/// Says which dialect a message about an operation in quotes is about; other messages stay.
fn name_dialect(message: &str, source: &[u8]) -> String {
    let named = || {
        let (place, _) = message.split_once(": error: operation being parsed with an unregistered dialect")?;
        let mut numbers = place.rsplitn(3, ':');
        let (_, line) = (numbers.next()?, numbers.next()?.parse::<usize>().ok()?);
        let text = std::str::from_utf8(source).ok()?.lines().nth(line.checked_sub(1)?)?;
        let name = text.split('"').nth(1)?;
        let (dialect, _) = name.split_once('.')?;
        Some(format!("{place}: error: '{name}' op cannot be read: there is no dialect `{dialect}`"))
    };
    named().unwrap_or_else(|| message.to_owned())
}

/// Parses a module from text or bytecode; operations outside a module are put in one. `file` names it in locations and messages.
///
/// Fails with every diagnostic, one a line, each with its position.
pub fn parse<'c>(context: &'c Context, source: &[u8], file: &str) -> Result<Module<'c>, String> {
    // The lexer wants a NUL after the end.
    let mut owned = source.to_vec();
    owned.push(0);
    let text = MlirStringRef { data: owned.as_ptr().cast::<c_char>(), length: source.len() };
    let raw = context.to_raw();
    // SAFETY: the source lives through the call; the result is checked.
    let (op, messages) = diagnosed(raw, || unsafe { pass::tmParseModule(raw, text, string_ref(file)) });
    if op.ptr.is_null() {
        if messages.is_empty() {
            return Err(format!("{file}: error: no MLIR module in it"));
        }
        return Err(messages.lines().map(|line| name_dialect(line, source)).collect::<Vec<_>>().join("\n"));
    }
    // SAFETY: a builtin.module that nothing else owns.
    Ok(unsafe { Module::from_raw(mlirModuleFromOperation(op)) })
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
    let raw = context.to_raw();
    let root = Op::of(module);
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
        let manager = mlirPassManagerCreate(context.to_raw());
        let top = mlirPassManagerGetAsOpPassManager(manager);
        let parsed = mlirParsePassPipeline(top, string_ref(pipeline), Some(append), (&raw mut error).cast());
        let text = printed(|append, data| mlirPrintPassPipeline(top, append, data));
        mlirPassManagerDestroy(manager);
        if parsed.value == 0 { Err(error.trim().to_string()) } else { Ok(text) }
    }
}
