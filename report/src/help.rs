//! First contact with the tools that have LLVM's command line: a help that fits on a screen, and the nearest name where
//! MLIR's own message names none.

use crate::{suggest::did_you_mean, terminal::Paint};
use std::ffi::OsString;
use tinymlir_passes::{
    PASSES, PIPELINES,
    ir::{self, Opt},
};

const OPT: &str = "\
Read a module of MLIR, run passes on it, print it.

usage: tinymlir-opt [FILE | -] [--PASS[=OPTIONS] ...] [-o FILE]

the way to machine code, each stage valid input of the next:
  --tinymlir-optimize         elementwise operations fused, contractions by their names
  --tinymlir-bufferize        on memrefs, in place, every buffer freed
  --tinymlir-lower-cpu        to the LLVM dialect for this CPU, with BLAS
  --tinymlir-gpu-outline      kernels and launches for an NVIDIA GPU
  --tinymlir-lower-gpu        to PTX, and the host side to the LLVM dialect

any pass or pipeline:
  --PASS, --PASS=\"option=value option=value\"
  --pass-pipeline='builtin.module(PASS{option=value},func.func(PASS))'
  --explain=PASS              what a pass does, its options, an example
  --show-passes               the names of all passes; docs/PASSES.md explains ours

see what happens:
  --tinymlir-print-diff       the diff that each pass makes, to standard error
  --remarks[=yaml|json|FILE]  what was substituted or left, and why
  --mlir-print-ir-after-all   the module after each pass
  --mlir-timing               what each pass took
  --mlir-pass-statistics      what each pass counted

  --split-input-file, --verify-diagnostics, --emit-bytecode, --allow-unregistered-dialect: as in mlir-opt
  -o FILE                     where the output goes
  --version                   the version of LLVM
  --help                      this page; --help-all lists every pass and flag, --help-hidden the rest

example: tinymlir-opt in.mlir --tinymlir-optimize --tinymlir-bufferize
";

const LSP: &str = "\
The language server of MLIR, with every dialect that tinymlir reads. An editor starts it and speaks the Language Server
Protocol on its standard input and output: docs/editors.md says how for VS Code, Neovim and Emacs.

usage: tinymlir-lsp-server [--log=error|info|verbose] [--pretty]

  --log=LEVEL   what is logged to standard error
  --pretty      indent the JSON that is sent
  --lit-test    read messages that are split by `// -----`, as lit tests write them
  --help        this page; --help-all lists every flag
";

const REDUCE: &str = "\
Make a module smaller while a script still finds what is interesting about it, such as a pass that fails.

usage: tinymlir-reduce FILE --reduction-tree='traversal-mode=0 test=SCRIPT' [-o FILE]
       tinymlir-reduce FILE --opt-reduction-pass='opt-pass=PASS test=SCRIPT' [-o FILE]

  SCRIPT                  a program that is called with a file's name; its exit status is 0 for a module that does not
                          matter, and anything else for one that is interesting
  --reduction-tree        erase functions and operations, a range at a time
  --opt-reduction-pass    run a pass or pipeline, and keep the result where it is smaller
  --split-input-file=MARK reduce each module of a file by itself
  --no-implicit-module    the file's operation is no module
  -o FILE                 where the smallest module goes
  --help                  this page; --help-all lists every flag

example: tinymlir-reduce failing.mlir --reduction-tree='traversal-mode=0 test=./fails.sh' -o small.mlir
";

/// A tool with LLVM's command line.
#[derive(Clone, Copy, PartialEq)]
pub enum Tool {
    /// `tinymlir-opt`.
    Opt,
    /// `tinymlir-lsp-server`.
    LspServer,
    /// `tinymlir-reduce`.
    Reduce,
}

/// The process's arguments for LLVM's parser, or the exit code where nothing is left to do: `--help` was printed, or an
/// argument is wrong in a way that LLVM answers without a hint.
pub fn arguments(tool: Tool) -> Result<Vec<OsString>, i32> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    for argument in arguments.iter_mut().skip(1) {
        match argument.to_str() {
            Some("--") => break,
            Some("--help" | "-help" | "-h") => {
                print_page(match tool {
                    Tool::Opt => OPT,
                    Tool::LspServer => LSP,
                    Tool::Reduce => REDUCE,
                });
                return Err(0);
            }
            Some("--help-all") => *argument = "--help".into(),
            Some(text) => {
                if let Some(message) = wrong_option(text) {
                    eprintln!("error: {message}");
                    return Err(1);
                }
            }
            None => {}
        }
    }
    Ok(arguments)
}

/// To a reader who may have gone away.
fn print_page(text: &str) {
    use std::io::Write;
    let paint = Paint::stdout();
    let painted: String =
        text.lines().map(|l| if l.ends_with(':') { paint.bold(l) } else { l.to_owned() } + "\n").collect();
    let _ = std::io::stdout().write_all(painted.as_bytes());
}

/// Of `--PASS=OPTIONS` with a pass of ours, what is wrong with the options' names.
fn wrong_option(argument: &str) -> Option<String> {
    let (name, options) = argument.trim_start_matches('-').split_once('=')?;
    let options = options.trim().strip_prefix('{').and_then(|o| o.strip_suffix('}')).unwrap_or(options);
    check_options(name, options)
}

/// Of the text of a pipeline, the first name that no pass or option has.
///
/// Passes must be registered. Syntax is left to MLIR's parser.
pub fn wrong_pipeline(text: &str) -> Option<String> {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let options = braced(behind);
        if !name.is_empty() && !behind.starts_with('(') {
            if !options.is_empty()
                && let Some(message) = check_options(name, &options[1..options.len() - 1])
            {
                return Some(message);
            }
            if ir::described(name).is_none() {
                return Some(format!("there is no pass or pipeline '{name}'{}", did_you_mean(name, all_names())));
            }
        }
        rest = &behind[options.len()..];
        if end == 0 && options.is_empty() {
            rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
        }
    }
    None
}

/// The braces that a text starts with, and all that is in them; "" where there are none or they do not end.
fn braced(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if at == 0 { "" } else { &text[..=at] };
        }
    }
    ""
}

fn check_options(name: &str, text: &str) -> Option<String> {
    let known: &'static [Opt] = PASSES
        .iter()
        .find(|p| p.argument == name)
        .map(|p| p.options)
        .or_else(|| PIPELINES.iter().find(|p| p.argument == name).map(|p| p.options))?;
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (option, behind) = rest.split_at(end);
        if !known.iter().any(|o| o.name == option) {
            let names: Vec<&str> = known.iter().map(|o| o.name).collect();
            let has = if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
            return Some(format!("'{name}' has no option '{option}'{}: {has}", did_you_mean(option, names)));
        }
        let value = behind.strip_prefix('=').unwrap_or(behind);
        let quoted = value.chars().next().filter(|c| "'\"".contains(*c));
        let value = match quoted {
            Some(quote) => value[1..].find(quote).map_or("", |end| &value[end + 2..]),
            None if value.starts_with('{') => &value[braced(value).len().max(1)..],
            None => &value[value.find(char::is_whitespace).unwrap_or(value.len())..],
        };
        rest = value.trim_start();
    }
    None
}

fn all_names() -> Vec<&'static str> {
    let upstream = ["canonicalize", "cse", "inline", "symbol-dce", "sccp", "one-shot-bufferize"];
    PASSES.iter().map(|p| p.argument).chain(PIPELINES.iter().map(|p| p.argument)).chain(upstream).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_on_a_screen() {
        for page in [OPT, LSP, REDUCE] {
            assert!(page.lines().count() <= 40 && page.lines().all(|l| l.chars().count() <= 120), "{page}");
        }
    }

    #[test]
    fn help_names_what_there_is() {
        let _ = ir::context();
        for word in OPT.split_whitespace().filter_map(|w| w.strip_prefix("--tinymlir-")) {
            assert!(word == "print-diff" || ir::described(&format!("tinymlir-{word}")).is_some(), "{word}");
        }
    }

    #[test]
    fn the_nearest_name_is_in_the_message() {
        let _ = ir::context();
        assert_eq!(
            wrong_pipeline("builtin.module(tinymlir-optimize,func.func(cse,tinymlir-fuse),any(canonicalize))"),
            None
        );
        assert_eq!(wrong_pipeline("builtin.module(canonicalize{region-simplify=aggressive test={a b}},cse)"), None);
        assert_eq!(
            wrong_pipeline("builtin.module(tinymlir-bufferise)").unwrap(),
            "there is no pass or pipeline 'tinymlir-bufferise'; did you mean 'tinymlir-bufferize'?"
        );
        let message = wrong_pipeline("builtin.module(tinymlir-gpu-outline{schedul=fast})").unwrap();
        assert!(
            message.starts_with("'tinymlir-gpu-outline' has no option 'schedul'; did you mean 'schedule'?: it has")
        );
        assert_eq!(wrong_option("--tinymlir-gpu-outline=schedule=fast"), None);
        assert!(wrong_option("--tinymlir-gpu-outline=schedule=fast x=1").unwrap().contains("no option 'x'"));
        assert_eq!(wrong_option("--tinymlir-fuse=").as_deref(), None);
        assert_eq!(wrong_option("--pass-pipeline=builtin.module(x)"), None);
        // Left to MLIR's parser.
        assert_eq!(wrong_pipeline("builtin.module(cse{"), None);
    }
}
