//! What the options of the passes that choose kernels say: the chip, how products may be rounded, and how blocks add up.

use crate::ir::PassCx;

/// How products of f32 may be rounded: each admits what stands before it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Precision {
    /// Products and sums in f32.
    #[default]
    Fp32,
    /// Factors cut off to 10 bits of mantissa, sums in f32: a relative error of about 1e-3 of the largest term.
    Tf32,
    /// Factors rounded to bf16, sums in f32: off by 2^-8 of the terms' magnitudes at most.
    Bf16,
}

impl Precision {
    /// As the option names it.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Fp32 => "fp32",
            Precision::Tf32 => "tf32",
            Precision::Bf16 => "bf16",
        }
    }
}

impl std::str::FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Precision, String> {
        let found = [Precision::Fp32, Precision::Tf32, Precision::Bf16].into_iter().find(|p| p.name() == text);
        found.ok_or_else(|| format!("a precision is fp32, tf32 or bf16, not `{text}`"))
    }
}

/// In which order kernels add up what several blocks compute.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Reductions {
    /// In a fixed one: results are the same bits from run to run.
    #[default]
    Ordered,
    /// In any, by atomic additions to memory: the last bits of results may differ from run to run.
    Atomic,
}

impl Reductions {
    /// As the option names it.
    pub fn name(self) -> &'static str {
        match self {
            Reductions::Ordered => "ordered",
            Reductions::Atomic => "atomic",
        }
    }
}

impl std::str::FromStr for Reductions {
    type Err = String;

    fn from_str(text: &str) -> Result<Reductions, String> {
        let found = [Reductions::Ordered, Reductions::Atomic].into_iter().find(|r| r.name() == text);
        found.ok_or_else(|| format!("reductions are ordered or atomic, not `{text}`"))
    }
}

/// The number of a chip: 90 for `sm_90a`.
pub fn chip_number(chip: &str) -> Option<u32> {
    chip.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_lowercase()).parse().ok()
}

/// The options `chip`, `precision` and `reductions` of a pass.
pub struct Choice {
    /// The chip as it was given, such as `sm_90a`, and its number.
    pub name: String,
    pub chip: u32,
    pub precision: Precision,
    pub reductions: Reductions,
}

impl Choice {
    /// Those of a pass that has all three; an error where one is none of its values.
    pub fn of(cx: &PassCx) -> Result<Choice, String> {
        let wrong = |reason: String| format!("cannot choose kernels: {reason}");
        let name = cx.string("chip");
        let chip = chip_number(&name).ok_or_else(|| wrong(format!("chip '{name}' is none (sm_NN)")))?;
        let precision = cx.string("precision").parse().map_err(wrong)?;
        let reductions = cx.string("reductions").parse().map_err(wrong)?;
        Ok(Choice { name, chip, precision, reductions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_have_numbers() {
        assert_eq!(chip_number("sm_90a"), Some(90));
        assert_eq!(chip_number("sm_120"), Some(120));
        assert_eq!(chip_number("gfx90a"), None);
    }
}
