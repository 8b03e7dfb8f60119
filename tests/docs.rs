//! `cargo test --test docs`: every command block of README.md and docs/ runs, and prints what the page shows; the notebook's cells run.
//!
//! A page is a trial. Its blocks run in their order in a scratch folder of their own, in which the repository's files appear
//! by their names and the tools are on PATH:
//!
//! - ```` ```sh ````: bash runs it, and it must succeed.
//! - ```` ```console ````: each line behind `$ ` is a command; what stands below it is its output, both streams. `...` stands for
//!   any text within a line, and on a line of its own for any lines. A command may fail where its output is shown.
//! - any other block is text; without a language it is an error, so that no command escapes by being unmarked.
//!
//! A comment above a block says more of it: `<!-- file: NAME -->` writes the block to that file, `<!-- needs: card -->` and
//! `<!-- needs: ptxas -->` leave it out, with a line on standard error, where there is none, and `<!-- not run: REASON -->`
//! everywhere. `<!-- run: COMMANDS -->` runs what readers need not see.
//!
//! Of `examples/colab.ipynb` those code cells run, as one program of Python's, that are not tagged `install`, `gpu` where there is no
//! card, or `ptxas` where that is not there.
//!
//! `TINYMLIR_TOOLS_DIR` names a folder of built tools to test instead; nothing is built then.

mod tools;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
};

fn main() {
    let arguments = Arguments::from_args();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md")];
    let docs = fs::read_dir(root.join("docs")).expect("docs/ is there");
    pages.extend(docs.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.extension().is_some_and(|e| e == "md")));
    pages.sort();
    let machine = Arc::new(OnceLock::new());
    let for_pages = Arc::clone(&machine);
    let at = root.clone();
    let mut trials: Vec<Trial> = pages
        .into_iter()
        .map(|page| {
            let name = page.strip_prefix(&at).unwrap_or(&page).display().to_string();
            let machine = Arc::clone(&for_pages);
            Trial::ignorable_test(name.clone(), move || {
                let machine: &Result<Machine, String> = machine.get_or_init(Machine::new);
                run_page(&page, &name, machine.as_ref()?)
            })
        })
        .collect();
    let machine_of = Arc::clone(&machine);
    trials.push(Trial::test("examples/colab.ipynb", move || {
        run_notebook(&root.join("examples/colab.ipynb"), machine_of.get_or_init(Machine::new).as_ref()?)
    }));
    trials.push(Trial::test("the checker itself", check_checker));
    libtest_mimic::run(&arguments, trials).exit();
}

/// What there is to run commands with.
struct Machine {
    root: PathBuf,
    tools: PathBuf,
    toolkit: Option<PathBuf>,
    card: bool,
}

impl Machine {
    fn new() -> Result<Machine, String> {
        tools::build()?;
        let tools = tools::folder();
        if std::env::var_os("TINYMLIR_TOOLS_DIR").is_none() {
            tools::build_example("tinymlir-passes", "my_opt")?;
        }
        let var = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let cache = var("TINYMLIR_CACHE")
            .or_else(|| Some(var("XDG_CACHE_HOME")?.join("tinymlir")))
            .or_else(|| Some(var("HOME")?.join(".cache/tinymlir")));
        let toolkit = var("TINYMLIR_CUDA_TOOLKIT").or_else(|| Some(cache?.join("cuda-12.6.85")));
        let toolkit = toolkit.filter(|t| t.join("bin/ptxas").exists() && t.join("nvvm/libdevice").exists());
        let version = Command::new(tools.join("tinymlir-runner")).arg("--version").output();
        let version = version.map_err(|e| format!("cannot run tinymlir-runner: {e}"))?;
        let card = !String::from_utf8_lossy(&version.stdout).contains("GPU none");
        Ok(Machine { root: env!("CARGO_MANIFEST_DIR").into(), tools, toolkit, card })
    }

    /// Runs bash in a folder; its output, both streams in their order, and whether it succeeded.
    fn bash(&self, folder: &Path, commands: &str) -> Result<(String, bool), String> {
        let mut path = vec![self.tools.clone()];
        let prefix = std::env::var_os("MLIR_SYS_220_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into());
        path.push(Path::new(&prefix).join("bin"));
        path.extend(self.toolkit.iter().map(|t| t.join("bin")));
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let path = std::env::join_paths(path).map_err(|e| e.to_string())?;
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", &format!("exec 2>&1\n{commands}")]).current_dir(folder);
        command.env("PATH", path).env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8");
        command.env("TINYMLIR_CACHE", folder.join(".cache"));
        if let Some(toolkit) = &self.toolkit {
            command.env("TINYMLIR_CUDA_TOOLKIT", toolkit);
        }
        let output = command.output().map_err(|e| format!("cannot run bash: {e}"))?;
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success()))
    }

    /// Why a block is left out, if it is.
    fn lacks(&self, need: &str) -> Result<Option<&'static str>, String> {
        Ok(match need {
            "card" => (!self.card).then_some("there is no card"),
            "ptxas" => self.toolkit.is_none().then_some("ptxas and libdevice are not there"),
            "example" => (!tools::artifacts().join("examples/my_opt").exists()).then_some("the example is not built"),
            _ => return Err(format!("`needs: {need}` is not known; there is card, ptxas, example")),
        })
    }
}

/// A fenced block, or the commands in a comment.
#[derive(Debug, PartialEq)]
struct Block {
    line: usize,
    language: String,
    text: String,
    file: Option<String>,
    needs: Vec<String>,
    not_run: Option<String>,
}

/// The blocks of a page, in their order.
fn blocks(page: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let (mut file, mut needs, mut not_run) = (None, Vec::new(), None);
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some(comment) = line.strip_prefix("<!-- ") {
            let mut comment = comment.to_owned();
            while !comment.contains("-->") {
                let (_, line) = lines.next().ok_or_else(|| format!("line {}: a comment does not end", at + 1))?;
                comment = format!("{comment}\n{line}");
            }
            let comment = comment.split("-->").next().unwrap_or_default().trim();
            match comment.split_once(':').map(|(key, value)| (key, value.trim())) {
                Some(("file", name)) => file = Some(name.to_owned()),
                Some(("needs", need)) => needs.push(need.to_owned()),
                Some(("not run", reason)) => not_run = Some(reason.to_owned()),
                Some(("run", commands)) => blocks.push(Block {
                    line: at + 1,
                    language: "sh".to_owned(),
                    text: format!("{commands}\n"),
                    file: None,
                    needs: std::mem::take(&mut needs),
                    not_run: None,
                }),
                _ => {}
            }
        } else if let Some(language) = line.trim_start().strip_prefix("```") {
            let indent = line.len() - line.trim_start().len();
            let mut text = String::new();
            loop {
                let (_, line) = lines.next().ok_or_else(|| format!("line {}: a block does not end", at + 1))?;
                if line.trim_start().starts_with("```") {
                    break;
                }
                text += line.get(indent..).unwrap_or_default();
                text.push('\n');
            }
            if language.is_empty() {
                return Err(format!("line {}: a block without a language", at + 1));
            }
            blocks.push(Block {
                line: at + 1,
                language: language.to_owned(),
                text,
                file: file.take(),
                needs: std::mem::take(&mut needs),
                not_run: not_run.take(),
            });
        }
    }
    Ok(blocks)
}

/// The commands of a console block with the output that is shown, `None` where none is.
fn commands(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), String::new()));
        } else {
            let last = commands.last_mut().ok_or("a console block starts with `$ `")?;
            // A command that goes on.
            if last.0.ends_with('\\') && last.1.is_empty() {
                last.0 = format!("{}\n{line}", last.0);
            } else {
                last.1 += line;
                last.1.push('\n');
            }
        }
    }
    Ok(commands)
}

/// Whether the lines are what is shown, with `...` for any text within a line and any lines.
fn shown(shown: &[&str], got: &[&str]) -> bool {
    match shown {
        [] => got.is_empty(),
        ["..."] => true,
        ["...", rest @ ..] => (0..=got.len()).any(|skip| self::shown(rest, &got[skip..])),
        [first, rest @ ..] => got.first().is_some_and(|g| line_shown(first, g)) && self::shown(rest, &got[1..]),
    }
}

fn line_shown(shown: &str, got: &str) -> bool {
    let (shown, got) = (shown.trim_end(), got.trim_end());
    let Some((start, rest)) = shown.split_once("...") else { return shown == got };
    let Some(got) = got.strip_prefix(start) else { return false };
    (0..=got.len()).filter(|at| got.is_char_boundary(*at)).any(|at| line_shown(rest, &got[at..]))
}

/// A folder in which the repository's files appear by their names.
fn scratch(machine: &Machine, name: &str) -> std::io::Result<PathBuf> {
    let folder = tools::artifacts().join("docs").join(name.replace(['/', '.'], "-"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(&machine.root)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with('.') && entry.file_name() != "target" {
            symlink(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    // Where a page says target/debug, it means what was built.
    fs::create_dir(folder.join("target"))?;
    symlink(tools::artifacts(), folder.join("target/debug"))?;
    Ok(folder)
}

fn run_page(page: &Path, name: &str, machine: &Machine) -> Result<Completion, Failed> {
    let text = fs::read_to_string(page)?;
    let blocks = blocks(&text).map_err(|e| format!("{name}: {e}"))?;
    let folder = scratch(machine, name)?;
    let (mut ran, mut left) = (0, 0);
    for block in &blocks {
        let place = format!("{name}:{}", block.line);
        if let Some(file) = &block.file {
            fs::write(folder.join(file), &block.text)?;
            continue;
        }
        if !["sh", "console"].contains(&block.language.as_str()) {
            continue;
        }
        let mut reason = block.not_run.clone();
        for need in &block.needs {
            reason = reason.or(machine.lacks(need)?.map(str::to_owned));
        }
        if let Some(reason) = reason {
            eprintln!("not run: {place}: {reason}");
            left += 1;
            continue;
        }
        ran += 1;
        if block.language == "sh" {
            let (output, success) = machine.bash(&folder, &block.text)?;
            if !success {
                return Err(format!("{place}: the block failed\n{}{output}", block.text).into());
            }
            continue;
        }
        for (command, expected) in commands(&block.text).map_err(|e| format!("{place}: {e}"))? {
            let (output, success) = machine.bash(&folder, &command)?;
            let lines = |text: &'_ str| text.lines().map(str::to_owned).collect::<Vec<_>>();
            let (want, got) = (lines(&expected), lines(&output));
            let as_shown = shown(
                &want.iter().map(String::as_str).collect::<Vec<_>>(),
                &got.iter().map(String::as_str).collect::<Vec<_>>(),
            );
            if !as_shown || (!success && want.is_empty()) {
                return Err(format!("{place}: $ {command}\nshown:\n{expected}\nprinted:\n{output}").into());
            }
        }
    }
    match (ran, left) {
        (0, 1..) => Ok(Completion::ignored_with("every block was left out")),
        _ => Ok(Completion::Completed),
    }
}

fn run_notebook(path: &Path, machine: &Machine) -> Result<(), Failed> {
    let notebook: serde_json::Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let cells = notebook["cells"].as_array().ok_or("a notebook has cells")?;
    let mut program = String::new();
    for (i, cell) in cells.iter().enumerate().filter(|(_, c)| c["cell_type"] == "code") {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let tags: Vec<String> =
            cell["metadata"]["tags"].as_array().map(|t| t.iter().map(text).collect()).unwrap_or_default();
        let mut reason = None;
        for tag in &tags {
            reason = reason.or(match tag.as_str() {
                "install" => Some("it builds the tools"),
                "gpu" => machine.lacks("card")?,
                other => machine.lacks(other)?,
            });
        }
        if let Some(reason) = reason {
            eprintln!("not run: examples/colab.ipynb, cell {i}: {reason}");
            continue;
        }
        let source: String =
            cell["source"].as_array().map(|lines| lines.iter().map(text).collect()).unwrap_or_default();
        program += &format!("# cell {i}\n{source}\n");
    }
    let folder = scratch(machine, "colab-ipynb")?;
    fs::write(folder.join("cells.py"), program)?;
    let (output, success) = machine.bash(&folder, "python3 cells.py")?;
    if success { Ok(()) } else { Err(output.into()) }
}

/// A checker that lets wrong output through would check nothing.
fn check_checker() -> Result<(), Failed> {
    let ensure = |what: &str, holds: bool| if holds { Ok(()) } else { Err(Failed::from(what)) };
    ensure("equal lines", shown(&["a", "b"], &["a", "b"]))?;
    ensure("a line too many", !shown(&["a"], &["a", "b"]))?;
    ensure("a line too few", !shown(&["a", "b"], &["a"]))?;
    ensure("lines left out", shown(&["a", "...", "d"], &["a", "b", "c", "d"]))?;
    ensure("another end", !shown(&["a", "...", "d"], &["a", "b", "c"]))?;
    ensure("text left out", line_shown("in ... s, ...", "in 0.5 s, twice"))?;
    ensure("another text", !line_shown("in ... s", "in 0.5 ms"))?;
    let page = "<!-- needs: card -->\n```console\n$ a \\\n  b\nc\n```\n<!-- run: x\ny -->\n  ```mlir\n  z\n  ```\n";
    let found = blocks(page)?;
    ensure("three blocks", found.len() == 3)?;
    ensure("what is needed", found[0].needs == ["card"] && found[0].line == 2)?;
    ensure("commands in a comment", found[1].text == "x\ny\n" && found[1].language == "sh")?;
    ensure("an indented block", found[2].text == "z\n")?;
    ensure("a command on two lines", commands(&found[0].text)? == [("a \\\n  b".to_owned(), "c\n".to_owned())])?;
    ensure("a block without a language", blocks("```\na\n```\n").is_err())
}
