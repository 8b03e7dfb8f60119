//! A GPT-2's weights: mapped from a checkpoint, or random.

use super::config::{Config, Matrices};
use crate::{DType, Tensor, io::safetensors::Safetensors};
use anyhow::{Context, Result, bail, ensure};
use std::{collections::HashMap, path::Path, thread};

/// All weights of a model by their keys in the checkpoint, `f32` unless [`Weights::narrowed`]. Cloning shares them.
#[derive(Clone, Debug)]
pub struct Weights(HashMap<String, Tensor>);

impl Weights {
    /// The weights in a safetensors file, under the Hugging Face keys with or without the prefix `transformer.`; `f32` stays in
    /// the file's mapping, `f16` and `bf16` are converted. Every missing, unexpected or wrong tensor is named in the error. The
    /// buffers of the causal mask may be there, and `lm_head.weight` when it equals `wte.weight`.
    pub fn open(path: &Path, config: &Config) -> Result<Weights> {
        let file = Safetensors::open(path)?;
        let keys: HashMap<String, String> = file
            .names()
            .into_iter()
            .map(|key| (key.strip_prefix("transformer.").unwrap_or(&key).to_string(), key))
            .collect();
        let mut weights = HashMap::new();
        let mut problems = Vec::new();
        for (name, shape) in config.weights() {
            let Some(key) = keys.get(&name) else {
                problems.push(format!("{name} is missing"));
                continue;
            };
            let tensor = file.tensor(key)?;
            if tensor.shape() != shape {
                problems.push(format!("{key} has shape {:?}, the configuration wants {shape:?}", tensor.shape()));
            } else if !matches!(tensor.dtype(), DType::F32 | DType::F16 | DType::BF16) {
                problems.push(format!("{key} is of type {}, not f32, f16 or bf16", tensor.dtype()));
            } else {
                weights.insert(name, tensor);
            }
        }
        let expected: HashMap<String, Vec<usize>> = config.weights().into_iter().collect();
        let mut extra: Vec<&String> =
            keys.iter().filter(|(n, _)| !expected.contains_key(*n) && !is_tolerated(n)).map(|(_, k)| k).collect();
        extra.sort_unstable();
        problems.extend(extra.into_iter().map(|key| format!("{key} is unexpected")));
        if !problems.is_empty() {
            bail!("{} does not fit the configuration:\n  {}", path.display(), problems.join("\n  "));
        }
        if let Some(head) = keys.get("lm_head.weight") {
            let head = file.tensor(head)?;
            let tied =
                weights.get("wte.weight").is_some_and(|w| w.dtype() == head.dtype() && w.bytes() == head.bytes());
            ensure!(tied, "{}: lm_head.weight differs from wte.weight; only tied heads are supported", path.display());
        }
        for tensor in weights.values_mut() {
            *tensor = to_f32(tensor);
        }
        Ok(Weights(weights))
    }

    /// Weights around 0 with a standard deviation of 0.02, the gains around 1. A seed gives the same weights everywhere.
    pub fn random(config: &Config, seed: u64) -> Weights {
        let names = config.weights();
        let workers = thread::available_parallelism().map_or(1, |n| n.get());
        let make = |worker: usize| {
            let own = names.iter().enumerate().skip(worker).step_by(workers);
            own.map(|(index, (name, shape))| {
                let mean = f32::from(u8::from(name.contains("ln_") && name.ends_with(".weight")));
                (name.clone(), random(shape, mix(seed) ^ index as u64, mean, 0.02))
            })
            .collect::<Vec<_>>()
        };
        let make = &make;
        thread::scope(|scope| {
            let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(move || make(worker))).collect();
            // A worker panics only where memory ends.
            Weights(handles.into_iter().flat_map(|h| h.join().unwrap_or_default()).collect())
        })
    }

    /// These, all `f32`, as the functions of `config` take them: matrices rounded to bf16, or to multiples of a 127th of the
    /// largest magnitude among the weights of an output, which is the factor `.scale` (1 where all are zero).
    pub fn narrowed(&self, config: &Config) -> Result<Weights> {
        let mut narrow = self.clone();
        for (name, shape) in config.weights() {
            let Some(channels) = config.channels(&name, &shape) else { continue };
            let weight = self.get(&name)?;
            let elements = weight.as_slice::<f32>().with_context(|| format!("{name} is no f32"))?;
            match config.matrices {
                Matrices::F32 => {}
                Matrices::Bf16 => {
                    let rounded: Vec<half::bf16> = elements.iter().map(|v| half::bf16::from_f32(*v)).collect();
                    narrow.set(&name, Tensor::from_slice(&shape, &rounded));
                }
                Matrices::Int8 => {
                    let (quantised, scales) = quantise(elements, &shape, channels);
                    narrow.set(&name, Tensor::from_slice(&shape, &quantised));
                    narrow.set(&name.replace(".weight", ".scale"), Tensor::from_slice(&[scales.len()], &scales));
                }
            }
        }
        Ok(narrow)
    }

    /// Puts another array in the place of a weight.
    pub fn set(&mut self, name: &str, tensor: Tensor) {
        self.0.insert(name.to_string(), tensor);
    }

    /// The weight under that key.
    pub fn get(&self, name: &str) -> Result<&Tensor> {
        self.0.get(name).with_context(|| format!("the model has no weight '{name}'"))
    }
}

/// The elements of a matrix as integers between -127 and 127, and the factor of each place along axis `channels` (0 or 1).
fn quantise(elements: &[f32], shape: &[usize], channels: usize) -> (Vec<i8>, Vec<f32>) {
    let columns = shape[1];
    let channel = |index: usize| if channels == 0 { index / columns } else { index % columns };
    let mut scales = vec![0f32; shape[channels]];
    for (index, element) in elements.iter().enumerate() {
        let scale = &mut scales[channel(index)];
        *scale = scale.max(element.abs());
    }
    scales.iter_mut().for_each(|scale| *scale = if *scale > 0.0 { *scale / 127.0 } else { 1.0 });
    let rounded =
        elements.iter().enumerate().map(|(index, element)| (element / scales[channel(index)]).round_ties_even() as i8);
    (rounded.collect(), scales)
}

/// Keys that checkpoints have beside the weights.
fn is_tolerated(name: &str) -> bool {
    let of_block = |rest: &str| {
        rest.split_once('.').is_some_and(|(layer, rest)| {
            layer.bytes().all(|b| b.is_ascii_digit()) && ["attn.bias", "attn.masked_bias"].contains(&rest)
        })
    };
    name == "lm_head.weight" || name.strip_prefix("h.").is_some_and(of_block)
}

fn to_f32(tensor: &Tensor) -> Tensor {
    let shape = tensor.shape();
    if let Some(halves) = tensor.as_slice::<half::f16>() {
        return Tensor::from_slice(shape, &halves.iter().map(|h| h.to_f32()).collect::<Vec<_>>());
    }
    if let Some(halves) = tensor.as_slice::<half::bf16>() {
        return Tensor::from_slice(shape, &halves.iter().map(|h| h.to_f32()).collect::<Vec<_>>());
    }
    tensor.clone()
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
pub(super) fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Numbers of that mean and standard deviation, near normally distributed: sums of four uniform ones.
pub(super) fn random(shape: &[usize], seed: u64, mean: f32, deviation: f32) -> Tensor {
    let mut tensor = Tensor::zeros(DType::F32, shape);
    let stream = mix(seed);
    // The sum of four uniform 16-bit numbers has a variance of 4 (2^32 - 1) / 12.
    let scale = deviation / (f64::from(u32::MAX) / 3.0).sqrt() as f32;
    let centre = 2.0 * f32::from(u16::MAX);
    for (index, element) in tensor.bytes_mut().as_chunks_mut().0.iter_mut().enumerate() {
        let bits = mix(stream.wrapping_add(index as u64));
        let sum: u64 = [0, 16, 32, 48].iter().map(|shift| (bits >> shift) & 0xffff).sum();
        *element = (mean + (sum as f32 - centre) * scale).to_ne_bytes();
    }
    tensor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gpt2::Matrices, io::safetensors::write};

    fn small() -> Config {
        Config { layers: 1, heads: 2, width: 4, hidden: 16, context: 8, vocabulary: 10, matrices: Matrices::F32 }
    }

    fn open_edited(edit: impl FnOnce(&mut Vec<(String, Tensor)>)) -> Result<Weights> {
        let weights = Weights::random(&small(), 1);
        let mut tensors: Vec<_> =
            small().weights().into_iter().map(|(n, _)| (n.clone(), weights.0[&n].clone())).collect();
        edit(&mut tensors);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.safetensors");
        write(&path, &tensors).unwrap();
        Weights::open(&path, &small())
    }

    #[test]
    fn prefixes_and_buffers_are_tolerated() {
        let weights = open_edited(|tensors| {
            let head = tensors[0].1.clone();
            tensors.iter_mut().for_each(|(name, _)| *name = format!("transformer.{name}"));
            tensors.push(("transformer.h.0.attn.bias".into(), Tensor::zeros(DType::F32, &[1, 1, 8, 8])));
            tensors.push(("lm_head.weight".into(), head));
        });
        assert_eq!(weights.unwrap().get("wte.weight").unwrap().shape(), [10, 4]);
    }

    #[test]
    fn every_wrong_tensor_is_named() {
        let message = open_edited(|tensors| {
            tensors.retain(|(name, _)| name != "ln_f.bias");
            tensors[0].1 = Tensor::zeros(DType::F32, &[9, 4]);
            tensors[1].1 = Tensor::zeros(DType::I32, &[8, 4]);
            tensors.push(("h.1.ln_1.bias".into(), Tensor::zeros(DType::F32, &[4])));
        })
        .unwrap_err()
        .to_string();
        for part in [
            "ln_f.bias is missing",
            "wte.weight has shape [9, 4], the configuration wants [10, 4]",
            "wpe.weight is of type i32",
            "h.1.ln_1.bias is unexpected",
        ] {
            assert!(message.contains(part), "{message}");
        }
        let untied = open_edited(|t| t.push(("lm_head.weight".into(), Tensor::zeros(DType::F32, &[10, 4]))));
        assert!(untied.unwrap_err().to_string().contains("only tied heads"));
    }

    #[test]
    fn halves_become_f32() {
        let weights = open_edited(|tensors| {
            tensors[0].1 = Tensor::from_slice(&[10, 4], &[half::bf16::from_f32(1.5); 40]);
            tensors[1].1 = Tensor::from_slice(&[8, 4], &[half::f16::from_f32(-0.25); 32]);
        })
        .unwrap();
        assert_eq!(weights.get("wte.weight").unwrap().as_slice(), Some(&[1.5f32; 40][..]));
        assert_eq!(weights.get("wpe.weight").unwrap().as_slice(), Some(&[-0.25f32; 32][..]));
    }

    #[test]
    fn narrow_weights_are_off_by_half_a_step() {
        let weights = Weights::random(&small(), 3);
        for matrices in [Matrices::Bf16, Matrices::Int8] {
            let config = Config { matrices, ..small() };
            let narrow = weights.narrowed(&config).unwrap();
            for (name, dtype, shape) in config.arguments() {
                let tensor = narrow.get(&name).unwrap();
                assert_eq!((tensor.dtype(), tensor.shape()), (dtype, &shape[..]), "{name}");
                let Some(channels) = config.channels(&name, &shape) else { continue };
                let scales = narrow.get(&name.replace(".weight", ".scale")).ok().cloned();
                let wide = weights.get(&name).unwrap().to_f64().unwrap();
                for (index, (got, expected)) in tensor.to_f64().unwrap().iter().zip(&wide).enumerate() {
                    let channel = if channels == 0 { index / shape[1] } else { index % shape[1] };
                    let scale = scales.as_ref().map(|s| f64::from(s.as_slice::<f32>().unwrap()[channel]));
                    let most = scale.map_or(expected.abs() / 256.0, |s| s / 2.0 + 1e-9);
                    assert!(
                        (got * scale.unwrap_or(1.0) - expected).abs() <= most,
                        "{name}[{index}]: {got} for {expected}"
                    );
                }
            }
        }
        let (zeros, scales) = quantise(&[0.0, -3.0, 0.0, 1.5], &[2, 2], 1);
        assert_eq!((zeros, scales), (vec![0, -127, 0, 64], vec![1.0, 3.0 / 127.0]));
    }

    #[test]
    fn random_weights_have_their_moments_and_repeat() {
        let tensor = random(&[1000, 100], 5, 1.0, 0.02);
        let values = tensor.as_slice::<f32>().unwrap();
        let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / 1e5;
        let variance = values.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 5e-4 && (variance.sqrt() - 0.02).abs() < 5e-4, "{mean} {variance}");
        assert_eq!(random(&[9], 5, 0.0, 1.0).bytes(), random(&[9], 5, 0.0, 1.0).bytes());
        assert_ne!(random(&[9], 5, 0.0, 1.0).bytes(), random(&[9], 6, 0.0, 1.0).bytes());
        let all = Weights::random(&small(), 7);
        assert_ne!(all.get("h.0.ln_1.weight").unwrap().bytes(), all.get("h.0.ln_2.weight").unwrap().bytes());
    }
}
