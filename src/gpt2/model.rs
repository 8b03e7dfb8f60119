//! A model as the command line names it.

use super::{
    config::{Config, Matrices},
    tokenizer::Tokenizer,
    weights::Weights,
};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// A GPT-2 that can be run.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its sizes.
    pub config: Config,
    /// Its weights.
    pub weights: Weights,
    /// Its tokenizer.
    pub tokenizer: Tokenizer,
    /// Where it was read from; `None` for random weights.
    pub directory: Option<PathBuf>,
}

impl Model {
    /// The model that `name` says: a directory with `config.json`, `model.safetensors` and a tokenizer, or
    /// `random:SIZE[:SEED]` for seeded weights of a published size.
    pub fn open(name: &str) -> Result<Model> {
        let config = Model::config(name)?;
        if let Some((_, seed)) = random_spec(name)? {
            let weights = Weights::random(&config, seed);
            return Ok(Model { config, weights, tokenizer: Tokenizer::bytes(), directory: None });
        }
        let directory = Path::new(name);
        let weights = Weights::open(&directory.join("model.safetensors"), &config)?;
        let tokenizer = Tokenizer::open(directory)?;
        Ok(Model { config, weights, tokenizer, directory: Some(directory.to_path_buf()) })
    }

    /// The same with matrices of another type, made from those in `f32`.
    pub fn with_matrices(self, matrices: Matrices) -> Result<Model> {
        let config = Config { matrices, ..self.config };
        Ok(Model { weights: self.weights.narrowed(&config)?, config, ..self })
    }

    /// The configuration alone of what `name` says.
    pub fn config(name: &str) -> Result<Config> {
        if let Some((size, _)) = random_spec(name)? {
            return Config::published(size);
        }
        let directory = Path::new(name);
        ensure!(directory.is_dir(), "there is no model directory {name} (random:124M makes one up)");
        Config::open(&directory.join("config.json"))
    }
}

fn random_spec(name: &str) -> Result<Option<(&str, u64)>> {
    let Some(rest) = name.strip_prefix("random:") else { return Ok(None) };
    let (size, seed) = rest.split_once(':').unwrap_or((rest, "0"));
    let seed = seed.parse().with_context(|| format!("'{seed}' in {name} is no seed: use random:SIZE[:SEED]"))?;
    Ok(Some((size, seed)))
}
