//! `tinymlir-reduction`: make a module smaller while a script still finds it interesting.
//!
//! For `tinymlir-reduce`. Upstream's `reduction-tree` erases what has no uses, so that the operations of a chain stay. Here an
//! operation goes, too, when something of the same type can stand in for its results: one of its operands, an earlier
//! value, zeros, `ub.poison`. The same is tried with whole functions, with bodies of functions that are called, with the last operations of a
//! function, with results and with arguments: first with all of them, then with halves, down to single ones (delta debugging; Zeller and Hildebrandt,
//! 2002), and anew until nothing more goes.
//!
//! What a candidate computes is not kept, only that it is valid and that the script says so. A script that does not find the module as it is
//! interesting, or that cannot be run, is an error.

use crate::{
    dialects::EVERY,
    ir::{self, Failed, Op, Opt, Pass, PassCx, PassResult},
    reduction::*,
};
use std::{
    collections::HashSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{IsTerminal, Write},
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

pub static PASS: Pass = Pass {
    argument: "tinymlir-reduction",
    description: "Make a module smaller while a script still finds it interesting",
    anchor: "builtin.module",
    options: &[Opt::string(
        "test",
        "",
        "A program that is called with a file's name; its exit status is 0 for a module that does not matter",
    )],
    statistics: &[("tests", "Modules that the script was asked about"), ("smaller", "Those of them that were kept")],
    dialects: EVERY,
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let script = cx.string("test");
    let found = find_script(&script).map_err(|message| cx.error(module, &message))?;
    let file = std::env::temp_dir().join(format!("tinymlir-reduction-{}.mlir", std::process::id()));
    let mut search = Search { cx, script: found, file: Scratch(file), current: module.copy(), boring: HashSet::new() };
    let result = search.whole(module);
    if result.is_ok() {
        module.take_body(search.current);
    }
    search.current.destroy();
    result
}

/// The program's file, as one may name it beside one or on PATH.
fn find_script(script: &str) -> Result<PathBuf, String> {
    use std::os::unix::fs::PermissionsExt;
    if script.is_empty() {
        return Err("is not reduced: no script says what is interesting (give test=SCRIPT)".into());
    }
    let path = std::env::var_os("PATH").filter(|_| !script.contains('/')).unwrap_or_default();
    let mut places = vec![PathBuf::from(script)];
    places.extend(std::env::split_paths(&path).map(|folder| folder.join(script)));
    let file =
        places.into_iter().find(|p| p.is_file()).ok_or(format!("is not reduced: there is no script {script}"))?;
    match fs::metadata(&file).is_ok_and(|m| m.permissions().mode() & 0o111 != 0) {
        true => file.canonicalize().map_err(|e| format!("is not reduced: {script}: {e}")),
        false => Err(format!("is not reduced: the script {script} is not executable (chmod +x {script})")),
    }
}

/// A file that goes away.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What is known of the way down.
struct Search<'a> {
    cx: &'a PassCx,
    script: PathBuf,
    file: Scratch,
    /// The smallest interesting module.
    current: Op,
    /// Hashes of the texts that were not interesting.
    boring: HashSet<u64>,
}

impl Search<'_> {
    fn whole(&mut self, module: Op) -> PassResult {
        if !self.interests(self.current)? {
            let script = self.script.display();
            return Err(self.cx.error(
                module,
                &format!("is not reduced: {script} exits with 0 for it as it is (interesting is any other status)"),
            ));
        }
        loop {
            let mut smaller = self.sweep(symbols, |ops| ops.iter().rev().for_each(|op| op.erase()))?;
            smaller |= self.sweep(results, drop_results)?;
            smaller |= self.cut_tails()?;
            smaller |= self.sweep(bodies, |functions| functions.iter().for_each(|f| declare_only(*f)))?;
            smaller |= self.sweep(inner, |ops| ops.iter().rev().for_each(|op| bypass(*op, ops)))?;
            smaller |= self.sweep(leaves, |ops| ops.iter().rev().for_each(|op| drop_leaf(*op)))?;
            smaller |= self.sweep(unused_arguments, drop_arguments)?;
            if !smaller {
                return self.tell("\n");
            }
        }
    }

    /// Tries an edit of all items, then of halves, down to each alone, last ones first, since what uses something comes later.
    fn sweep<T>(&mut self, items: fn(Op) -> Vec<T>, edit: impl Fn(&[T])) -> Result<bool, Failed> {
        let mut smaller = false;
        let mut size = items(self.current).len();
        while size > 0 {
            let mut end = items(self.current).len();
            while end > 0 {
                let range = end.saturating_sub(size)..end;
                end = range.start;
                if self.attempt(items, &edit, range)? {
                    smaller = true;
                    end = end.min(items(self.current).len());
                }
            }
            size /= 2;
        }
        Ok(smaller)
    }

    /// Lets each function return what an earlier operation makes, as early a one as will do.
    fn cut_tails(&mut self) -> Result<bool, Failed> {
        let mut smaller = false;
        for i in 0..bodies(self.current).len() {
            let mut count = bodies(self.current)[i].body().len();
            while count > 0 {
                let cut = |functions: &[Op]| functions.iter().for_each(|f| cut_tail(*f, count));
                if self.attempt(bodies, &cut, i..i + 1)? {
                    smaller = true;
                } else {
                    count /= 2;
                }
            }
        }
        Ok(smaller)
    }

    /// Makes an edit of some items; keeps it where the module is valid, not the same, and interesting.
    fn attempt<T>(
        &mut self,
        items: fn(Op) -> Vec<T>,
        edit: &impl Fn(&[T]),
        range: Range<usize>,
    ) -> Result<bool, Failed> {
        let copy = self.current.copy();
        let before = weight(copy);
        edit(&items(copy)[range]);
        let fits = weight(copy) < before && ir::quietly(copy.ctx(), || copy.verify());
        if fits && self.interests(copy)? {
            std::mem::replace(&mut self.current, copy).destroy();
            self.cx.count("smaller");
            self.tell("\r")?;
            return Ok(true);
        }
        copy.destroy();
        Ok(false)
    }

    fn interests(&mut self, module: Op) -> Result<bool, Failed> {
        let text = module.to_string();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        if self.boring.contains(&hasher.finish()) {
            return Ok(false);
        }
        self.cx.count("tests");
        let interesting = ask(&self.script, &self.file.0, &text).map_err(|message| self.cx.error(module, &message))?;
        if !interesting {
            self.boring.insert(hasher.finish());
        }
        Ok(interesting)
    }

    /// Progress, where someone watches.
    fn tell(&self, end: &str) -> PassResult {
        let mut out = std::io::stderr();
        if out.is_terminal() {
            let left = inner(self.current).len();
            let _ = write!(out, "{left} operations left, {} candidates refused    {end}", self.boring.len());
        }
        Ok(())
    }
}

/// Whether the script finds a text interesting.
fn ask(script: &Path, file: &Path, text: &str) -> Result<bool, String> {
    fs::write(file, text).map_err(|e| format!("is not reduced: cannot write {}: {e}", file.display()))?;
    let mut command = Command::new(script);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status =
        command.status().map_err(|e| format!("is not reduced: cannot run the script {}: {e}", script.display()))?;
    Ok(status.code().is_some_and(|code| code != 0))
}
