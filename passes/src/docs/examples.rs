//! Before and after: the shortest example that a pass's lit test has, and what its run makes of it.

use crate::{
    PASSES, PIPELINES,
    ir::{Module, Op, run_pipeline},
};
use std::{fs, path::Path};

/// An example of a lit test: the sentence above it, and its text without comments.
struct Example {
    reason: String,
    text: String,
}

/// The functions of a lit test, each with the aliases and declarations before it.
fn examples(test: &str) -> Vec<Example> {
    let mut out = Vec::new();
    let (mut reason, mut text, mut shared) = (Vec::new(), String::new(), String::new());
    let is_check = |comment: &str| {
        let word = comment.split([':', '-', '{']).next().unwrap_or_default();
        !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    for line in test.lines() {
        if line.starts_with("// -----") {
            (reason, text, shared) = (Vec::new(), String::new(), String::new());
        } else if let Some(comment) = line.trim_start().strip_prefix("//").map(str::trim) {
            if text.is_empty() && !is_check(comment) && !comment.starts_with("expected-") {
                reason.push(comment);
            }
        } else if line.is_empty() && text.is_empty() {
            reason.clear();
        } else if text.is_empty() && !line.starts_with(' ') && !line.ends_with('{') {
            shared += &format!("{line}\n");
        } else {
            text += line.split(" // expected-").next().unwrap_or_default().trim_end();
            text.push('\n');
            if line == "}" {
                // An alias that the function does not use is another's.
                let used =
                    |l: &&str| !l.starts_with(['#', '!']) || l.split(' ').next().is_some_and(|name| uses(&text, name));
                let before: String = shared.lines().filter(used).map(|l| format!("{l}\n")).collect();
                out.push(Example { reason: reason.join(" "), text: format!("{before}{text}") });
                (reason, text) = (Vec::new(), String::new());
            }
        }
    }
    out
}

/// Whether a text holds a name that does not go on.
fn uses(text: &str, name: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| ends(&text[at + name.len()..]))
}

/// The first run of a test as a pipeline: those of its flags that are passes or pipelines of ours.
fn pipeline(test: &str) -> Option<String> {
    let run = test.lines().find_map(|l| l.trim_start_matches('/').trim().strip_prefix("RUN: tinymlir-opt "))?;
    let known = |name: &str| PASSES.iter().any(|p| p.argument == name) || PIPELINES.iter().any(|p| p.argument == name);
    let mut out = Vec::new();
    let mut rest = run.split(" | ").next()?;
    while let Some(at) = rest.find("--") {
        rest = &rest[at + 2..];
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let name = &rest[..end];
        rest = &rest[end..];
        let mut options = String::new();
        if let Some(value) = rest.strip_prefix('=') {
            let quote = value.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let value = quote.map_or(value, |_| &value[1..]);
            let end = value.find(quote.unwrap_or(' ')).unwrap_or(value.len());
            options = format!("{{{}}}", &value[..end]);
            rest = &value[end..];
        }
        if known(name) {
            out.push(format!("{name}{options}"));
        }
    }
    (!out.is_empty()).then(|| out.join(","))
}

/// Short enough to be read beside a page's text.
fn is_short(text: &str, lines: usize) -> bool {
    text.lines().count() <= lines && text.lines().all(|l| l.chars().count() <= 6 * lines)
}

/// A module as it is printed, without the `module` around it.
fn printed(module: &Module) -> String {
    let text = module.to_string();
    let lines = |t: &str| t.lines().map(|l| l.strip_prefix("  ").unwrap_or(l)).collect::<Vec<_>>().join("\n");
    let inner = text.strip_prefix("module {\n").and_then(|t| t.strip_suffix("}\n")).map(lines);
    inner.unwrap_or(text).trim_end().to_owned()
}

/// The section of an example, or nothing where the pipeline leaves it as it is, or makes more of it than a page wants.
fn section(argument: &str, pipeline: &str, example: &Example, lines: usize) -> Option<String> {
    let context = crate::context();
    let mut module = crate::parse(&context, example.text.as_bytes(), "example.mlir").ok()?;
    let before = printed(&module);
    let symbols: Vec<_> = Op::of(&module).body().into_iter().filter_map(|op| op.symbol()).collect();
    let result = run_pipeline(&context, &mut module, &format!("builtin.module({pipeline})"));
    let mut verb = "becomes";
    let mut rest = "";
    let mut after = printed(&module);
    if let Err(message) = result {
        (verb, after) = ("is refused", message.replace("example.mlir:", ""));
    } else if !is_short(&after, lines) {
        // Without what is new beside it, such as a kernel.
        let known = |op: &Op| op.symbol().is_some_and(|s| symbols.contains(&s)) && !op.body().is_empty();
        let kept: Vec<String> = Op::of(&module).body().into_iter().filter(known).map(|op| op.to_string()).collect();
        after = kept.join("\n");
        rest = ", beside what it calls";
    }
    if after == before || after.is_empty() || !is_short(&after, lines) {
        return None;
    }
    let reason = if example.reason.is_empty() { "For example:" } else { &example.reason };
    let with = if pipeline == argument { String::new() } else { format!(" with `{pipeline}`") };
    let text = example.text.trim_end();
    Some(format!("\n{reason}\n\n```mlir\n{text}\n```\n\n{verb}{with}{rest}\n\n```mlir\n{after}\n```\n"))
}

/// The example of a pass or pipeline, the shortest of its first test that has one; empty where none has.
pub fn example(tests: &Path, argument: &str) -> String {
    let short = argument.trim_start_matches("tinymlir-");
    let names = [format!("{argument}.mlir"), format!("{short}.mlir"), format!("{argument}-invalid.mlir")];
    let files: Vec<String> = ["passes", "pipelines"]
        .iter()
        .flat_map(|folder| names.iter().map(move |name| tests.join(folder).join(name)))
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect();
    for lines in [40, 110] {
        for test in &files {
            let Some(pipeline) = pipeline(test) else { continue };
            let fitting = examples(test).into_iter().filter(|e| is_short(&e.text, lines));
            let sections = fitting.filter_map(|example| section(argument, &pipeline, &example, lines));
            if let Some(shortest) = sections.min_by_key(|section| section.len()) {
                return shortest;
            }
        }
    }
    String::new()
}

#[test]
fn tests_are_taken_apart() {
    let test = "// RUN: tinymlir-opt %s --tinymlir-fuse --tinymlir-blas='a=1 b=2' --mlir-timing | FileCheck %s\n\n\
        // Why it is so.\n// CHECK-LABEL: func.func @f\n#map = affine_map<(d0) -> (d0)>\n#map1 = affine_map<() -> ()>\nfunc.func @f() {\n  // CHECK: return\n  return {m = #map1} // expected-error {{no}}\n}\n";
    let [example] = &examples(test)[..] else { panic!("not one") };
    assert_eq!(example.reason, "Why it is so.");
    assert_eq!(example.text, "#map1 = affine_map<() -> ()>\nfunc.func @f() {\n  return {m = #map1}\n}\n");
    assert_eq!(pipeline(test).as_deref(), Some("tinymlir-fuse,tinymlir-blas{a=1 b=2}"));
}
