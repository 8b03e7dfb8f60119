//! Diagnostics of upstream's as a user should read them: one message that names the operation and the remedy.

use super::{Loc, printed};
use mlir_sys::*;

/// The text of a diagnostic, and its notes. That which shows the operation is left out, since its place says as much; its
/// name goes into the text.
pub(super) fn diagnostic_text(diagnostic: MlirDiagnostic) -> (String, Vec<(Loc, String)>) {
    // SAFETY: a live diagnostic (so below).
    let read = |diagnostic| printed(|append, data| unsafe { mlirDiagnosticPrint(diagnostic, append, data) });
    // SAFETY: as above.
    let count = unsafe { mlirDiagnosticGetNumNotes(diagnostic) };
    let (mut text, mut kept) = (legalization(read(diagnostic)), vec![]);
    for i in 0..count {
        // SAFETY: within the number of notes.
        let (note, loc) = unsafe {
            let note = mlirDiagnosticGetNote(diagnostic, i);
            (note, mlirDiagnosticGetLocation(note))
        };
        let words = read(note);
        match words.strip_prefix("see current operation:") {
            Some(operation) => text = with_name(text, operation),
            None => kept.push((Loc(loc), words)),
        }
    }
    (text, kept)
}

/// What upstream's conversions say of an operation that none of them knows, with a remedy; other messages stay.
fn legalization(message: String) -> String {
    match message.strip_prefix("failed to legalize operation '").and_then(|rest| rest.split_once('\'')) {
        Some((name, _)) => {
            format!("'{name}' op has no lowering (write it with operations of linalg, tensor, arith, math or scf)")
        }
        None => message,
    }
}

/// A message about an operation, which is given in its generic form, with the operation's name.
fn with_name(message: String, operation: &str) -> String {
    let name = operation.split_once("\"(").and_then(|(before, _)| before.rsplit_once('"')).map(|(_, name)| name);
    match name {
        Some(name) if !message.contains(&format!("'{name}'")) => {
            let message = message.strip_prefix("op ").unwrap_or(&message);
            format!("'{name}' op {message}")
        }
        _ => message,
    }
}

/// What can be done about a dialect that is not there.
const OTHER_DIALECTS: &str = "(convert it to dialects of LLVM's first, such as linalg or tosa)";

/// Says which dialect a message of the parser is about; other messages stay.
pub(super) fn name_dialect(message: &str, source: &[u8]) -> String {
    let (place, text) = message.split_once(": error: ").unwrap_or(("", message));
    let quoted = || {
        let mut numbers = place.rsplitn(3, ':');
        let (_, line) = (numbers.next()?, numbers.next()?.parse::<usize>().ok()?);
        let text = std::str::from_utf8(source).ok()?.lines().nth(line.checked_sub(1)?)?;
        text.split('"').nth(1).map(str::to_owned)
    };
    let named = || {
        if text.starts_with("operation being parsed with an unregistered dialect") {
            let name = quoted()?;
            let (dialect, _) = name.split_once('.')?;
            Some(format!("'{name}' op cannot be read: there is no dialect `{dialect}` {OTHER_DIALECTS}"))
        } else if let Some(rest) = text.strip_prefix("Dialect `") {
            let (dialect, rest) = rest.split_once('\'')?;
            let name = rest.split('\'').nth(1)?;
            Some(format!("'{name}' op cannot be read: there is no dialect `{dialect}` {OTHER_DIALECTS}"))
        } else {
            let (what, _) = text.split_once(" created with unregistered dialect")?;
            let (spelled, kind) = what.trim_start_matches(['`', '!', '#', '"']).split_once('"')?;
            let kind = if kind.ends_with("type") { "a type" } else { "an attribute" };
            Some(format!("{kind} of dialect `{spelled}` cannot be read: there is no such dialect {OTHER_DIALECTS}"))
        }
    };
    named().map_or_else(|| message.to_owned(), |text| format!("{place}: error: {text}"))
}
