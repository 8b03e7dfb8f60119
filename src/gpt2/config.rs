//! `config.json` of a GPT-2, and the published sizes.
//!
//! Refused: every setting under which the model would compute something else than the functions here do.

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::path::Path;

/// The sizes of a GPT-2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Blocks.
    pub layers: usize,
    /// Attention heads in each.
    pub heads: usize,
    /// Elements of a token's state; a multiple of `heads`.
    pub width: usize,
    /// Hidden elements of the feed-forward layers.
    pub hidden: usize,
    /// The largest number of tokens.
    pub context: usize,
    /// The number of different tokens.
    pub vocabulary: usize,
}

/// What every GPT-2 adds to a variance.
pub const EPSILON: f64 = 1e-5;

/// Of the file; what is absent has the default of the published models.
#[derive(Deserialize)]
struct File {
    n_layer: Option<usize>,
    n_head: Option<usize>,
    n_embd: Option<usize>,
    n_inner: Option<usize>,
    n_positions: Option<usize>,
    n_ctx: Option<usize>,
    vocab_size: Option<usize>,
    activation_function: Option<String>,
    layer_norm_epsilon: Option<f64>,
    model_type: Option<String>,
    scale_attn_weights: Option<bool>,
    scale_attn_by_inverse_layer_idx: Option<bool>,
    add_cross_attention: Option<bool>,
    tie_word_embeddings: Option<bool>,
}

impl Config {
    /// Reads and checks a configuration file; an error names the file and the setting.
    pub fn open(path: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Config::parse(&text).with_context(|| format!("{} is no configuration of GPT-2", path.display()))
    }

    /// Reads and checks the text of a configuration file.
    pub fn parse(text: &str) -> Result<Config> {
        let file: File = serde_json::from_str(text)?;
        if let Some(model) = file.model_type.filter(|m| m != "gpt2") {
            bail!("model_type is '{model}', not 'gpt2'");
        }
        let activation = file.activation_function.as_deref().unwrap_or("gelu_new");
        // Two names of the same formula.
        ensure!(
            ["gelu_new", "gelu_pytorch_tanh"].contains(&activation),
            "activation_function is '{activation}', not 'gelu_new'"
        );
        let epsilon = file.layer_norm_epsilon.unwrap_or(EPSILON);
        ensure!(epsilon == EPSILON, "layer_norm_epsilon is {epsilon:e}, not {EPSILON:e}");
        for (name, value, expected) in [
            ("scale_attn_weights", file.scale_attn_weights, true),
            ("scale_attn_by_inverse_layer_idx", file.scale_attn_by_inverse_layer_idx, false),
            ("add_cross_attention", file.add_cross_attention, false),
            ("tie_word_embeddings", file.tie_word_embeddings, true),
        ] {
            ensure!(value.unwrap_or(expected) == expected, "{name} is {}, not {expected}", !expected);
        }
        let size = |name: &str, value: Option<usize>| {
            let value = value.with_context(|| format!("{name} is missing"))?;
            ensure!((1..=1 << 24).contains(&value), "{name} is {value}");
            Ok(value)
        };
        let width = size("n_embd", file.n_embd)?;
        let config = Config {
            layers: size("n_layer", file.n_layer)?,
            heads: size("n_head", file.n_head)?,
            width,
            hidden: size("n_inner", file.n_inner.or(Some(4 * width)))?,
            context: size("n_positions", file.n_positions.or(file.n_ctx))?,
            vocabulary: size("vocab_size", file.vocab_size)?,
        };
        ensure!(
            width.is_multiple_of(config.heads),
            "n_embd {width} is not divisible by n_head {}: the heads would differ in width",
            config.heads
        );
        Ok(config)
    }

    /// The published model with `name` parameters: 124M, 355M, 774M or 1558M.
    pub fn published(name: &str) -> Result<Config> {
        let (layers, heads, width) = match name {
            "124M" => (12, 12, 768),
            "355M" => (24, 16, 1024),
            "774M" => (36, 20, 1280),
            "1558M" => (48, 25, 1600),
            _ => bail!("there is no GPT-2 of '{name}' parameters: use 124M, 355M, 774M or 1558M"),
        };
        Ok(Config { layers, heads, width, hidden: 4 * width, context: 1024, vocabulary: 50257 })
    }

    /// The names and shapes of all weights, in the order of the function's arguments. Matrices are `[in, out]`.
    pub fn weights(&self) -> Vec<(String, Vec<usize>)> {
        let (w, hidden) = (self.width, self.hidden);
        let mut weights = vec![
            ("wte.weight".to_string(), vec![self.vocabulary, w]),
            ("wpe.weight".to_string(), vec![self.context, w]),
        ];
        for layer in 0..self.layers {
            for (name, shape) in [
                ("ln_1.weight", vec![w]),
                ("ln_1.bias", vec![w]),
                ("attn.c_attn.weight", vec![w, 3 * w]),
                ("attn.c_attn.bias", vec![3 * w]),
                ("attn.c_proj.weight", vec![w, w]),
                ("attn.c_proj.bias", vec![w]),
                ("ln_2.weight", vec![w]),
                ("ln_2.bias", vec![w]),
                ("mlp.c_fc.weight", vec![w, hidden]),
                ("mlp.c_fc.bias", vec![hidden]),
                ("mlp.c_proj.weight", vec![hidden, w]),
                ("mlp.c_proj.bias", vec![w]),
            ] {
                weights.push((format!("h.{layer}.{name}"), shape));
            }
        }
        weights.extend([("ln_f.weight".to_string(), vec![w]), ("ln_f.bias".to_string(), vec![w])]);
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_sizes_have_their_parameters() {
        for (name, millions) in [("124M", 124), ("355M", 354), ("774M", 774), ("1558M", 1557)] {
            let weights = Config::published(name).unwrap().weights();
            let parameters: usize = weights.iter().map(|(_, shape)| shape.iter().product::<usize>()).sum();
            assert_eq!(parameters / 1_000_000, millions);
        }
        assert!(Config::published("1M").is_err());
    }

    #[test]
    fn other_models_are_refused_by_name_of_the_setting() {
        let good = include_str!("../../models/kjv/config.json");
        assert_eq!(Config::parse(good).unwrap().hidden, 512);
        for (from, to, expected) in [
            ("gelu_new", "relu", "activation_function is 'relu'"),
            ("1e-05", "1e-06", "layer_norm_epsilon is 1e-6"),
            (r#""n_head": 4"#, r#""n_head": 3"#, "n_embd 128 is not divisible by n_head 3"),
            (r#""n_head": 4"#, r#""n_head": 0"#, "n_head is 0"),
            (r#""n_layer": 4,"#, "", "n_layer is missing"),
            (r#""gpt2""#, r#""llama""#, "model_type is 'llama'"),
            (r#""n_ctx""#, r#""scale_attn_weights": false, "n_ctx""#, "scale_attn_weights is false, not true"),
            (r#""n_head": 4"#, r#""n_head": -4"#, "invalid value"),
        ] {
            let text = good.replace(from, to);
            assert_ne!(text, good, "{from}");
            let message = format!("{:#}", Config::parse(&text).unwrap_err());
            assert!(message.contains(expected), "{message}");
        }
    }
}
