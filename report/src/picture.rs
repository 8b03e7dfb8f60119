//! The picture of a plan: a lane for each arena and one for the buffers outside of them; along x the function's course,
//! along y bytes.

use crate::{
    page::si,
    plan::{Buffer, Lane, Plan},
};
use serde_json::{Value, json};

const WIDTH: f64 = 1200.0;
/// Of a lane.
const HEIGHT: f64 = 420.0;
/// Of a lane of one buffer beside an arena.
const LEAST: f64 = 64.0;
/// Between lanes, for the name of the next.
const GAP: f64 = 44.0;

/// What the page's template draws.
pub fn picture(plan: &Plan) -> Value {
    let mut top = 0.0;
    let lanes: Vec<Value> = plan
        .lanes
        .iter()
        .map(|lane| {
            top += GAP;
            // Beside an arena, as high as it takes to tell the others apart: each lane has its own scale.
            let height = match lane.arena {
                None if plan.has_arena() => (LEAST * lane.buffers.len() as f64).min(HEIGHT / 2.0),
                _ => HEIGHT,
            };
            let drawn = draw(plan, lane, top, height);
            top += height;
            drawn
        })
        .collect();
    json!({
        "function": plan.function, "width": WIDTH, "height": top, "lanes": lanes, "length": plan.length,
        "arguments": si(plan.arguments as f64, "B"), "unknown": plan.unknown, "planned": plan.has_arena(),
    })
}

fn draw(plan: &Plan, lane: &Lane, top: f64, height: f64) -> Value {
    let x = |at: usize| WIDTH * at.min(plan.length) as f64 / plan.length.max(1) as f64;
    let h = |bytes: u64| height * bytes as f64 / lane.extent.max(1) as f64;
    let y = |bytes: u64| top + height - h(bytes);
    let size = |bytes: u64| si(bytes as f64, "B");
    let bar = |b: &Buffer| {
        let place = match lane.arena {
            Some(_) => format!("at byte {} of the arena", b.offset),
            None => format!("freed after {}", b.freed),
        };
        // As much of the type as the bar is wide enough for.
        let room = ((x(b.to) - x(b.from) - 10.0) / 6.1).max(0.0) as usize;
        let label = if b.shape.chars().count() <= room && h(b.bytes) > 14.0 { b.shape.clone() } else { String::new() };
        json!({
            "x": format!("{:.2}", x(b.from).min(WIDTH - 2.0)),
            "width": format!("{:.2}", (x(b.to) - x(b.from)).max(2.0)),
            "y": format!("{:.2}", y(b.offset + b.bytes)),
            "height": format!("{:.2}", h(b.bytes).max(0.6)),
            "family": b.family,
            "source": b.source,
            "label": label,
            "title": format!("{} · {} · {} · used in steps {} to {} of {}", b.shape, size(b.bytes), place, (b.from + 1).min(plan.length), b.to.min(plan.length), plan.length),
        })
    };
    // What is there at each operation, as stairs.
    let mut line = String::new();
    let mut last = None;
    for at in 0..plan.length.max(1) {
        let there: u64 = lane.buffers.iter().filter(|b| b.from <= at && at < b.to).map(|b| b.bytes).sum();
        if last != Some(there) {
            line += &format!(
                "{}{:.1}V{:.1}",
                if at == 0 { format!("M0,{:.1}H", y(there)) } else { "H".into() },
                x(at),
                y(there)
            );
        }
        last = Some(there);
    }
    line += &format!("H{WIDTH}");
    let step = round_step(lane.extent as f64 * 30.0 / height);
    let ticks: Vec<Value> = (0..)
        .map(|i| f64::from(i) * step)
        .take_while(|bytes| *bytes <= lane.extent as f64)
        .map(|bytes| json!({ "y": format!("{:.1}", top + height - height * bytes / lane.extent.max(1) as f64), "label": si(bytes, "B") }))
        .collect();
    let count = lane.buffers.len();
    let buffers = if count == 1 { "1 buffer".to_owned() } else { format!("{count} buffers") };
    let title = match (lane.arena, lane.device) {
        (Some(_), true) => format!("Arena of device memory, {buffers}"),
        (Some(_), false) => format!("Arena, {buffers}"),
        (None, _) if plan.has_arena() => format!("Outside of it, {buffers}"),
        (None, _) => buffers,
    };
    json!({
        "title": title, "arena": lane.arena.map(size), "count": count,
        "bars": lane.buffers.iter().map(bar).collect::<Vec<_>>(), "line": line, "ticks": ticks,
        "top": format!("{top:.1}"), "height": format!("{height:.1}"), "bound": format!("{:.1}", y(lane.peak)),
        "peak": size(lane.peak), "held": size(lane.held), "extent": size(lane.extent), "total": size(lane.total),
        "over": 100.0 * lane.extent as f64 / lane.peak.max(1) as f64 - 100.0,
    })
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1.0).log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|n| n * power).find(|step| *step >= least).unwrap_or(10.0 * power)
}

#[test]
fn steps_of_an_axis_are_round() {
    assert_eq!([0.0, 1.0, 1.5, 20.0, 21.0, 51.0, 4096.0].map(round_step), [1.0, 1.0, 2.0, 20.0, 50.0, 100.0, 5000.0]);
}
