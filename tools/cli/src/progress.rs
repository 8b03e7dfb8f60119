//! Progress on standard error, where that is a terminal; nothing elsewhere. Without colours.

use indicatif::{ProgressBar, ProgressStyle};
use std::{borrow::Cow, time::Duration};

/// Says what is being done until it is dropped, with the time that it has taken.
pub struct Spinner(ProgressBar);

impl Spinner {
    /// Begins at once.
    pub fn new(what: impl Into<Cow<'static, str>>) -> Spinner {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(100));
        Spinner(bar)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Counts towards a number until it is dropped.
pub struct Bar(ProgressBar);

impl Bar {
    /// At nothing of `count`.
    pub fn new(what: impl Into<Cow<'static, str>>, count: usize) -> Bar {
        let bar = ProgressBar::new(count as u64);
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len}, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(what);
        Bar(bar)
    }

    /// One more is done.
    pub fn step(&self) {
        self.advance(1);
    }

    /// So many more are done.
    pub fn advance(&self, count: usize) {
        self.0.inc(count as u64);
    }

    /// Prints a line to standard output, where the bar is not in its way.
    pub fn say(&self, line: &str) {
        self.0.suspend(|| println!("{line}"));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
