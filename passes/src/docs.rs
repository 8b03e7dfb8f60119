//! docs/PASSES.md, made from the definitions of the passes and the text on top of their files.
//!
//! A pass's example is the shortest one of its lit test that the pass changes (or refuses, of a pass that only verifies), with
//! the sentence above it; what becomes of it is found by running the pass.
//!
//! `cargo test -p tinymlir-passes docs` fails while the page is stale; with `TINYMLIR_UPDATE_DOCS=1` it writes the page.

mod examples;

use crate::{PASSES, PIPELINES, ir::Opt};
use std::{fmt::Write, fs, path::Path};

const HEAD: &str = "\
# Passes and pipelines

Every pass and pipeline of tinymlir, beside those of MLIR. Each works on `tinymlir-opt`'s command line
(`--NAME=OPTION=VALUE`), in `--pass-pipeline` (`NAME{OPTION=VALUE}`), and in stock `mlir-opt` through the plugin.

This page is generated from the sources: `TINYMLIR_UPDATE_DOCS=1 cargo test -p tinymlir-passes docs`.
";

/// The `//!` text of a pass's file, without its title line.
fn prose(sources: &Path, argument: &str) -> String {
    let file = sources.join(argument.replace('-', "_") + ".rs");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let lines =
        text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    let all = lines.collect::<Vec<_>>().join("\n");
    // A title of one line says again what the description says.
    match all.split_once("\n\n") {
        Some((title, rest)) if !title.contains('\n') => rest.trim().to_owned(),
        _ => all.trim().to_owned(),
    }
}

fn options(page: &mut String, options: &[Opt]) {
    if options.is_empty() {
        return;
    }
    page.push_str("\n| option | value | default | |\n| --- | --- | --- | --- |\n");
    for option in options {
        let initial = if option.initial.is_empty() { String::new() } else { format!("`{}`", option.initial) };
        // A bar would end the table's cell.
        let description = option.description.replace('|', "\\|");
        writeln!(page, "| `{}` | {} | {initial} | {description} |", option.name, option.kind()).unwrap();
    }
}

fn generate(sources: &Path) -> String {
    let tests = sources.join("../../test");
    let mut page = HEAD.to_owned();
    page.push_str("\n## Pipelines\n");
    for pipeline in PIPELINES {
        write!(page, "\n### `{}`\n\n{}.\n", pipeline.argument, pipeline.description).unwrap();
        options(&mut page, pipeline.options);
        page.push_str(&examples::example(&tests, pipeline.argument));
    }
    page.push_str("\n## Passes\n");
    for pass in PASSES {
        write!(page, "\n### `{}`\n\n{}.", pass.argument, pass.description).unwrap();
        if !pass.anchor.is_empty() {
            write!(page, " Runs on `{}`.", pass.anchor).unwrap();
        }
        page.push('\n');
        let prose = prose(sources, pass.argument);
        if !prose.is_empty() {
            write!(page, "\n{prose}\n").unwrap();
        }
        options(&mut page, pass.options);
        if !pass.statistics.is_empty() {
            page.push_str("\n| statistic | |\n| --- | --- |\n");
            for (name, description) in pass.statistics {
                writeln!(page, "| `{name}` | {description} |").unwrap();
            }
        }
        page.push_str(&examples::example(&tests, pass.argument));
    }
    page
}

#[test]
fn passes_page_is_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = root.join("../docs/PASSES.md");
    let generated = generate(&root.join("src"));
    if std::env::var_os("TINYMLIR_UPDATE_DOCS").is_some() {
        fs::create_dir_all(page.parent().unwrap()).unwrap();
        fs::write(&page, &generated).unwrap();
    }
    let stored = fs::read_to_string(&page).unwrap_or_default();
    assert!(
        stored == generated,
        "docs/PASSES.md is stale: run TINYMLIR_UPDATE_DOCS=1 cargo test -p tinymlir-passes docs"
    );
}
