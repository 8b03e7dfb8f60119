//! A model compiled and run: logits and greedy generation.

use super::{FUNCTIONS, Model, fused, padded, sublayer};
use crate::{
    Tensor,
    compile::{Options, Target, compile},
    engine::{Executable, Value},
    frontend::{Function, module},
};
use anyhow::{Context, Result, ensure};
use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

/// A model and the programs that run it, one for each power of two of positions, compiled when first needed.
pub struct Session<'m> {
    model: &'m Model,
    options: Options,
    fused: bool,
    /// The weights as the compiled functions take them; every call gets the same memory.
    weights: HashMap<String, Value>,
    programs: BTreeMap<usize, Program>,
}

struct Program {
    executable: Executable,
    functions: Vec<Function>,
}

/// What [`Session::generate`] tells as it goes.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A program for that many positions was compiled.
    Compiled {
        /// Positions.
        positions: usize,
        /// How long it took.
        time: Duration,
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
    /// Prepares to run `model`, as one function for the whole pass when `fused`, else as four called for each block.
    pub fn new(model: &'m Model, options: Options, fused: bool) -> Result<Session<'m>> {
        let names = model.config.weights().into_iter().map(|(name, _)| name);
        let weights = names.map(|name| {
            let host: Value = model.weights.get(&name)?.clone().into();
            let weight = if let Target::Gpu { .. } = options.target { host.to_device()? } else { host };
            Ok((name, weight))
        });
        let weights = weights.collect::<Result<_>>()?;
        Ok(Session { model, options, fused, weights, programs: BTreeMap::new() })
    }

    /// The model that runs.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// Whether the pass is one function.
    pub fn is_fused(&self) -> bool {
        self.fused
    }

    /// Appends `count` greedily chosen tokens to `ids`. Fails on ids outside the vocabulary, and when they and the new ones do
    /// not fit the context.
    pub fn generate(
        &mut self,
        ids: &mut Vec<u32>,
        count: usize,
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
        for _ in 0..count {
            if let Some(event) = self.prepare(ids.len())? {
                on_event(event)?;
            }
            let start = Instant::now();
            let id = argmax(&self.logits(ids, None)?)?;
            ids.push(id);
            on_event(Event::Token { id, time: start.elapsed() })?;
        }
        Ok(())
    }

    /// The logits that follow the last of `ids`. `trace` sees `embedding`, `h.N.attention`, `h.N.output` and `final_norm`
    /// (unless fused), and `logits`, each with a row for every position, those of the padding included.
    pub fn logits(&mut self, ids: &[u32], mut trace: Option<Trace>) -> Result<Vec<f32>> {
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
        self.prepare(ids.len())?;
        let positions = padded(config, ids.len());
        let mut padding: Vec<i32> = ids.iter().map(|id| *id as i32).collect();
        padding.resize(positions, 0);
        let mut x: Value = Tensor::from_slice(&[positions], &padding).into();
        let mut seen = |name: &str, value: &Value| trace.as_mut().map_or(Ok(()), |t| t(name, &value.to_tensor()?));
        let logits = if self.fused {
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
        let all = logits[0].to_tensor()?;
        let all = all.as_slice::<f32>().context("logits that are no f32")?;
        let row = (ids.len() - 1) * config.vocabulary;
        Ok(all[row..row + config.vocabulary].to_vec())
    }

    /// Compiles what `tokens` tokens need, unless it is there.
    fn prepare(&mut self, tokens: usize) -> Result<Option<Event>> {
        let positions = padded(&self.model.config, tokens.max(1));
        if self.programs.contains_key(&positions) {
            return Ok(None);
        }
        let start = Instant::now();
        let config = &self.model.config;
        let functions = match self.fused {
            true => vec![fused(config, positions)?],
            false => FUNCTIONS.iter().map(|name| sublayer(config, name, positions)).collect::<Result<_>>()?,
        };
        let executable = compile(module(&functions).as_str(), &self.options)?;
        self.programs.insert(positions, Program { executable, functions });
        Ok(Some(Event::Compiled { positions, time: start.elapsed() }))
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
