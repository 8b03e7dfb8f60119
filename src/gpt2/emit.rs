//! GPT-2, its functions and the small cases as one module of text.

use super::{
    Config, FUNCTIONS,
    cases::{CASES, case},
    fused, padded, sublayer,
};
use crate::{
    Tensor,
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

/// The functions of those names: one of [`CASES`], one of [`FUNCTIONS`], or `gpt2`, the whole pass as `main`. The model's functions
/// have `tokens` positions, padded to the next power of two. Fails on other names, on one that occurs twice, and when the
/// tokens do not fit the context.
pub fn emit(names: &[&str], config: &Config, tokens: usize) -> Result<Emitted> {
    if !(1..=config.context).contains(&tokens) {
        bail!("{tokens} tokens do not fit the model's context of {}", config.context);
    }
    let positions = padded(config, tokens);
    let mut functions: Vec<Function> = Vec::new();
    for (index, &name) in names.iter().enumerate() {
        if names[..index].contains(&name) {
            bail!("'{name}' is named twice");
        }
        functions.push(match name {
            "gpt2" => fused(config, positions)?,
            _ if CASES.contains(&name) => case(name)?,
            _ if FUNCTIONS.contains(&name) => sublayer(config, name, positions)?,
            _ => bail!(
                "there is nothing called '{name}' to emit: there are {}, gpt2, {}",
                CASES.join(", "),
                FUNCTIONS.join(", ")
            ),
        });
    }
    let captured = functions.iter().flat_map(Function::captured).collect();
    Ok(Emitted { text: module(&functions), captured })
}
