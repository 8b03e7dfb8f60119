//! `cargo test --test cases`: other people's modules, on both targets, and the table of them in docs/inputs.md.
//!
//! Every export of torch-mlir, and every module in test/cases/written, runs through `tinymlir-runner` on the arrays beside it and is compared with PyTorch's or NumPy's
//! outputs at the tolerance of its index, those of dynamic shape at two sizes. What the reported ones print is checked by lit (their
//! RUN lines); here they only must not crash. For the GPU every case is outlined, lowered and assembled by ptxas, where that
//! is installed; with emulated kernels, simple and fast, each is right or refused as on a card. What a card computed stands in test/cases/card.json, which `benches/gpu/card.sh` writes on a machine with one; a case
//! that it lacks, or that was wrong there, is a failure. The tables of docs/inputs.md show all of it; the last test fails while
//! they are stale, and with `TINYMLIR_UPDATE_DOCS=1` it writes them.

mod tools;

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{Arc, OnceLock},
};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let suite = Arc::new(Suite::new());
    let mut trials = vec![];
    for i in 0..suite.cases.len() {
        for target in [Target::Cpu, Target::Gpu, Target::Emulated] {
            let (suite, name) = (Arc::clone(&suite), format!("{} {}", suite.cases[i].name, target.name()));
            trials.push(Trial::ignorable_test(name, move || suite.check(i, target)));
        }
    }
    let card = Arc::clone(&suite);
    trials.push(Trial::test("test/cases/card.json", move || card.check_card()));
    let last = Arc::clone(&suite);
    trials.push(Trial::ignorable_test("docs/inputs.md", move || last.check_page()));
    libtest_mimic::run(&arguments, trials).exit();
}

/// What stands before this line in the page is written by hand.
const GENERATED: &str = "<!-- The rest is generated: TINYMLIR_UPDATE_DOCS=1 cargo test --test cases -->";

#[derive(Clone, Copy, PartialEq)]
enum Target {
    Cpu,
    Gpu,
    Emulated,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Target::Cpu => "on the CPU",
            Target::Gpu => "for the GPU",
            Target::Emulated => "emulated",
        }
    }
}

/// What became of a case on a target.
#[derive(Clone)]
enum Outcome {
    Right,
    /// An error with a message and exit status 1.
    Refused(String),
    /// Anything else: another status, a signal, a wrong value.
    Failed(String),
    /// A tool that it takes is not installed.
    Skipped,
}

struct Case {
    /// The group, a folder of test/cases, and the name: `reported/NAME`.
    name: String,
    /// What a user is doing.
    about: String,
    module: PathBuf,
    /// Of an export the arrays: inputs and expected outputs for each set of sizes.
    sets: Vec<(Vec<PathBuf>, Vec<PathBuf>)>,
    tolerance: String,
    results: [OnceLock<Outcome>; 3],
}

/// What a card made of the cases: test/cases/card.json.
struct Card {
    /// The date, the card with its driver, and the commit.
    about: [String; 3],
    /// `right` or `refused: MESSAGE` by a case's name; anything else is a fault.
    cases: BTreeMap<String, String>,
}

impl Card {
    fn read(root: &Path) -> Card {
        let file = root.join("test/cases/card.json");
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let json: serde_json::Value = serde_json::from_str(&text).expect("card.json is JSON");
        let string = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let cases = json["cases"].as_object().expect("card.json has cases");
        Card {
            about: ["date", "card", "commit"].map(|key| string(&json[key])),
            cases: cases.iter().map(|(name, became)| (name.clone(), string(became))).collect(),
        }
    }
}

struct Suite {
    root: PathBuf,
    cases: Vec<Case>,
    card: Card,
    built: OnceLock<Result<(), String>>,
}

impl Suite {
    fn new() -> Suite {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut cases = reported(&root.join("test/cases/reported"));
        for group in ["torch", "written"] {
            cases.extend(exported(&root.join("test/cases"), group));
        }
        let card = Card::read(&root);
        Suite { root, cases, card, built: OnceLock::new() }
    }

    /// The card has an answer to every case, and none is wrong.
    fn check_card(&self) -> Result<(), Failed> {
        let known = |name: &&str| {
            self.card.cases.get(*name).is_some_and(|became| became == "right" || became.starts_with("refused: "))
        };
        let names = self.cases.iter().map(|case| case.name.as_str());
        let faults: Vec<&str> = names.clone().filter(|name| !known(name)).collect();
        let gone: Vec<&String> = self.card.cases.keys().filter(|name| !names.clone().any(|n| n == *name)).collect();
        match faults.is_empty() && gone.is_empty() {
            true => Ok(()),
            false => {
                Err(format!("wrong or missing: {faults:?}; no longer a case: {gone:?} (benches/gpu/card.sh)").into())
            }
        }
    }

    fn check(&self, case: usize, target: Target) -> Result<Completion, Failed> {
        let outcome = self.outcome(case, target)?;
        let on_card = self.card.cases.get(&self.cases[case].name).map(String::as_str);
        match outcome {
            Outcome::Refused(message) if target == Target::Emulated && on_card == Some("right") => {
                Err(format!("is right on a card, and is refused here: {message}").into())
            }
            // Which refusals there are, and may be, is what the page says.
            Outcome::Right | Outcome::Refused(_) => Ok(Completion::Completed),
            Outcome::Skipped => Ok(Completion::ignored_with("ptxas and libdevice are not there")),
            Outcome::Failed(message) => Err(message.into()),
        }
    }

    fn outcome(&self, case: usize, target: Target) -> Result<Outcome, Failed> {
        self.built.get_or_init(tools::build).as_ref()?;
        let case = &self.cases[case];
        let result = case.results[target as usize].get_or_init(|| match target {
            Target::Cpu => case.on_cpu(),
            Target::Gpu => case.for_gpu(),
            Target::Emulated => case.emulated(),
        });
        Ok(result.clone())
    }

    fn check_page(&self) -> Result<Completion, Failed> {
        let file = self.root.join("docs/inputs.md");
        let Some(page) = self.page()? else {
            return Ok(Completion::ignored_with("ptxas and libdevice are not there"));
        };
        if std::env::var_os("TINYMLIR_UPDATE_DOCS").is_some() {
            fs::write(&file, page).map_err(|error| format!("{}: {error}", file.display()))?;
            return Ok(Completion::Completed);
        }
        let current = fs::read_to_string(&file).unwrap_or_default();
        match current.lines().zip(page.lines()).find(|(a, b)| a != b) {
            None if current.len() == page.len() => Ok(Completion::Completed),
            difference => {
                Err(format!("docs/inputs.md is stale: {difference:?} (TINYMLIR_UPDATE_DOCS=1 cargo test --test cases)")
                    .into())
            }
        }
    }

    /// The page; `None` where a result is missing for want of a tool.
    fn page(&self) -> Result<Option<String>, Failed> {
        let file = self.root.join("docs/inputs.md");
        let mut page = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let written = page.find(GENERATED).ok_or_else(|| format!("docs/inputs.md lacks the line {GENERATED}"))?;
        page.truncate(written + GENERATED.len());
        let [date, card, commit] = &self.card.about;
        write!(page, "\n\nThe card was an {card}, on {date}, at commit {commit} (test/cases/card.json).\n")
            .expect("a String takes it");
        for (group, title) in [
            ("reported/", "Reported by others"),
            ("torch/", "Exported by torch-mlir"),
            ("written/", "Written by hand, with NumPy's results"),
        ] {
            let mut rows = String::new();
            let (mut counts, mut cases) = ([[0; 2]; 3], 0);
            for (i, case) in self.cases.iter().enumerate().filter(|(_, case)| case.name.starts_with(group)) {
                cases += 1;
                write!(rows, "| {} | {} |", case.name.trim_start_matches(group), case.about)
                    .expect("a String takes it");
                for target in [Target::Cpu, Target::Gpu] {
                    let text = match (self.outcome(i, target)?, target) {
                        (Outcome::Right, Target::Cpu) => "right".to_owned(),
                        (Outcome::Right, _) => "assembled".to_owned(),
                        (Outcome::Refused(message), _) => format!("refused: {}", message.replace('|', "\\|")),
                        (Outcome::Failed(message), _) => return Err(format!("{}: {message}", case.name).into()),
                        (Outcome::Skipped, _) => return Ok(None),
                    };
                    counts[target as usize][usize::from(text.starts_with("refused"))] += 1;
                    write!(rows, " {text} |").expect("a String takes it");
                }
                let became = self.card.cases.get(&case.name).map_or("not run", String::as_str);
                counts[2][usize::from(became.starts_with("refused"))] += usize::from(became != "not run");
                writeln!(rows, " {} |", became.replace('|', "\\|")).expect("a String takes it");
            }
            let [[right, refused], [assembled, not], [on_card, card_refused]] = counts;
            write!(
                page,
                "\n## {title}\n\n{cases} cases. CPU: {right} right, {refused} refused. For a GPU: {assembled} assembled, \
                 {not} refused. On a card: {on_card} right, {card_refused} refused.\n\n\
                 | case | what | CPU | for a GPU | on a card |\n| --- | --- | --- | --- | --- |\n{rows}"
            )
            .expect("a String takes it");
        }
        Ok(Some(page))
    }
}

impl Case {
    fn on_cpu(&self) -> Outcome {
        self.run(&[])
    }

    /// With kernels of both schedules, and the threads of a block in either order.
    fn emulated(&self) -> Outcome {
        match self.run(&["--gpu", "--emulate"]) {
            Outcome::Right => self.run(&["--gpu", "--emulate=reverse", "--schedule", "fast", "--memory", "device"]),
            other => other,
        }
    }

    /// What `tinymlir-runner` with these flags makes of it.
    fn run(&self, flags: &[&str]) -> Outcome {
        let runner = || {
            let mut command = Command::new(tools::folder().join("tinymlir-runner"));
            command.args(flags);
            command
        };
        if self.sets.is_empty() {
            return outcome(runner().arg(&self.module).output());
        }
        for (inputs, outputs) in &self.sets {
            let mut command = runner();
            command.arg(&self.module).args(["--strict-args", "--rtol", &self.tolerance, "--atol", &self.tolerance]);
            for (i, file) in inputs.iter().enumerate() {
                command.arg("--arg").arg(format!("{i}={}", file.display()));
            }
            for (i, file) in outputs.iter().enumerate() {
                command.arg("--expect").arg(format!("{i}={}", file.display()));
            }
            match outcome(command.output()) {
                Outcome::Right => {}
                Outcome::Refused(message) if message.starts_with("result ") => return Outcome::Failed(message),
                other => return other,
            }
        }
        Outcome::Right
    }

    fn for_gpu(&self) -> Outcome {
        let Some(toolkit) = toolkit() else { return Outcome::Skipped };
        let stages = ["--tinymlir-optimize", "--tinymlir-bufferize", "--tinymlir-gpu-outline"];
        let lower = format!("--tinymlir-lower-gpu=chip=sm_80 format=bin toolkit={}", toolkit.display());
        let mut command = Command::new(tools::folder().join("tinymlir-opt"));
        outcome(command.arg(&self.module).args(stages).args([&lower, "-o", "/dev/null"]).output())
    }
}

fn outcome(output: std::io::Result<Output>) -> Outcome {
    let output = match output {
        Ok(output) => output,
        Err(error) => return Outcome::Failed(format!("cannot run it: {error}")),
    };
    let text = String::from_utf8_lossy(&output.stderr);
    match (output.status.code(), text.lines().find_map(|line| line.split_once("error: "))) {
        (Some(0), _) => Outcome::Right,
        // The place in front of it is that of this checkout.
        (Some(1), Some((_, message))) => {
            let message = message.split_once(".mlir:").map_or(message, |(_, rest)| {
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':').trim_start()
            });
            Outcome::Refused(message.trim_start_matches("error: ").trim().to_owned())
        }
        _ => Outcome::Failed(format!("{}\n{text}", output.status)),
    }
}

/// The folder with ptxas and libdevice.
fn toolkit() -> Option<PathBuf> {
    let cache = || {
        let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
        std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home).map(|cache| cache.join("tinymlir/cuda-12.6.85"))
    };
    let folder = std::env::var_os("TINYMLIR_CUDA_TOOLKIT").map(PathBuf::from).or_else(cache)?;
    ["bin/ptxas", "nvvm/libdevice/libdevice.10.bc"].iter().all(|file| folder.join(file).is_file()).then_some(folder)
}

/// The modules of a folder, with what their headers say.
fn reported(folder: &Path) -> Vec<Case> {
    let files = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut modules: Vec<PathBuf> = files.map(|file| file.expect("a readable folder").path()).collect();
    modules.sort();
    let case = |module: PathBuf| {
        let text = fs::read_to_string(&module).unwrap_or_else(|error| panic!("{}: {error}", module.display()));
        let about = text.lines().find_map(|line| line.strip_prefix("// USER: ")).unwrap_or_default().to_owned();
        let name = module.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Case {
            name: format!("reported/{name}"),
            about,
            module,
            sets: vec![],
            tolerance: String::new(),
            results: [const { OnceLock::new() }; 3],
        }
    };
    modules.into_iter().map(case).collect()
}

/// The modules with arrays that the index of a group lists.
fn exported(cases: &Path, group: &str) -> Vec<Case> {
    let folder = cases.join(group);
    let index = folder.join("index.json");
    let text = fs::read_to_string(&index).unwrap_or_else(|error| panic!("{}: {error}", index.display()));
    let entries: Vec<serde_json::Value> = serde_json::from_str(&text).expect("an index in JSON");
    let case = |entry: &serde_json::Value| {
        let name = entry["name"].as_str().expect("a name");
        let number = |key: &str| entry[key].as_u64().expect("a number");
        let files = |prefix: &str, kind: &str, key: &str| -> Vec<PathBuf> {
            (0..number(key)).map(|i| folder.join(name).join(format!("{prefix}{kind}{i}.npy"))).collect()
        };
        let dynamic = entry["dynamic"].as_bool().unwrap_or(false);
        let prefixes = if dynamic { vec!["", "alt."] } else { vec![""] };
        Case {
            name: format!("{group}/{name}"),
            about: if dynamic { "two sizes".into() } else { String::new() },
            module: folder.join(name).join("module.mlir"),
            sets: prefixes.iter().map(|p| (files(p, "in", "inputs"), files(p, "out", "outputs"))).collect(),
            tolerance: entry["tolerance"].to_string(),
            results: [const { OnceLock::new() }; 3],
        }
    };
    entries.iter().map(case).collect()
}
