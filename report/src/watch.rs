//! Watching the passes of one compilation: diffs and remarks go out as they come.

use crate::{
    diff::{Hunk, hunks, unified},
    files::{beside, is_special, write_whole},
    page::{Run, Subject, page},
    record::Recording,
    remarks::{Record, RemarkStyle},
    state::{State, state},
    terminal::Paint,
};
use anyhow::{Error, Result, anyhow};
use std::{fmt::Write as _, path::PathBuf, time::Instant};
use tinymlir_passes::ir::{Observer, Op, Remark};

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct Show {
    /// Print the diff that each pass makes to standard error.
    pub diff: bool,
    /// Write remarks.
    pub remarks: Option<RemarkStyle>,
    /// Write a report.
    pub report: Option<PathBuf>,
}

impl Show {
    /// Whether nothing is.
    pub fn is_nothing(&self) -> bool {
        !self.diff && self.remarks.is_none() && self.report.is_none()
    }

    /// Whether something is written to standard error while passes run.
    pub fn speaks(&self) -> bool {
        self.diff || self.remarks.as_ref().is_some_and(|style| style.file().is_none())
    }

    /// Fails where a file that is wanted could not be written: to be asked before the work that it would show.
    pub fn check(&self) -> Result<()> {
        let files = self.remarks.as_ref().and_then(RemarkStyle::file).into_iter().chain(self.report.as_ref());
        files.filter(|file| !is_special(file)).try_for_each(|file| beside(file).map(drop))
    }
}

/// An observer of passes that shows what is wanted.
pub struct Watch {
    show: Show,
    follow: Follow,
    /// Passes since the last diff that changed nothing.
    idle: Vec<String>,
    /// Remarks for a file.
    kept: String,
    /// For the report.
    recording: Recording,
    /// Whether the report has the text after each pass, and not that of stages.
    by_pass: bool,
    subject: Subject,
    /// The pass that failed.
    failed: Option<String>,
}

/// The module that passes run on, and its text as it was last seen.
#[derive(Default)]
struct Follow {
    root: Option<Op>,
    text: State,
    /// The passes that run, outer first; `None` for one on another module.
    running: Vec<Option<Running>>,
}

struct Running {
    pass: String,
    started: Instant,
    /// Whether it, or one that it ran, changed something.
    changed: bool,
}

impl Watch {
    /// Shows what is wanted.
    pub fn new(show: Show) -> Watch {
        Watch {
            show,
            follow: Follow::default(),
            idle: Vec::new(),
            kept: String::new(),
            recording: Recording::default(),
            by_pass: true,
            subject: Subject::default(),
            failed: None,
        }
    }

    /// What the report is about, for its head; `text` is the source where it is text.
    pub fn subject(&mut self, subject: Subject) {
        self.subject = subject;
    }

    /// A stage is reached. The report has the texts of stages from here on, and only diffs of passes.
    pub fn stage(&mut self, title: &str, module: Op) {
        if self.show.report.is_some() {
            self.by_pass = false;
            self.recording.snapshot(title, module);
        }
    }

    /// The same for a stage that is no MLIR; `language` is `llvm` or `ptx`.
    pub fn foreign_stage(&mut self, title: &str, language: &'static str, text: &str) {
        if self.show.report.is_some() {
            self.recording.foreign(title, language, text);
        }
    }

    /// Whether a report is wanted, which shows more than the passes leave.
    pub fn reports(&self) -> bool {
        self.show.report.is_some()
    }

    /// Figures of a run, for the report.
    pub fn ran(&mut self, run: Run) {
        self.subject.run = Some(run);
    }

    /// Writes what is left. Fails where a file cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.tell_idle();
        if let Some(file) = self.show.remarks.as_ref().and_then(RemarkStyle::file) {
            write_whole(file, self.kept.as_bytes())?;
        }
        if let Some(file) = &self.show.report {
            let page = page(&self.subject, &mut self.recording)?;
            write_whole(file, page.as_bytes())?;
        }
        Ok(())
    }

    /// The compilation failed: writes the remarks so far, and a report that says so where a pass had begun. `why` is the message, ""
    /// where it went to standard error by itself.
    pub fn stop(mut self, why: &str) -> Result<()> {
        let pass = self.failed.as_ref().map_or(String::new(), |pass| format!(" in {pass}"));
        let rest = if why.is_empty() { String::new() } else { format!(": {why}") };
        self.subject.failed = Some(format!("The compilation failed{pass}{rest}"));
        if !self.recording.has_begun() {
            self.show.report = None;
        }
        self.finish()
    }

    /// [`Watch::stop`] for an error that is to be told; with what else went wrong.
    pub fn stopped(self, error: Error) -> Error {
        match self.stop(&format!("{error:#}")) {
            Ok(()) => error,
            Err(other) => anyhow!("{error:#}\nerror: {other:#}"),
        }
    }

    /// Prints what changed since the text was last seen, as the work of a pass.
    fn look(&mut self, pass: &str, op: Op, started: Instant) -> bool {
        let text = state(op.outermost(), &mut self.recording.sources);
        let hunks = hunks(&self.follow.text, &text);
        let old = std::mem::replace(&mut self.follow.text, text);
        if self.show.report.is_some() {
            let names = self.follow.running.iter().flatten().map(|r| r.pass.clone());
            let outer: Vec<String> = names.take_while(|n| n != pass).collect();
            self.recording.step(pass, outer, &old, &self.follow.text, &hunks, started);
        }
        if hunks.is_empty() {
            return false;
        }
        if self.show.diff {
            self.print(pass, &old, &hunks);
        }
        true
    }

    fn print(&mut self, pass: &str, old: &State, hunks: &[Hunk]) {
        self.tell_idle();
        let paint = Paint::stderr();
        let mut out = String::new();
        let _ = writeln!(out, "{}", paint.bold(&format!("--- before {pass}")));
        let _ = writeln!(out, "{}", paint.bold(&format!("+++ after {pass}")));
        for (sign, line) in unified(old, &self.follow.text, hunks) {
            let line = match sign {
                '@' => paint.cyan(&line),
                '-' => paint.red(&format!("-{line}")),
                '+' => paint.green(&format!("+{line}")),
                _ => format!(" {line}"),
            };
            let _ = writeln!(out, "{line}");
        }
        eprint!("{out}");
    }

    fn tell_idle(&mut self) {
        if self.show.diff && !self.idle.is_empty() {
            let names = std::mem::take(&mut self.idle).join(", ");
            eprintln!("{}", Paint::stderr().dim(&format!("=== no change: {names}")));
        }
    }
}

impl Observer for Watch {
    fn wants_passes(&self) -> bool {
        self.show.diff || self.show.report.is_some()
    }

    fn wants_remarks(&self) -> bool {
        self.show.remarks.is_some() || self.show.report.is_some()
    }

    fn begin(&mut self) {
        self.follow.root = None;
        self.follow.running.clear();
    }

    fn before(&mut self, pass: &str, op: Op) {
        let root = op.outermost();
        if self.follow.running.is_empty() && self.follow.root != Some(root) {
            self.follow.root = Some(root);
            self.follow.text = state(root, &mut self.recording.sources);
            if self.by_pass && self.show.report.is_some() {
                self.recording.input(root, &self.follow.text);
            }
        }
        if self.follow.root != Some(root) {
            return self.follow.running.push(None);
        }
        // What a pass did before it ran this one is its own work.
        if let Some(Some(outer)) = self.follow.running.last() {
            let (name, started) = (outer.pass.clone(), outer.started);
            let changed = self.look(&name, op, started);
            if let Some(Some(outer)) = self.follow.running.last_mut() {
                outer.changed |= changed;
            }
        }
        self.follow.running.push(Some(Running { pass: pass.to_owned(), started: Instant::now(), changed: false }));
    }

    fn after(&mut self, pass: &str, op: Op, succeeded: bool) {
        if !succeeded {
            self.failed.get_or_insert_with(|| pass.to_owned());
        }
        let Some(Some(running)) = self.follow.running.pop() else { return };
        // What a failed pass leaves may not be fit to print.
        let changed = running.changed | (succeeded && self.look(pass, op, running.started));
        if let Some(Some(outer)) = self.follow.running.last_mut() {
            outer.changed |= changed;
        }
        if changed && self.by_pass && self.follow.running.is_empty() && self.show.report.is_some() && succeeded {
            self.recording.snapshot_of_pass(pass, op.outermost(), &self.follow.text);
        }
        // Where the rest of a pipeline lowers memory, no stage shows its plan.
        if changed && pass == "tinymlir-plan-memory" && self.show.report.is_some() && succeeded {
            self.recording.plan(op.outermost());
        }
        if !changed && self.idle.last().is_none_or(|last| last != pass) {
            self.idle.push(pass.to_owned());
        }
    }

    fn remark(&mut self, remark: Remark) {
        if self.show.report.is_some() {
            let source = self.recording.sources.of_location(remark.loc);
            self.recording.remarks.push((Record::of(&remark), source));
        }
        let Some(style) = &self.show.remarks else { return };
        let text = style.write(&remark);
        match style.file() {
            Some(_) => self.kept += &text,
            None => eprint!("{text}"),
        }
    }
}
