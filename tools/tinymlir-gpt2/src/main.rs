//! `tinymlir-gpt2`: generate text with GPT-2, compare it with its reference, print its functions at any stage.

use anyhow::{Context, Result};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    time::Instant,
};
use tinymlir::{
    Phases,
    compile::{self, Source, Stage},
    cuda,
    gpt2::{
        Choice, Config, Draw, Event, Matrices, Mode, Model, Plan, Sampling, Session, Sizes, Stream, Tolerance, bench,
        emit, read_bandwidth, verify,
    },
    io::{Staged, safetensors, write_atomically},
    look::{Show, Subject, Watch},
    trace,
};
use tinymlir_cli::{Bar, Device, Help, Spinner};

/// GPT-2, compiled by tinymlir.
#[derive(Parser)]
#[command(name = "tinymlir-gpt2", version, disable_help_flag = true)]
struct Cli {
    #[command(flatten)]
    help: Help,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Continue a text; the tokens stream to standard output
    Generate(Generate),
    /// Compare every decoding step with the model's reference.json and reference.npz
    Verify(Verify),
    /// Print the model's functions, or small ones, as MLIR at a stage
    Emit(Emit),
    /// Time prefills and decoding steps; each is a line of JSON on standard output
    Bench(Bench),
}

#[derive(Args)]
struct Generate {
    /// The text to continue
    prompt: String,
    #[command(flatten)]
    run: Run,
    /// How many tokens to add
    #[arg(long, short = 'n', default_value_t = 32)]
    tokens: usize,
    /// Print each token's time, and those of the parts of compiling
    #[arg(long)]
    time: bool,
    /// Write the parts of compiling, each token and each kernel as a trace for chrome://tracing or Perfetto; kernels are
    /// launched one by one then, not as a graph
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,
    /// Run the whole text for every token, without a key/value cache
    #[arg(long)]
    uncached: bool,
    /// How many positions the cache holds [default: the next power of two of what is needed]
    #[arg(long, value_name = "N", conflicts_with_all = ["uncached", "fused"])]
    window: Option<usize>,
    /// What logits are divided by before a token is drawn; 0 takes the most probable one
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    temperature: f64,
    /// Draw from this many of the most probable tokens; 0 for all
    #[arg(long, value_name = "K", default_value_t = 0)]
    top_k: usize,
    /// Draw from the most probable tokens whose probabilities add up to this
    #[arg(long, value_name = "P", default_value_t = 1.0, allow_negative_numbers = true)]
    top_p: f64,
    /// Of the random numbers: a seed gives the same text
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

#[derive(Args)]
struct Verify {
    #[command(flatten)]
    run: Run,
    /// Run with a key/value cache: prompts at once, then token by token
    #[arg(long, conflicts_with = "fused")]
    cached: bool,
    /// Where reference.json and reference.npz are [default: the model's directory]
    #[arg(long)]
    reference: Option<PathBuf>,
    /// What an element may differ by, relative to the reference
    #[arg(long, default_value_t = 1e-5)]
    rtol: f64,
    /// What an element may differ by
    #[arg(long, default_value_t = 2e-5)]
    atol: f64,
}

#[derive(Args, Clone)]
struct Bench {
    /// A directory with config.json, model.safetensors and a tokenizer, or random:SIZE[:SEED]
    #[arg(long, default_value = "random:124M")]
    model: String,
    /// The length of a prompt; may be given again
    #[arg(long, value_name = "T")]
    prefill: Vec<usize>,
    /// The position of a step; may be given again [default, where nothing is given: 100]
    #[arg(long, value_name = "POSITION")]
    decode: Vec<usize>,
    /// How many positions the cache holds [default: the model's context]
    #[arg(long, value_name = "N")]
    window: Option<usize>,
    /// How many calls are timed, after as many that warm up
    #[arg(long, value_name = "N", default_value_t = 10)]
    repeat: usize,
    #[command(flatten)]
    setting: Setting,
}

#[derive(Args)]
struct Run {
    /// A directory with config.json, model.safetensors and a tokenizer, or random:SIZE[:SEED] with 124M, 355M, 774M or 1558M
    #[arg(long, default_value = "models/kjv")]
    model: String,
    /// Run the whole text for every token as one function, instead of four of which two are called for each block
    #[arg(long)]
    fused: bool,
    #[command(flatten)]
    setting: Setting,
}

/// What is computed with, and for what it is compiled.
#[derive(Args, Clone)]
struct Setting {
    /// The matrices' element type: f32, bf16, or int8 with a factor for each output; products add up in f32
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    weights: Matrices,
    #[command(flatten)]
    device: Device,
}

#[derive(Args)]
struct Emit {
    /// gelu, softmax, layer_norm, matmul, gather, attention; embed, attend, feedforward, project; gpt2, all of it; or with a cache
    /// prefill and step
    #[arg(default_value = "gpt2")]
    names: Vec<String>,
    /// tensor, optimized, bufferized, outlined, lowered, llvm or ptx
    #[arg(long, default_value = "tensor", value_parser = stage)]
    stage: Stage,
    /// Whose sizes: a model's directory, or random:SIZE
    #[arg(long, default_value = "random:124M")]
    model: String,
    /// For how many tokens; the next power of two is emitted
    #[arg(long, default_value_t = 16)]
    tokens: usize,
    /// How many positions the cache of prefill and step holds [default: the model's context]
    #[arg(long, value_name = "N")]
    window: Option<usize>,
    /// Let prefill and step draw the token, by the arguments temperature, random, top_k and top_p
    #[arg(long)]
    draw: bool,
    /// Let prefill and step return logits
    #[arg(long)]
    logits: bool,
    /// Write a page that shows every stage up to that one, the passes, kernels and buffers
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write to a file; captured arrays go beside it, with the extension .safetensors
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    setting: Setting,
}

fn stage(text: &str) -> Result<Stage, String> {
    text.parse()
}

/// The command line, for its completions and its manual page.
#[cfg_attr(not(test), allow(dead_code))]
pub fn command() -> clap::Command {
    Cli::command()
}

pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return tinymlir_cli::answer("tinymlir-gpt2", &error),
    };
    let result = match cli.command {
        Command::Generate(arguments) => generate(&arguments),
        Command::Verify(arguments) => check(&arguments),
        Command::Emit(arguments) => print(&arguments),
        Command::Bench(arguments) => measure(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => tinymlir_cli::tell(&error),
    }
}

fn open(run: &Run) -> Result<Model> {
    let start = Instant::now();
    let loading = Spinner::new(format!("loading {}", run.model));
    let model = Model::open(&run.model)?.with_matrices(run.setting.weights)?;
    drop(loading);
    eprintln!("loaded {} in {:.3} s", run.model, start.elapsed().as_secs_f64());
    Ok(model)
}

fn generate(arguments: &Generate) -> Result<()> {
    let model = open(&arguments.run)?;
    let mode = match (arguments.uncached, arguments.run.fused) {
        (_, true) => Mode::Fused,
        (true, false) => Mode::Layers,
        (false, false) => Mode::Cached { window: arguments.window },
    };
    let Generate { temperature, top_k, top_p, seed, .. } = *arguments;
    let sampling = Sampling { temperature, top_k, top_p, seed };
    sampling.check()?;
    let mut session = Session::new(&model, arguments.run.setting.device.options(), mode)?;
    if arguments.trace.is_some() && arguments.run.setting.device.gpu() {
        cuda::start_trace()?;
    }
    let mut parts = Phases::default();
    let mut ids = model.tokenizer.encode(&arguments.prompt)?;
    let mut stream = Stream::new(&model.tokenizer, &ids)?;
    let mut out = std::io::stdout().lock();
    let (mut count, mut seconds, mut launched) = (0, 0.0, cuda::launches());
    // Notes and errors that come before the first token stay on lines of their own.
    let mut prompt = Some(&arguments.prompt);
    let mut spinner = Some(Spinner::new("compiling"));
    // Where the text itself shows the progress, a bar would stand in it.
    let bar = (!std::io::stdout().is_terminal() && !arguments.time).then(|| Bar::new("generating", arguments.tokens));
    session.generate(&mut ids, arguments.tokens, &sampling, &mut |event| {
        match event {
            Event::Compiled { positions, window, time, phases } => {
                drop(spinner.take());
                let cache = window.map_or(String::new(), |window| format!(" and a cache of {window}"));
                eprintln!("compiled for {positions} positions{cache} in {:.3} s", time.as_secs_f64());
                if arguments.time {
                    eprintln!("  of which {phases}");
                }
                parts.append(phases);
            }
            Event::Token { id, time } => {
                drop(spinner.take());
                bar.iter().for_each(Bar::step);
                (count, seconds) = (count + 1, seconds + time.as_secs_f64());
                parts.took(&format!("token {count} ({id})"), time);
                write!(out, "{}", prompt.take().map_or("", String::as_str))?;
                write!(out, "{}", stream.push(id)?)?;
                out.flush()?;
                if arguments.time {
                    let launches = cuda::launches() - std::mem::replace(&mut launched, cuda::launches());
                    let launches = if arguments.run.setting.device.gpu() {
                        format!(", {launches} launches")
                    } else {
                        String::new()
                    };
                    eprintln!("token {count} ({id}): {:.3} ms{launches}", 1e3 * time.as_secs_f64());
                }
            }
        }
        Ok(())
    })?;
    drop(bar);
    writeln!(out, "{}", prompt.map_or("", String::as_str))?;
    if let Some(path) = &arguments.trace {
        trace::write_chrome_trace(path, &parts, &cuda::take_trace()?)?;
    }
    eprintln!(
        "{count} tokens in {seconds:.3} s ({:.1} a second), compilation apart",
        f64::from(count) / seconds.max(1e-9)
    );
    if arguments.time && arguments.run.setting.device.gpu() {
        eprintln!("{}: {} launches of {} distinct kernels", cuda::device()?, cuda::launches(), cuda::kernels());
    }
    Ok(())
}

fn check(arguments: &Verify) -> Result<()> {
    let model = open(&arguments.run)?;
    let directory = arguments.reference.clone().or_else(|| model.directory.clone());
    let directory = directory.context("random weights have no reference: name a directory with --reference")?;
    let mode = match (arguments.cached, arguments.run.fused) {
        (true, _) => Mode::Cached { window: None },
        (false, true) => Mode::Fused,
        (false, false) => Mode::Layers,
    };
    let mut session = Session::new(&model, arguments.run.setting.device.options(), mode)?;
    let comparing = Spinner::new(format!("comparing {} with its reference", arguments.run.model));
    let summary = verify(&mut session, &directory, Tolerance { rtol: arguments.rtol, atol: arguments.atol })?;
    drop(comparing);
    let mut out = std::io::stdout().lock();
    for (name, largest) in &summary.arrays {
        writeln!(out, "{name}: largest difference {largest:.3e}")?;
    }
    let largest = summary.arrays.iter().map(|(_, largest)| *largest).fold(0.0, f64::max);
    writeln!(out, "{} prompts, {} steps: every token equal", summary.prompts, summary.steps)?;
    writeln!(out, "{} arrays: largest difference {largest:.3e}", summary.arrays.len())?;
    Ok(())
}

fn measure(arguments: &Bench) -> Result<()> {
    let Bench { prefill, mut decode, window, repeat: calls, .. } = arguments.clone();
    if prefill.is_empty() && decode.is_empty() {
        decode.push(100);
    }
    let plan = Plan { prefill, decode, window, calls };
    let options = arguments.setting.device.options();
    let model = Model::open(&arguments.model)?.with_matrices(arguments.setting.weights)?;
    if !arguments.setting.device.gpu() {
        eprintln!("memory reads {:.2} GB/s", read_bandwidth() / 1e9);
    }
    bench(&model, &arguments.model, &options, &plan, &mut |figure| {
        writeln!(std::io::stdout(), "{}", figure.json()?).context("cannot write to standard output")
    })
}

fn print(arguments: &Emit) -> Result<()> {
    let config = Config { matrices: arguments.setting.weights, ..Model::config(&arguments.model)? };
    let names: Vec<&str> = arguments.names.iter().map(String::as_str).collect();
    let draw = arguments.draw.then_some(Draw { top_k: true, top_p: true });
    let choice = Choice { draw, logits: arguments.logits };
    let sizes = Sizes { tokens: arguments.tokens, window: arguments.window, choice };
    let emitted = emit(&names, &config, sizes)?;
    let text = match (arguments.stage, &arguments.report) {
        // As it was written, with its names.
        (Stage::Tensor, None) => emitted.text,
        (stage, report) => {
            let options = arguments.setting.device.options();
            let name = format!("{}.mlir", names.join("-"));
            let source = Source { bytes: emitted.text.as_bytes(), name: &name };
            let show = Show { report: report.clone(), ..Show::default() };
            show.check()?;
            let mut watch = report.as_ref().map(|_| Watch::new(show));
            if let Some(watch) = &mut watch {
                watch.subject(Subject::of_command(&name, source.bytes, &options.target.to_string()));
            }
            let compiling = Spinner::new(format!("compiling {name}"));
            let text = match (compile::lower_to_watched(source, stage, &options, watch.as_mut()), watch) {
                (Err(error), Some(watch)) => return Err(watch.stopped(error)),
                (text, watch) => {
                    let text = text?;
                    watch.map_or(Ok(()), Watch::finish)?;
                    text
                }
            };
            drop(compiling);
            if stage == Stage::Tensor { emitted.text } else { text }
        }
    };
    let Some(path) = &arguments.output else {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())?;
        return Ok(out.flush()?);
    };
    if emitted.captured.is_empty() {
        return write_atomically(path, text.as_bytes());
    }
    // Both files or none.
    let beside = path.with_extension("safetensors");
    let mut staged = Staged::default();
    staged.add(path, text.as_bytes())?;
    safetensors::write(&beside, &emitted.captured)?;
    eprintln!("wrote {}: the captured arrays", beside.display());
    staged.commit()
}
