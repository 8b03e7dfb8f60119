//! GPT-2, its functions and the small cases as one module of text.

use super::{
    Choice, Config, FUNCTIONS,
    cases::{CASES, case},
    fused, padded, prefill, step, sublayer,
};
use crate::{
    Tensor, did_you_mean,
    frontend::{Function, module},
};
use anyhow::{Result, bail};

/// A module, and the arrays that its trailing arguments are.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// `linalg` on tensors.
    pub text: String,
    /// The captured arrays, by the names of their arguments.
    pub captured: Vec<(String, Tensor)>,
}

/// Sizes of the model's functions.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Tokens at once; padded to the next power of two.
    pub tokens: usize,
    /// Positions that the cache holds; `None` for the whole context.
    pub window: Option<usize>,
    /// How `prefill` and `step` choose a token, and whether they return logits.
    pub choice: Choice,
}

/// The functions of those names: one of [`CASES`], one of [`FUNCTIONS`], `gpt2`, the whole pass as `main`, or with a cache
/// [`prefill`] and [`step`]. Fails on other names, on one that occurs twice, and when the tokens do not fit the context or the
/// window.
pub fn emit(names: &[&str], config: &Config, sizes: Sizes) -> Result<Emitted> {
    let Sizes { tokens, window, choice } = sizes;
    if !(1..=config.context).contains(&tokens) {
        bail!("{tokens} tokens do not fit the model's context of {}", config.context);
    }
    let positions = padded(config, tokens);
    let window = window.unwrap_or(config.context);
    if !(1..=config.context).contains(&window) {
        bail!("a window of {window} does not fit the model's context of {}", config.context);
    }
    let mut functions: Vec<Function> = Vec::new();
    for (index, &name) in names.iter().enumerate() {
        if names[..index].contains(&name) {
            bail!("'{name}' is named twice");
        }
        functions.push(match name {
            "gpt2" => fused(config, positions)?,
            "prefill" if positions > window => bail!("{positions} tokens do not fit the window of {window}"),
            "prefill" => prefill(config, positions, window, choice)?,
            "step" => step(config, window, choice)?,
            _ if CASES.contains(&name) => case(name)?,
            _ if FUNCTIONS.contains(&name) => sublayer(config, name, positions)?,
            _ => {
                let names = [&CASES[..], &["gpt2", "prefill", "step"], &FUNCTIONS[..]].concat();
                let meant = did_you_mean(name, names.iter().copied());
                bail!("there is nothing called '{name}' to emit: there are {}{meant}", names.join(", "))
            }
        });
    }
    let captured = functions.iter().flat_map(Function::captured).collect();
    Ok(Emitted { text: module(&functions), captured })
}
