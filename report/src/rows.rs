//! The table of kernels: launches, or on the CPU operations, with all that is known of each; equal ones are one row.

use crate::{costs::Cost, page::Run, ptxas::Usage, record::Recording, remarks::Record, times::times};
use serde::Serialize;
use std::collections::BTreeMap;

/// A row.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// A kernel, a routine of BLAS, or `loops`.
    pub kernel: String,
    /// How often it is launched or called.
    pub count: usize,
    /// The operations that it computes.
    pub op: String,
    /// `file:line` of the first of them.
    pub place: String,
    /// Numbers of source positions, one for each launch.
    pub sources: Vec<u32>,
    /// What it reads and writes.
    pub shapes: String,
    /// The template's file.
    pub template: String,
    /// Why it was chosen, or why nothing better was.
    pub why: String,
    /// What the pass said when it chose it.
    pub remark: String,
    /// Blocks.
    pub grid: String,
    /// Threads.
    pub block: String,
    /// Bytes of shared memory.
    pub shared: Option<i64>,
    /// What ptxas says.
    pub usage: Option<Usage>,
    /// Of one launch.
    pub flops: Option<f64>,
    /// Of one launch.
    pub bytes: Option<f64>,
    /// Of one launch, in microseconds.
    pub time: Option<f64>,
    /// Of what the card could do at best in that time, in percent.
    pub percent: Option<f64>,
}

/// The rows, those with the most work first.
pub fn rows(recording: &Recording, usage: &BTreeMap<String, Usage>, run: Option<&Run>) -> Vec<Row> {
    let mut rows =
        if recording.launches.is_empty() { of_operations(recording) } else { of_launches(recording, usage, run) };
    let work = |r: &Row| {
        let one = r.time.or(r.flops.zip(r.bytes).map(|(f, b)| f / 10.0 + b)).unwrap_or_default();
        one * r.count as f64
    };
    rows.sort_by(|a, b| work(b).total_cmp(&work(a)));
    rows
}

fn dims(sizes: [Option<i64>; 3]) -> String {
    let last = sizes.iter().rposition(|s| *s != Some(1)).unwrap_or(0);
    let texts: Vec<String> = sizes[..=last].iter().map(|s| s.map_or("?".into(), |s| s.to_string())).collect();
    texts.join(" × ")
}

fn of_launches(recording: &Recording, usage: &BTreeMap<String, Usage>, run: Option<&Run>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut before = None;
    let times = run.map_or_else(|| vec![None; recording.launches.len()], |run| times(&recording.launches, run));
    for (launch, time) in recording.launches.iter().zip(times) {
        let mut computed: Vec<&Cost> = recording
            .costs
            .iter()
            .filter(|c| c.function == launch.function && recording.sources.contains(launch.source, c.source))
            .collect();
        // Fills that a kernel makes unnecessary move nothing; many of them come from one line.
        match computed.iter().any(|c| c.name != "linalg.fill") {
            true => computed.retain(|c| c.name != "linalg.fill"),
            false => computed.truncate(1),
        }
        // Two kernels of one operation in a row, such as a product in parts and their sum: the first has the work.
        let second = before == Some(launch.source) && launch.source != 0;
        before = Some(launch.source);
        let remark = chosen(recording, launch.source, &launch.kernel);
        let fact =
            |name: &str| remark.and_then(|r| r.facts.get(name)).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        let sum = |of: fn(&Cost) -> Option<f64>| {
            computed.iter().map(|c| of(c)).sum::<Option<f64>>().filter(|_| !computed.is_empty() && !second)
        };
        let (flops, bytes) = (sum(|c| c.flops), sum(|c| c.bytes));
        let row = Row {
            kernel: launch.kernel.clone(),
            count: 1,
            op: operations(&computed),
            place: place(recording, most_work(&computed).map_or(launch.source, |c| c.source)),
            sources: vec![launch.source],
            shapes: launch.shapes.clone(),
            template: fact("template"),
            why: if second { "adds the parts of the product before it".into() } else { fact("why") },
            remark: remark.map(|r| r.message.clone()).unwrap_or_default(),
            grid: dims(launch.grid),
            block: dims(launch.block),
            shared: launch.shared,
            usage: usage.get(&launch.kernel).copied(),
            flops,
            bytes,
            time,
            percent: None,
        };
        let same = |r: &&mut Row| {
            (&r.kernel, &r.grid, &r.block, &r.shapes, &r.op)
                == (&row.kernel, &row.grid, &row.block, &row.shapes, &row.op)
        };
        match rows.iter_mut().find(same) {
            Some(known) => {
                // The mean of those in the row.
                let share = (known.count + 1) as f64;
                known.time = known.time.zip(row.time).map(|(mean, time)| mean + (time - mean) / share);
                known.count += 1;
                known.sources.push(launch.source);
            }
            None => rows.push(row),
        }
    }
    for row in &mut rows {
        row.percent = row.time.zip(run).and_then(|(time, run)| run.percent(time, row.flops?, row.bytes?));
    }
    rows
}

fn most_work<'a>(costs: &[&'a Cost]) -> Option<&'a Cost> {
    costs.iter().copied().max_by(|a, b| a.flops.unwrap_or_default().total_cmp(&b.flops.unwrap_or_default()))
}

/// The remark of the pass that chose a kernel.
fn chosen<'a>(recording: &'a Recording, source: u32, kernel: &str) -> Option<&'a Record> {
    let near = || recording.remarks.iter().filter(|(r, at)| r.kind == "passed" && recording.sources.meet(source, *at));
    let names = |r: &Record| -> Option<bool> {
        let named = r.facts.get("kernel")?.as_str()?;
        Some(named.split(", ").any(|n| !n.is_empty() && kernel.starts_with(n)))
    };
    let named = near().find(|(r, _)| names(r) == Some(true));
    named.or_else(|| near().find(|(r, _)| names(r).is_none() && r.facts.contains_key("tile"))).map(|(r, _)| r)
}

fn of_operations(recording: &Recording) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for cost in &recording.costs {
        let named = format!("'{}'", cost.name);
        let about = || {
            let said = recording.remarks.iter();
            said.filter(|(r, at)| recording.sources.meet(cost.source, *at) && r.message.starts_with(&named))
        };
        // What stands for several operations has the places of all.
        let among = || {
            recording.remarks.iter().find(|(r, at)| {
                r.kind == "passed" && r.facts.contains_key("kernel") && recording.sources.contains(*at, cost.source)
            })
        };
        // Of passes that left it, the last one had the last word.
        let remark = about().find(|(r, _)| r.kind == "passed").or_else(among).or_else(|| about().next_back());
        let fact = |name: &str| remark.and_then(|(r, _)| r.facts.get(name)).and_then(|v| v.as_str()).map(str::to_owned);
        // Without the operation, which has a column.
        let said = remark.map(|(r, _)| r.message.split_once("' ").map_or(&*r.message, |(_, said)| said).to_owned());
        let row = Row {
            kernel: fact("kernel").unwrap_or_else(|| if cost.family == "move" { "copy loop" } else { "loops" }.into()),
            count: 1,
            op: cost.name.clone(),
            place: place(recording, cost.source),
            sources: vec![cost.source],
            shapes: cost.shapes.clone(),
            why: fact("why").or(said).unwrap_or_else(|| "no pass put anything in its place".into()),
            remark: remark.map(|(r, _)| r.message.clone()).unwrap_or_default(),
            flops: cost.flops,
            bytes: cost.bytes,
            ..Row::default()
        };
        match rows.iter_mut().find(|r| (&r.kernel, &r.op, &r.shapes) == (&row.kernel, &row.op, &row.shapes)) {
            Some(known) => {
                known.count += 1;
                known.sources.push(cost.source);
            }
            None => rows.push(row),
        }
    }
    rows
}

/// `linalg.fill, 2 linalg.generic, linalg.matmul`.
fn operations(costs: &[&Cost]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for cost in costs {
        match counts.iter_mut().find(|(name, _)| *name == cost.name) {
            Some((_, n)) => *n += 1,
            None => counts.push((&cost.name, 1)),
        }
    }
    let texts = counts.into_iter().map(|(name, n)| if n == 1 { name.to_owned() } else { format!("{n} {name}") });
    texts.collect::<Vec<_>>().join(", ")
}

fn place(recording: &Recording, source: u32) -> String {
    let places = recording.sources.get(source);
    let first = places.iter().find(|(file, _)| !is_ours(file)).or(places.first());
    first.map(|(file, line)| format!("{}:{line}", file.rsplit('/').next().unwrap_or_default())).unwrap_or_default()
}

/// Whether a file is one of the compiler's own templates.
pub fn is_ours(file: &str) -> bool {
    file.starts_with("templates/") || file.starts_with("tinymlir-")
}
