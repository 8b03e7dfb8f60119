//! `FileCheck`: LLVM's, for the self-test of an archive that comes without LLVM.
//!
//! It takes those options that the tests use, and refuses any other.

use std::ffi::{CString, c_char, c_int};

#[repr(C)]
struct List {
    data: *const *const c_char,
    length: usize,
}

// SAFETY: the declaration is that of the definition in filecheck.cpp.
unsafe extern "C" {
    fn tinymlirFileCheck(
        checks: *const c_char,
        input: *const c_char,
        prefixes: List,
        implicit_nots: List,
        defines: List,
        allow_empty: bool,
        allow_unused: bool,
        full_lines: bool,
        strict_whitespace: bool,
    ) -> c_int;
}

/// The strings of a list, kept alive with the pointers to them.
#[derive(Default)]
struct Strings {
    strings: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Strings {
    fn push(&mut self, text: &str) -> Result<(), String> {
        let text = CString::new(text).map_err(|_| "an argument holds a NUL byte".to_owned())?;
        self.pointers.push(text.as_ptr());
        self.strings.push(text);
        Ok(())
    }

    fn list(&self) -> List {
        List { data: self.pointers.as_ptr(), length: self.pointers.len() }
    }
}

/// Checks as `FileCheck ARGUMENTS` does and returns its exit status: 0, 1 for a mismatch, 2 for anything else.
pub fn main(arguments: &[String]) -> i32 {
    match run(arguments) {
        Ok(status) => status,
        Err(message) => {
            eprintln!("error: FileCheck: {message}");
            2
        }
    }
}

fn run(arguments: &[String]) -> Result<i32, String> {
    let (mut checks, mut input) = (None, "-");
    let (mut prefixes, mut implicit_nots, mut defines) = <(Strings, Strings, Strings)>::default();
    let (mut allow_empty, mut allow_unused, mut full_lines, mut strict_whitespace) = (false, false, false, false);
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        let Some(option) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')) else {
            checks = Some(argument);
            continue;
        };
        if let Some(define) = option.strip_prefix('D') {
            defines.push(define)?;
            continue;
        }
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let mut value = || value.or_else(|| rest.next()).ok_or_else(|| format!("{argument} needs a value"));
        match name {
            "check-prefix" | "check-prefixes" => {
                for prefix in value()?.split(',') {
                    prefixes.push(prefix)?;
                }
            }
            "implicit-check-not" => implicit_nots.push(value()?)?,
            "input-file" => input = value()?,
            "dump-input" | "dump-input-filter" | "color" => drop(value()?),
            "allow-empty" => allow_empty = true,
            "allow-unused-prefixes" => allow_unused = true,
            "match-full-lines" => full_lines = true,
            "strict-whitespace" => strict_whitespace = true,
            _ => return Err(format!("{argument}: this option is not known here")),
        }
    }
    let to_c = |text: &str| CString::new(text).map_err(|_| "a file's name holds a NUL byte".to_owned());
    let checks = to_c(checks.ok_or("a file of checks is needed")?)?;
    let input = to_c(input)?;
    // SAFETY: every pointer is to a string, or to as many of them as is said, that lives to the end of this function.
    Ok(unsafe {
        tinymlirFileCheck(
            checks.as_ptr(),
            input.as_ptr(),
            prefixes.list(),
            implicit_nots.list(),
            defines.list(),
            allow_empty,
            allow_unused,
            full_lines,
            strict_whitespace,
        )
    })
}
