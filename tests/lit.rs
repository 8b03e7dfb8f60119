//! `cargo test --test lit`: every lit test of `test/` and `templates/` as a test of cargo's.
//!
//! The tools are built first (a build that has nothing to do takes a second), then LLVM's own lit runs once over the
//! tests that the command line selects, and each trial reports what lit found for it. A test that lit finds
//! unsupported, for want of ptxas or of a GPU, is reported as ignored.
//!
//! `TINYMLIR_TOOLS_DIR` names a folder of built tools to test instead; nothing is built then. `lit` and `FileCheck` are
//! those of `MLIR_SYS_220_PREFIX`.

mod tools;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// What lit says about one test: its code (PASS, FAIL, UNSUPPORTED, ...) and its output.
type Outcomes = HashMap<String, (String, String)>;

fn main() {
    let arguments = Arguments::from_args();
    let suite = Arc::new(Suite::new(&arguments));
    let names = match suite.discover() {
        Ok(names) => names,
        Err(message) => {
            eprintln!("error: {message}");
            std::process::exit(1);
        }
    };
    let trials = names
        .into_iter()
        .map(|name| {
            let suite = Arc::clone(&suite);
            Trial::ignorable_test(name.clone(), move || suite.outcome(&name))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit();
}

/// The lit tests of this repository and the one run over them.
struct Suite {
    root: PathBuf,
    /// `target/PROFILE`, where cargo puts what it builds.
    artifacts: PathBuf,
    lit: PathBuf,
    /// A regular expression of the tests that will be asked for.
    filter: Option<String>,
    run: OnceLock<Result<Outcomes, String>>,
}

impl Suite {
    fn new(arguments: &Arguments) -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let prefix = std::env::var_os("MLIR_SYS_220_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into());
        Suite {
            root,
            artifacts: tools::artifacts(),
            lit: Path::new(&prefix).join("bin/lit"),
            filter: arguments.filter.as_deref().map(escape),
            run: OnceLock::new(),
        }
    }

    fn lit(&self) -> Command {
        let mut command = Command::new(&self.lit);
        command.current_dir(&self.root).env("TINYMLIR_TOOLS_DIR", tools::folder());
        command
    }

    /// The names of all tests, as paths from the repository's root.
    fn discover(&self) -> Result<Vec<String>, String> {
        let output = self
            .lit()
            .args(["--show-tests", "test", "templates"])
            .output()
            .map_err(|error| format!("cannot run {}: {error} (tools/setup installs it)", self.lit.display()))?;
        if !output.status.success() {
            return Err(format!("lit --show-tests failed\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        let listing = String::from_utf8_lossy(&output.stdout);
        Ok(listing.lines().filter_map(|line| line.trim().strip_prefix("tinymlir :: ")).map(str::to_owned).collect())
    }

    fn outcome(&self, name: &str) -> Result<Completion, Failed> {
        let outcomes = self.run.get_or_init(|| tools::build().and_then(|()| self.run())).as_ref()?;
        let (code, output) = outcomes.get(name).ok_or_else(|| format!("lit did not run {name}"))?;
        match code.as_str() {
            "PASS" | "FLAKYPASS" | "XFAIL" => Ok(Completion::Completed),
            "UNSUPPORTED" => Ok(Completion::ignored_with("a feature that it requires is not there")),
            _ => Err(format!("{code}\n{output}").into()),
        }
    }

    fn run(&self) -> Result<Outcomes, String> {
        let report = self.artifacts.join("lit.json");
        // A report of an earlier run must not be taken for this one's.
        let _ = std::fs::remove_file(&report);
        let mut command = self.lit();
        command.args(["--quiet", "--output"]).arg(&report);
        if let Some(filter) = &self.filter {
            command.args(["--filter", filter]);
        }
        let output =
            command.args(["test", "templates"]).output().map_err(|error| format!("cannot run lit: {error}"))?;
        let text = std::fs::read_to_string(&report).map_err(|_| {
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            format!("lit wrote no report\n{out}{err}")
        })?;
        parse(&text).ok_or_else(|| format!("{} is not a report of lit's", report.display()))
    }
}

fn parse(report: &str) -> Option<Outcomes> {
    let report: serde_json::Value = serde_json::from_str(report).ok()?;
    let tests = report["tests"].as_array()?.iter();
    tests
        .map(|test| {
            let name = test["name"].as_str()?.strip_prefix("tinymlir :: ")?;
            Some((name.to_owned(), (test["code"].as_str()?.to_owned(), test["output"].as_str()?.to_owned())))
        })
        .collect()
}

/// `text` as a regular expression of Python's that matches it literally.
fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        if !(c.is_alphanumeric() || "_/".contains(c)) {
            out.push('\\');
        }
        out.push(c);
        out
    })
}
