//! Choosing a token from logits: the largest, or one at random by a seed.

use super::{session::argmax, weights::mix};
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

    /// The token of a text's `index`-th choice.
    ///
    /// In `f64`: tokens are sorted by logit, equal ones by id; the first `top_k` are kept; each weighs `exp((logit - largest) /
    /// temperature)`; of those the shortest run is kept whose share is at least `top_p`; and the token is the first at which
    /// the weights so far exceed `u` times their sum, `u` the 53 high bits of SplitMix64's output number `index` for the seed.
    /// Fails on NaN.
    pub fn choose(&self, logits: &[f32], index: u64) -> Result<u32> {
        let best = argmax(logits)?;
        if self.is_greedy() {
            return Ok(best);
        }
        let mut order: Vec<u32> = (0..logits.len() as u32).collect();
        let logit = |id: u32| logits[id as usize];
        order.sort_by(|a, b| logit(*b).total_cmp(&logit(*a)).then(a.cmp(b)));
        if self.top_k > 0 {
            order.truncate(self.top_k);
        }
        let weight = |id: u32| (f64::from(logit(id) - logit(best)) / self.temperature).exp();
        let mut weights: Vec<f64> = order.iter().map(|id| weight(*id)).collect();
        let reach = self.top_p * weights.iter().sum::<f64>();
        let mut total = 0.0;
        let kept = weights.iter().position(|w| {
            total += w;
            total >= reach
        });
        // Rounding may leave the whole sum short of itself.
        weights.truncate(kept.map_or(weights.len(), |last| last + 1));
        // SplitMix64 adds this to its state before each output.
        let state = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(index));
        let uniform = (mix(state) >> 11) as f64 / (1u64 << 53) as f64;
        let threshold = uniform * weights.iter().sum::<f64>();
        let mut so_far = 0.0;
        let place = weights.iter().position(|w| {
            so_far += w;
            so_far > threshold
        });
        Ok(order[place.unwrap_or(weights.len() - 1)])
    }
}

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
