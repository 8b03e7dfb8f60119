//! GPT-2 as functions of the frontend: four that a host calls in a loop over the blocks, and the whole as one.
//!
//! Positions past the last real token need no mask: what comes before never looks at them.

use super::config::{Config, EPSILON};
use crate::{
    DType,
    frontend::{Function, Graph, Value},
};
use anyhow::{Result, bail};
use std::collections::HashMap;

/// The functions of [`sublayer`], in the order in which the model calls them.
pub const FUNCTIONS: [&str; 4] = ["embed", "attend", "feedforward", "project"];

/// The number of positions that functions for `tokens` tokens have: the next power of two, at most the context.
pub fn padded(config: &Config, tokens: usize) -> usize {
    tokens.next_power_of_two().min(config.context)
}

/// The whole forward pass as the function `main` over `tokens` positions: token ids and every weight under its key in the
/// checkpoint, to `logits` of shape `[tokens, vocabulary]`.
pub fn fused(config: &Config, tokens: usize) -> Result<Function> {
    let g = Graph::new();
    let ids = ids(&g, "ids", config, tokens);
    let weights: HashMap<String, Value> = config
        .arguments()
        .into_iter()
        .map(|(name, dtype, shape)| (name.clone(), g.input(&name, dtype, &shape)))
        .collect();
    let weight = |name: &str| weights[name];
    let mut x = embed(ids, &weight);
    for layer in 0..config.layers {
        let of_layer = |name: &str| weight(&format!("h.{layer}.{name}"));
        x = attend(config, x, &of_layer, causal);
        x = feedforward(x, &of_layer);
    }
    let (_, logits) = project(x, &weight);
    g.finish("main", &[("logits", logits)])
}

/// One of [`FUNCTIONS`] over `tokens` positions:
/// - `embed(ids, wte.weight, wpe.weight)`: the tokens' and the positions' vectors added up, `[tokens, width]`;
/// - `attend(x, weights)`: a block's attention and its residual;
/// - `feedforward(x, weights)`: a block's feed-forward layers and their residual;
/// - `project(x, ln_f, wte.weight)`: `logits` and the normalised `final_norm` that they come from.
///
/// Weights of a block are named without the prefix `h.N.`.
pub fn sublayer(config: &Config, name: &str, tokens: usize) -> Result<Function> {
    let g = Graph::new();
    let arguments = config.arguments();
    // Of a block the first one's type and shape.
    let weight = |name: &str| {
        let known = arguments.iter().find(|(n, ..)| n.strip_prefix("h.0.").unwrap_or(n) == name);
        // Only names that a published model has are asked for.
        let (_, dtype, shape) = known.cloned().unwrap_or((String::new(), DType::F32, Vec::new()));
        g.input(name, dtype, &shape)
    };
    let state = || g.input("x", DType::F32, &[tokens, config.width]);
    let results = match name {
        "embed" => {
            let ids = ids(&g, "ids", config, tokens);
            vec![("embedding", embed(ids, &weight))]
        }
        "attend" => vec![("attention", attend(config, state(), &weight, causal))],
        "feedforward" => vec![("output", feedforward(state(), &weight))],
        "project" => {
            let (normal, logits) = project(state(), &weight);
            vec![("logits", logits), ("final_norm", normal)]
        }
        _ => bail!("GPT-2 has no function '{name}': there are {}", FUNCTIONS.join(", ")),
    };
    g.finish(name, &results)
}

pub(super) fn ids<'g>(g: &'g Graph, name: &str, config: &Config, tokens: usize) -> Value<'g> {
    g.input_in_range(name, DType::I32, &[tokens], 0..config.vocabulary as i64)
}

pub(super) fn embed<'g>(ids: Value<'g>, weight: &dyn Fn(&str) -> Value<'g>) -> Value<'g> {
    let tokens = ids.shape().first().copied().unwrap_or(0);
    rows(ids, weight) + weight("wpe.weight").slice(0, 0..tokens)
}

/// The tokens' vectors.
pub(super) fn rows<'g>(ids: Value<'g>, weight: &dyn Fn(&str) -> Value<'g>) -> Value<'g> {
    let wte = weight("wte.weight");
    let rows = wte.gather(ids, 0).cast(DType::F32);
    match wte.dtype() {
        DType::I8 => rows * weight("wte.scale").gather(ids, 0).reshape(&[ids.shape()[0], 1]),
        _ => rows,
    }
}

/// `x` times the matrix `name.weight`, whatever its elements are.
fn times<'g>(x: Value<'g>, name: &str, weight: &dyn Fn(&str) -> Value<'g>) -> Value<'g> {
    let matrix = weight(&format!("{name}.weight"));
    let product = x.matmul_in(DType::F32, if name == "wte" { matrix.transpose(&[]) } else { matrix });
    // A channel's factor does not depend on what is summed up.
    if matrix.dtype() == DType::I8 { product * weight(&format!("{name}.scale")) } else { product }
}

/// A block's attention and its residual; `attention` makes `[tokens, width]` of queries, keys and values, each `[heads, tokens,
/// width / heads]`.
pub(super) fn attend<'g>(
    config: &Config,
    x: Value<'g>,
    weight: &dyn Fn(&str) -> Value<'g>,
    attention: impl FnOnce([Value<'g>; 3]) -> Value<'g>,
) -> Value<'g> {
    let normal = layer_norm(x, weight("ln_1.weight"), weight("ln_1.bias"));
    let context = attention(heads(config, normal, weight));
    x + affine(context, "attn.c_proj", weight)
}

/// Attention in which no position sees a later one.
pub(super) fn causal([q, k, v]: [Value; 3]) -> Value {
    attention(q, k, v, |scores| scores.causal_mask(f64::NEG_INFINITY))
}

pub(super) fn feedforward<'g>(x: Value<'g>, weight: &dyn Fn(&str) -> Value<'g>) -> Value<'g> {
    let normal = layer_norm(x, weight("ln_2.weight"), weight("ln_2.bias"));
    let hidden = gelu(affine(normal, "mlp.c_fc", weight));
    x + affine(hidden, "mlp.c_proj", weight)
}

pub(super) fn project<'g>(x: Value<'g>, weight: &dyn Fn(&str) -> Value<'g>) -> (Value<'g>, Value<'g>) {
    let normal = layer_norm(x, weight("ln_f.weight"), weight("ln_f.bias"));
    (normal, times(normal, "wte", weight))
}

fn affine<'g>(x: Value<'g>, name: &str, weight: &dyn Fn(&str) -> Value<'g>) -> Value<'g> {
    times(x, name, weight) + weight(&format!("{name}.bias"))
}

/// Queries, keys and values of `x` (`[tokens, width]`), each `[heads, tokens, width / heads]`.
fn heads<'g>(config: &Config, x: Value<'g>, weight: &dyn Fn(&str) -> Value<'g>) -> [Value<'g>; 3] {
    let (tokens, head) = (x.shape().first().copied().unwrap_or(0), config.width / config.heads);
    // Reshaped before it is cut, so that each part is a contiguous view; the bias' loop does the transposing.
    let bias = weight("attn.c_attn.bias").reshape(&[3, config.heads, head]);
    let parts = times(x, "attn.c_attn", weight).reshape(&[tokens, 3, config.heads, head]) + bias;
    let parts = parts.transpose(&[1, 2, 0, 3]);
    [0, 1, 2].map(|part| parts.index(0, part))
}

/// Attention of queries `[heads, m, d]` over keys and values `[heads, n, d]`, as `[m, heads * d]`. `mask` replaces the scores
/// (`[heads, m, n]`) that do not count by minus infinity.
pub(super) fn attention<'g>(
    q: Value<'g>,
    k: Value<'g>,
    v: Value<'g>,
    mask: impl FnOnce(Value<'g>) -> Value<'g>,
) -> Value<'g> {
    let [heads, rows, head] = q.shape().try_into().unwrap_or([1, 1, 1]);
    let scores = mask(q.matmul(k.transpose(&[0, 2, 1])) * (1.0 / (head as f64).sqrt()));
    let exponentials = (scores - scores.max(&[-1], true)).exp();
    // The softmax's division is left to the product, which has fewer elements than the scores.
    let context = exponentials.matmul(v) / exponentials.sum(&[-1], true);
    context.transpose(&[1, 0, 2]).reshape(&[rows, heads * head])
}

/// Each row less its mean, over its standard deviation, times `gain`, plus `bias`.
pub(super) fn layer_norm<'g>(x: Value<'g>, gain: Value<'g>, bias: Value<'g>) -> Value<'g> {
    let centred = x - x.mean(&[-1], true);
    let variance = centred.powi(2).mean(&[-1], true);
    centred / (variance + EPSILON).sqrt() * gain + bias
}

/// The tanh approximation of the Gaussian error linear unit (Hendrycks and Gimpel, 2016).
pub(super) fn gelu(x: Value) -> Value {
    let root = (2.0 / std::f64::consts::PI).sqrt();
    0.5 * x * (1.0 + (root * (x + 0.044715 * x.powi(3))).tanh())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compile::{Memory, Options, Precision, Reductions, Schedule, Stage, Target, lower_to},
        frontend::{mlir_opt, module},
    };

    fn count(text: &str, op: &str) -> usize {
        text.matches(&format!("= linalg.{op} ")).count()
    }

    /// Functions and kernels grow with what is distinct, not with the layers: those are calls and launches.
    #[test]
    fn layers_share_functions_and_kernels() {
        let config = Config::parse(include_str!("../../models/kjv/config.json")).unwrap();
        let gpu = Target::Gpu {
            chip: Some("sm_90".into()),
            memory: Memory::Device,
            schedule: Schedule::Fast,
            precision: Precision::default(),
            reductions: Reductions::default(),
            emulate: false,
        };
        let made = |layers: usize, target: &Target, stage: Stage, op: &str| {
            let config = Config { layers, ..config.clone() };
            let text = module(&[fused(&config, 16).unwrap()]);
            let options = Options { target: target.clone(), ..Options::default() };
            lower_to(text.as_str(), stage, &options).unwrap().matches(op).count()
        };
        for (target, stage, defined, used) in [
            (Target::Cpu, Stage::Lowered, "llvm.func ", "llvm.call "),
            (gpu, Stage::Outlined, "gpu.func ", "gpu.launch_func "),
        ] {
            let [few, many] = [3, 6].map(|layers| made(layers, &target, stage, defined));
            assert!(few > 4 && few == many, "{few} {defined} for 3 layers, {many} for 6");
            let [few, many] = [3, 6].map(|layers| made(layers, &target, stage, used));
            assert!(2 * few > many && many > few + 15, "{few} {used} for 3 layers, {many} for 6");
        }
    }

    #[test]
    fn fused_124m_keeps_its_products_and_little_else() {
        let config = Config::published("124M").unwrap();
        let function = fused(&config, 16).unwrap();
        assert_eq!(function.arguments().len(), 1 + config.weights().len());
        let text = mlir_opt(&module(&[function]), &[]);
        assert_eq!((count(&text, "matmul"), count(&text, "batch_matmul")), (49, 24));
        assert!(count(&text, "generic") > 500);
        let optimized = lower_to(text.as_str(), Stage::Optimized, &Options::default()).unwrap();
        assert_eq!((count(&optimized, "matmul"), count(&optimized, "batch_matmul")), (49, 24));
        // 17 a block: two layer norms of four, the biases (of which one transposes, one is GELU's, two add residuals),
        // scale and mask, maximum, exponential, sum, quotient; and five around them.
        let ops = optimized.matches("= linalg.").count() - count(&optimized, "index") - count(&optimized, "fill");
        assert_eq!(ops, 49 + 24 + 209, "{optimized}");
        assert_eq!(count(&optimized, "generic"), 209);
    }

    #[test]
    fn sublayers_verify_and_name_their_weights() {
        let config = Config::parse(include_str!("../../models/kjv/config.json")).unwrap();
        let functions: Vec<Function> = FUNCTIONS.iter().map(|f| sublayer(&config, f, 8).unwrap()).collect();
        let text = mlir_opt(&module(&functions), &[]);
        assert_eq!(text.matches("func.func @").count(), 4);
        let names: Vec<&str> = functions[1].arguments().iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names[..3], ["x", "ln_1.weight", "ln_1.bias"]);
        assert!(sublayer(&config, "attention", 8).unwrap_err().to_string().contains("embed, attend"));
    }

    #[test]
    fn sequences_are_padded_to_powers_of_two_within_the_context() {
        let config = Config { context: 100, ..Config::published("124M").unwrap() };
        assert_eq!([1, 2, 3, 64, 65, 100].map(|n| padded(&config, n)), [1, 2, 4, 64, 100, 100]);
    }
}
