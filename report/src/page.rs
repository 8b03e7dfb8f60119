//! The page: tables and pictures are made here from a recording, texts go along compressed and are drawn when looked at.
//!
//! One file: `page/page.html` is its template, `page/style.css` and `page/view.js` are put into it, and so is the data.

use crate::{
    picture::picture,
    ptxas::usage,
    record::{Recording, Snapshot},
    remarks::Record,
    rows::{Row, is_ours, rows},
};
use anyhow::{Context as _, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use minijinja::{Environment, HtmlEscape, context};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write as _;

/// What a report is about.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The module's file.
    pub module: String,
    /// Its text, where it is text.
    pub source: Option<String>,
    /// What it was compiled for.
    pub target: String,
    /// The command.
    pub command: String,
    /// Figures of a run, where there was one.
    pub run: Option<Run>,
    /// That it failed, and why: what is shown is what there was until then.
    pub failed: Option<String>,
}

impl Subject {
    /// Of the command that runs, for a module of that name.
    pub fn of_command(module: &str, bytes: &[u8], target: &str) -> Subject {
        Subject {
            module: module.to_owned(),
            source: std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty()).map(str::to_owned),
            target: target.to_owned(),
            command: std::env::args().collect::<Vec<_>>().join(" "),
            ..Subject::default()
        }
    }
}

/// What was measured when the module ran.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The machine or card.
    pub device: String,
    /// What happened when.
    pub events: Vec<Event>,
    /// The function that was called.
    pub entry: String,
    /// Every kernel that ran, in order, and its time in microseconds.
    pub kernels: Vec<(String, f64)>,
    /// Bytes a second that the card's memory moves at best.
    pub peak_bytes: Option<f64>,
    /// Operations on f32 a second that the card does at best.
    pub peak_flops: Option<f64>,
}

impl Run {
    /// The share of a time, in microseconds, in which the card could do the same work at best, in percent.
    pub fn percent(&self, time: f64, flops: f64, bytes: f64) -> Option<f64> {
        let best = (bytes / self.peak_bytes?).max(flops / self.peak_flops?);
        (time > 0.0).then(|| 1e8 * best / time)
    }
}

/// Something that took time.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// What.
    pub name: String,
    /// `host` or `card`.
    pub track: &'static str,
    /// From the first event's start, in microseconds.
    pub start: f64,
    /// In microseconds.
    pub time: f64,
}

const PAGE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");
const VIEW: &str = include_str!("../page/view.js");

/// The page of a recording.
pub fn page(subject: &Subject, recording: &mut Recording) -> Result<String> {
    let usage = recording.ptx.iter().flat_map(|text| usage(text)).collect();
    let file = recording.sources.all().iter().flat_map(|p| p.iter()).map(|p| &p.0).find(|f| !is_ours(f)).cloned();
    if let Some((text, file)) = subject.source.as_ref().zip(file) {
        let text = text.lines().zip(1..).map(|(text, n)| crate::state::line(text, recording.sources.of_line(&file, n)));
        let text = text.collect();
        let source = Snapshot { title: "source".into(), language: "mlir", text, hunks: None };
        recording.snapshots.insert(0, source);
        recording.steps.iter_mut().for_each(|s| s.snapshot += 1);
    }
    let rows = rows(recording, &usage, subject.run.as_ref());
    let data = pack(&data(subject, recording).to_string())?;
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    environment.add_filter("si", |value: Option<f64>, unit: &str| value.map_or("–".to_owned(), |v| si(v, unit)));
    environment.add_filter("us", |value: Option<f64>| value.map_or("–".to_owned(), |v| si(v * 1e-6, "s")));
    environment.add_filter("percent", |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.0} %")));
    environment
        .add_filter("numbers", |values: Vec<u32>| values.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    environment.add_filter("breaks", |name: &str| minijinja::Value::from_safe_string(breaks(name)));
    environment.add_template("page", PAGE).context("the page's template")?;
    let totals = totals(&rows);
    let missed = recording.remarks.iter().filter(|(r, _)| r.kind == "missed").count();
    let pictures: Vec<Value> = recording.plans.iter().map(picture).collect();
    let remarks = grouped(&recording.remarks);
    let page = environment.get_template("page").context("the page's template")?.render(context! {
        style => STYLE,
        view => VIEW,
        data => data,
        module => subject.module.rsplit('/').next().unwrap_or_default(),
        command => subject.command,
        target => subject.target,
        failed => subject.failed,
        version => env!("CARGO_PKG_VERSION"),
        on_card => !recording.launches.is_empty(),
        has_usage => rows.iter().any(|r| r.usage.is_some()),
        has_times => rows.iter().any(|r| r.time.is_some()),
        rows => rows,
        totals => totals,
        plans => pictures,
        remarks => remarks,
        said => recording.remarks.len(),
        missed => missed,
        device => subject.run.as_ref().map(|r| r.device.clone()).unwrap_or_default(),
        timeline => subject.run.as_ref().is_some_and(|r| !r.events.is_empty()),
    });
    page.context("cannot make the page")
}

/// Remarks in order; those that say the same are one, with the places of all.
fn grouped(remarks: &[(Record, u32)]) -> Vec<Value> {
    let mut groups: Vec<(&Record, Vec<u32>)> = Vec::new();
    for (record, source) in remarks {
        let same = |r: &Record| (r.kind, &r.pass, &r.message) == (record.kind, &record.pass, &record.message);
        match groups.iter_mut().find(|(r, _)| same(r)) {
            Some((_, sources)) => sources.push(*source),
            None => groups.push((record, vec![*source])),
        }
    }
    groups.into_iter().map(|(record, sources)| json!({"record": record, "sources": sources})).collect()
}

/// Sums over the table.
fn totals(rows: &[Row]) -> Value {
    let sum = |of: fn(&Row) -> Option<f64>| rows.iter().filter_map(|r| Some(of(r)? * r.count as f64)).sum::<f64>();
    let count: usize = rows.iter().map(|r| r.count).sum();
    json!({ "count": count, "distinct": rows.len(), "flops": sum(|r| r.flops), "bytes": sum(|r| r.bytes), "time": sum(|r| r.time) })
}

/// A name as HTML that may be broken behind each `_` and `/`.
fn breaks(name: &str) -> String {
    let escaped = HtmlEscape(name).to_string();
    escaped.replace('_', "_<wbr>").replace("&#x2f;", "/<wbr>")
}

/// A number with three digits and a prefix: `1.23 G`.
pub fn si(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 8] =
        [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")];
    if value == 0.0 {
        return format!("0 {unit}").trim_end().to_owned();
    }
    let (scale, prefix) = PREFIXES.into_iter().find(|(scale, _)| value.abs() >= scale * 0.9995).unwrap_or((1e-9, "n"));
    let scaled = value / scale;
    let digits = if prefix.is_empty() && scaled.fract() == 0.0 || scaled >= 99.95 {
        0
    } else if scaled >= 9.995 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {prefix}{unit}").trim_end().to_owned()
}

/// Texts, diffs and positions for the page's script.
fn data(subject: &Subject, recording: &Recording) -> Value {
    let mut files: Vec<&str> = Vec::new();
    let mut sources = Vec::new();
    for places in recording.sources.all() {
        let mut flat = Vec::new();
        for (file, line) in places.iter() {
            let number = files.iter().position(|f| f == file).unwrap_or_else(|| {
                files.push(file);
                files.len() - 1
            });
            flat.push(json!([number, line]));
        }
        sources.push(Value::Array(flat));
    }
    let snapshots: Vec<Value> = recording
        .snapshots
        .iter()
        .map(|s| {
            let hunks = s.hunks.as_ref().map(|hunks| {
                hunks.iter().map(|h| [h.old.start, h.old.end, h.new.start, h.new.end]).collect::<Vec<_>>()
            });
            json!({
                "title": s.title,
                "language": s.language,
                "text": s.text.iter().map(|l| l.text.as_str()).collect::<Vec<_>>().join("\n"),
                "sources": s.text.iter().map(|l| l.source).collect::<Vec<_>>(),
                "hunks": hunks,
            })
        })
        .collect();
    let steps: Vec<Value> = recording
        .steps
        .iter()
        .map(|s| {
            let text: Vec<String> = s.diff.iter().map(|(sign, text)| format!("{sign}{text}")).collect();
            json!({
                "pass": s.pass, "outer": s.outer, "snapshot": s.snapshot, "cut": s.cut, "ms": 1e3 * s.seconds,
                "diff": text.join("\n"),
            })
        })
        .collect();
    let events = subject.run.as_ref().map(|r| json!(r.events)).unwrap_or_default();
    json!({ "files": files, "sources": sources, "snapshots": snapshots, "steps": steps, "events": events })
}

fn pack(text: &str) -> Result<String> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text.as_bytes()).context("cannot compress the page's data")?;
    Ok(STANDARD.encode(encoder.finish().context("cannot compress the page's data")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_prefix() {
        assert_eq!(si(1234.0, "B"), "1.23 kB");
        assert_eq!(si(999.7, "B"), "1.00 kB");
        assert_eq!(si(48.0, "B"), "48 B");
        assert_eq!(si(2.5e-6, "s"), "2.50 µs");
        assert_eq!(si(123.4e6, "FLOP"), "123 MFLOP");
        assert_eq!(si(0.0, ""), "0");
    }

    #[test]
    fn names_break_behind_underscores_and_are_escaped() {
        assert_eq!(breaks("a_b<i>/c"), "a_<wbr>b&lt;i&gt;/<wbr>c");
    }

    #[test]
    fn remarks_that_say_the_same_are_one() {
        let of = |message: &str, line| Record {
            kind: "passed",
            pass: "tinymlir-blas".into(),
            function: "f".into(),
            file: None,
            line: Some(line),
            column: None,
            message: message.into(),
            facts: Default::default(),
        };
        let groups = grouped(&[(of("a", 1), 4), (of("b", 2), 5), (of("a", 3), 6)]);
        assert_eq!(groups.len(), 2);
        assert_eq!((&groups[0]["sources"], &groups[0]["record"]["line"]), (&json!([4, 6]), &json!(1)));
    }

    #[test]
    fn a_share_is_of_the_nearer_limit() {
        let run = Run { peak_bytes: Some(1e12), peak_flops: Some(1e13), ..Run::default() };
        // A million bytes take a microsecond; so do ten million operations.
        assert_eq!(run.percent(2.0, 1e6, 1e6).map(f64::round), Some(50.0));
        assert_eq!(run.percent(4.0, 2e7, 1e6).map(f64::round), Some(50.0));
        assert_eq!(Run::default().percent(1.0, 1.0, 1.0), None);
    }
}
