//! A module's text between two passes, line by line, and how it follows from pass to pass.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    rc::Rc,
};
use tinymlir_passes::ir::{Loc, Op};

/// Longer lines are cut: those of embedded binaries.
const LONGEST_LINE: usize = 2000;

/// Source positions: files and lines, in order, each once. Numbered so that equal ones have equal numbers.
#[derive(Default)]
pub struct Sources {
    numbers: HashMap<Rc<[(String, u32)]>, u32>,
    known: Vec<Rc<[(String, u32)]>>,
}

impl Sources {
    /// The number of what an operation came from; 0 stands for nothing.
    pub fn of(&mut self, op: Op) -> u32 {
        self.of_location(op.loc())
    }
    /// The same of a location.
    pub fn of_location(&mut self, loc: Loc) -> u32 {
        let mut places: Vec<_> = loc.positions().into_iter().map(|(file, line, _)| (file, line)).collect();
        places.sort();
        places.dedup();
        if self.known.is_empty() {
            self.insert(Rc::from([]));
        }
        self.insert(places.into())
    }
    /// The number of a line of a file.
    pub fn of_line(&mut self, file: &str, line: u32) -> u32 {
        if self.known.is_empty() {
            self.insert(Rc::from([]));
        }
        self.insert(Rc::from([(file.to_owned(), line)]))
    }
    /// The positions of a number.
    pub fn get(&self, number: u32) -> &[(String, u32)] {
        self.known.get(number as usize).map(|p| &p[..]).unwrap_or_default()
    }
    /// Every set of positions, by number.
    pub fn all(&self) -> &[Rc<[(String, u32)]>] {
        &self.known
    }
    /// Whether every position of `inner` is in `outer`, and there is one.
    pub fn contains(&self, outer: u32, inner: u32) -> bool {
        let (outer, inner) = (self.get(outer), self.get(inner));
        !inner.is_empty() && inner.iter().all(|p| outer.contains(p))
    }
    /// Whether they have a position in common.
    pub fn meet(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        a.iter().any(|p| b.contains(p))
    }
    fn insert(&mut self, places: Rc<[(String, u32)]>) -> u32 {
        if let Some(number) = self.numbers.get(&places) {
            return *number;
        }
        let number = self.known.len() as u32;
        self.known.push(Rc::clone(&places));
        self.numbers.insert(places, number);
        number
    }
}

/// A line of a module's text.
#[derive(Clone, PartialEq, Eq)]
pub struct Line {
    /// Without the end of the line.
    pub text: String,
    /// Where the operation on it came from, as a number of [`Sources`]; 0 where there is none.
    pub source: u32,
    /// A hash of the text without the numbers of values, blocks and aliases.
    pub shape: u64,
}

/// A module's text.
pub type State = Vec<Line>;

/// The text of a module as it stands.
pub fn state(module: Op, sources: &mut Sources) -> State {
    let placed = module.placed(false);
    let mut lines: State = placed.text.lines().map(|text| line(text, 0)).collect();
    for (op, line) in placed.ops.into_iter().rev() {
        // The first operation of a line names it.
        if let Some(line) = lines.get_mut(line) {
            line.source = sources.of(op);
        }
    }
    lines
}

/// A line of text that came from a source.
pub fn line(text: &str, source: u32) -> Line {
    let text = cut(text);
    let shape = shape(&text);
    Line { text, source, shape }
}

fn cut(text: &str) -> String {
    if text.len() <= LONGEST_LINE {
        return text.to_owned();
    }
    let end = (0..=LONGEST_LINE / 2).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    format!("{}... ({} characters more)", &text[..end], text.len() - end)
}

/// A name whose number may change from one print to the next: `%12`, `%arg3`, `#map1`, `^bb2`.
pub struct Name<'a> {
    /// With its sigil.
    pub text: &'a str,
    /// Whether this is where it is given to something.
    pub defines: bool,
}

/// The names in a line, and a call of `between` with each piece of text around them.
pub fn names<'a>(line: &'a str, mut between: impl FnMut(&'a str)) -> Vec<Name<'a>> {
    let bytes = line.as_bytes();
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b == b'-' || b == b'.';
    let mut names = Vec::new();
    let (mut at, mut from) = (0, 0);
    let mut in_string = false;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 2,
            b'"' => {
                in_string = !in_string;
                at += 1;
            }
            b'%' | b'#' | b'^' if !in_string => {
                let mut end = at + 1;
                while end < bytes.len() && is_name(bytes[end]) && (bytes[at] == b'%' || bytes[end] != b'.') {
                    end += 1;
                }
                if end == at + 1
                    || bytes[at] == b'#' && bytes[end - 1].is_ascii_alphabetic() && bytes.get(end) == Some(&b'.')
                {
                    at = end;
                    continue;
                }
                between(&line[from..at]);
                let rest = &line[end..];
                // `%a, %b = ...` defines both; `%arg: type` and `%i = %lower` define one.
                let defines = rest.starts_with(':') || rest.starts_with(" = ") || {
                    let rest = rest.trim_start_matches(|c: char| {
                        c == ',' || c == ' ' || c == ':' || c == '%' || c.is_ascii_alphanumeric() || c == '_'
                    });
                    line.trim_start().starts_with('%') && from_start(line, at) && rest.starts_with("= ")
                };
                names.push(Name { text: &line[at..end], defines });
                (at, from) = (end, end);
            }
            _ => at += 1,
        }
    }
    between(line.get(from..).unwrap_or_default());
    names
}

/// Whether only names, commas and counts stand before `at`.
fn from_start(line: &str, at: usize) -> bool {
    line[..at].chars().all(|c| c.is_ascii_alphanumeric() || " %,:_".contains(c))
}

fn shape(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut sigils = Vec::new();
    let found = names(line, |text| text.hash(&mut hasher));
    for name in &found {
        // What is named by a word stays: `%in`, `#map`.
        sigils.push(name.text.trim_end_matches(|c: char| c.is_ascii_digit()));
    }
    sigils.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str) -> Vec<(&str, bool)> {
        names(line, |_| ()).into_iter().map(|n| (n.text, n.defines)).collect()
    }

    #[test]
    fn names_are_found_with_their_definitions() {
        assert_eq!(named("  %0, %1 = \"a.b\"(%2) : (f32) -> f32"), [("%0", true), ("%1", true), ("%2", false)]);
        assert_eq!(named("scf.for %arg1 = %c0 to %n {"), [("%arg1", true), ("%c0", false), ("%n", false)]);
        assert_eq!(named("func.func @f(%arg0: f32) {"), [("%arg0", true)]);
        assert_eq!(named("%5:2 = call @f(%4#1) : () -> ()"), [("%5", true), ("%4", false), ("#1", false)]);
        assert_eq!(named("memref.store %0, %1[%2] : memref<?xf32, #map1>").last().unwrap().0, "#map1");
        assert_eq!(named("x = \"%0 in a string\""), []);
        assert_eq!(named("memref<f32, #gpu.address_space<workgroup>>"), []);
    }

    #[test]
    fn shapes_leave_numbers_out_and_nothing_else() {
        assert_eq!(shape("%1 = arith.addf %0, %arg3 : f32"), shape("%12 = arith.addf %7, %arg0 : f32"));
        assert_ne!(shape("%1 = arith.addf %0, %0 : f32"), shape("%1 = arith.mulf %0, %0 : f32"));
        assert_ne!(shape("%c1 = arith.constant 1 : index"), shape("%c2 = arith.constant 2 : index"));
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let line = cut(&"é".repeat(3000));
        assert!(line.len() < 2100 && line.ends_with("characters more)"));
    }
}
