//! What the command lines of the tools share: the flags of a target, a help in two lengths, progress on a terminal.

mod progress;

pub use progress::{Bar, Spinner};

use clap::{ArgAction, Args, ValueEnum, error::ErrorKind};
use std::{io::Write, process::ExitCode};
use tinymlir::{
    compile::{Memory, Options, Precision, Reductions, Schedule, Target},
    set_reverse, set_threads,
};

/// `--help` that fits on a screen, and `--help-all`. The command disables clap's own help flag; arguments that only the
/// long help shows are marked `hide_short_help`.
#[derive(Args, Clone, Debug)]
pub struct Help {
    /// Print this page; --help-all prints every flag
    #[arg(short, long, action = ArgAction::HelpShort, global = true)]
    help: Option<bool>,
    /// Print every flag
    #[arg(long, action = ArgAction::HelpLong, global = true, hide_short_help = true)]
    help_all: Option<bool>,
}

/// Answers a command line that is none to run: a wrong one, `--help`, `--version` (of tinymlir, LLVM and BLAS, and the GPU with
/// its driver).
pub fn answer(tool: &str, error: &clap::Error) -> ExitCode {
    // When nobody reads the answer, nothing is left to say.
    let _ = match error.kind() {
        ErrorKind::DisplayVersion => writeln!(std::io::stdout(), "{tool} {}", tinymlir::version()),
        _ => error.print(),
    };
    ExitCode::from(u8::from(error.use_stderr()))
}

/// A text for a terminal: names come from files, and what is no text in them, such as the codes that move the cursor, is escaped.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() && !"\n\t".contains(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}

/// Tells an error on standard error, after the word unless a place in a module comes first, which carries it. That whoever read
/// standard output has gone away is none.
pub fn tell(error: &anyhow::Error) -> ExitCode {
    let gone = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    if error.chain().filter_map(|cause| cause.downcast_ref()).any(gone) {
        return ExitCode::SUCCESS;
    }
    let text = plain(&format!("{error:#}"));
    let prefix = if text.lines().next().is_some_and(|line| line.contains(": error: ")) { "" } else { "error: " };
    eprintln!("{prefix}{text}");
    ExitCode::FAILURE
}

/// What code is compiled for.
#[derive(Args, Clone, Debug)]
pub struct Device {
    /// Run on an NVIDIA GPU, or compile for one where nothing is run
    #[arg(long)]
    gpu: bool,
    /// The chip to compile for, such as sm_90 [default: that of the card, else sm_80]
    #[arg(long, value_name = "CHIP", requires = "gpu")]
    chip: Option<String>,
    /// Where the GPU's buffers lie: managed, or device for those that only kernels touch [default: managed]
    #[arg(long, value_name = "WHERE", requires = "gpu", hide_short_help = true)]
    memory: Option<Memory>,
    /// Which kernels: simple, or fast for those chosen by chip and shape [default: simple]
    #[arg(long, value_name = "WHICH", requires = "gpu")]
    schedule: Option<Schedule>,
    /// How fast kernels may round products of f32: fp32, or tf32 or bf16 on tensor cores [default: fp32]
    #[arg(long, value_name = "HOW", requires = "schedule", hide_short_help = true)]
    precision: Option<Precision>,
    /// How blocks of fast kernels add up what they compute: ordered, or atomic, in an order that differs from run to run [default: ordered]
    #[arg(long, value_name = "HOW", requires = "schedule", hide_short_help = true)]
    reductions: Option<Reductions>,
    /// Run the GPU's kernels on the CPU, for their numbers
    ///
    /// One thread after the other; those of a block in ascending order between two barriers, or the reverse.
    #[arg(long, value_name = "ORDER", num_args = 0..=1, require_equals = true, default_missing_value = "ascending", requires = "gpu")]
    emulate: Option<Order>,
    /// How many threads compute, of the CPU's loops and products alike [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), hide_short_help = true)]
    threads: Option<u16>,
    /// Compile even what the artefact cache holds, and keep nothing
    #[arg(long, hide_short_help = true)]
    no_cache: bool,
}

/// In which order the threads of an emulated block run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// From the first to the last.
    Ascending,
    /// From the last to the first.
    Reverse,
}

impl Device {
    /// Whether code runs on a GPU.
    pub fn gpu(&self) -> bool {
        self.gpu && self.emulate.is_none()
    }

    /// The options to compile with; sets the number of threads where one is given.
    pub fn options(&self) -> Options {
        if let Some(threads) = self.threads {
            set_threads(threads.into());
        }
        set_reverse(self.emulate == Some(Order::Reverse));
        let target = match self.gpu {
            true => Target::Gpu {
                chip: self.chip.clone(),
                memory: self.memory.unwrap_or_default(),
                schedule: self.schedule.unwrap_or_default(),
                precision: self.precision.unwrap_or_default(),
                reductions: self.reductions.unwrap_or_default(),
                emulate: self.emulate.is_some(),
            },
            false => Target::Cpu,
        };
        Options { target, cache: !self.no_cache, ..Options::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn codes_of_a_terminal_are_escaped() {
        assert_eq!(plain("a\u{1b}[31mé\n\t\r\u{9b}0"), "a\\u{1b}[31mé\n\t\\r\\u{9b}0");
    }

    #[test]
    fn a_reader_that_went_away_is_no_error() {
        let code = |kind: ErrorKind| tell(&anyhow::Error::from(Error::from(kind)).context("cannot write"));
        assert_eq!(code(ErrorKind::BrokenPipe), ExitCode::SUCCESS);
        assert_eq!(code(ErrorKind::StorageFull), ExitCode::FAILURE);
    }
}
