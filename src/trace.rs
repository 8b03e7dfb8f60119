//! Where a run's time goes: its parts on the host and its kernels on a card, as a table or as a trace for a viewer.

use crate::{Phases, cuda, io::write_atomically};
use anyhow::Result;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fmt::Write,
    path::Path,
    time::{Duration, Instant},
};
use tinymlir_report::{Event, Run};

/// What a card ran: the moment that times count from, and each kernel, copy and fill.
pub type DeviceSpans = Option<(Instant, Vec<cuda::Span>)>;

/// Writes the parts and the card's spans in Chrome's trace event format (JSON, times in microseconds), which
/// chrome://tracing, Perfetto and speedscope open. Host and card are two processes of the trace; a kernel carries its grid
/// and block, and its name the shapes.
pub fn write_chrome_trace(path: &Path, phases: &Phases, device: &DeviceSpans) -> Result<()> {
    let origin = phases.spans().map(|(_, start, _)| start).chain(device.as_ref().map(|(since, _)| *since)).min();
    let since = |at: Instant| origin.map_or(Duration::ZERO, |origin| at.saturating_duration_since(origin));
    let mut events = vec![named(1, "host")];
    events.extend(phases.spans().map(|(name, start, time)| complete(1, name, since(start), time, json!({}))));
    if let Some((begin, spans)) = device {
        events.push(named(2, &cuda::device().map_or("GPU".to_owned(), |device| device.to_string())));
        for span in spans {
            let details = span.details.iter().map(|(key, value)| ((*key).to_owned(), json!(value)));
            let details = Value::Object(details.collect());
            events.push(complete(2, &span.name, since(*begin) + span.start, span.time, details));
        }
    }
    let trace = json!({ "displayTimeUnit": "ms", "traceEvents": events });
    write_atomically(path, format!("{trace}\n").as_bytes())
}

/// The same for a report of calls of one function.
pub fn run(entry: &str, phases: &Phases, device: &DeviceSpans) -> Run {
    let origin = phases.spans().map(|(_, start, _)| start).chain(device.as_ref().map(|(since, _)| *since)).min();
    let since = |at: Instant| origin.map_or(Duration::ZERO, |origin| at.saturating_duration_since(origin));
    let event = |name: &str, track, start: Duration, time: Duration| Event {
        name: name.to_owned(),
        track,
        start: 1e6 * start.as_secs_f64(),
        time: 1e6 * time.as_secs_f64(),
    };
    let mut run = Run { entry: entry.to_owned(), ..Run::default() };
    run.events.extend(phases.spans().map(|(name, start, time)| event(name, "host", since(start), time)));
    let Some((begin, spans)) = device else { return run };
    for span in spans {
        run.events.push(event(&span.name, "card", since(*begin) + span.start, span.time));
        // Copies and fills have no grid.
        if span.details.iter().any(|(key, _)| *key == "grid") {
            run.kernels.push((span.name.clone(), 1e6 * span.time.as_secs_f64()));
        }
    }
    if let Ok(device) = cuda::device() {
        run.device = device.to_string();
        (run.peak_bytes, run.peak_flops) = (Some(device.peak_bytes), Some(device.peak_flops()));
    }
    run
}

fn named(process: u32, name: &str) -> Value {
    json!({ "name": "process_name", "ph": "M", "pid": process, "args": { "name": name } })
}

fn complete(process: u32, name: &str, start: Duration, time: Duration, details: Value) -> Value {
    let microseconds = |time: Duration| time.as_nanos() as f64 / 1e3;
    json!({
        "name": name, "ph": "X", "pid": process, "tid": 0,
        "ts": microseconds(start), "dur": microseconds(time), "args": details,
    })
}

/// A line for each part, then for each kernel, copy and fill by name, those that took longest first: launches, time in all,
/// share of the card's time, and the mean.
pub fn table(phases: &Phases, device: &DeviceSpans) -> String {
    let mut text = String::new();
    let ms = |time: Duration| 1e3 * time.as_secs_f64();
    // Writing to a String does not fail.
    for (name, time) in phases.iter() {
        let _ = writeln!(text, "{:>12.3} ms  {name}", ms(time));
    }
    let Some((_, spans)) = device else { return text };
    let mut kernels: BTreeMap<&str, (u32, Duration)> = BTreeMap::new();
    for span in spans {
        let (count, time) = kernels.entry(&span.name).or_default();
        (*count, *time) = (*count + 1, *time + span.time);
    }
    let total: Duration = spans.iter().map(|span| span.time).sum();
    let _ = writeln!(text, "{:>12.3} ms  on the card, in {} launches, copies and fills", ms(total), spans.len());
    let mut kernels: Vec<_> = kernels.into_iter().collect();
    kernels.sort_by_key(|(_, (_, time))| std::cmp::Reverse(*time));
    for (name, (count, time)) in kernels {
        let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(1e-12);
        let mean = 1e6 * time.as_secs_f64() / f64::from(count);
        let _ = writeln!(text, "{:>12.3} ms {share:>6.1} %  {count:>6} x {mean:>9.2} us  {name}", ms(time));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> (Phases, DeviceSpans) {
        let mut phases = Phases::default();
        phases.time("parse", || std::thread::sleep(Duration::from_millis(1)));
        phases.time("call @main", || ());
        let span = |name: &str, start, time| cuda::Span {
            name: name.to_owned(),
            details: vec![("grid", "4x1x1".to_owned())],
            start: Duration::from_micros(start),
            time: Duration::from_micros(time),
        };
        let spans = vec![span("add_4_f32", 5, 2), span("matmul", 8, 90), span("add_4_f32", 100, 8)];
        (phases, Some((Instant::now(), spans)))
    }

    #[test]
    fn a_trace_has_host_and_card_on_one_clock() {
        let (phases, device) = run();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        write_chrome_trace(&path, &phases, &device).unwrap();
        let trace: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let of = |process: u32| {
            let mine = events.iter().filter(move |e| e["pid"] == process && e["ph"] == "X");
            mine.map(|e| (e["name"].as_str().unwrap(), e["ts"].as_f64().unwrap(), e["dur"].as_f64().unwrap()))
        };
        let host: Vec<_> = of(1).collect();
        assert_eq!((host[0].0, host[0].1, host[1].0), ("parse", 0.0, "call @main"));
        assert!(host[0].2 >= 1000.0 && host[1].1 >= host[0].2);
        let card: Vec<_> = of(2).collect();
        assert_eq!(card.iter().map(|e| e.0).collect::<Vec<_>>(), ["add_4_f32", "matmul", "add_4_f32"]);
        assert!((card[1].1 - card[0].1 - 3.0).abs() < 1e-6 && card[1].2 == 90.0);
        // It began after the host's parts had ended.
        assert!(card[0].1 >= host[1].1 + 5.0);
        assert_eq!(events.iter().find(|e| e["name"] == "matmul").unwrap()["args"]["grid"], "4x1x1");
    }

    #[test]
    fn a_table_sums_up_kernels_by_name() {
        let (phases, device) = run();
        let text = table(&phases, &device);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert!(lines[0].ends_with("ms  parse") && lines[1].ends_with("ms  call @main"), "{text}");
        assert_eq!(lines[2], "0.100 ms  on the card, in 3 launches, copies and fills");
        assert_eq!(lines[3], "0.090 ms   90.0 %       1 x     90.00 us  matmul");
        assert_eq!(lines[4], "0.010 ms   10.0 %       2 x      5.00 us  add_4_f32");
        assert_eq!(table(&phases, &None).lines().count(), 2);
    }
}
