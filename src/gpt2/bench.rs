//! Times of a prefill and of a decoding step, with the bytes and operations that they cannot do without.
//!
//! Operations count a multiplication and an addition as two, of products alone; bytes count each weight and each row of the
//! cache that the result depends on once, as a machine without any reuse across calls must move them.

use super::{Choice, Config, Model, Session};
use crate::{
    compile::{Options, Target},
    cuda,
    engine::gpu_chip,
    gpt2::{Event, Mode},
    threads,
};
use anyhow::{Result, ensure};
use serde::Serialize;
use std::{
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

/// What to time.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Lengths of prompts.
    pub prefill: Vec<usize>,
    /// Positions at which a step is computed.
    pub decode: Vec<usize>,
    /// Positions that the cache holds; `None` for the whole context.
    pub window: Option<usize>,
    /// Calls that are timed, after as many as warm up.
    pub calls: usize,
}

/// One figure, a line of JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// `prefill` or `decode`.
    pub work: &'static str,
    /// As the command line names it.
    pub model: String,
    /// `cpu`, or the chip.
    pub target: String,
    /// Tokens of the prompt, or 1.
    pub tokens: usize,
    /// The first of them.
    pub position: usize,
    /// Positions of the cache.
    pub window: usize,
    /// How many calls were timed.
    pub calls: usize,
    /// The median of a call from its start to the token's id on the host.
    pub seconds: f64,
    /// The shortest one.
    pub least_seconds: f64,
    /// The median by the GPU's clock, of calls that send nothing there and read nothing back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_seconds: Option<f64>,
    /// Kernels launched by a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launches: Option<u64>,
    /// Tokens in the median's time.
    pub tokens_per_second: f64,
    /// What must be moved.
    pub bytes: u64,
    /// What must be computed.
    pub operations: u64,
    /// Bytes in the median's time.
    pub bytes_per_second: f64,
    /// Operations in the median's time.
    pub operations_per_second: f64,
    /// On the CPU, of a step: the bytes in the least time, in percent of [`read_bandwidth`] measured right after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_of_read_bandwidth: Option<f64>,
    /// Seconds that compilation took, or reading what is in the cache.
    pub compile_seconds: f64,
    /// Seconds that its parts took; empty where it was compiled for an earlier figure.
    pub compile_phases: Vec<(String, f64)>,
}

impl Figure {
    /// An object on one line.
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string(self)?)
    }
}

/// Runs the plan and hands on each figure as it is there.
pub fn bench(
    model: &Model,
    name: &str,
    options: &Options,
    plan: &Plan,
    report: &mut dyn FnMut(Figure) -> Result<()>,
) -> Result<()> {
    let config = &model.config;
    let window = plan.window.unwrap_or(config.context);
    ensure!(plan.calls > 0, "there is nothing to time in 0 calls");
    for (what, position) in
        plan.prefill.iter().map(|n| ("a prompt of", n)).chain(plan.decode.iter().map(|n| ("position", n)))
    {
        let fits = if what == "position" { *position < window } else { (1..=window).contains(position) };
        ensure!(fits, "{what} {position} does not fit a window of {window}");
    }
    let target = match &options.target {
        Target::Cpu => "cpu".to_string(),
        Target::Gpu { emulate: true, .. } => "emulated".to_string(),
        Target::Gpu { .. } => gpu_chip()?,
    };
    let gpu = options.target.memory().is_some();
    let mut session = Session::new(model, options.clone(), Mode::Cached { window: Some(window) })?;
    let works = plan.prefill.iter().map(|n| (*n, 0)).chain(plan.decode.iter().map(|position| (1, *position)));
    for (index, (tokens, position)) in works.enumerate() {
        let prefill = index < plan.prefill.len();
        let start = Instant::now();
        let prompt = if prefill { tokens } else { plan.prefill.first().copied().unwrap_or(1) };
        let (decoder, event) = session.decoder(prompt, window, Choice::default())?;
        let compile_seconds = start.elapsed().as_secs_f64();
        let compile_phases = match event {
            Some(Event::Compiled { phases, .. }) => {
                phases.iter().map(|(name, time)| (name.to_owned(), time.as_secs_f64())).collect()
            }
            _ => Vec::new(),
        };
        let ids: Vec<u32> = (0..tokens).map(|i| (i * 7919 % config.vocabulary) as u32).collect();
        let (mut times, mut device, mut launches) = (Vec::new(), Vec::new(), 0);
        for call in 0..2 * plan.calls {
            // Outside of what is timed: the same work for every call.
            decoder.set_token(0)?;
            decoder.set_position(position)?;
            let before = cuda::launches();
            let start = Instant::now();
            if prefill {
                decoder.prefill(&ids)?
            } else {
                decoder.step()?
            };
            let time = start.elapsed();
            launches = cuda::launches() - before;
            if call >= plan.calls {
                times.push(time);
            }
            if gpu {
                decoder.set_position(position)?;
                let (ran, time) = cuda::time(|| match prefill {
                    true => decoder.replay_prefill(),
                    false => decoder.advance().map(|_| true),
                })?;
                if ran? && call >= plan.calls {
                    device.push(time);
                }
            }
        }
        let (seconds, least) = spread(&mut times);
        let (bytes, operations) = cost(config, tokens, position);
        let percent = |bandwidth: f64| 100.0 * bytes as f64 / least / bandwidth;
        report(Figure {
            work: if prefill { "prefill" } else { "decode" },
            model: name.to_string(),
            target: target.clone(),
            tokens,
            position,
            window,
            calls: plan.calls,
            seconds,
            least_seconds: least,
            device_seconds: (!device.is_empty()).then(|| spread(&mut device).0),
            launches: gpu.then_some(launches),
            tokens_per_second: tokens as f64 / seconds,
            bytes,
            operations,
            bytes_per_second: bytes as f64 / seconds,
            operations_per_second: operations as f64 / seconds,
            percent_of_read_bandwidth: (!gpu && !prefill).then(|| percent(read_bandwidth())),
            compile_seconds,
            compile_phases,
        })?;
    }
    Ok(())
}

/// Median and least in seconds.
fn spread(times: &mut [Duration]) -> (f64, f64) {
    times.sort();
    (times[times.len() / 2].as_secs_f64(), times[0].as_secs_f64())
}

/// Bytes and operations of `tokens` tokens from `position` on, of which the last one's logits are computed.
fn cost(config: &Config, tokens: usize, position: usize) -> (u64, u64) {
    let (width, layers, tokens, position) = (config.width as u64, config.layers as u64, tokens as u64, position as u64);
    let (mut bytes, mut operations) = (0, 0);
    for (name, dtype, shape) in config.arguments() {
        let elements: u64 = shape.iter().map(|n| *n as u64).product();
        let size = dtype.size() as u64;
        match name.as_str() {
            "wpe.weight" => bytes += size * width * tokens,
            // The head reads all of it, once for the last token.
            "wte.weight" => (bytes, operations) = (bytes + size * elements, operations + 2 * elements),
            _ => {
                bytes += size * elements;
                operations += if shape.len() == 2 { 2 * elements * tokens } else { 0 };
            }
        }
    }
    // Keys and values of what came before are read and those of the new tokens written.
    bytes += 4 * 2 * width * layers * (position + tokens);
    // Each token meets those before it and itself: scores and context.
    let pairs: u64 = (1..=tokens).map(|i| position + i).sum();
    (bytes, operations + 4 * width * layers * pairs)
}

/// How many bytes a second as many threads as compute read from memory together: the most of seven sums over half a gigabyte.
pub fn read_bandwidth() -> f64 {
    let data = vec![1u64; 1 << 26];
    let workers = threads();
    let mut times: Vec<Duration> = (0..7)
        .map(|_| {
            let start = Instant::now();
            thread::scope(|scope| {
                for part in data.chunks(data.len().div_ceil(workers)) {
                    scope.spawn(move || black_box(part.iter().fold(0u64, |sum, v| sum.wrapping_add(*v))));
                }
            });
            start.elapsed()
        })
        .collect();
    size_of_val(&data[..]) as f64 / spread(&mut times).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_124m_reads_its_weights_once() {
        let config = Config::published("124M").unwrap();
        let (bytes, operations) = cost(&config, 1, 100);
        let parameters: u64 =
            config.weights().iter().map(|(_, shape)| shape.iter().map(|n| *n as u64).product::<u64>()).sum();
        let cache = 4 * 2 * 768 * 12 * 101;
        assert_eq!(bytes, 4 * (parameters - 1024 * 768 + 768) + cache);
        // A multiplication and an addition for each element of a matrix, and for scores and context of 101 positions.
        let matrices = 12 * (768 * 2304 + 768 * 768 + 2 * 768 * 3072) + 50257 * 768;
        assert_eq!(operations, 2 * matrices + 4 * 768 * 12 * 101);
        // Sixteen tokens read the weights once, and the head serves one of them.
        let (sixteen, more) = cost(&config, 16, 0);
        assert!(sixteen < bytes + (1 << 20) && more < 12 * operations, "{sixteen} {more}");
    }

    #[test]
    fn figures_come_from_runs_of_the_model() {
        let model = Model::open(concat!(env!("CARGO_MANIFEST_DIR"), "/models/kjv")).unwrap();
        let plan = Plan { prefill: vec![5], decode: vec![3, 15], window: Some(16), calls: 2 };
        let mut figures = Vec::new();
        let mut keep = |figure: Figure| {
            figures.push(figure);
            Ok(())
        };
        bench(&model, "kjv", &Options::default(), &plan, &mut keep).unwrap();
        let works: Vec<_> = figures.iter().map(|f| (f.work, f.tokens, f.position)).collect();
        assert_eq!(works, [("prefill", 5, 0), ("decode", 1, 3), ("decode", 1, 15)]);
        assert!(figures.iter().all(|f| f.seconds >= f.least_seconds && f.least_seconds > 0.0 && f.launches.is_none()));
        let refused =
            |plan: Plan| bench(&model, "kjv", &Options::default(), &plan, &mut |_| Ok(())).unwrap_err().to_string();
        assert!(refused(Plan { decode: vec![16], ..plan.clone() }).contains("position 16 does not fit a window of 16"));
        assert!(refused(Plan { prefill: vec![0], ..plan.clone() }).contains("a prompt of 0"));
    }
}
