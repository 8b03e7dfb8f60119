//! `config.json` of a GPT-2, and the published sizes.
//!
//! Refused: every setting under which the model would compute something else than the functions here do.

use crate::DType;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::{path::Path, str::FromStr};

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
    /// How functions take the matrices; the other weights are `f32`.
    pub matrices: Matrices,
}

/// Element types of the matrices, of which products with `f32` add up in `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matrices {
    /// `f32`, as in the checkpoint.
    #[default]
    F32,
    /// `bf16`, to nearest.
    Bf16,
    /// `i8` between -127 and 127, with an `f32` factor for each output: `x.weight` comes with `x.scale`.
    Int8,
}

impl FromStr for Matrices {
    type Err = String;

    fn from_str(text: &str) -> Result<Matrices, String> {
        match text {
            "f32" => Ok(Matrices::F32),
            "bf16" => Ok(Matrices::Bf16),
            "int8" => Ok(Matrices::Int8),
            _ => {
                let meant = crate::did_you_mean(text, ["f32", "bf16", "int8"]);
                Err(format!("weights are f32, bf16 or int8, not `{text}`{meant}"))
            }
        }
    }
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
            matrices: Matrices::F32,
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
        Ok(Config {
            layers,
            heads,
            width,
            hidden: 4 * width,
            context: 1024,
            vocabulary: 50257,
            matrices: Matrices::F32,
        })
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

    /// What functions take of the weights: names, element types and shapes in the order of their arguments. That is
    /// [`Config::weights`], with matrices as [`Config::matrices`] says and factors after the matrix that they belong to.
    pub fn arguments(&self) -> Vec<(String, DType, Vec<usize>)> {
        let mut arguments = Vec::new();
        for (name, shape) in self.weights() {
            let channels = self.channels(&name, &shape);
            let dtype = match self.matrices {
                Matrices::Bf16 if channels.is_some() => DType::BF16,
                Matrices::Int8 if channels.is_some() => DType::I8,
                _ => DType::F32,
            };
            arguments.push((name.clone(), dtype, shape.clone()));
            if let (DType::I8, Some(axis)) = (dtype, channels) {
                arguments.push((name.replace(".weight", ".scale"), DType::F32, vec![shape[axis]]));
            }
        }
        arguments
    }

    /// The axis of a matrix that counts its outputs; `None` of a weight that no product reads.
    pub(super) fn channels(&self, name: &str, shape: &[usize]) -> Option<usize> {
        match name {
            "wte.weight" => Some(0),
            "wpe.weight" => None,
            _ => (shape.len() == 2).then_some(1),
        }
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
