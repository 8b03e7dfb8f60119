//! GPT-2 with a key/value cache, compiled and run: a prompt once, then a token at a time.

use super::{Choice, Draw, Model, Sampling, prefill, step};
use crate::{
    DType, Phases, Tensor,
    compile::{Options, compile},
    engine::{Captured, Executable, Value},
    frontend::{Function, module},
};
use anyhow::{Context, Result, ensure};
use std::collections::HashMap;
use tinymlir_runtime::cuda::{self, Memory};

/// The functions [`prefill`] and [`step`] of one size, and the cache between their calls.
///
/// On a GPU weights, cache, token and position stay there; the host reads back a token's id, and logits where it asks.
pub struct Decoder {
    /// On a GPU the recorded calls of `step` and of `prefill`; dropped before the code that they launch.
    recorded: Option<Captured>,
    recorded_prefill: Option<Captured>,
    executable: Executable,
    prefill: Function,
    tokens: usize,
    window: usize,
    vocabulary: usize,
    /// How the functions draw a token.
    draw: Option<Draw>,
    /// Where its arrays lie, on a GPU.
    memory: Option<Memory>,
    /// What `step` takes; between calls the only holder of the cache's memory.
    state: Vec<Value>,
    /// The places of the arguments of `step`, by name.
    places: HashMap<String, usize>,
    /// How often `step` ran.
    steps: usize,
    /// On a GPU the arrays `ids` and `length` of the last prompt.
    prompt: Option<[Value; 2]>,
}

/// What a call computes.
pub struct Output {
    /// The next token.
    pub token: u32,
    /// `f32[1, vocabulary]`, where the functions return them.
    pub logits: Option<Value>,
}

impl Decoder {
    /// Compiles for prompts of up to `tokens` tokens and texts of up to `window`, which choose tokens as `choice` says. `weights`
    /// are the model's, where the target's code reads them.
    pub fn new(
        model: &Model,
        weights: &HashMap<String, Value>,
        options: &Options,
        (tokens, window): (usize, usize),
        choice: Choice,
    ) -> Result<Decoder> {
        let config = &model.config;
        ensure!(
            window <= config.context,
            "a window of {window} does not fit the model's context of {}",
            config.context
        );
        ensure!(tokens <= window, "{tokens} tokens do not fit a window of {window}");
        let functions = [prefill(config, tokens, window, choice)?, step(config, window, choice)?];
        let executable = compile(module(&functions).as_str(), options)?;
        let memory = options.target.memory();
        let [prefill, step] = functions;
        let mut state = Vec::new();
        let mut places = HashMap::new();
        for argument in step.arguments() {
            let name = &argument.name;
            places.insert(name.clone(), state.len());
            // The cache, the token and its position, and how tokens are drawn.
            let zeros = || placed(Tensor::zeros(argument.ty.dtype, &argument.ty.shape).into(), memory);
            state.push(weights.get(name).map_or_else(zeros, |weight| Ok(weight.clone()))?);
        }
        Ok(Decoder {
            recorded: None,
            recorded_prefill: None,
            executable,
            prefill,
            tokens,
            window,
            vocabulary: config.vocabulary,
            draw: choice.draw,
            memory,
            state,
            places,
            steps: 0,
            prompt: None,
        })
    }

    /// How long the parts of compiling took.
    pub fn phases(&self) -> &Phases {
        self.executable.phases()
    }

    /// The most tokens of a prompt.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The most tokens of a text.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Starts over with a prompt: fills the cache and computes the token that follows.
    pub fn prefill(&mut self, ids: &[u32]) -> Result<Output> {
        let count = ids.len();
        ensure!((1..=self.tokens).contains(&count), "a prompt of {count} tokens, where 1 to {} fit", self.tokens);
        let mut padded: Vec<i32> = ids.iter().map(|id| *id as i32).collect();
        padded.resize(self.tokens, 0);
        let ids = Tensor::from_slice(&[self.tokens], &padded);
        let length = Tensor::from_slice(&[1], &[count as i32]);
        let again = self.prompt.is_some();
        let prompt = self.place_prompt([&ids, &length])?;
        let results = match &self.recorded_prefill {
            Some(recorded) if !cuda::tracing() => {
                recorded.launch()?;
                recorded.results().to_vec()
            }
            _ => self.call_prefill(prompt, again)?,
        };
        let result = |wanted: &str| {
            let place = self.prefill.results().iter().position(|(name, _)| name == wanted);
            place.and_then(|place| results.get(place).cloned())
        };
        let (token, logits) = (result("token").context("prefill returns no token")?, result("logits"));
        // Reading the token waits for this as well.
        self.queue("position", length.into())?;
        let id = self.id(&token)?;
        // What was read just now: the array is not asked for a second time.
        self.set_token(id)?;
        Ok(Output { token: id, logits })
    }

    /// The prompt where the target's code reads it; on a GPU always in the same arrays.
    fn place_prompt(&mut self, prompt: [&Tensor; 2]) -> Result<[Value; 2]> {
        let Some(memory) = self.memory else { return Ok(prompt.map(|tensor| tensor.clone().into())) };
        if let Some(arrays) = &self.prompt {
            for (array, tensor) in arrays.iter().zip(prompt) {
                if let Value::Device(array) = array {
                    array.queue(tensor)?;
                }
            }
            return Ok(arrays.clone());
        }
        let [ids, length] = prompt.map(|tensor| Value::from(tensor.clone()).to_device(memory));
        Ok(self.prompt.insert([ids?, length?]).clone())
    }

    /// Calls `prefill`; on a GPU a second prompt is recorded as a graph that serves it and all others.
    fn call_prefill(&mut self, prompt: [Value; 2], again: bool) -> Result<Vec<Value>> {
        let [ids, length] = prompt;
        let mut arguments = Vec::new();
        // Moved, so that what the function writes is not shared.
        for argument in self.prefill.arguments() {
            arguments.push(match argument.name.as_str() {
                "ids" => ids.clone(),
                "length" => length.clone(),
                name => std::mem::replace(&mut self.state[self.places[name]], Tensor::zeros(DType::I1, &[]).into()),
            });
        }
        let results = self.run_prefill(&mut arguments, again);
        for (argument, value) in self.prefill.arguments().iter().zip(arguments) {
            if let Some(place) = self.places.get(&argument.name) {
                self.state[*place] = value;
            }
        }
        results
    }

    fn run_prefill(&mut self, arguments: &mut [Value], again: bool) -> Result<Vec<Value>> {
        if self.memory.is_none() || !again || cuda::tracing() {
            return self.executable.call_in_place("prefill", arguments);
        }
        let recorded = self.recorded_prefill.insert(self.executable.capture("prefill", arguments)?);
        recorded.launch()?;
        Ok(recorded.results().to_vec())
    }

    /// Computes the last prompt once more and reads nothing back, where its graph is recorded: on a GPU from its second time on.
    pub fn replay_prefill(&self) -> Result<bool> {
        self.recorded_prefill.as_ref().map(|recorded| recorded.launch()).transpose().map(|launched| launched.is_some())
    }

    /// Computes one token more, from the last one or from that of [`Decoder::set_token`].
    pub fn step(&mut self) -> Result<Output> {
        let logits = self.advance()?;
        Ok(Output { token: self.id(&self.state[self.places["token"]])?, logits })
    }

    /// Computes one token more and reads nothing back; the logits, where there are any.
    ///
    /// On a GPU the first call runs as it is, and the second one is recorded as a graph that serves it and all others, unless
    /// launches are traced:
    /// shapes are static, and cache, token and position stay where they are.
    pub fn advance(&mut self) -> Result<Option<Value>> {
        if self.memory.is_some() && self.steps > 0 && self.recorded.is_none() && !cuda::tracing() {
            self.recorded = Some(self.executable.capture("step", &self.state)?);
        }
        self.steps += 1;
        if let Some(recorded) = &self.recorded {
            recorded.launch()?;
            let logits = self.prefill.results().get(1).is_some_and(|(name, _)| name == "logits");
            return Ok(logits.then(|| recorded.results()[1].clone()));
        }
        let mut results = self.executable.call_in_place("step", &mut self.state)?;
        // After the token. The others share the memory of the state, so they must not outlive this.
        let logits = self.prefill.results().get(1).is_some_and(|(name, _)| name == "logits");
        Ok(logits.then(|| results.swap_remove(1)))
    }

    /// Puts another token in the place of the one that was chosen.
    pub fn set_token(&mut self, id: u32) -> Result<()> {
        self.set("token", Tensor::from_slice(&[1], &[id as i32]).into())
    }

    /// Draws the next tokens as `sampling` says, from its seed's first number on. It must name the arguments that the functions
    /// were compiled for ([`Sampling::draw`]).
    pub fn set_sampling(&mut self, sampling: &Sampling) -> Result<()> {
        ensure!(sampling.draw() == self.draw, "the functions were compiled for another way of drawing tokens");
        let Some(draw) = self.draw else { return Ok(()) };
        self.set("temperature", Tensor::from_slice(&[1], &[sampling.temperature]).into())?;
        self.set("random", Tensor::from_slice(&[1], &[sampling.seed as i64]).into())?;
        if draw.top_k {
            self.set("top_k", Tensor::from_slice(&[1], &[sampling.top_k as i64]).into())?;
        }
        if draw.top_p {
            self.set("top_p", Tensor::from_slice(&[1], &[sampling.top_p]).into())?;
        }
        Ok(())
    }

    /// Goes to a position of the text: how many tokens of the cache count.
    pub fn set_position(&mut self, position: usize) -> Result<()> {
        self.set("position", Tensor::from_slice(&[1], &[position as i32]).into())
    }

    fn id(&self, token: &Value) -> Result<u32> {
        let token = token.to_tensor()?;
        let id = *token.as_slice::<i32>().and_then(|ids| ids.first()).context("a token that is no i32")?;
        let valid = u32::try_from(id).ok().filter(|id| (*id as usize) < self.vocabulary);
        valid.context("the logits hold NaN: a weight is not finite")
    }

    /// Changes an array of the state; on a GPU in its place, which a recorded step has in it. Any thread may go on with it.
    fn set(&mut self, name: &str, value: Value) -> Result<()> {
        self.queue(name, value)?;
        Ok(cuda::synchronize()?)
    }

    /// The same without waiting: for what this thread queues next.
    fn queue(&mut self, name: &str, value: Value) -> Result<()> {
        match &mut self.state[self.places[name]] {
            Value::Device(array) => array.queue(&value.to_tensor()?),
            array => {
                *array = placed(value, self.memory)?;
                Ok(())
            }
        }
    }
}

fn placed(value: Value, memory: Option<Memory>) -> Result<Value> {
    memory.map_or(Ok(value.clone()), |memory| value.to_device(memory))
}
