//! How a grid of tiles fills a chip: in how many turns of its multiprocessors, and in how many parts K is split for them.

/// How many multiprocessors a chip has, where the largest product of its generation is known.
pub(crate) fn multiprocessors(chip: u32) -> i64 {
    match chip {
        90.. => 132,
        80 => 108,
        _ => 80,
    }
}

/// a / b, rounded up, of numbers that are not negative.
pub(crate) fn ceildiv(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// What a sum of parts reads and writes in a second, how long a kernel more takes, and the steps of K that filling the pipeline
/// and storing a tile cost.
const BYTES: f64 = 4e12;
const LAUNCH: f64 = 2.5e-6;
const ENDS: i64 = 24;

/// In how many parts K is split, for how many of the last rows alone (none: for all), and the seconds that the product is estimated
/// to take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parts {
    pub splits: i64,
    pub tail: Option<i64>,
    pub seconds: f64,
}

/// The choice with the least estimated time; `tails` is whether the kernel can split K for the last rows alone.
pub fn parts(chip: u32, rate: u32, tile: (i64, i64), size: [i64; 4], tails: bool) -> Parts {
    let all = splits(chip, rate, tile, size);
    if tails && all.splits == 1 { tail(chip, rate, tile, size).unwrap_or(all) } else { all }
}

/// The number of parts to split K into, so that a small grid fills the chip: the choice with the least estimated time.
///
/// A multiprocessor takes turns with its blocks at the full rate if there are two or more, at 0.85 of it with one. Filling the
/// pipeline and storing a tile cost as much as 24 steps of K. A split pays for one more kernel, which reads and writes.
/// On an H200 the estimate is within 10 % of every product that benches/gpu/gemm.py measures.
pub fn splits(chip: u32, rate: u32, tile: (i64, i64), [batches, m, n, k]: [i64; 4]) -> Parts {
    let flops = f64::from(rate) * 1e9;
    let processors = multiprocessors(chip);
    let tiles = batches * ceildiv(m, tile.0) * ceildiv(n, tile.1);
    let time = |s: i64| {
        let chunk = ceildiv(ceildiv(k, s), 16) * 16;
        let blocks = ceildiv(tiles * s, processors);
        let share = if blocks == 1 { 0.85 } else { 1.0 };
        let product = (blocks * 2 * tile.0 * tile.1 * (chunk + ENDS)) as f64 / (flops * share);
        let sum = if s == 1 { 0.0 } else { LAUNCH + (batches * m * n * 4 * (s + 1)) as f64 / BYTES };
        product + sum
    };
    let candidates = (1..=24).filter(|s| *s == 1 || k / s >= 48).map(|s| (s, time(s)));
    let (splits, seconds) = candidates.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1, 0.0));
    Parts { splits, tail: None, seconds }
}

/// Parts of the last rows alone, where that is estimated to gain 1 %: a large grid whose last turn is half empty. The blocks of the
/// parts come last and fill that turn.
fn tail(chip: u32, rate: u32, tile: (i64, i64), [batches, m, n, k]: [i64; 4]) -> Option<Parts> {
    let processors = multiprocessors(chip);
    let (all, across) = (ceildiv(m, tile.0), ceildiv(n, tile.1));
    if batches != 1 || all * across <= 2 * processors {
        return None;
    }
    let turn = (2 * tile.0 * tile.1 * (k + ENDS)) as f64 / (f64::from(rate) * 1e9);
    let whole = ceildiv(all * across, processors) as f64 * turn;
    let time = |rows: i64, parts: i64| {
        let before = (all - rows) * across;
        let turns = ceildiv(before, processors);
        let part = turn * (ceildiv(ceildiv(k, parts), 16) * 16 + ENDS) as f64 / (k + ENDS) as f64;
        // What is left empty of the last turn of whole sums takes as many parts as fit into it.
        let fitting = (turns * processors - before) * (turn / part) as i64;
        let late = ceildiv((rows * across * parts - fitting).max(0), processors);
        let sum = LAUNCH + (rows * tile.0 * n * 4 * (parts + 1)) as f64 / BYTES;
        turns as f64 * turn + late as f64 * part + sum
    };
    let candidates = (1..=8.min(all - 1)).flat_map(|rows| (2..=8).map(move |parts| (rows, parts)));
    let deep = candidates.filter(|(_, parts)| k / parts >= 256);
    let (rows, parts) = deep.min_by(|a, b| time(a.0, a.1).total_cmp(&time(b.0, b.1)))?;
    let seconds = time(rows, parts);
    // The last tile may have fewer rows.
    let tail = Some(m - (all - rows) * tile.0);
    (seconds < 0.99 * whole).then_some(Parts { splits: parts, tail, seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_grids_are_split_and_full_ones_are_not() {
        let parts = |size| splits(90, 350, (64, 128), size).splits;
        assert_eq!(parts([1, 4096, 4096, 4096]), 1);
        assert_eq!(parts([1, 1024, 3072, 768]), 1);
        assert_eq!(parts([1, 1024, 768, 3072]), 4);
        assert_eq!(splits(90, 295, (32, 128), [1, 32, 2304, 768]).splits, 7, "18 tiles, 126 blocks");
    }

    // Measured on an H200: 3 rows of tiles in 3 or 6 parts gain 2 %, in 4 1.6, in 2 nothing.
    #[test]
    fn the_last_rows_of_a_large_grid_are_split_where_its_last_turn_is_half_empty() {
        let of = |size| tail(90, 350, (64, 128), size);
        let Parts { splits: parts, tail: Some(rows), .. } = of([1, 4096, 4096, 4096]).unwrap() else { panic!("whole") };
        assert_eq!(rows % 64, 0);
        assert!((3..=8).contains(&(rows / 64)) && parts != 2, "{rows} rows in {parts} parts");
        assert_eq!(of([1, 1024, 3072, 768]), None, "its three turns are full");
        assert_eq!(of([1, 1024, 768, 768]), None, "its grid is small");
        assert_eq!(of([2, 4096, 4096, 4096]), None, "it has batches");
        let rows = of([1, 4095, 4096, 4096]).and_then(|parts| parts.tail);
        assert_eq!(rows.map(|rows| rows % 64), Some(63), "the last tile is not full");
    }

    // Measured on an H200: 64 rows fill the chip with 1024x3072 and need K split for 1024x768; 48 rows fit 1024x2304 exactly.
    #[test]
    fn tiles_that_fill_the_chip_are_chosen() {
        let seconds = |rate, rows, size| splits(90, rate, (rows, 128), size).seconds;
        let low = |size| seconds(337, 48, size) < seconds(350, 64, size);
        assert!(low([1, 1024, 2304, 768]) && low([1, 1024, 768, 768]));
        assert!(!low([1, 1024, 3072, 768]) && !low([1, 1024, 768, 3072]) && !low([1, 4096, 4096, 4096]));
    }
}
