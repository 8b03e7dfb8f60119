//! Six small functions that stand for what GPT-2 is made of: what tests and tutorials look at.

use super::functions::{attention, gelu, layer_norm};
use crate::{
    DType,
    frontend::{Function, Graph},
    gpt2::weights::random,
};
use anyhow::{Result, bail};

/// Their names.
pub const CASES: [&str; 6] = ["gelu", "softmax", "layer_norm", "matmul", "gather", "attention"];

/// The function of that name:
/// - `gelu`: of `x`, f32[64, 256];
/// - `softmax`: along the rows of `x`, f32[64, 256];
/// - `layer_norm`: of the rows of `x`, f32[64, 256], with captured gain and bias;
/// - `matmul`: f32[64, 96] times f32[96, 80];
/// - `gather`: the rows of a table, f32[100, 64], at 16 ids;
/// - `attention`: causal, of `q`, `k`, `v`, each f32[4, 32, 16].
pub fn case(name: &str) -> Result<Function> {
    let g = Graph::new();
    let input = |name: &str, shape: &[usize]| g.input(name, DType::F32, shape);
    let result = match name {
        "gelu" => gelu(input("x", &[64, 256])),
        "softmax" => input("x", &[64, 256]).softmax(-1),
        "layer_norm" => {
            let gain = g.capture("layer_norm.gain", random(&[256], 1, 1.0, 0.1));
            let bias = g.capture("layer_norm.bias", random(&[256], 2, 0.0, 0.1));
            layer_norm(input("x", &[64, 256]), gain, bias)
        }
        "matmul" => input("a", &[64, 96]).matmul(input("b", &[96, 80])),
        "gather" => {
            let table = input("table", &[100, 64]);
            table.gather(g.input_in_range("ids", DType::I32, &[16], 0..100), 0)
        }
        "attention" => {
            let [q, k, v] = ["q", "k", "v"].map(|name| input(name, &[4, 32, 16]));
            attention(q, k, v, |scores| scores.causal_mask(f64::NEG_INFINITY))
        }
        _ => bail!("there is no case '{name}': there are {}", CASES.join(", ")),
    };
    g.finish(name, &[("result", result)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{mlir_opt, module};

    #[test]
    fn all_cases_verify_in_one_module() {
        let functions: Vec<Function> = CASES.iter().map(|name| case(name).unwrap()).collect();
        let text = mlir_opt(&module(&functions), &[]);
        assert_eq!(text.matches("func.func @").count(), 6);
        assert_eq!(functions[2].captured().len(), 2);
        assert!(case("relu").unwrap_err().to_string().contains("gelu, softmax"));
    }
}
