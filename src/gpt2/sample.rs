//! Choosing a token from logits: the largest, or one at random by a seed.

use super::{draw::Draw, session::argmax, weights::mix};
use anyhow::{Result, ensure};

/// How tokens are chosen. The default is the largest logit, the first of equal ones.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// What logits are divided by; 0 for the largest one.
    pub temperature: f64,
    /// How many of the most probable tokens are left; 0 for all.
    pub top_k: usize,
    /// The most probable tokens are left whose probabilities add up to this; 1 for all.
    pub top_p: f64,
    /// A seed gives the same tokens for the same logits.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling { temperature: 0.0, top_k: 0, top_p: 1.0, seed: 0 }
    }
}

impl Sampling {
    /// Whether the largest logit is all that counts.
    pub fn is_greedy(&self) -> bool {
        self.temperature == 0.0 || self.top_k == 1
    }

    /// Refuses what is no temperature or no probability.
    pub fn check(&self) -> Result<()> {
        ensure!(
            self.temperature.is_finite() && self.temperature >= 0.0,
            "temperature {} is not 0 or more",
            self.temperature
        );
        ensure!(self.top_p > 0.0 && self.top_p <= 1.0, "top-p {} is not above 0 and at most 1", self.top_p);
        Ok(())
    }

    /// Which arguments a function takes that draws like this; `None` where the largest logit is all that counts.
    pub fn draw(&self) -> Option<Draw> {
        (!self.is_greedy()).then_some(Draw { top_k: self.top_k > 0, top_p: self.top_p < 1.0 })
    }

    /// The token of a text's `index`-th choice. Fails on NaN.
    ///
    /// Tokens are in the order of their logits, equal ones by id, -0 below 0. The first `top_k` are kept; each weighs
    /// `exp((logit - largest) / temperature)`, rounded to a multiple of 2^-40; of those the shortest run is kept whose share is
    /// at least `top_p`. The token is the one with the largest `logit / temperature - ln(-ln(u))`, `u` a uniform number of the
    /// token's own: this draws from the softmax of what is kept (Gumbel's maximum; Gumbel, 1954). `u` is output number `id` of
    /// SplitMix64 for a state that is its output number `index` for the seed: the 53 high bits and a half, over 2^53.
    pub fn choose(&self, logits: &[f32], index: u64) -> Result<u32> {
        let best = argmax(logits)?;
        if self.is_greedy() {
            return Ok(best);
        }
        let scaled = |id: u32| f64::from(logits[id as usize]) / self.temperature;
        let mut kept: Vec<u32> = (0..logits.len() as u32).collect();
        if self.top_k > 0 || self.top_p < 1.0 {
            kept.sort_by(|a, b| logits[*b as usize].total_cmp(&logits[*a as usize]).then(a.cmp(b)));
        }
        if self.top_k > 0 {
            kept.truncate(self.top_k);
        }
        if self.top_p < 1.0 {
            let weight = |id: &u32| {
                let share = if scaled(*id) == scaled(best) { 1.0 } else { (scaled(*id) - scaled(best)).exp() };
                (share * WEIGHT_ONE + 0.5) as i64
            };
            let total: i64 = kept.iter().map(weight).sum();
            let reach = total - ((1.0 - self.top_p) * total as f64) as i64;
            let mut so_far = 0;
            let last = kept.iter().position(|id| {
                so_far += weight(id);
                so_far >= reach
            });
            kept.truncate(last.map_or(kept.len(), |last| last + 1));
        }
        let state = mix(self.seed.wrapping_add(GOLDEN.wrapping_mul(index)));
        let score = |id: u32| {
            let bits = mix(state.wrapping_add(GOLDEN.wrapping_mul(u64::from(id)))) >> 11;
            let uniform = (bits as f64 + 0.5) * 2f64.powi(-53);
            scaled(id) - (-uniform.ln()).ln()
        };
        let better = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1));
        let scored = kept.into_iter().map(|id| (score(id), id));
        Ok(scored.max_by(better).map_or(best, |(_, id)| id))
    }
}

/// What a weight of 1 is as an integer: sums of a million of them stay exact.
pub(super) const WEIGHT_ONE: f64 = (1u64 << 40) as f64;
/// Bits of a token's id in the key that orders tokens; those of the logit come before.
pub(super) const ID_BITS: i32 = 20;
/// Hexadecimal digits of such a key.
pub(super) const DIGITS: i32 = (32 + ID_BITS) / 4;
/// What SplitMix64 adds to its state before each output.
pub(super) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 5] = [0.0, 2.0, 1.0, 2.0, -1.0];

    fn counts(sampling: Sampling) -> [usize; 5] {
        let mut counts = [0; 5];
        (0..10_000).for_each(|i| counts[sampling.choose(&LOGITS, i).unwrap() as usize] += 1);
        counts
    }

    #[test]
    fn shares_follow_the_softmax() {
        let counts = counts(Sampling { temperature: 2.0, seed: 3, ..Sampling::default() });
        let weights = LOGITS.map(|l| f64::from(l / 2.0).exp());
        let sum: f64 = weights.iter().sum();
        for (count, weight) in counts.iter().zip(weights) {
            let expected = 1e4 * weight / sum;
            assert!((*count as f64 - expected).abs() < 5.0 * expected.sqrt(), "{counts:?}");
        }
    }

    #[test]
    fn top_k_and_top_p_cut_the_tail() {
        let top = |top_k, top_p| {
            let counts = counts(Sampling { temperature: 1.0, top_k, top_p, seed: 1 });
            counts.map(|c| c > 0)
        };
        assert_eq!(top(3, 1.0), [false, true, true, true, false]);
        // Of equal logits the lower id comes first.
        assert_eq!(top(1, 1.0), [false, true, false, false, false]);
        assert_eq!(top(0, 0.3), [false, true, false, false, false]);
        assert_eq!(top(0, 0.5), [false, true, false, true, false]);
        assert_eq!(top(0, 1.0), [true; 5]);
    }

    #[test]
    fn seeds_repeat_and_wrong_settings_are_refused() {
        let of = |seed| Sampling { temperature: 1.0, seed, ..Sampling::default() };
        let text = |seed| (0..50).map(|i| of(seed).choose(&LOGITS, i).unwrap()).collect::<Vec<_>>();
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
        assert!(Sampling { temperature: -1.0, ..of(0) }.check().is_err());
        assert!(Sampling { temperature: f64::NAN, ..of(0) }.check().is_err());
        assert!(Sampling { top_p: 0.0, ..of(0) }.check().is_err());
        assert!(of(0).choose(&[0.0, f32::NAN], 0).is_err());
        assert_eq!(Sampling::default().choose(&LOGITS, 0).unwrap(), 1);
    }
}
