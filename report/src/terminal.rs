//! Colour where someone looks.

use std::io::IsTerminal;

/// Wraps text in colours, or does not.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// Colours where standard error is a terminal and `NO_COLOR` is absent or empty.
    pub fn stderr() -> Paint {
        Paint(wanted(std::io::stderr().is_terminal()))
    }
    /// The same for standard output.
    pub fn stdout() -> Paint {
        Paint(wanted(std::io::stdout().is_terminal()))
    }
    /// None.
    pub fn none() -> Paint {
        Paint(false)
    }
    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
    /// What stands out.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }
    /// What matters less.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }
    /// What is gone or wrong.
    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }
    /// What is new or done.
    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }
    /// What was not done.
    pub fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }
    /// Places.
    pub fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }
}

fn wanted(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_end_where_they_began() {
        assert_eq!(Paint(true).red("x"), "\x1b[31mx\x1b[0m");
        assert_eq!(Paint(false).red("x"), "x");
    }
}
