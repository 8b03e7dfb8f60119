//! Compiles a module at any level and calls one of its functions.

mod outputs;

use anyhow::{Context, Result, bail};
use clap::{CommandFactory, Parser};
use outputs::{Output, outputs};
use std::{
    io::Write,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};
use tinymlir::{
    compile::{self, Options, Source, Stage, Target},
    cuda,
    engine::{Executable, Signature, Value},
    io::safetensors::Safetensors,
    look::{RemarkStyle, Show, Subject, Watch},
    report_full_stacks, run, trace,
};
use tinymlir_cli::{Bar, Device, Help, Spinner, plain};

/// Compile an MLIR module (tensors, memrefs or LLVM dialect; text or bytecode) and call a function.
///
/// Results are printed as NumPy does, then arguments that the call changed. The exit status is 1 after any error and when
/// an --expect is past its tolerance.
#[derive(Parser)]
#[command(name = "tinymlir-runner", disable_version_flag = true, disable_help_flag = true)]
struct Flags {
    /// The module; `-` is standard input
    module: Option<PathBuf>,
    /// The function to call [default: main, or the only public one]
    #[arg(short, long, value_name = "NAME")]
    entry: Option<String>,
    /// An argument by name or index: FILE.npy, FILE.npz:KEY, a number (every element), random[:SEED], zeros, ones or iota;
    /// @2x3 behind one of the latter gives the sizes of a dynamic shape
    #[arg(long, value_name = "NAME|INDEX=VALUE")]
    arg: Vec<String>,
    /// Take arguments by their `tinymlir.name` from this file
    #[arg(long, value_name = "FILE.safetensors")]
    weights: Vec<PathBuf>,
    /// Fail when an argument is left over, instead of making it up
    #[arg(long, hide_short_help = true)]
    strict_args: bool,
    /// Save an output instead of printing it: results by name or index, changed arguments after them
    #[arg(short, value_name = "INDEX|NAME=FILE.npy")]
    output: Vec<String>,
    /// Compare an output: |got - expected| <= atol + rtol |expected|, NaN equal to NaN
    #[arg(long, value_name = "INDEX|NAME=FILE")]
    expect: Vec<String>,
    /// Relative tolerance of --expect
    #[arg(long, value_name = "R", default_value_t = 1e-5, hide_short_help = true)]
    rtol: f64,
    /// Absolute tolerance of --expect
    #[arg(long, value_name = "A", default_value_t = 1e-8, hide_short_help = true)]
    atol: f64,
    /// Call N times more on the same arguments and report the times
    #[arg(long, value_name = "N", default_value_t = 0)]
    repeat: usize,
    #[command(flatten)]
    device: Device,
    /// Say how long compiling and the call took, and what was launched
    #[arg(short, long)]
    verbose: bool,
    /// Print where the time of compiling and of the calls goes
    ///
    /// Each kernel's is by the card's clock.
    #[arg(long)]
    time: bool,
    /// Write what --time sums up as a trace for chrome://tracing or Perfetto
    #[arg(long, value_name = "FILE.json", hide_short_help = true)]
    trace: Option<PathBuf>,
    /// Print the module at a stage instead of calling it: tensor, optimized, bufferized, outlined (GPU), lowered, llvm, ptx (GPU)
    #[arg(long, value_name = "STAGE")]
    emit: Option<Stage>,
    /// Write a page that shows every stage, the passes, kernels and buffers, and the time where the call is made
    #[arg(long, value_name = "FILE.html", conflicts_with = "compile_only")]
    report: Option<PathBuf>,
    /// Print the diff that each pass makes to standard error
    #[arg(long, alias = "tinymlir-print-diff", conflicts_with = "compile_only")]
    print_diff: bool,
    /// Say what the passes substituted or left, and why: text, yaml, json, or a file with such an extension
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "text", conflicts_with = "compile_only")]
    remarks: Option<RemarkStyle>,
    /// Print the functions that can be called, with their arguments, instead of calling one
    #[arg(long)]
    list: bool,
    /// Compile and keep the code in the artefact cache, but call nothing; needs no GPU
    #[arg(long, conflicts_with_all = ["emit", "list"], hide_short_help = true)]
    compile_only: bool,
    /// Print what each pass took
    #[arg(long, hide_short_help = true)]
    mlir_timing: bool,
    /// LLVM's optimisation level
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3), hide_short_help = true)]
    opt_level: u8,
    /// Empty the artefact cache first
    #[arg(long, hide_short_help = true)]
    clear_cache: bool,
    /// Print the versions of tinymlir, LLVM and BLAS, and the GPU with its driver
    #[arg(long, short = 'V')]
    version: bool,
    #[command(flatten)]
    help: Help,
}

/// The command line, for its completions and its manual page.
#[cfg_attr(not(test), allow(dead_code))]
pub fn command() -> clap::Command {
    Flags::command()
}

pub fn main() -> ExitCode {
    let flags = match Flags::try_parse() {
        Ok(flags) => flags,
        Err(error) => return tinymlir_cli::answer("tinymlir-runner", &error),
    };
    report_full_stacks();
    // Compiled code may keep large arrays on the stack.
    let run = std::thread::Builder::new().stack_size(1 << 30).spawn(move || run(&flags));
    match run.map(|thread| thread.join()) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) => tinymlir_cli::tell(&error),
        Ok(Err(_)) => ExitCode::FAILURE, // the panic has spoken
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> Result<()> {
    if flags.version {
        return print(&format!("tinymlir-runner {}\n", tinymlir::version()));
    }
    if flags.clear_cache {
        tinymlir::cache::clear().context("cannot empty the artefact cache")?;
        if flags.module.is_none() {
            return Ok(());
        }
    }
    let path = flags.module.as_ref().context("no module is given (see --help)")?;
    let bytes = compile::read_source(path)?;
    let name = path.to_string_lossy();
    let source = Source { bytes: &bytes, name: if name == "-" { "<stdin>" } else { &name } };
    let options = Options { opt_level: flags.opt_level, mlir_timing: flags.mlir_timing, ..flags.device.options() };
    let show = Show { diff: flags.print_diff, remarks: flags.remarks.clone(), report: flags.report.clone() };
    show.check()?;
    outputs::check(flags)?;
    // What is printed meanwhile would stand in its line.
    let compiling = (!flags.mlir_timing && !show.speaks()).then(|| Spinner::new(format!("compiling {name}")));
    let mut watch = watch(show, &source, &options.target);
    if let Some(stage) = flags.emit {
        let text = compile::lower_to_watched(source, stage, &options, watch.as_mut());
        let text = shown(watch, text)?;
        drop(compiling);
        return print(&format!("{}\n", text.trim_end()));
    }
    let start = Instant::now();
    if flags.compile_only {
        let phases = compile::compile_only(source, &options)?;
        drop(compiling);
        if flags.verbose {
            eprintln!("compiled in {:.3} s: {phases}", start.elapsed().as_secs_f64());
        }
        return Ok(());
    }
    let executable = match compile::compile_watched(source, &options, watch.as_mut()) {
        Ok(executable) => executable,
        Err(error) => return shown(watch, Err(error)),
    };
    drop(compiling);
    if flags.verbose {
        eprintln!("compiled in {:.3} s: {}", start.elapsed().as_secs_f64(), executable.phases());
    }
    if flags.list {
        watch.map_or(Ok(()), Watch::finish)?;
        return print(&list(&executable));
    }
    let outputs = call(flags, &executable, watch.as_mut());
    // How it was compiled can be seen also where the call failed.
    let seen = watch.map_or(Ok(()), Watch::finish);
    let outputs = outputs?;
    seen?;
    outputs::finish(flags, &outputs)
}

/// Writes what is to be shown of a compilation, whether it failed or not.
fn shown<T>(watch: Option<Watch>, compiled: Result<T>) -> Result<T> {
    match (watch, compiled) {
        (None, compiled) => compiled,
        (Some(watch), Ok(compiled)) => watch.finish().map(|()| compiled),
        (Some(watch), Err(error)) => Err(watch.stopped(error)),
    }
}

/// Calls the entry with its arguments, once and `--repeat` times, and tells what was measured.
fn call(flags: &Flags, executable: &Executable, watch: Option<&mut Watch>) -> Result<Vec<Output>> {
    let entry = entry(flags, executable)?;
    let signature = executable.signature(&entry)?;
    let mut phases = executable.phases().clone();
    let arguments = phases.time("arguments", || arguments(flags, signature))?;

    let mut values = arguments.clone();
    let traced = flags.time || flags.trace.is_some() || flags.report.is_some();
    if traced && executable.memory().is_some() {
        cuda::start_trace()?;
    }
    let (start, launches) = (Instant::now(), cuda::launches());
    let results = executable.call_in_place(&entry, &mut values)?;
    phases.since(&format!("call @{entry}"), start);
    if flags.verbose {
        eprintln!("called in {:.3} ms", 1e3 * start.elapsed().as_secs_f64());
        let launches = cuda::launches() - launches;
        if executable.memory().is_some() {
            eprintln!("{}: {launches} launches of {} distinct kernels", cuda::device()?, cuda::kernels());
        }
    }
    let outputs = outputs(signature, &arguments, values, results)?;
    if flags.repeat > 0 {
        // Copying arguments to the GPU is not part of a call.
        let placed = |value: &Value| match executable.memory().filter(|_| !value.shape().is_empty()) {
            Some(memory) => value.to_device(memory),
            None => Ok(value.clone()),
        };
        let arguments = arguments.iter().map(placed).collect::<Result<Vec<_>>>()?;
        let start = Instant::now();
        time(executable, &entry, &arguments, flags.repeat)?;
        phases.since(&format!("call @{entry}, {} times", flags.repeat), start);
    }
    if traced {
        let spans = cuda::take_trace()?;
        if flags.time {
            eprint!("{}", trace::table(&phases, &spans));
        }
        if let Some(path) = &flags.trace {
            trace::write_chrome_trace(path, &phases, &spans)?;
        }
        if let Some(watch) = watch {
            watch.ran(trace::run(&entry, &phases, &spans));
        }
    }
    Ok(outputs)
}

/// Who sees what the passes do, where something is to be shown.
fn watch(show: Show, source: &Source, target: &Target) -> Option<Watch> {
    if show.is_nothing() {
        return None;
    }
    let mut watch = Watch::new(show);
    watch.subject(Subject::of_command(source.name, source.bytes, &target.to_string()));
    Some(watch)
}

/// Writes to standard output.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

fn list(executable: &Executable) -> String {
    let line = |name| match executable.signature(name) {
        Ok(signature) => signature.to_string(),
        Err(error) => format!("@{name}: {error:#}"),
    };
    executable.functions().map(|name| plain(&line(name)) + "\n").collect()
}

fn entry(flags: &Flags, executable: &Executable) -> Result<String> {
    if let Some(name) = &flags.entry {
        return Ok(name.clone());
    }
    let names: Vec<&str> = executable.functions().collect();
    match names[..] {
        [only] => Ok(only.to_owned()),
        [] => bail!("the module has no public function with a body"),
        _ if names.contains(&"main") => Ok("main".to_owned()),
        _ => bail!("which function? Give -e with one of {}", names.join(", ")),
    }
}

fn arguments(flags: &Flags, signature: &Signature) -> Result<Vec<Value>> {
    let names: Vec<Option<&str>> = signature.arguments.iter().map(|a| a.name.as_deref()).collect();
    let mut given = Vec::new();
    for text in &flags.arg {
        let (which, value) = run::split_assignment(text, "NAME|INDEX=VALUE")?;
        let value = value.parse().map_err(|e| anyhow::anyhow!("--arg {text}: {e}"))?;
        given.push((run::find(which, &names, "argument")?, value));
    }
    let weights: Vec<_> = flags.weights.iter().map(Safetensors::open).collect::<Result<_>>()?;
    for file in &weights {
        if !names.iter().flatten().any(|n| file.contains(n)) {
            eprintln!("warning: no argument of @{} is named in {}", signature.name, file.path().display());
        }
    }
    run::bind(signature, &given, &weights, flags.strict_args, |text| eprintln!("note: {}", plain(text)))
}

fn time(executable: &Executable, entry: &str, arguments: &[Value], count: usize) -> Result<()> {
    let (mut times, mut device) = (Vec::new(), Vec::new());
    let bar = Bar::new("calling", count);
    for _ in 0..count {
        let start = Instant::now();
        let results = if executable.memory().is_some() {
            let (results, time) = cuda::time(|| executable.call(entry, arguments))?;
            device.push(time);
            results
        } else {
            executable.call(entry, arguments)
        };
        times.push(start.elapsed());
        results?;
        bar.step();
    }
    drop(bar);
    eprintln!("{count} calls: {}", spread(times));
    if !device.is_empty() {
        eprintln!("{count} calls by the GPU's clock: {}", spread(device));
    }
    Ok(())
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let ms = |t: Duration| t.as_secs_f64() * 1e3;
    let mean = ms(times.iter().sum::<Duration>()) / times.len() as f64;
    let (least, median, most) = (ms(times[0]), ms(times[times.len() / 2]), ms(times[times.len() - 1]));
    format!("least {least:.3} ms, median {median:.3} ms, mean {mean:.3} ms, most {most:.3} ms")
}
