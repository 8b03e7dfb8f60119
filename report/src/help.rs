//! First contact with the tools that have LLVM's command line: a help that fits on a screen, and the nearest name where
//! MLIR's own message names none.

use crate::{
    reduction::{wrong_reduce, wrong_reduction},
    suggest::did_you_mean,
    terminal::Paint,
};
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
  --version                   the versions of tinymlir and LLVM
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

usage: tinymlir-reduce FILE --tinymlir-reduction=test=SCRIPT [-o FILE]

  SCRIPT                  a program that is called with a file's name; its exit status is 0 for a module that does not
                          matter, and anything else for one that is interesting
  --tinymlir-reduction=test=SCRIPT
                          leave out functions, operations, results and arguments, as long as it is interesting
  --opt-reduction-pass='opt-pass=PASS test=SCRIPT'
                          run a pass or pipeline, and keep the result where it is smaller
  --reduction-tree='traversal-mode=0 test=SCRIPT'
                          upstream's: leave out only what nothing uses

  --split-input-file=MARK reduce each module of a file by itself
  --no-implicit-module    the file's operation is no module
  -o FILE                 where the smallest module goes
  --help                  this page; --help-all lists every flag

example: tinymlir-reduce failing.mlir --tinymlir-reduction=test=./fails.sh -o small.mlir
docs/editors.md has a script to start from.
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

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Tool::Opt => "tinymlir-opt",
            Tool::LspServer => "tinymlir-lsp-server",
            Tool::Reduce => "tinymlir-reduce",
        }
    }
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
            Some("--version" | "-version") => {
                print_page(&format!("{} {}\nLLVM {}\n", tool.name(), env!("CARGO_PKG_VERSION"), ir::llvm_version()));
                return Err(0);
            }
            Some("--help-all") => *argument = "--help".into(),
            // LLVM would compare it with every option for minutes.
            Some(text) if text.starts_with('-') && text.find('=').unwrap_or(text.len()) > 200 => {
                eprintln!("error: there is no option {}...", text.chars().take(40).collect::<String>());
                return Err(1);
            }
            Some(text) => {
                let wrong = if tool == Tool::Reduce { wrong_reduction(text) } else { None };
                if let Some(message) = wrong.or_else(|| wrong_option(text)) {
                    eprintln!("error: {message}");
                    return Err(1);
                }
            }
            None => {}
        }
    }
    if tool == Tool::Reduce
        && let Some(message) = wrong_reduce(&arguments)
    {
        eprintln!("error: {message}");
        return Err(1);
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

/// Of `--PASS=OPTIONS`, what is wrong with the options' names. Of passes that are not ours only what is registered is known.
pub fn wrong_option(argument: &str) -> Option<String> {
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
    let ours = PASSES
        .iter()
        .find(|p| p.argument == name)
        .map(|p| p.options)
        .or_else(|| PIPELINES.iter().find(|p| p.argument == name).map(|p| p.options));
    if let Some(known) = ours {
        return wrong_name(name, &options_in(text), &known.iter().map(|o: &Opt| o.name).collect::<Vec<_>>());
    }
    // A pass of upstream's tells its options where it is printed, but for lists that are empty; a pipeline tells none. What is near
    // none of them is upstream's to judge.
    let printed = ir::printed_options(name);
    let known: Vec<&str> = options_in(printed.trim_matches(['{', '}'])).into_iter().map(|(option, _)| option).collect();
    let given = options_in(text);
    let (option, _) = given.iter().find(|(option, _)| !known.contains(option))?;
    if did_you_mean(option, known.iter().copied()).is_empty() { None } else { wrong_name(name, &given, &known) }
}

/// The first option that is none of the known ones, as a message.
pub fn wrong_name(name: &str, given: &[(&str, &str)], known: &[&str]) -> Option<String> {
    let (option, _) = given.iter().find(|(option, _)| !known.contains(option))?;
    let has = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
    Some(format!("'{name}' has no option '{option}'{}: {has}", did_you_mean(option, known.iter().copied())))
}

/// The options of a text such as `a=1 b="x y" c={d=2}`, with their values.
pub fn options_in(text: &str) -> Vec<(&str, &str)> {
    let mut out = vec![];
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (option, behind) = rest.split_at(end);
        let text = behind.strip_prefix('=').unwrap_or_default();
        let quoted = text.chars().next().filter(|c| "'\"".contains(*c));
        let (value, after) = match quoted {
            Some(quote) => {
                let end = text[1..].find(quote).map_or(text.len() - 1, |end| end);
                (&text[1..=end], text.get(end + 2..).unwrap_or_default())
            }
            None if text.starts_with('{') => text.split_at(braced(text).len().max(1)),
            None => text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())),
        };
        out.push((option, value));
        rest = if behind.starts_with('=') { after.trim_start() } else { behind.trim_start() };
    }
    out
}

pub fn all_names() -> Vec<&'static str> {
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
    fn options_are_told_apart() {
        assert_eq!(
            options_in("a=1 b='x y' c={d=2 e={f}} g  h=\"\""),
            [("a", "1"), ("b", "x y"), ("c", "{d=2 e={f}}"), ("g", ""), ("h", "")]
        );
        assert_eq!(options_in(""), []);
        assert_eq!(options_in("a='x"), [("a", "x")]);
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
            wrong_pipeline("builtin.module(canonicalize{disable-patterns=x})"),
            None,
            "a list, which is not printed"
        );
        assert_eq!(
            wrong_pipeline("builtin.module(tinymlir-bufferise)").unwrap(),
            "there is no pass or pipeline 'tinymlir-bufferise'; did you mean 'tinymlir-bufferize'?"
        );
        let message = wrong_pipeline("builtin.module(tinymlir-gpu-outline{schedul=fast})").unwrap();
        assert!(
            message.starts_with("'tinymlir-gpu-outline' has no option 'schedul'; did you mean 'schedule'?: it has")
        );
        // Of upstream's passes as well.
        let message = wrong_pipeline("builtin.module(canonicalize{max-iteration=3})").unwrap();
        assert!(
            message.starts_with("'canonicalize' has no option 'max-iteration'; did you mean 'max-iterations'?: it has"),
            "{message}"
        );
        assert_eq!(wrong_option("--canonicalize=max-iterations=3 top-down=false"), None);
        assert!(wrong_option("--cse=x=1").is_none());
        let options = "bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map";
        assert_eq!(wrong_pipeline(&format!("builtin.module(one-shot-bufferize{{{options}}})")), None);
        assert_eq!(wrong_option("--tinymlir-gpu-outline=schedule=fast"), None);
        assert!(wrong_option("--tinymlir-gpu-outline=schedule=fast x=1").unwrap().contains("no option 'x'"));
        assert_eq!(wrong_option("--tinymlir-fuse=").as_deref(), None);
        assert_eq!(wrong_option("--pass-pipeline=builtin.module(x)"), None);
        // Left to MLIR's parser.
        assert_eq!(wrong_pipeline("builtin.module(cse{"), None);
    }
}
