//! A model compiled and run: logits and generation.

use super::{Choice, Decoder, FUNCTIONS, Model, Sampling, fused, padded, sublayer};
use crate::{
    Phases, Tensor,
    compile::{Options, compile},
    engine::{Executable, Value, gpu_chip},
    frontend::{Function, module},
};
use anyhow::{Context, Result, ensure};
use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

/// How the model's functions are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// With a key/value cache: a prompt once, then a token at a time.
    Cached {
        /// How many positions the cache holds; `None` for the next power of two of what a text needs.
        window: Option<usize>,
    },
    /// The whole text for every token, by four functions of which two are called for each block.
    Layers,
    /// The whole text for every token, by one function.
    Fused,
}

/// A model and the programs that run it, one for each power of two of positions, compiled when first needed.
pub struct Session<'m> {
    model: &'m Model,
    options: Options,
    mode: Mode,
    /// The weights as the compiled functions take them; every call gets the same memory.
    weights: HashMap<String, Value>,
    programs: BTreeMap<usize, Program>,
    /// By tokens, window and how tokens are chosen.
    decoders: BTreeMap<(usize, usize, Choice), Decoder>,
}

struct Program {
    executable: Executable,
    functions: Vec<Function>,
}

/// What [`Session::generate`] tells as it goes.
#[derive(Clone, Debug)]
pub enum Event {
    /// A program for that many positions was compiled.
    Compiled {
        /// Positions; with a cache, those of the prompt.
        positions: usize,
        /// Positions of the cache, where there is one.
        window: Option<usize>,
        /// How long it took.
        time: Duration,
        /// How long its parts took.
        phases: Phases,
    },
    /// A token was computed.
    Token {
        /// Its id.
        id: u32,
        /// How long it took, without compilation.
        time: Duration,
    },
}

/// Sees each intermediate array under the reference's name.
pub type Trace<'t> = &'t mut dyn FnMut(&str, &Tensor) -> Result<()>;

impl<'m> Session<'m> {
    /// Prepares to run `model`.
    pub fn new(model: &'m Model, options: Options, mode: Mode) -> Result<Session<'m>> {
        let memory = options.target.memory();
        if memory.is_some() {
            gpu_chip()?;
        }
        let names = model.config.arguments().into_iter().map(|(name, ..)| name);
        let weights = names.map(|name| {
            let host: Value = model.weights.get(&name)?.clone().into();
            let weight = if let Some(memory) = memory { host.to_device(memory)? } else { host };
            Ok((name, weight))
        });
        let weights = weights.collect::<Result<_>>()?;
        Ok(Session { model, options, mode, weights, programs: BTreeMap::new(), decoders: BTreeMap::new() })
    }

    /// The model that runs.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// How its functions are called.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Appends `count` tokens to `ids`, chosen as `sampling` says. Fails on ids outside the vocabulary, and when they and the new
    /// ones do not fit the context or the window.
    pub fn generate(
        &mut self,
        ids: &mut Vec<u32>,
        count: usize,
        sampling: &Sampling,
        on_event: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let context = self.model.config.context;
        // The last token is computed, but not read.
        let needed = ids.len().saturating_add(count).saturating_sub(1);
        ensure!(
            needed <= context,
            "a prompt of {} tokens and {count} more do not fit the model's context of {context} (shorten the prompt or ask \
             for fewer)",
            ids.len()
        );
        sampling.check()?;
        if let Mode::Cached { window } = self.mode {
            let window = window.unwrap_or_else(|| padded(&self.model.config, needed.max(1)));
            ensure!(
                needed <= window,
                "a prompt of {} tokens and {count} more do not fit a window of {window} (widen it or ask for fewer)",
                ids.len()
            );
            return self.decode(ids, count, window, sampling, on_event);
        }
        for index in 0..count {
            self.check(ids)?;
            if let Some(event) = self.prepare(ids.len())? {
                on_event(event)?;
            }
            let start = Instant::now();
            let id = sampling.choose(&self.logits(ids, None)?, index as u64)?;
            ids.push(id);
            on_event(Event::Token { id, time: start.elapsed() })?;
        }
        Ok(())
    }

    fn decode(
        &mut self,
        ids: &mut Vec<u32>,
        count: usize,
        window: usize,
        sampling: &Sampling,
        on_event: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.check(ids)?;
        let choice = Choice { draw: sampling.draw(), logits: false };
        let (decoder, event) = self.decoder(ids.len(), window, choice)?;
        event.map_or(Ok(()), &mut *on_event)?;
        decoder.set_sampling(sampling)?;
        for index in 0..count {
            let start = Instant::now();
            let id = if index == 0 { decoder.prefill(ids)? } else { decoder.step()? }.token;
            ids.push(id);
            on_event(Event::Token { id, time: start.elapsed() })?;
        }
        Ok(())
    }

    /// The functions with a cache of `window` positions for prompts of `tokens` tokens, compiled unless they are there.
    pub fn decoder(&mut self, tokens: usize, window: usize, choice: Choice) -> Result<(&mut Decoder, Option<Event>)> {
        let tokens = padded(&self.model.config, tokens).min(window);
        let key = (tokens, window, choice);
        let mut event = None;
        if !self.decoders.contains_key(&key) {
            let start = Instant::now();
            let decoder = Decoder::new(self.model, &self.weights, &self.options, (tokens, window), choice)?;
            let phases = decoder.phases().clone();
            self.decoders.insert(key, decoder);
            event = Some(Event::Compiled { positions: tokens, window: Some(window), time: start.elapsed(), phases });
        }
        let decoder = self.decoders.get_mut(&key).context("the program is not compiled")?;
        Ok((decoder, event))
    }

    /// Refuses token ids that the model cannot run.
    fn check(&self, ids: &[u32]) -> Result<()> {
        let config = &self.model.config;
        ensure!(!ids.is_empty(), "there is no token to start from: the prompt is empty");
        ensure!(
            ids.len() <= config.context,
            "{} tokens are more than the model's context of {}",
            ids.len(),
            config.context
        );
        if let Some(id) = ids.iter().find(|id| **id as usize >= config.vocabulary) {
            anyhow::bail!("token {id} is outside the model's vocabulary of {}", config.vocabulary);
        }
        Ok(())
    }

    /// The logits that follow the last of `ids`. `trace` sees `embedding`, `h.N.attention`, `h.N.output` and `final_norm`
    /// (unless fused), and `logits`, each with a row for every position, those of the padding included.
    pub fn logits(&mut self, ids: &[u32], mut trace: Option<Trace>) -> Result<Vec<f32>> {
        self.check(ids)?;
        self.prepare(ids.len())?;
        let config = &self.model.config;
        let positions = padded(config, ids.len());
        let mut padding: Vec<i32> = ids.iter().map(|id| *id as i32).collect();
        padding.resize(positions, 0);
        let mut x: Value = Tensor::from_slice(&[positions], &padding).into();
        let mut seen = |name: &str, value: &Value| trace.as_mut().map_or(Ok(()), |t| t(name, &value.to_tensor()?));
        let logits = if self.mode == Mode::Fused {
            self.call(positions, "main", x, None)?
        } else {
            x = self.call(positions, "embed", x, None)?.swap_remove(0);
            seen("embedding", &x)?;
            for layer in 0..config.layers {
                x = self.call(positions, "attend", x, Some(layer))?.swap_remove(0);
                seen(&format!("h.{layer}.attention"), &x)?;
                x = self.call(positions, "feedforward", x, Some(layer))?.swap_remove(0);
                seen(&format!("h.{layer}.output"), &x)?;
            }
            let results = self.call(positions, "project", x, None)?;
            seen("final_norm", &results[1])?;
            results
        };
        seen("logits", &logits[0])?;
        let last = logits[0].rows(ids.len() - 1..ids.len())?;
        Ok(last.as_slice::<f32>().context("logits that are no f32")?.to_vec())
    }

    /// Compiles what `tokens` tokens need, unless it is there.
    fn prepare(&mut self, tokens: usize) -> Result<Option<Event>> {
        let positions = padded(&self.model.config, tokens.max(1));
        if self.programs.contains_key(&positions) {
            return Ok(None);
        }
        let start = Instant::now();
        let config = &self.model.config;
        let functions = match self.mode {
            Mode::Fused => vec![fused(config, positions)?],
            _ => FUNCTIONS.iter().map(|name| sublayer(config, name, positions)).collect::<Result<_>>()?,
        };
        let executable = compile(module(&functions).as_str(), &self.options)?;
        let phases = executable.phases().clone();
        self.programs.insert(positions, Program { executable, functions });
        Ok(Some(Event::Compiled { positions, window: None, time: start.elapsed(), phases }))
    }

    /// Calls a function on `x` and the weights that its other arguments name; those of a block are `layer`'s.
    fn call(&self, positions: usize, name: &str, x: Value, layer: Option<usize>) -> Result<Vec<Value>> {
        let program = self.programs.get(&positions).context("the program is not compiled")?;
        let function = program.functions.iter().find(|f| f.name() == name).context("there is no such function")?;
        let mut arguments = vec![x];
        for argument in &function.arguments()[1..] {
            let key = match layer {
                Some(layer) => format!("h.{layer}.{}", argument.name),
                None => argument.name.clone(),
            };
            let weight = self.weights.get(&key);
            arguments.push(weight.with_context(|| format!("the model has no weight '{key}'"))?.clone());
        }
        program.executable.call(name, &arguments)
    }
}

/// The index of the largest number, the first of equal ones.
pub fn argmax(logits: &[f32]) -> Result<u32> {
    ensure!(logits.iter().all(|v| !v.is_nan()), "the logits hold NaN: a weight is not finite");
    let mut best = 0;
    for (index, value) in logits.iter().enumerate() {
        if *value > logits[best] {
            best = index;
        }
    }
    Ok(best as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpt2::Matrices;

    /// The largest difference of the last row's logits from those of matrices in f32.
    fn difference(matrices: Matrices) -> f32 {
        let model = Model::open(concat!(env!("CARGO_MANIFEST_DIR"), "/models/kjv")).unwrap();
        let ids = model.tokenizer.encode("And the LORD said unto Moses").unwrap();
        let logits =
            |model: &Model| Session::new(model, Options::default(), Mode::Fused).unwrap().logits(&ids, None).unwrap();
        let exact = logits(&model);
        let narrow = logits(&model.with_matrices(matrices).unwrap());
        exact.iter().zip(&narrow).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn logits_of_narrow_matrices_are_near() {
        assert_eq!(difference(Matrices::F32), 0.0);
        // Of logits up to 19: measured 0.05 and 0.21. Rounding changes something, too.
        let (bf16, int8) = (difference(Matrices::Bf16), difference(Matrices::Int8));
        assert!((1e-4..0.1).contains(&bf16) && (1e-4..0.3).contains(&int8), "{bf16} {int8}");
    }
}
