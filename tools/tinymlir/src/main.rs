//! `tinymlir`: the tools in one executable, which acts as the one whose name it is called by.
//!
//! LLVM and MLIR are most of every tool; an archive with one executable and links to it holds them once. The self-test's
//! `FileCheck` is here for the same reason.

#[cfg(feature = "diff")]
#[path = "../../tinymlir-diff/src/main.rs"]
mod diff;
mod filecheck;
#[path = "../../tinymlir-gpt2/src/main.rs"]
mod gpt2;
mod pages;
#[path = "../../tinymlir-runner/src/main.rs"]
mod runner;

use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let called = arguments.first().and_then(|a| Path::new(a).file_name()?.to_str()).unwrap_or_default();
    match called {
        "tinymlir-opt" => status(tinymlir_report::opt_main()),
        "tinymlir-lsp-server" => status(tinymlir_report::lsp_server_main()),
        "tinymlir-reduce" => status(tinymlir_report::reduce_main()),
        "tinymlir-runner" => runner::main(),
        "tinymlir-gpt2" => gpt2::main(),
        #[cfg(feature = "diff")]
        "tinymlir-diff" => diff::main(),
        "FileCheck" => status(filecheck::main(&arguments[1..])),
        _ => match &arguments[..] {
            [_, write, folder] if write == "--write-pages" => match pages::write(Path::new(folder)) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("error: cannot write {folder}: {error}");
                    ExitCode::FAILURE
                }
            },
            _ => {
                eprintln!("error: call this through a link under a tool's name: {}", pages::TOOLS.join(", "));
                ExitCode::FAILURE
            }
        },
    }
}

fn status(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
