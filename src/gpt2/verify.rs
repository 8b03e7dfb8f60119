//! Compares a model's run with its reference: token ids at every decoding step, and arrays of the first pass.

use super::{
    Choice, padded,
    session::{Mode, Session, argmax},
};
use crate::{DType, Tensor, engine::Value, io::npy};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// What a difference may be: `atol + rtol * |expected|` for each element.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
}

/// What was compared.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Prompts.
    pub prompts: usize,
    /// Decoding steps over all of them.
    pub steps: usize,
    /// Each array with its largest absolute difference.
    pub arrays: Vec<(String, f64)>,
}

/// One prompt of `reference.json`.
#[derive(Deserialize)]
struct Case {
    prompt: String,
    input_ids: Vec<u32>,
    output_ids: Vec<u32>,
}

/// Runs every prompt of `directory/reference.json` and compares the tokenizer's ids, the id of each step, and for the first
/// pass the arrays of `directory/reference.npz`: all of them, or `logits` alone where the pass is one function. With a cache the
/// logits are computed twice, row by row from an empty cache, and the last row from the prompt as a whole.
///
/// Fails on the first mismatch, naming prompt and step or array, or when a file is missing.
pub fn verify(session: &mut Session, directory: &Path, tolerance: Tolerance) -> Result<Summary> {
    let json = directory.join("reference.json");
    let missing = || format!("cannot read {} (tools/reference makes it)", json.display());
    let cases: Vec<Case> =
        serde_json::from_str(&std::fs::read_to_string(&json).with_context(missing)?).with_context(missing)?;
    ensure!(!cases.is_empty(), "{} holds no prompt", json.display());
    let mut arrays = Arrays::open(directory.join("reference.npz"), tolerance)?;
    let mut steps = 0;
    let longest = cases.iter().map(|case| case.input_ids.len() + case.output_ids.len()).max().unwrap_or(1);
    let config = &session.model().config;
    let window = match session.mode() {
        Mode::Cached { window } => window.unwrap_or_else(|| padded(config, longest)),
        _ => config.context,
    };
    ensure!(longest - 1 <= window, "the reference has texts of {longest} tokens, which do not fit {window} positions");
    for (number, case) in cases.iter().enumerate() {
        let place = format!("prompt {} ({:?})", number + 1, case.prompt);
        let mut ids = session.model().tokenizer.encode(&case.prompt)?;
        ensure!(ids == case.input_ids, "{place}: the tokenizer gives {ids:?}, the reference has {:?}", case.input_ids);
        if number == 0 && matches!(session.mode(), Mode::Cached { .. }) {
            let rows = cached_logits(session, &ids, window).context("the cache")?;
            arrays.compare("logits", &rows, ids.len())?;
        }
        for (step, expected) in case.output_ids.iter().enumerate() {
            let first = number == 0 && step == 0;
            let mut compare = |name: &str, array: &Tensor| arrays.compare(name, array, case.input_ids.len());
            let id = match session.mode() {
                Mode::Cached { .. } => {
                    let (decoder, _) = session.decoder(case.input_ids.len(), window, LOGITS)?;
                    if step == 0 { decoder.prefill(&ids) } else { decoder.step() }.map(|output| output.token)
                }
                _ => session.logits(&ids, if first { Some(&mut compare) } else { None }).and_then(|l| argmax(&l)),
            };
            let id = id.with_context(|| format!("{place}, step {step}"))?;
            ensure!(id == *expected, "{place}, step {step}: token {id}, the reference has {expected}");
            ids.push(id);
            steps += 1;
        }
    }
    let compared = arrays.finish(session.mode() != Mode::Layers)?;
    Ok(Summary { prompts: cases.len(), steps, arrays: compared })
}

/// The largest one, and what it was chosen from.
const LOGITS: Choice = Choice { draw: None, logits: true };

/// The logits of every position of `ids`, computed by steps; those of the last one also by a prefill, and they must agree.
fn cached_logits(session: &mut Session, ids: &[u32], window: usize) -> Result<Tensor> {
    let (decoder, _) = session.decoder(ids.len(), window, LOGITS)?;
    let row = |logits: Option<Value>| logits.context("there are no logits")?.to_tensor();
    decoder.set_position(0)?;
    let mut rows = Vec::new();
    for id in ids {
        decoder.set_token(*id)?;
        rows.extend_from_slice(row(decoder.step()?.logits)?.bytes());
    }
    let whole = row(decoder.prefill(ids)?.logits)?;
    let by_step = &rows[rows.len() - whole.bytes().len()..];
    let by_step = Tensor::from_bytes(DType::F32, whole.shape(), by_step)?;
    let largest = |a: &Tensor, b: &Tensor| -> Option<f64> {
        let (a, b) = (a.to_f64()?, b.to_f64()?);
        a.iter().zip(&b).map(|(a, b)| (a - b).abs() / (1.0 + a.abs())).reduce(f64::max)
    };
    let difference = largest(&by_step, &whole).context("logits that are no real numbers")?;
    ensure!(difference < 1e-4, "logits by steps and by prefill differ by {difference:.3e}");
    Tensor::from_bytes(DType::F32, &[ids.len(), whole.shape()[1]], &rows)
}

struct Arrays {
    path: PathBuf,
    tolerance: Tolerance,
    left: BTreeSet<String>,
    compared: Vec<(String, f64)>,
}

impl Arrays {
    fn open(path: PathBuf, tolerance: Tolerance) -> Result<Arrays> {
        let mut left: BTreeSet<String> =
            npy::npz_keys(&path).context("the reference's arrays (tools/reference makes them)")?.into_iter().collect();
        left.remove("input_ids");
        Ok(Arrays { path, tolerance, left, compared: Vec::new() })
    }

    /// Compares the first `rows` rows of `array`; what follows is padding.
    fn compare(&mut self, name: &str, array: &Tensor, rows: usize) -> Result<()> {
        let expected = npy::read_npz(&self.path, name)?;
        let mut shape = array.shape().to_vec();
        shape[0] = rows;
        ensure!(
            expected.shape() == shape,
            "array {name}: the reference has shape {:?}, computed was {shape:?}",
            expected.shape()
        );
        let (values, wanted) =
            array.to_f64().zip(expected.to_f64()).with_context(|| format!("array {name} holds no real numbers"))?;
        let (mut largest, mut worst) = (0f64, None);
        for (index, (value, wanted)) in values.iter().zip(&wanted).enumerate() {
            let difference = (value - wanted).abs();
            let difference = if difference.is_nan() { f64::INFINITY } else { difference };
            let excess = difference - (self.tolerance.atol + self.tolerance.rtol * wanted.abs());
            if excess > 0.0 && worst.is_none_or(|(e, _, _, _)| excess > e) {
                worst = Some((excess, index, *value, *wanted));
            }
            largest = largest.max(difference);
        }
        if let Some((_, index, value, wanted)) = worst {
            bail!(
                "array {name} differs by up to {largest:.3e} (rtol {:e}, atol {:e}); worst at {:?}: {value}, the \
                 reference has {wanted}",
                self.tolerance.rtol,
                self.tolerance.atol,
                position(index, &shape)
            );
        }
        self.left.remove(name);
        self.compared.push((name.to_string(), largest));
        Ok(())
    }

    fn finish(self, fused: bool) -> Result<Vec<(String, f64)>> {
        // The fused function has no intermediate values.
        if let Some(name) = self.left.first().filter(|name| !fused || *name == "logits") {
            bail!("array {name} of {} is not one that the model computes", self.path.display());
        }
        Ok(self.compared)
    }
}

fn position(mut index: usize, shape: &[usize]) -> Vec<usize> {
    let mut position = vec![0; shape.len()];
    for (axis, size) in shape.iter().enumerate().rev() {
        position[axis] = index % size;
        index /= size;
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compile::Options,
        gpt2::{Event, Model, Sampling},
    };

    fn kjv() -> Model {
        Model::open(concat!(env!("CARGO_MANIFEST_DIR"), "/models/kjv")).unwrap()
    }

    fn tolerance() -> Tolerance {
        Tolerance { rtol: 0.0, atol: 3e-5 }
    }

    #[test]
    fn the_embedded_model_agrees_with_its_reference() {
        let model = kjv();
        for mode in [Mode::Layers, Mode::Fused, Mode::Cached { window: None }] {
            let mut session = Session::new(&model, Options::default(), mode).unwrap();
            let summary = verify(&mut session, model.directory.as_deref().unwrap(), tolerance()).unwrap();
            assert!(summary.prompts > 1 && summary.steps > 30);
            assert_eq!(summary.arrays.len(), if mode == Mode::Layers { 2 * model.config.layers + 3 } else { 1 });
        }
    }

    #[test]
    fn a_mismatch_names_its_step_or_array() {
        let mut model = kjv();
        let directory = model.directory.clone().unwrap();
        let strict = Tolerance { rtol: 0.0, atol: 1e-12 };
        let mut session = Session::new(&model, Options::default(), Mode::Layers).unwrap();
        let message = format!("{:#}", verify(&mut session, &directory, strict).unwrap_err());
        assert!(message.contains("step 0: array embedding differs"), "{message}");
        // A changed weight changes the text.
        let mut bias = model.weights.get("ln_f.bias").unwrap().clone();
        bias.bytes_mut().as_chunks_mut().0[0] = 50f32.to_ne_bytes();
        model.weights.set("ln_f.bias", bias);
        let mut session = Session::new(&model, Options::default(), Mode::Fused).unwrap();
        let lax = Tolerance { rtol: 0.0, atol: 1e9 };
        let message = format!("{:#}", verify(&mut session, &directory, lax).unwrap_err());
        assert!(message.contains("prompt 1 (\"In the beginning\"), step ") && message.contains("the reference has"));
    }

    #[test]
    fn what_does_not_fit_is_refused_before_it_runs() {
        let model = kjv();
        let mut session = Session::new(&model, Options::default(), Mode::Fused).unwrap();
        let mut refused = |ids: &[u32], count: usize| {
            let ignore = &mut |_: Event| Ok(());
            session.generate(&mut ids.to_vec(), count, &Sampling::default(), ignore).unwrap_err().to_string()
        };
        assert!(refused(&[], 1).contains("the prompt is empty"));
        assert!(refused(&[1024], 1).contains("token 1024 is outside the model's vocabulary of 1024"));
        assert!(refused(&[1; 257], 1).contains("context of 256"));
        assert!(refused(&[1], 257).contains("257 more do not fit"));
    }
}
