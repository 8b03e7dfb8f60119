//! Completions for bash, zsh and fish, and manual pages: `tinymlir --write-pages DIR`, which `tools/dist` calls.
//!
//! They come from the definitions of the command lines; those of the tools with LLVM's command line list our passes and
//! the flags that matter most.

use crate::{gpt2, runner};
use clap::{Arg, ArgAction, Command, ValueHint};
use clap_complete::{Shell, generate_to};
use std::{fs, io, path::Path};
use tinymlir_passes::{PASSES, PIPELINES};
use tinymlir_report::FLAGS;

/// The names that this executable answers to.
pub const TOOLS: [&str; 5] =
    ["tinymlir-opt", "tinymlir-runner", "tinymlir-gpt2", "tinymlir-lsp-server", "tinymlir-reduce"];

/// Writes `share/bash-completion/completions`, `share/zsh/site-functions`, `share/fish/vendor_completions.d` and
/// `share/man/man1` below `folder`.
pub fn write(folder: &Path) -> io::Result<()> {
    let shells = [
        (Shell::Bash, "share/bash-completion/completions"),
        (Shell::Zsh, "share/zsh/site-functions"),
        (Shell::Fish, "share/fish/vendor_completions.d"),
    ];
    let manual = folder.join("share/man/man1");
    fs::create_dir_all(&manual)?;
    for (name, mut command) in [
        ("tinymlir-opt", opt()),
        ("tinymlir-runner", runner::command()),
        ("tinymlir-gpt2", gpt2::command()),
        ("tinymlir-lsp-server", lsp_server()),
        ("tinymlir-reduce", reduce()),
    ] {
        // Completing adds a subcommand that explains the others, which wants no pages.
        let page = command.clone().version(env!("CARGO_PKG_VERSION"));
        for (shell, place) in shells {
            let place = folder.join(place);
            fs::create_dir_all(&place)?;
            generate_to(shell, &mut command, name, &place)?;
        }
        clap_mangen::generate_to(page, &manual)?;
    }
    Ok(())
}

fn base(name: &'static str, about: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .arg(Arg::new("file").value_hint(ValueHint::FilePath).help("The module; `-` is standard input"))
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("FILE")
                .value_hint(ValueHint::FilePath)
                .help("Where the output goes"),
        )
        .arg(flag("help-all", "Print every flag and every pass"))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn value(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn with_passes(command: Command) -> Command {
    let ours = PASSES.iter().map(|p| (p.argument, p.description));
    let ours = ours.chain(PIPELINES.iter().map(|p| (p.argument, p.description)));
    command
        .args(ours.map(|(name, help)| value(name, "OPTIONS", help).num_args(0..=1).require_equals(true)))
        .arg(flag("canonicalize", "Canonicalize operations"))
        .arg(flag("cse", "Eliminate common sub-expressions"))
        .arg(flag("inline", "Inline function calls"))
}

fn opt() -> Command {
    with_passes(base("tinymlir-opt", "Run passes on a module of MLIR and print it"))
        .arg(value("pass-pipeline", "PIPELINE", "Passes as text, such as builtin.module(tinymlir-optimize)"))
        .args(FLAGS.iter().map(|f| match f.value {
            "" => flag(f.name, f.description),
            named if f.optional => value(f.name, named, f.description).num_args(0..=1).require_equals(true),
            named => value(f.name, named, f.description),
        }))
        .arg(flag("mlir-print-ir-after-all", "Print the module after each pass"))
        .arg(flag("mlir-timing", "Print what each pass took"))
        .arg(flag("mlir-pass-statistics", "Print what each pass counted"))
        .arg(flag("split-input-file", "Treat what `// -----` separates as modules of their own"))
        .arg(flag("verify-diagnostics", "Check the diagnostics against the comments that expect them"))
        .arg(flag("emit-bytecode", "Write bytecode instead of text"))
        .arg(flag("show-passes", "Print the names of all passes"))
}

fn reduce() -> Command {
    with_passes(base("tinymlir-reduce", "Make a module smaller while a script still finds it interesting"))
        .arg(value("reduction-tree", "OPTIONS", "Erase operations: traversal-mode=0 test=SCRIPT"))
        .arg(value(
            "opt-reduction-pass",
            "OPTIONS",
            "Run a pass and keep what it makes smaller: opt-pass=PASS test=SCRIPT",
        ))
}

fn lsp_server() -> Command {
    Command::new("tinymlir-lsp-server")
        .about("The language server of MLIR, for editors")
        .arg(value("log", "LEVEL", "What is logged: error, info or verbose").value_parser(["error", "info", "verbose"]))
        .arg(flag("pretty", "Indent the JSON that is sent"))
        .arg(flag("help-all", "Print every flag"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_name_flags_and_passes() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join("share").join(name)).unwrap();
        assert!(read("bash-completion/completions/tinymlir-opt.bash").contains("--tinymlir-optimize"));
        assert!(read("zsh/site-functions/_tinymlir-runner").contains("--schedule"));
        assert!(read("fish/vendor_completions.d/tinymlir-gpt2.fish").contains("temperature"));
        assert!(read("man/man1/tinymlir-runner.1").contains("clear\\-cache"));
        assert!(read("man/man1/tinymlir-gpt2-generate.1").contains("top\\-k"));
        assert!(read("man/man1/tinymlir-opt.1").contains("Turn contractions on memrefs into CBLAS calls"));
        for flag in FLAGS {
            assert!(
                read("bash-completion/completions/tinymlir-opt.bash").contains(&format!("--{}", flag.name)),
                "{}",
                flag.name
            );
        }
        assert!(!folder.path().join("share/man/man1/tinymlir-gpt2-help.1").exists());
    }

    #[test]
    fn help_fits_on_a_screen() {
        let commands = [runner::command(), gpt2::command()];
        let parts = commands.iter().flat_map(|c| c.get_subcommands().cloned().chain([c.clone()]));
        for mut command in parts {
            let page = command.render_help().to_string();
            let lines = page.lines().count();
            assert!((8..=40).contains(&lines), "{lines} lines\n{page}");
        }
    }
}
