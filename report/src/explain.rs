//! A pass's page: its section of docs/PASSES.md, which is embedded here.

use crate::{help::all_names, suggest::did_you_mean, terminal::Paint};
use tinymlir_passes::ir;

const PAGE: &str = include_str!("../../docs/PASSES.md");

/// What docs/PASSES.md says of a pass or pipeline, or upstream's one line for one of upstream's; else a message that names
/// the nearest one.
pub fn explain(name: &str, paint: Paint) -> Result<String, String> {
    let name = name.trim_start_matches('-');
    // Ours without the prefix, unless MLIR has a pass of that name.
    let ours = || section(&format!("tinymlir-{name}")).filter(|_| ir::described(name).is_none());
    if let Some(section) = section(name).or_else(ours) {
        return Ok(painted(section, paint));
    }
    if let Some(description) = ir::described(name) {
        return Ok(format!(
            "{}\n\n{}\n\nA pass of MLIR's own: tinymlir-opt --help-all lists its options.\n",
            paint.bold(name),
            description.trim()
        ));
    }
    // With or without the prefix.
    let meant = [name.to_owned(), format!("tinymlir-{name}")].map(|name| did_you_mean(&name, all_names()));
    let meant = meant.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    Err(format!("there is no pass or pipeline '{name}'{meant}"))
}

/// The section under the heading of that name, with the heading.
fn section(name: &str) -> Option<&'static str> {
    let start = PAGE.find(&format!("\n### `{name}`\n"))? + 1;
    let rest = &PAGE[start + 4..];
    let end = rest.find("\n### ").into_iter().chain(rest.find("\n## ")).min().unwrap_or(rest.len());
    Some(&PAGE[start..start + 4 + end])
}

/// Markdown for a terminal: headings and code stand out, tables are aligned.
fn painted(section: &str, paint: Paint) -> String {
    let mut out = String::new();
    let mut table: Vec<Vec<&str>> = Vec::new();
    let mut in_code = false;
    let flush = |table: &mut Vec<Vec<&str>>, out: &mut String| {
        let columns = table.iter().map(Vec::len).max().unwrap_or(0);
        let width = |i: usize| table.iter().filter_map(|row| row.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (i, row) in table.iter().enumerate() {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            let line = format!("  {}", cells.join("  "));
            let line = line.trim_end();
            out.push_str(&if i == 0 { paint.dim(line) } else { line.to_owned() });
            out.push('\n');
        }
        table.clear();
    };
    for line in section.trim_end().lines() {
        if let Some(row) = line.strip_prefix("| ").filter(|_| !in_code) {
            let row = row.trim_end().strip_suffix('|').unwrap_or(row).trim_end();
            let row = row.strip_suffix(" |").unwrap_or(row);
            if !row.starts_with("---") {
                table.push(row.split(" | ").map(|cell| cell.trim().trim_matches('`')).collect());
            }
            continue;
        }
        flush(&mut table, &mut out);
        if line.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code {
            out.push_str(&paint.cyan(&format!("    {line}")));
        } else if let Some(heading) = line.strip_prefix("### ") {
            out.push_str(&paint.bold(heading.trim_matches('`')));
        } else {
            out.push_str(&line.replace('`', ""));
        }
        out.push('\n');
    }
    flush(&mut table, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use tinymlir_passes::{PASSES, PIPELINES};

    #[test]
    fn every_pass_and_pipeline_has_a_page() {
        for name in PASSES.iter().map(|p| p.argument).chain(PIPELINES.iter().map(|p| p.argument)) {
            let page = explain(name, Paint::none()).unwrap();
            assert!(page.starts_with(name) && page.lines().count() > 2, "{page}");
        }
    }

    #[test]
    fn a_typo_is_answered_with_the_nearest_name() {
        let message = |name| explain(name, Paint::none()).unwrap_err();
        assert_eq!(
            message("tinymlir-fuze"),
            "there is no pass or pipeline 'tinymlir-fuze'; did you mean 'tinymlir-fuse'?"
        );
        assert!(message("balas").ends_with("did you mean 'tinymlir-blas'?"));
        assert_eq!(message("quite-another-thing"), "there is no pass or pipeline 'quite-another-thing'");
    }

    #[test]
    fn tables_are_aligned() {
        let text = painted(
            "### `x`\n\n| option | value |\n| --- | --- |\n| `a` | one |\n| `longer-name` | two |\n",
            Paint::none(),
        );
        assert_eq!(text, "x\n\n  option       value\n  a            one\n  longer-name  two\n");
    }
}
