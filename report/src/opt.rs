//! `tinymlir-opt`: mlir-opt, our passes, and the flags that show what they do.

use crate::{
    explain::explain,
    help::{Tool, arguments, wrong_option, wrong_pipeline},
    page::Subject,
    remarks::RemarkStyle,
    terminal::Paint,
    watch::{Show, Watch},
};
use std::io::Write;
use tinymlir_passes::ir::{self, Driver, Flag, Observer};

/// What `tinymlir-opt` has beside `mlir-opt`'s flags.
pub const FLAGS: &[Flag] = &[
    Flag {
        name: "tinymlir-print-diff",
        value: "",
        optional: false,
        description: "Print the diff that each pass makes to standard error",
    },
    Flag {
        name: "remarks",
        value: "text|yaml|json|FILE",
        optional: true,
        description: "Say what the passes of tinymlir substituted or left, and why; a file's extension gives the format",
    },
    Flag {
        name: "tinymlir-report",
        value: "FILE.html",
        optional: false,
        description: "Write a page that shows the module after each pass, the remarks, the kernels and the buffers",
    },
    Flag {
        name: "explain",
        value: "PASS",
        optional: false,
        description: "Print what a pass or pipeline does, with an example, and stop",
    },
];

#[derive(Default)]
struct Opt {
    watch: Option<Watch>,
}

impl Driver for Opt {
    fn flags(&self) -> &'static [Flag] {
        FLAGS
    }

    fn start(&mut self, values: &[Option<String>], input: &str) -> Option<i32> {
        // MLIR would say so with neither the file nor a hint.
        // Passes are registered here, whose options are then known.
        let options = || std::env::args().skip(1).take_while(|a| a != "--").find_map(|a| wrong_option(&a));
        if let Some(message) = pipeline().as_deref().and_then(wrong_pipeline).or_else(options) {
            return Some(fail(&message));
        }
        let [diff, remarks, report, page] = values else { return None };
        if let Some(name) = page {
            return match explain(name, Paint::stdout()) {
                Ok(page) => {
                    // To a reader who may have gone away.
                    let _ = std::io::stdout().write_all(page.as_bytes());
                    Some(0)
                }
                Err(message) => Some(fail(&message)),
            };
        }
        let remarks = match remarks.as_ref().map(|r| r.parse::<RemarkStyle>()).transpose() {
            Ok(remarks) => remarks,
            Err(error) => return Some(fail(&format!("--remarks: {error}"))),
        };
        let show = Show { diff: diff.is_some(), remarks, report: report.as_ref().map(Into::into) };
        if let Err(error) = show.check() {
            return Some(fail(&format!("{error:#}")));
        }
        if !show.is_nothing() {
            let mut watch = Watch::new(show);
            let name = if input == "-" { "<stdin>" } else { input };
            watch.subject(Subject::of_command(name, &std::fs::read(input).unwrap_or_default(), ""));
            self.watch = Some(watch);
        }
        None
    }

    fn observer(&mut self) -> Option<&mut dyn Observer> {
        self.watch.as_mut().map(|w| w as &mut dyn Observer)
    }

    fn finish(&mut self, code: i32) -> i32 {
        let Some(watch) = self.watch.take() else { return code };
        match if code == 0 { watch.finish() } else { watch.stop("") } {
            Ok(()) => code,
            Err(error) => fail(&format!("{error:#}")),
        }
    }
}

fn fail(message: &str) -> i32 {
    eprintln!("error: {message}");
    1
}

/// `tinymlir-opt` on the process's arguments; returns the exit code.
pub fn opt_main() -> i32 {
    match arguments(Tool::Opt) {
        Ok(arguments) => ir::opt_main(&mut Opt::default(), arguments),
        Err(code) => code,
    }
}

/// `tinymlir-lsp-server` on the process's arguments; returns the exit code.
#[inline]
pub fn lsp_server_main() -> i32 {
    match arguments(Tool::LspServer) {
        Ok(arguments) => ir::lsp_server_main(arguments),
        Err(code) => code,
    }
}

/// `tinymlir-reduce` on the process's arguments; returns the exit code.
#[inline]
pub fn reduce_main() -> i32 {
    match arguments(Tool::Reduce) {
        Ok(arguments) => ir::reduce_main(arguments),
        Err(code) => code,
    }
}

/// The text of `--pass-pipeline` on the process's command line.
fn pipeline() -> Option<String> {
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let Some(flag) = argument.strip_prefix('-') else { continue };
        match flag.strip_prefix('-').unwrap_or(flag).strip_prefix("pass-pipeline") {
            Some("") => return arguments.next(),
            Some(rest) if rest.starts_with('=') => return Some(rest[1..].to_owned()),
            _ => {}
        }
    }
    None
}
