//! Mutated modules through the passes, in copies of this process that may crash.
//!
//! A copy runs a stretch of mutants, each through one route, pass by pass, and notes in shared memory where it is. When it
//! dies, that names the mutant and the pass, and the next copy goes on behind it. A mutant that does not die in a copy of its
//! own met a heap that an earlier one had damaged, as upstream's parser does.

mod place;

use crate::{
    isolate::{self, Death},
    mutate,
};
use anyhow::{Context as _, Result, anyhow, ensure};
use fastrand::Rng;
use place::{Place, Watcher};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tinymlir_passes::{
    ir::{Context, Module},
    tinymlir_gpu_outline::{JOIN, KERNELS, MATH, buffers, fast, loops, narrowing},
};

/// Seconds of processor time for one mutant.
const LIMIT: i64 = 20;
/// Bytes of address space for a copy: a constant of a billion elements must not take the machine down.
const MEMORY: u64 = 8 << 30;
/// Longer modules are not mutated.
const LONGEST: usize = 3000;

/// What is run on a mutant: a name and passes.
struct Route {
    name: String,
    passes: Vec<String>,
}

/// What came of a stretch of mutants.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Mutants.
    pub tried: u64,
    /// Those that parsed and verified.
    pub valid: u64,
    /// Those that went through their route.
    pub passed: u64,
    /// Mutants for which a pass reported an error of its own making: number, pass, message.
    pub internal: Vec<(u64, String, String)>,
}

/// A mutant that killed its process.
#[derive(Clone, Debug)]
pub struct Crash {
    /// Its number.
    pub mutant: u64,
    /// The pass that ran.
    pub pass: String,
    /// How it died.
    pub death: Death,
    /// What it wrote to standard error.
    pub message: String,
}

/// The modules that are mutated, and the routes.
pub struct Fuzzer {
    context: Context,
    corpus: Vec<String>,
    routes: Vec<Route>,
    seed: u64,
}

/// A crash, and the mutants of the stretch that are left.
pub type Stopped = (Crash, Range<u64>);

/// A copy at work.
pub struct Worker {
    child: isolate::Child<Counts>,
    place: &'static Place,
    range: Range<u64>,
}

impl Fuzzer {
    /// Reads every .mlir file under the folders. Files that do not parse here (other dialects, tests of the parser) are left
    /// out, and so are long modules; their functions are taken alone. Each is taken as it is, bufferized, and on its way to
    /// kernels.
    pub fn new(folders: &[PathBuf], seed: u64) -> Result<Fuzzer> {
        let context = tinymlir_passes::context();
        // Threads would not live on in a copy.
        context.run_on_one_thread();
        let routes = routes(&context)?;
        let mut fuzzer = Fuzzer { context, corpus: Vec::new(), routes, seed };
        let mut files = Vec::new();
        for folder in folders {
            mlir_files(folder, &mut files).with_context(|| format!("cannot read {}", folder.display()))?;
        }
        files.sort();
        let mut texts = Vec::new();
        for file in &files {
            let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
            text.split("// -----").for_each(|part| texts.extend(fuzzer.pieces(part)));
        }
        texts.sort();
        texts.dedup();
        let stages = [&["tinymlir-optimize", "tinymlir-bufferize"][..], &[MATH, &loops(false)], &[KERNELS]];
        for text in texts {
            fuzzer.corpus.extend(fuzzer.stages(&text, &stages)?);
            fuzzer.corpus.push(text);
        }
        fuzzer.corpus.sort();
        fuzzer.corpus.dedup();
        ensure!(!fuzzer.corpus.is_empty(), "no module to mutate");
        Ok(fuzzer)
    }

    /// The number of modules that are mutated.
    pub fn modules(&self) -> usize {
        self.corpus.len()
    }

    /// The module and each of its functions, as far as they are short and valid on their own.
    fn pieces(&self, text: &str) -> Vec<String> {
        let Some(module) = self.parse(text) else { return Vec::new() };
        let ops = tinymlir_passes::ir::Op::of(&module).body();
        let mut pieces = vec![module.to_string()];
        if ops.len() > 1 {
            pieces.extend(ops.iter().filter(|op| op.is("func.func")).map(|op| format!("{op}\n")));
        }
        pieces.retain(|p| p.len() <= LONGEST && self.parse(p).is_some());
        pieces
    }

    fn parse(&self, text: &str) -> Option<Module<'_>> {
        tinymlir_passes::parse(&self.context, text.as_bytes(), "-").ok()
    }

    /// What becomes of a module on the way down, in a copy of this process.
    fn stages(&self, text: &str, stages: &[&[&str]]) -> Result<Vec<String>> {
        let child = isolate::start(Duration::from_secs(60), || {
            let mut all = Vec::new();
            let Some(mut module) = self.parse(text) else { return all };
            for stage in stages {
                let pipeline = format!("builtin.module({})", stage.join(","));
                if tinymlir_passes::run_pipeline(&self.context, &mut module, &pipeline).is_err() {
                    break;
                }
                all.push(module.to_string());
            }
            all.retain(|t| t.len() <= LONGEST);
            all
        })?;
        Ok(child.wait()?.unwrap_or_default())
    }

    /// A mutant's text and the name and passes of its route.
    pub fn mutant(&self, number: u64) -> (String, &str, &[String]) {
        let mut rng = Rng::with_seed(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number));
        let text = mutate::mutate(&self.corpus[rng.usize(..self.corpus.len())], &mut rng);
        // The long routes are the first ones.
        let route = if rng.usize(..8) == 0 { rng.usize(..LONG) } else { rng.usize(LONG..self.routes.len()) };
        (text, &self.routes[route].name, &self.routes[route].passes)
    }

    /// Starts mutants in a copy of this process.
    pub fn start(&self, range: Range<u64>) -> Result<Worker> {
        let place = Place::shared()?;
        let (first, limit) = (range.start, Duration::from_secs(3600));
        let body = || {
            limit_memory();
            let mut counts = Counts::default();
            for number in range.clone() {
                place.mutant.store(number, Ordering::Relaxed);
                place.set_pass("");
                limit_time();
                self.one(number, place, &mut counts);
                for (shared, own) in place.counts.iter().zip([counts.tried, counts.valid, counts.passed]) {
                    shared.store(own, Ordering::Relaxed);
                }
            }
            counts
        };
        place.mutant.store(first, Ordering::Relaxed);
        Ok(Worker { child: isolate::start(limit, body)?, place, range })
    }

    fn one(&self, number: u64, place: &Place, counts: &mut Counts) {
        let (text, _, passes) = self.mutant(number);
        counts.tried += 1;
        // Upstream's parser takes the index for a float there, and writes out of bounds.
        if text.contains("array<index") {
            return;
        }
        let Some(mut module) = self.parse(&text) else { return };
        counts.valid += 1;
        for pass in passes {
            let pipeline = format!("builtin.module({pass})");
            let mut watcher = Watcher { place, running: Vec::new(), failed: None };
            let result =
                tinymlir_passes::run_pipeline_watched(&self.context, &mut module, &pipeline, Some(&mut watcher), false);
            if let Err(message) = result {
                // A pass of ours that leaves invalid IR is at fault too. A refusal leaves IR that verifies. Upstream's folds are
                // not: they make slices static that may lie outside when the program runs, which the verifier refuses.
                let failed = watcher.failed.unwrap_or_else(|| pass.clone());
                let folded = message.contains("is out-of-bounds: ");
                let own = failed.starts_with("tinymlir-") && !folded && !module.op().verify();
                if message.contains("internal error") || own {
                    counts.internal.push((number, failed, message));
                }
                return;
            }
        }
        counts.passed += 1;
    }

    /// Waits for a worker. After a crash also returns the mutants that are left.
    pub fn wait(&self, worker: Worker) -> Result<(Counts, Option<Stopped>)> {
        let Worker { child, place, range } = worker;
        let result = child.wait()?;
        let at = |a: &AtomicU64| a.load(Ordering::Relaxed);
        let (mutant, pass) = (at(&place.mutant), place.pass());
        let [tried, valid, passed] = [0, 1, 2].map(|i| at(&place.counts[i]));
        place.free();
        Ok(match result {
            Ok(counts) => (counts, None),
            Err((death, message)) => {
                let counts = Counts { tried: tried + 1, valid: valid + 1, passed, internal: Vec::new() };
                (counts, Some((Crash { mutant, pass, death, message }, mutant + 1..range.end)))
            }
        })
    }
}

/// How many routes are whole pipelines.
const LONG: usize = 7;

/// Both targets' pipelines, those of kernels down to what the emulator runs, and every pass of ours alone.
fn routes(context: &Context) -> Result<Vec<Route>> {
    let expand = |pipeline: &str| -> Result<Vec<String>> {
        let text =
            tinymlir_passes::expanded(context, &format!("builtin.module({pipeline})")).map_err(|e| anyhow!(e))?;
        let inside = text.strip_prefix("builtin.module(").and_then(|t| t.strip_suffix(')')).unwrap_or(&text);
        Ok(split(inside))
    };
    let start = "tinymlir-optimize,tinymlir-bufferize";
    let gpu = |chip: &str, precision: &str, reductions: &str| {
        let (narrow, fast) = (narrowing(precision, chip), fast(chip, precision, reductions));
        format!(
            "tinymlir-optimize{narrow},tinymlir-bufferize,{MATH},{fast},{},{KERNELS},{JOIN},tinymlir-dependent-launches{{chip={chip}}},{},\
             tinymlir-lower-gpu{{format=nvvm chip={chip}}}",
            loops(true),
            buffers("device")
        )
    };
    let simple = format!("{start},{MATH},{},{KERNELS},{}", loops(false), buffers("managed"));
    let emulated = "tinymlir-emulate-gpu";
    let mut routes = Vec::new();
    for (name, pipeline) in [
        ("optimize", start.to_owned()),
        ("cpu", format!("{start},tinymlir-lower-cpu")),
        ("gpu", format!("{simple},tinymlir-lower-gpu{{format=nvvm}},{emulated}")),
        ("gpu fast, sm_75", format!("{},{emulated}", gpu("sm_75", "fp32", "ordered"))),
        ("gpu fast, sm_80", format!("{},{emulated}", gpu("sm_80", "bf16", "atomic"))),
        ("gpu fast, sm_90", format!("{},{emulated}", gpu("sm_90", "fp32", "ordered"))),
        ("gpu fast, sm_90a", gpu("sm_90a", "tf32", "ordered")),
    ] {
        routes.push(Route { name: name.into(), passes: expand(&pipeline)? });
    }
    ensure!(routes.len() == LONG, "there are {} whole pipelines", routes.len());
    for pass in tinymlir_passes::PASSES {
        let argument = match pass.argument {
            "tinymlir-gpu-outline" => continue, // the routes above
            "tinymlir-lower-gpu" => "tinymlir-lower-gpu{format=nvvm chip=sm_90a}", // others take a CUDA toolkit
            argument => argument,
        };
        routes.push(Route { name: argument.into(), passes: expand(argument)? });
    }
    Ok(routes)
}

/// The passes of a list, at its commas outside of any bracket.
fn split(pipeline: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in pipeline.chars() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
}

fn mlir_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            mlir_files(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "mlir") {
            files.push(path);
        }
    }
    Ok(())
}

impl Place {
    fn shared() -> Result<&'static Place> {
        // SAFETY: new memory, zeroed, that copies of this process share.
        let memory = unsafe {
            let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
            libc::mmap(std::ptr::null_mut(), size_of::<Place>(), rights, flags, -1, 0)
        };
        ensure!(memory != libc::MAP_FAILED, "cannot share memory: {}", std::io::Error::last_os_error());
        // SAFETY: zeroed, aligned to a page, and unmapped only by `free`.
        Ok(unsafe { &*memory.cast::<Place>() })
    }

    /// Unmaps it; the last use.
    fn free(&'static self) {
        // SAFETY: `shared` mapped it, and `wait` takes the only worker that has it.
        unsafe { libc::munmap((&raw const *self).cast_mut().cast(), size_of::<Place>()) };
    }
}

fn limit_memory() {
    let limit = libc::rlimit { rlim_cur: MEMORY, rlim_max: MEMORY };
    // SAFETY: a limit of this process alone.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
}

/// SIGPROF ends the process after that much processor time.
fn limit_time() {
    let time = libc::timeval { tv_sec: LIMIT, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: time };
    // SAFETY: a timer of this process alone.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    #[test]
    fn pipelines_split_outside_of_brackets() {
        assert_eq!(super::split("a{x=1,y=2},f(b,c),d"), ["a{x=1,y=2}", "f(b,c)", "d"]);
    }
}
