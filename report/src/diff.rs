//! What changed from one text of a module to the next.
//!
//! MLIR numbers values anew whenever it prints, so that one operation more changes every line below it. Lines are therefore
//! aligned without those numbers, with the help of the operations' locations, and then count as equal where the names in
//! them stand for the same things: each name of the old text for one of the new, from the line that defines it on.

use crate::state::{Line, names};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::{
    collections::HashMap,
    ops::Range,
    time::{Duration, Instant},
};

/// After this long an alignment may be coarser than it could be.
const PATIENCE: Duration = Duration::from_secs(2);

/// Lines of the old text that others of the new text take the place of. Either may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the old text.
    pub old: Range<usize>,
    /// Lines of the new text.
    pub new: Range<usize>,
}

/// What changed, in order; between two hunks stand as many lines in either text.
pub fn hunks(old: &[Line], new: &[Line]) -> Vec<Hunk> {
    let mut names = Names::default();
    let mut out: Vec<Hunk> = Vec::new();
    let mut change = |old: Range<usize>, new: Range<usize>| match out.last_mut() {
        Some(last) if last.old.end == old.start && last.new.end == new.start => {
            (last.old.end, last.new.end) = (old.end, new.end);
        }
        _ => out.push(Hunk { old, new }),
    };
    for (before, after, equal) in aligned(old, new) {
        if !equal {
            names.forget(&old[before.clone()]);
            change(before, after);
            continue;
        }
        for (i, j) in before.zip(after) {
            if !names.agree(&old[i].text, &new[j].text) {
                change(i..i + 1, j..j + 1);
            }
        }
    }
    out
}

/// Ranges of lines that are of one shape, and those between.
fn aligned(old: &[Line], new: &[Line]) -> Vec<(Range<usize>, Range<usize>, bool)> {
    let located = |lines: &[Line]| lines.iter().map(|l| (l.shape, l.source)).collect::<Vec<_>>();
    let mut out = Vec::new();
    for op in diff(&located(old), &located(new)) {
        let (before, after) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            out.push((before, after, true));
            continue;
        }
        // Here without the locations, which some passes change.
        let shapes = |lines: &[Line]| lines.iter().map(|l| l.shape).collect::<Vec<_>>();
        for inner in diff(&shapes(&old[before.clone()]), &shapes(&new[after.clone()])) {
            let shift = |r: Range<usize>, by: usize| r.start + by..r.end + by;
            let equal = matches!(inner, DiffOp::Equal { .. });
            out.push((shift(inner.old_range(), before.start), shift(inner.new_range(), after.start), equal));
        }
    }
    out
}

fn diff<T: std::hash::Hash + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Patience, old, new, Some(Instant::now() + PATIENCE))
}

/// Which name of the new text each name of the old text is.
#[derive(Default)]
struct Names<'a> {
    new: HashMap<&'a str, &'a str>,
    old: HashMap<&'a str, &'a str>,
}

impl<'a> Names<'a> {
    fn bind(&mut self, old: &'a str, new: &'a str) {
        if let Some(other) = self.new.insert(old, new) {
            self.old.remove(other);
        }
        if let Some(other) = self.old.insert(new, old).filter(|other| *other != old) {
            self.new.remove(other);
        }
    }
    /// Whether two lines of one shape say the same of the same things.
    fn agree(&mut self, old: &'a str, new: &'a str) -> bool {
        let (before, after) = (names(old, |_| ()), names(new, |_| ()));
        let mut agree = before.len() == after.len();
        for (old, new) in before.iter().zip(&after) {
            let (a, b) = (old.text, new.text);
            if old.defines {
                self.bind(a, b);
            } else {
                match (self.new.get(a), self.old.get(b)) {
                    (None, None) => self.bind(a, b),
                    (Some(known), _) if *known == b => {}
                    _ => agree = false,
                }
            }
        }
        agree
    }
    /// What lines that are gone defined may be called anything.
    fn forget(&mut self, lines: &'a [Line]) {
        for name in lines.iter().flat_map(|l| names(&l.text, |_| ())).filter(|n| n.defines) {
            if let Some(new) = self.new.remove(name.text) {
                self.old.remove(new);
            }
        }
    }
}

/// A unified diff with three lines around each change, as (sign, text): ' ', '-', '+', and '@' for the place of what follows.
pub fn unified<'a>(old: &'a [Line], new: &'a [Line], hunks: &[Hunk]) -> Vec<(char, std::borrow::Cow<'a, str>)> {
    const AROUND: usize = 3;
    let mut out = Vec::new();
    let mut i = 0;
    while i < hunks.len() {
        let mut last = i;
        while last + 1 < hunks.len() && hunks[last + 1].new.start - hunks[last].new.end <= 2 * AROUND {
            last += 1;
        }
        let lead = hunks[i].new.start.min(AROUND).min(hunks[i].old.start);
        let tail = (new.len() - hunks[last].new.end).min(AROUND);
        let (first, end) = (hunks[i].new.start - lead, hunks[last].new.end + tail);
        let (old_first, old_end) = (hunks[i].old.start - lead, hunks[last].old.end + tail);
        let function = new[..first].iter().rev().find(|l| is_function(&l.text)).map_or("", |l| symbol(&l.text));
        let place =
            format!("@@ -{},{} +{},{} @@ {function}", old_first + 1, old_end - old_first, first + 1, end - first);
        out.push(('@', place.trim_end().to_owned().into()));
        let mut at = first;
        for hunk in &hunks[i..=last] {
            out.extend(new[at..hunk.new.start].iter().map(|l| (' ', l.text.as_str().into())));
            out.extend(old[hunk.old.clone()].iter().map(|l| ('-', l.text.as_str().into())));
            out.extend(new[hunk.new.clone()].iter().map(|l| ('+', l.text.as_str().into())));
            at = hunk.new.end;
        }
        out.extend(new[at..end].iter().map(|l| (' ', l.text.as_str().into())));
        i = last + 1;
    }
    out
}

fn is_function(text: &str) -> bool {
    let text = text.trim_start();
    ["func.func ", "gpu.func ", "llvm.func ", "gpu.module "].iter().any(|f| text.starts_with(f)) && text.ends_with('{')
}

fn symbol(text: &str) -> &str {
    let Some(at) = text.find('@') else { return "" };
    let end = text[at..].find(['(', ' ']).map_or(text.len(), |n| at + n);
    &text[at..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::line;

    fn lines(text: &str) -> Vec<Line> {
        text.lines().map(|l| line(l, 0)).collect()
    }
    fn changed(old: &str, new: &str) -> Vec<(char, String)> {
        let (old, new) = (lines(old), lines(new));
        let hunks = hunks(&old, &new);
        unified(&old, &new, &hunks)
            .into_iter()
            .filter(|(sign, _)| matches!(sign, '-' | '+'))
            .map(|(sign, text)| (sign, text.into_owned()))
            .collect()
    }

    #[test]
    fn new_numbers_are_no_change() {
        let old = "%0 = a.b\n%1 = a.c\n%2 = a.d %1\nuse %2";
        let new = "%0 = a.c\n%1 = a.d %0\nuse %1";
        assert_eq!(changed(old, new), [('-', "%0 = a.b".into())]);
    }

    #[test]
    fn another_operand_is_a_change() {
        let old = "%0 = a.b\n%1 = a.c\nuse %0\nuse %1";
        let new = "%0 = a.b\n%1 = a.c\nuse %1\nuse %1";
        assert_eq!(changed(old, new), [('-', "use %0".into()), ('+', "use %1".into())]);
    }

    #[test]
    fn a_use_of_what_was_replaced_by_one_that_stays_is_a_change() {
        // As cse does it: %1 goes, %0 serves both.
        let old = "%0 = a.b\n%1 = a.b\nuse %0\nuse %1";
        let new = "%0 = a.b\nuse %0\nuse %0";
        let signs: String = changed(old, new).iter().map(|(sign, _)| *sign).collect();
        assert_eq!(signs, "--+");
    }

    #[test]
    fn a_user_of_a_rewritten_operation_stays() {
        let old = "%0 = a.b\n%1 = a.c %0\nuse %1";
        let new = "%0 = a.b\n%1 = z.y %0\n%2 = z.z %1\nuse %2";
        assert_eq!(changed(old, new).len(), 3);
    }

    #[test]
    fn places_name_the_function() {
        let body = "    a.b\n".repeat(10);
        let old = lines(&format!("func.func @one() {{\n{body}  old\n}}"));
        let new = lines(&format!("func.func @one() {{\n{body}  new\n}}"));
        let diff = unified(&old, &new, &hunks(&old, &new));
        assert_eq!(diff[0].1, "@@ -9,5 +9,5 @@ @one");
    }
}
