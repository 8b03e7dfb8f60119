//! Drawing a token inside of a compiled function: the same choice as [`Sampling::choose`](super::Sampling::choose), so that
//! between steps nothing but the token's id leaves the device.
//!
//! Nothing is sorted. The token is the one with the largest `logit / temperature + noise`, where noise follows Gumbel's
//! distribution, which draws from the softmax (Gumbel, 1954). What top-k and top-p leave is found as a threshold on a key that
//! orders tokens by logit, equal ones by id: [`threshold`] finds its digits from the highest down, by counting or weighing the
//! keys that reach each of the fifteen candidates. Weights are integers, so that their sums do not depend on an order.

use super::{
    cached::{across, argmax, parts},
    sample::{DIGITS, ID_BITS, WEIGHT_ONE},
};
use crate::{
    DType,
    frontend::{Graph, Value},
};

/// Which parts of a [`Sampling`](super::Sampling) a function takes as arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draw {
    /// Whether `top_k`, `i64[1]`, is an argument: how many of the most probable tokens are left.
    pub top_k: bool,
    /// Whether `top_p`, `f64[1]`, is one: the most probable tokens are left whose share reaches it.
    pub top_p: bool,
}

/// Adds the arguments `temperature` (`f64[1]`) and `random` (`i64[1]`, which the draw moves on), and those that `draw` names.
/// Returns the token drawn from `[1, n]` logits as `i32[1]`, at least `n` where there is a NaN, and what `random` became.
pub(super) fn drawn<'g>(g: &'g Graph, logits: Value<'g>, draw: Draw) -> (Value<'g>, Value<'g>) {
    let size = logits.shape().iter().product::<usize>();
    let logits = logits.reshape(&[size]);
    let temperature = g.input("temperature", DType::F64, &[1]);
    let random = g.input("random", DType::I64, &[1]).writable();
    let ids = g.iota(DType::I64, &[size], 0);
    let scaled = logits.cast(DType::F64) / temperature;
    let mut left = None;
    if draw.top_k || draw.top_p {
        let bits = logits.bits();
        // As integers these are in the order of the numbers: those below zero are turned around.
        let ordered = bits.less(0.0).select(bits.xor(f64::from(i32::MAX)), bits);
        let key = (ordered.cast(DType::I64) + 2f64.powi(31)) * 2f64.powi(ID_BITS) + (2f64.powi(ID_BITS) - 1.0 - ids);
        if draw.top_k {
            let top_k = g.input("top_k", DType::I64, &[1]);
            left = Some(key.at_least(threshold(key, None, top_k - 1.0)));
        }
        if draw.top_p {
            let top_p = g.input("top_p", DType::F64, &[1]);
            let largest =
                across(parts(scaled.reshape(&[1, size]), f64::NEG_INFINITY).max(&[1], false)).max(&[1], false);
            let share = scaled.equals(largest).select(g.scalar(DType::F64, 1.0), (scaled - largest).exp());
            // No NaN becomes an integer.
            let weight = (share.at_most(1.0).select(share, 0.0) * WEIGHT_ONE + 0.5).cast(DType::I64);
            let weight = left.map_or(weight, |left: Value| left.select(weight, 0.0));
            let total = across(parts(weight.reshape(&[1, size]), 0.0).sum(&[1], false)).sum(&[1], false);
            let beyond = ((1.0 - top_p) * total.cast(DType::F64)).cast(DType::I64);
            let within = key.at_least(threshold(key, Some(weight), total - beyond - 1.0));
            left = Some(left.map_or(within, |left| left & within));
        }
    }
    let uniform = (mix(mix(random) + ids * golden(g)).shift_right(11.0).cast(DType::F64) + 0.5) * 2f64.powi(-53);
    let score = scaled - (-uniform.log()).log();
    // A NaN is kept, to be found.
    let score = left.map_or(score, |left| (left | logits.differs(logits)).select(score, f64::NEG_INFINITY));
    let next = (random + golden(g)).store(random);
    (argmax(score.reshape(&[1, size])), next)
}

/// The largest number that is reached by keys whose weights (1 where there are none) sum up to more than `target`, `i64[1]`;
/// 0 where all together do not.
fn threshold<'g>(key: Value<'g>, weight: Option<Value<'g>>, target: Value<'g>) -> Value<'g> {
    let g = key.graph();
    let size = key.shape()[0];
    // Of candidates the last axis, so that it is the innermost loop.
    let column = |value: Value<'g>, fill: f64| {
        let grid = parts(value.reshape(&[1, size]), fill);
        let shape = [grid.shape(), vec![1]].concat();
        grid.reshape(&shape)
    };
    let keys = column(key, -1.0);
    let weights = weight.map(|weight| column(weight, 0.0));
    let digits = g.iota(DType::I64, &[15], 0) + 1.0;
    let mut found = g.scalar(DType::I64, 0.0).broadcast_to(&[1]);
    for place in (0..DIGITS).rev() {
        let unit = 16f64.powi(place);
        let reached = keys.at_least(digits * unit + found);
        let masses = match weights {
            Some(weights) => reached.select(weights, 0.0),
            None => reached.cast(DType::I64),
        };
        let masses = masses.sum(&[1], false).sum(&[0], false);
        let digit = masses.greater(target).cast(DType::I64).reshape(&[1, 15]).sum(&[1], false);
        found = found + digit * unit;
    }
    found
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(seed: Value) -> Value {
    let g = seed.graph();
    let z = seed + golden(g);
    let z = z.xor(z.shift_right(30.0)) * integer(g, 0xbf58_476d_1ce4_e5b9);
    let z = z.xor(z.shift_right(27.0)) * integer(g, 0x94d0_49bb_1331_11eb);
    z.xor(z.shift_right(31.0))
}

/// What SplitMix64 adds to its state before each output.
fn golden(g: &Graph) -> Value<'_> {
    integer(g, super::sample::GOLDEN)
}

/// A constant of which all bits count.
fn integer(g: &Graph, bits: u64) -> Value<'_> {
    g.scalar(DType::I64, (bits >> 32) as f64) * 2f64.powi(32) + (bits & 0xffff_ffff) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tensor,
        compile::{Options, compile},
        engine::Executable,
        frontend::module,
        gpt2::Sampling,
    };

    const SIZE: usize = 999;

    fn compiled(draw: Draw) -> Executable {
        let g = Graph::new();
        let logits = g.input("logits", DType::F32, &[1, SIZE]);
        let (token, random) = drawn(&g, logits, draw);
        let function = g.finish("main", &[("token", token), ("random", random)]).unwrap();
        let names: Vec<&str> = function.arguments().iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names[..3], ["logits", "temperature", "random"]);
        compile(module(&[function]).as_str(), &Options::default()).unwrap()
    }

    /// The tokens that the compiled function and the host draw one after the other.
    fn both(draw: Draw, logits: &[f32], sampling: Sampling, count: u64) -> [Vec<u32>; 2] {
        let executable = compiled(draw);
        let mut arguments = vec![
            Tensor::from_slice(&[1, SIZE], logits).into(),
            Tensor::from_slice(&[1], &[sampling.temperature]).into(),
            Tensor::from_slice(&[1], &[sampling.seed as i64]).into(),
        ];
        let top_k = if sampling.top_k == 0 { SIZE } else { sampling.top_k };
        arguments.extend(draw.top_k.then(|| Tensor::from_slice(&[1], &[top_k as i64]).into()));
        arguments.extend(draw.top_p.then(|| Tensor::from_slice(&[1], &[sampling.top_p]).into()));
        let compiled = (0..count).map(|_| {
            let results = executable.call_in_place("main", &mut arguments).unwrap();
            results[0].to_tensor().unwrap().as_slice::<i32>().unwrap()[0] as u32
        });
        [compiled.collect(), (0..count).map(|i| sampling.choose(logits, i).unwrap()).collect()]
    }

    #[test]
    fn compiled_and_host_draw_the_same_tokens() {
        // Many equal ones, both zeros, and both signs.
        let mut logits: Vec<f32> = (0..SIZE).map(|i| ((i * 7919 % 101) as f32 - 50.0) / 9.0).collect();
        logits[..4].copy_from_slice(&[0.0, -0.0, f32::NEG_INFINITY, 5.5]);
        let base = Sampling { temperature: 0.9, seed: u64::MAX - 3, ..Sampling::default() };
        let settings = [
            (false, false, base),
            (true, false, Sampling { top_k: 1, ..base }),
            (true, false, Sampling { top_k: 13, temperature: 3.0, ..base }),
            (true, false, Sampling { top_k: SIZE, ..base }),
            (false, true, Sampling { top_p: 0.4, temperature: 0.5, ..base }),
            (false, true, Sampling { top_p: 1e-9, ..base }),
            (true, true, Sampling { top_k: 0, top_p: 1.0, ..base }),
            (true, true, Sampling { top_k: 40, top_p: 0.9, temperature: 2.0, ..base }),
        ];
        for (top_k, top_p, sampling) in settings {
            let [compiled, host] = both(Draw { top_k, top_p }, &logits, sampling, 60);
            assert_eq!(compiled, host, "{sampling:?}");
        }
    }

    #[test]
    fn a_nan_is_no_token() {
        for (place, nan) in [(0, f32::NAN), (SIZE - 1, -f32::NAN), (500, f32::NAN)] {
            let mut logits = vec![1f32; SIZE];
            logits[place] = nan;
            for top_k in [false, true] {
                let executable = compiled(Draw { top_k, top_p: top_k });
                let mut arguments = vec![
                    Tensor::from_slice(&[1, SIZE], &logits).into(),
                    Tensor::from_slice(&[1], &[1f64]).into(),
                    Tensor::from_slice(&[1], &[3i64]).into(),
                ];
                arguments.extend(top_k.then(|| Tensor::from_slice(&[1], &[3i64]).into()));
                arguments.extend(top_k.then(|| Tensor::from_slice(&[1], &[0.5f64]).into()));
                let results = executable.call_in_place("main", &mut arguments).unwrap();
                let token = results[0].to_tensor().unwrap().as_slice::<i32>().unwrap()[0];
                assert!(token >= SIZE as i32, "{token}");
            }
        }
    }
}
