//! GPT-2 with a key/value cache: `prefill` runs a prompt and fills the cache, `step` computes one token more.
//!
//! Every shape is static and the position is data, so that one compiled step serves every position and nothing of it is
//! read by the host between steps. Cache, token and position are writable arguments, updated in place.

use super::{
    config::Config,
    draw::{Draw, drawn},
    functions::{attend, attention, causal, embed, feedforward, ids, project, rows},
    sample::ID_BITS,
};
use crate::{
    DType,
    frontend::{Function, Graph, Value},
};
use anyhow::{Result, ensure};
use std::collections::HashMap;

/// How the functions with a cache choose a token, and whether they return what they chose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// How the token is drawn; `None` for the largest logit.
    pub draw: Option<Draw>,
    /// Whether logits are returned.
    pub logits: bool,
}

/// Names of the cache's arrays and their shape, `[heads, window, width / heads]`: the keys and the values of each block.
pub fn cache(config: &Config, window: usize) -> Vec<(String, Vec<usize>)> {
    let shape = vec![config.heads, window, config.width / config.heads];
    let of_layer = |layer| ["k", "v"].map(|part| (format!("h.{layer}.cache.{part}"), shape.clone()));
    (0..config.layers).flat_map(of_layer).collect()
}

/// One token more, as the function `step` of every weight, the cache over `window` positions, `token` and `position`, each
/// `i32[1]`: writes the token's keys and values at the position, and in the place of token and position the next ones.
/// Returns those, with `logits` (`[1, vocabulary]`) where asked, `random` where the token is drawn, and the cache.
///
/// The token is that of the largest logit, or drawn as [`Draw`] says, which adds arguments.
///
/// A NaN among the logits makes a token outside the vocabulary, which the next step refuses.
pub fn step(config: &Config, window: usize, choice: Choice) -> Result<Function> {
    let g = Graph::new();
    let inputs = Inputs::new(&g, config, window);
    let token = ids(&g, "token", config, 1).writable();
    let position = g.input_in_range("position", DType::I32, &[1], 0..window as i64).writable();
    let mut x = rows(token, &|name| inputs[name]) + inputs["wpe.weight"].gather(position, 0);
    let seen = g.iota(DType::I32, &[window], 0).at_most(position);
    let mut results = Vec::new();
    for layer in 0..config.layers {
        x = inputs.block(config, x, layer, |[q, k, v]| {
            let [k, v] = inputs.update(layer, [k, v], position, &mut results);
            attention(q, k, v, |scores| seen.select(scores, f64::NEG_INFINITY))
        });
    }
    results.push(("position".into(), (position + 1.0).store(position)));
    inputs.finish(&g, "step", x, choice, |next| next.store(token), results)
}

/// A prompt, as the function `prefill` of every weight, the cache over `window` positions, `ids` (`i32[tokens]`, of which the
/// first `length` count) and `length` (`i32[1]`): writes the cache from position 0 on. Returns the `token` that follows, chosen as
/// by [`step`], whose position is `length`; `logits` (`[1, vocabulary]`) where asked, `random` where it is drawn, and the cache.
///
/// Rows of the padding are written too; each is overwritten before a step looks at it.
pub fn prefill(config: &Config, tokens: usize, window: usize, choice: Choice) -> Result<Function> {
    let g = Graph::new();
    let inputs = Inputs::new(&g, config, window);
    let ids = ids(&g, "ids", config, tokens);
    let length = g.input_in_range("length", DType::I32, &[1], 1..tokens as i64 + 1);
    let mut x = embed(ids, &|name| inputs[name]);
    let start = g.scalar(DType::I32, 0.0);
    let mut results = Vec::new();
    for layer in 0..config.layers {
        x = inputs.block(config, x, layer, |[q, k, v]| {
            inputs.update(layer, [k, v], start, &mut results);
            causal([q, k, v])
        });
    }
    let last = x.gather(length + -1.0, 0);
    inputs.finish(&g, "prefill", last, choice, |next| next, results)
}

/// The weights and the cache, by name.
struct Inputs<'g>(HashMap<String, Value<'g>>);

impl<'g> std::ops::Index<&str> for Inputs<'g> {
    type Output = Value<'g>;
    fn index(&self, name: &str) -> &Value<'g> {
        &self.0[name]
    }
}

impl<'g> Inputs<'g> {
    fn new(g: &'g Graph, config: &Config, window: usize) -> Inputs<'g> {
        let input = |(name, dtype, shape): (String, DType, Vec<usize>)| (name.clone(), g.input(&name, dtype, &shape));
        let mut inputs: HashMap<_, _> = config.arguments().into_iter().map(input).collect();
        let caches = cache(config, window).into_iter().map(|(name, shape)| (name, DType::F32, shape));
        inputs.extend(caches.map(input).map(|(name, value)| (name, value.writable())));
        Inputs(inputs)
    }

    fn block(
        &self,
        config: &Config,
        x: Value<'g>,
        layer: usize,
        attention: impl FnOnce([Value<'g>; 3]) -> Value<'g>,
    ) -> Value<'g> {
        let of_layer = |name: &str| self[&format!("h.{layer}.{name}")];
        feedforward(attend(config, x, &of_layer, attention), &of_layer)
    }

    /// The layer's cache with keys and values written at `position`, which become results as well.
    fn update(
        &self,
        layer: usize,
        rows: [Value<'g>; 2],
        position: Value<'g>,
        results: &mut Vec<(String, Value<'g>)>,
    ) -> [Value<'g>; 2] {
        let [k, v] = rows;
        [("k", k), ("v", v)].map(|(part, rows)| {
            let name = format!("h.{layer}.cache.{part}");
            let updated = self[&name].update(rows, position, 1);
            results.push((name, updated));
            updated
        })
    }

    /// The function that goes on from the last token's state `x` to the next token, which `place` puts where it belongs.
    fn finish(
        &self,
        g: &'g Graph,
        name: &str,
        x: Value<'g>,
        choice: Choice,
        place: impl FnOnce(Value<'g>) -> Value<'g>,
        others: Vec<(String, Value<'g>)>,
    ) -> Result<Function> {
        let (_, logits) = project(x, &|name| self[name]);
        let (token, random) = match choice.draw {
            None => (argmax(logits), None),
            Some(draw) => {
                let vocabulary = logits.shape().iter().product::<usize>();
                ensure!(
                    vocabulary <= 1 << ID_BITS,
                    "a token is drawn from at most {} and the vocabulary has {vocabulary} (run with --uncached)",
                    1 << ID_BITS
                );
                let (token, random) = drawn(g, logits, draw);
                (token, Some(random))
            }
        };
        let mut results = vec![("token", place(token))];
        results.extend(choice.logits.then_some(("logits", logits)));
        results.extend(random.map(|random| ("random", random)));
        results.extend(others.iter().map(|(name, value)| (name.as_str(), *value)));
        g.finish(name, &results)
    }
}

/// The parts that a long row is split into: on a device each is a thread's.
const PARTS: usize = 256;

/// `[1, n]` elements as `[parts, length]`, with `fill` behind the last one.
pub(super) fn parts(row: Value, fill: f64) -> Value {
    let size = row.shape().iter().product::<usize>();
    let parts = PARTS.min(size);
    let length = size.div_ceil(parts.max(1));
    let padded = match parts * length - size {
        0 => row,
        padding => row.concat(&[row.graph().scalar(row.dtype(), fill).broadcast_to(&[1, padding])], 1),
    };
    padded.reshape(&[parts, length])
}

/// What each part came to, as one row: so the stage across them writes `[1]` and no scalar that would have to be copied.
pub(super) fn across(of_parts: Value) -> Value {
    let parts = of_parts.shape().iter().product();
    of_parts.reshape(&[1, parts])
}

/// The position of the largest of `[1, n]` floats, the first of equal ones, as `i32[1]`; at least `n` where there is a NaN.
///
/// In two stages, within parts and across them, so that the long one is parallel; each is a chain of reductions of the same rows.
pub(super) fn argmax<'g>(row: Value<'g>) -> Value<'g> {
    let g = row.graph();
    let grid = parts(row, f64::NEG_INFINITY);
    let [parts, length] = grid.shape().try_into().unwrap_or([1, 1]);
    let places = g.iota(DType::I32, &[parts, length], 0) * length as f64 + g.iota(DType::I32, &[parts, length], 1);
    let first = |row: Value<'g>, places: Value<'g>| {
        let largest = row.max(&[1], true);
        (largest, row.equals(largest).select(places, f64::from(i32::MAX)).min(&[1], false))
    };
    let (largest, places) = first(grid, places);
    first(across(largest), across(places)).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tensor,
        compile::{Options, compile},
        frontend::module,
    };

    /// What [`argmax`] finds among `size` logits, all 1 but for those given.
    fn found(size: usize, others: &[(usize, f32)]) -> i32 {
        let mut logits = vec![1f32; size];
        others.iter().for_each(|(index, value)| logits[*index] = *value);
        let g = Graph::new();
        let next = argmax(g.input("logits", DType::F32, &[1, size]));
        let text = module(&[g.finish("main", &[("token", next)]).unwrap()]);
        let executable = compile(text.as_str(), &Options::default()).unwrap();
        let results = executable.call("main", &[Tensor::from_slice(&[1, size], &logits).into()]).unwrap();
        results[0].to_tensor().unwrap().as_slice::<i32>().unwrap()[0]
    }

    #[test]
    fn argmax_takes_the_first_of_the_largest() {
        assert_eq!(found(1000, &[(998, 2.0), (999, 3.0), (3, 2.5)]), 999);
        // In one part, and in two of which the later one finds it as early.
        assert_eq!(found(1000, &[(2, 2.0), (3, 2.0)]), 2);
        assert_eq!(found(1000, &[(7, 2.0), (8, 2.0), (996, 2.0)]), 7);
        assert_eq!(found(1000, &[]), 0);
        assert_eq!(found(3, &[(1, f32::NEG_INFINITY), (2, 1.5)]), 2);
        assert_eq!(found(512, &[(511, f32::INFINITY)]), 511);
        assert!(found(300, &[(299, f32::NAN)]) >= 300);
        assert!((0..300).all(|i| i % 37 != 0 || found(300, &[(i, 1.5)]) == i as i32));
    }
}
