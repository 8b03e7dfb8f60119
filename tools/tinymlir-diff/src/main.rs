//! `tinymlir-diff`: random programs against an interpreter, and mutated modules through the passes.

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    process::ExitCode,
    time::Instant,
};
use tinymlir::compile::{Options, Target};
use tinymlir_cli::{Bar, Device, Help};
use tinymlir_diff::{
    check::{self, Outcome, Setting},
    fuzz::{Counts, Fuzzer},
    interpret::Tolerance,
    program::Program,
    report, shrink,
};

/// Look for miscompilations and for crashes of the passes
///
/// Exit status 0 where nothing was found, 1 where something was.
#[derive(Parser)]
#[command(name = "tinymlir-diff", version, disable_help_flag = true)]
struct Flags {
    #[command(flatten)]
    help: Help,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile random programs and compare what they compute with an interpreter
    Programs(Programs),
    /// Run mutations of valid modules through the passes: none of ours may panic, crash, hang or leave invalid IR
    Mutants(Mutants),
}

#[derive(clap::Args)]
struct Mutants {
    /// The sequence of mutants
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many mutants
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    count: u64,
    /// Print only this mutant of the sequence, and its route
    #[arg(long, value_name = "NUMBER")]
    mutant: Option<u64>,
    /// Folders of valid modules
    #[arg(long, value_name = "FOLDER", default_value = "test")]
    corpus: Vec<PathBuf>,
    /// Where the first mutant of each kind of fault is written
    #[arg(long, value_name = "FOLDER", default_value = "faults")]
    into: PathBuf,
    #[command(flatten)]
    pace: Pace,
    /// Mutants in one process
    #[arg(long, value_name = "N", default_value_t = 2000, hide_short_help = true)]
    batch: u64,
}

#[derive(clap::Args)]
struct Programs {
    /// The sequence of programs
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many programs
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: u64,
    /// Only this program of the sequence
    #[arg(long, value_name = "NUMBER")]
    program: Option<u64>,
    /// Where faulty programs are written
    #[arg(long, value_name = "FOLDER", default_value = "differences")]
    into: PathBuf,
    /// Print the modules instead of running them
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    device: Device,
    #[command(flatten)]
    pace: Pace,
    /// LLVM's optimisation level, 0 to 3
    #[arg(short = 'O', long, value_name = "LEVEL", default_value_t = 3, hide_short_help = true, value_parser = clap::value_parser!(u8).range(..=3))]
    opt_level: u8,
    /// Programs in one module
    #[arg(long, value_name = "N", default_value_t = 50, hide_short_help = true)]
    batch: u64,
    /// Stop after this many faulty programs
    #[arg(long, value_name = "N", default_value_t = 20, hide_short_help = true)]
    faults: usize,
    /// Swap the operands of every float subtraction: a miscompilation that must be found
    #[arg(long, hide_short_help = true)]
    inject: bool,
}

/// How much at a time, and for how long.
#[derive(clap::Args)]
struct Pace {
    /// Processes at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Start nothing more after so many seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// The number of the first one
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_short_help = true)]
    first: u64,
}

impl Pace {
    /// Whether the time is over.
    fn is_over(&self, start: Instant) -> bool {
        self.seconds.is_some_and(|seconds| start.elapsed().as_secs() >= seconds)
    }
}

/// The command line, for tests.
#[cfg(test)]
pub fn command() -> clap::Command {
    use clap::CommandFactory;
    Flags::command()
}

pub fn main() -> ExitCode {
    let flags = match Flags::try_parse() {
        Ok(flags) => flags,
        Err(error) => return tinymlir_cli::answer("tinymlir-diff", &error),
    };
    let result = match &flags.command {
        Command::Programs(flags) => programs(flags),
        Command::Mutants(flags) => mutants(flags),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => tinymlir_cli::tell(&error),
    }
}

fn programs(flags: &Programs) -> Result<bool> {
    // What one program compiles to, no other one asks for.
    let options = Options { opt_level: flags.opt_level, cache: false, ..flags.device.options() };
    let kernels = matches!(options.target, Target::Gpu { .. });
    let tolerance = if kernels { Tolerance::GPU } else { Tolerance::CPU };
    let setting = Setting { options, tolerance, inject: flags.inject };
    let (first, count) = flags.program.map_or((flags.pace.first, flags.count), |k| (k, 1));
    let ranges: Vec<_> = (first..first + count).step_by(flags.batch.max(1) as usize).collect();
    let mut ranges = ranges.into_iter().map(|start| start..(start + flags.batch.max(1)).min(first + count));
    if flags.print {
        for range in ranges {
            print!("{}", check::text(&check::programs(flags.seed, range), flags.inject)?);
        }
        return Ok(true);
    }
    let (start, mut total, mut faults, mut done) = (Instant::now(), Outcome::default(), 0, 0);
    let bar = Bar::new("programs", count as usize);
    let mut report = |index: u64, program: &Program, fault: String| {
        bar.say(&format!("program {index}: {}", fault.lines().next().unwrap_or_default()));
        let mut last = fault.clone();
        let small = shrink::shrink(program, 150, &mut |p| {
            if flags.pace.is_over(start) {
                return Ok(false);
            }
            let found = check::fault(p, &setting)?;
            // A crash must not become a difference, nor the other way round.
            let alike = found.as_ref().is_some_and(|f| f.starts_with("result ") == fault.starts_with("result "));
            last = if alike { found.unwrap_or_default() } else { std::mem::take(&mut last) };
            Ok(alike)
        })?;
        let notes = [format!("seed {}, program {index}: {last}", flags.seed)];
        let path = report::write(&flags.into, &format!("seed{}-{index}", flags.seed), &small, &setting, &notes)?;
        bar.say(&format!("  {} of {} steps left: {}", small.steps.len(), program.steps.len(), path.display()));
        faults += 1;
        anyhow::ensure!(faults < flags.faults, "{faults} faulty programs, stopped after program {index}");
        Ok(())
    };
    let mut running = VecDeque::new();
    loop {
        while running.len() < flags.pace.jobs.max(1)
            && !flags.pace.is_over(start)
            && let Some(range) = ranges.next()
        {
            let programs = check::programs(flags.seed, range.clone());
            running.push_back((check::start(&programs, &setting)?, programs, range));
        }
        let Some((child, programs, range)) = running.pop_front() else { break };
        check::settle(child, &programs, range.start, &setting, &mut total, &mut report)?;
        done += programs.len();
        bar.advance(programs.len());
    }
    drop(bar);
    println!(
        "{done} programs (seed {}, from {first}), {} elements compared, {} unknown, {faults} faulty, {:.1} s",
        flags.seed,
        total.compared,
        total.unknown,
        start.elapsed().as_secs_f64()
    );
    Ok(faults == 0)
}

/// A fault's kind: the pass and the message without what differs from mutant to mutant.
fn kind(pass: &str, message: &str) -> String {
    let line = message.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
    let line = line.split_once("error: ").map_or(line, |(_, rest)| rest);
    let plain: String = line.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).take(160).collect();
    format!("{}: {plain}", pass.split(['{', '(']).next().unwrap_or_default())
}

fn mutants(flags: &Mutants) -> Result<bool> {
    let start = Instant::now();
    let fuzzer = Fuzzer::new(&flags.corpus, flags.seed)?;
    if let Some(number) = flags.mutant {
        let (text, route, passes) = fuzzer.mutant(number);
        println!("// {route}: {}\n{text}", passes.join(","));
        return Ok(true);
    }
    let end = flags.pace.first + flags.count;
    let mut ranges: VecDeque<_> = (flags.pace.first..end)
        .step_by(flags.batch.max(1) as usize)
        .map(|first| first..(first + flags.batch.max(1)).min(end))
        .collect();
    let (mut total, mut running) = (Counts::default(), VecDeque::new());
    let mut faults: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let bar = Bar::new("mutants", flags.count as usize);
    let mut note = |kind: String, number: u64, message: &str| -> Result<()> {
        let (count, first) = faults.entry(kind.clone()).or_insert((0, number));
        *count += 1;
        if *count == 1 {
            bar.say(&format!("mutant {number}: {kind}"));
            std::fs::create_dir_all(&flags.into)?;
            let (text, route, passes) = fuzzer.mutant(*first);
            let passes = passes.join(",");
            let message: String = message.lines().map(|l| format!("// {l}\n")).collect();
            let text = format!("// seed {}, mutant {number}, {route}\n// {passes}\n{message}{text}", flags.seed);
            std::fs::write(flags.into.join(format!("mutant{}-{number}.mlir", flags.seed)), text)?;
        }
        Ok(())
    };
    loop {
        while running.len() < flags.pace.jobs.max(1)
            && !flags.pace.is_over(start)
            && let Some(range) = ranges.pop_front()
        {
            running.push_back(fuzzer.start(range)?);
        }
        let Some(worker) = running.pop_front() else { break };
        let (counts, crash) = fuzzer.wait(worker)?;
        total.tried += counts.tried;
        total.valid += counts.valid;
        total.passed += counts.passed;
        bar.advance(counts.tried as usize);
        for (number, pass, message) in counts.internal {
            note(format!("error in {}", kind(&pass, &message)), number, &message)?;
        }
        if let Some((crash, rest)) = crash {
            // In a process of its own a mutant meets no heap that the parser damaged on an earlier one.
            let (alone, again) = fuzzer.wait(fuzzer.start(crash.mutant..crash.mutant + 1)?)?;
            match again {
                Some((crash, _)) => {
                    let kind = format!("{} in {}", crash.death, kind(&crash.pass, &crash.message));
                    note(kind, crash.mutant, &crash.message)?;
                }
                None => {
                    for (number, pass, message) in alone.internal {
                        note(format!("error in {}", kind(&pass, &message)), number, &message)?;
                    }
                    note(format!("{} after others, not alone", crash.death), crash.mutant, &crash.message)?;
                }
            }
            if !rest.is_empty() {
                ranges.push_front(rest);
            }
        }
    }
    drop(bar);
    let mut own = 0;
    for (kind, (count, first)) in &faults {
        println!("{count:8} {kind} (first: {first})");
        own += u64::from(kind.contains(" in tinymlir-")) * count;
    }
    println!(
        "{} mutants (seed {}, from {}), {} valid, {} through their passes, {own} faults of ours, {:.1} s",
        total.tried,
        flags.seed,
        flags.pace.first,
        total.valid,
        total.passed,
        start.elapsed().as_secs_f64()
    );
    Ok(own == 0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn help_fits_on_a_screen() {
        let mut command = super::command();
        command.build();
        for part in std::iter::once(command.clone())
            .chain(command.get_subcommands().filter(|c| c.get_name() != "help").cloned())
        {
            let mut part = part;
            let page = part.render_help().to_string();
            assert!((8..=40).contains(&page.lines().count()) && page.contains("--help-all"), "{page}");
        }
    }
}
