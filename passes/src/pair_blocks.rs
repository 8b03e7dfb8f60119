//! How `templates/matmul_pair.mlir` divides two products of one row: the elements of the row between that a block makes, and how
//! its threads share the rows of both matrices.

use crate::{
    row_tile::bytes,
    turns::{ceildiv, multiprocessors},
};

/// How a kernel for a pair divides its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// Whether the second matrix is brought to the L2 cache first, by an instruction of sm_90, and not to registers.
    pub prefetches: bool,
    /// The elements of the row between that a block makes.
    pub units: i64,
    /// How many threads add up the sums of one.
    pub lanes: i64,
}

/// The most pieces of 16 bytes of one matrix that a thread has in registers at once.
const MOST_PIECES: i64 = 16;
/// The registers of a piece, those beside pieces of a thread that holds both matrices, and of one that holds them one after the other.
const PIECE: i64 = 4;
const BESIDE_BOTH: i64 = 48;
const BESIDE_ONE: i64 = 72;
/// The registers of a multiprocessor, and the multiple in which threads have them.
const REGISTERS: i64 = 65_536;
const REGISTER_STEP: i64 = 8;

impl Blocks {
    /// The division of a pair K x `units` x N of matrices with elements of so many bytes: that with which a multiprocessor has least to
    /// read, then matrices of f32 in registers and narrower ones by the cache, which was fastest on an sm_90, and then the one with most
    /// threads; `None` where a thread would have more to hold than registers.
    pub fn of(bytes: i64, [depth, units, columns]: [i64; 3], chip: u32) -> Option<Blocks> {
        let ways: &[bool] = if chip >= 90 { &[false, true] } else { &[false] };
        let sizes = [8, 16, 24, 32, 48, 64].into_iter().flat_map(|units| [16, 32].map(|lanes| (units, lanes)));
        let all =
            sizes.flat_map(|(units, lanes)| ways.iter().map(move |way| Blocks { prefetches: *way, units, lanes }));
        let fits = |b: &Blocks| {
            units % b.units == 0
                && b.units % (16 / bytes) == 0
                && (128..=512).contains(&b.threads())
                && b.takes(bytes, depth) <= MOST_PIECES
                && b.takes_units(bytes, columns) * b.sweeps(bytes, columns) <= MOST_PIECES
                && b.registers(bytes, depth, columns) <= REGISTERS / b.threads() / REGISTER_STEP * REGISTER_STEP
        };
        let load = |b: &Blocks| ceildiv(units / b.units, multiprocessors(chip)) * b.units;
        all.filter(fits).min_by_key(|b| (load(b), b.prefetches != (bytes < 4), -b.threads()))
    }

    pub fn threads(self) -> i64 {
        self.units * self.lanes
    }

    /// Groups of threads that read a row of the first matrix each.
    fn groups(self, bytes: i64) -> i64 {
        self.threads() / (self.units * bytes / 16)
    }

    /// The rows that a group takes.
    fn takes(self, bytes: i64, depth: i64) -> i64 {
        ceildiv(depth, self.groups(bytes))
    }

    /// Groups of threads that read a row of the second matrix each.
    fn row_groups(self, bytes: i64, columns: i64) -> i64 {
        (self.threads() / (columns * bytes / 16)).clamp(1, self.units)
    }

    fn takes_units(self, bytes: i64, columns: i64) -> i64 {
        ceildiv(self.units, self.row_groups(bytes, columns))
    }

    /// How often a group starts to read a row of the second matrix until it has all.
    fn sweeps(self, bytes: i64, columns: i64) -> i64 {
        ceildiv(columns * bytes / 16, self.threads())
    }

    /// The registers that a thread may have.
    fn registers(self, bytes: i64, depth: i64, columns: i64) -> i64 {
        let [first, second] =
            [self.takes(bytes, depth), self.takes_units(bytes, columns) * self.sweeps(bytes, columns)];
        match self.prefetches {
            true => BESIDE_ONE + PIECE * first.max(second),
            false => BESIDE_BOTH + PIECE * (first + second),
        }
    }

    /// The template's parameters.
    pub fn parameters(self, element: &str, [_, _, _, depth]: [i64; 4], columns: i64) -> Vec<(&'static str, String)> {
        let bytes = bytes(element);
        let index = |n: i64| format!("{n} : index");
        let workgroup = |n: i64| format!("memref<{n}xf32, #gpu.address_space<workgroup>>");
        let (units, lanes, threads) = (self.units, self.lanes, self.threads());
        let elements = 16 / bytes;
        let (groups, takes) = (self.groups(bytes), self.takes(bytes, depth));
        let (row_groups, takes_units, sweeps) =
            (self.row_groups(bytes, columns), self.takes_units(bytes, columns), self.sweeps(bytes, columns));
        let row_pieces = columns / elements;
        let exact = units % row_groups == 0 && row_groups * row_pieces == threads * sweeps;
        let lines = ceildiv(columns * bytes, 128);
        let pitch = units + 1;
        let scratch = ceildiv((groups * pitch).max(row_groups * columns), 4) * 4;
        let mine = ceildiv(columns, threads);
        vec![
            ("#units", index(units)),
            ("#lanes", index(lanes)),
            ("#rounds", index(lanes.ilog2().into())),
            ("#threads", index(threads)),
            ("#block", format!("array<i32: {threads}, 1, 1>")),
            ("#registers", format!("{} : i32", self.registers(bytes, depth, columns))),
            ("#depth", index(depth)),
            ("#columns", index(columns)),
            ("#elements", index(elements)),
            ("#unit_pieces", index(units / elements)),
            ("#row_pieces", index(row_pieces)),
            ("!elem", element.into()),
            ("!piece", format!("vector<{elements}x{element}>")),
            ("!wide", format!("vector<{elements}xf32>")),
            ("#groups", index(groups)),
            ("#row_of", format!("affine_map<(k, u) -> (k + {groups} * u)>")),
            ("#takes", index(takes)),
            ("#exact", (depth % groups == 0).to_string()),
            ("!b_rows", format!("vector<{takes}x{elements}x{element}>")),
            ("#row_groups", index(row_groups)),
            ("#unit_of", format!("affine_map<(r, i) -> (r + {row_groups} * i)>")),
            ("#sweeps", index(sweeps)),
            ("#sweep_of", format!("affine_map<(c, s) -> (c + {threads} * s)>")),
            ("#takes_units", index(takes_units)),
            ("#exact_units", exact.to_string()),
            ("!d_rows", format!("vector<{sweeps}x{takes_units}x{elements}x{element}>")),
            ("!d_sums", format!("vector<{sweeps}x{elements}xf32>")),
            ("#takes_columns", index(mine)),
            ("!mine", format!("vector<{mine}xf32>")),
            ("#prefetches", self.prefetches.to_string()),
            ("#row_lines", index(lines)),
            ("#line_elements", index(128 / bytes)),
            ("#bytes", index(bytes)),
            ("#takes_lines", index(ceildiv(units * lines, threads))),
            ("#line_of", format!("affine_map<(t, i) -> (t + {threads} * i)>")),
            ("#pitch", index(pitch)),
            ("#adds", index(groups / lanes)),
            ("#scratch", index(scratch)),
            ("!scratch", workgroup(scratch)),
            ("!units", workgroup(units)),
            ("#warps", index(threads / 32)),
            ("!slots", workgroup(threads / 32)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: i64, size: [i64; 3], chip: u32) -> Option<(i64, i64, bool, i64)> {
        let [depth, _, columns] = size;
        Blocks::of(bytes, size, chip).map(|b| (b.units, b.lanes, b.prefetches, b.registers(bytes, depth, columns)))
    }

    #[test]
    fn all_multiprocessors_have_a_block() {
        assert_eq!(of(4, [768, 3072, 768], 90), Some((24, 16, false, 144)), "128 blocks");
        assert_eq!(of(2, [768, 3072, 768], 90), Some((24, 16, true, 96)));
        assert_eq!(
            of(2, [768, 3072, 768], 80).map(|b| b.2),
            Some(false),
            "before sm_90 nothing is brought to the cache"
        );
    }

    #[test]
    fn a_pair_that_no_thread_can_hold_its_part_of_is_none() {
        assert_eq!(of(4, [4096, 11008, 4096], 90), None);
        assert_eq!(of(4, [768, 3074, 768], 90), None, "no block's units divide the row between");
    }

    #[test]
    fn every_thread_that_adds_up_has_as_many_groups() {
        for units in [8, 16, 24, 32] {
            let blocks = Blocks { prefetches: false, units, lanes: 16 };
            assert_eq!(blocks.groups(4) % blocks.lanes, 0);
            assert_eq!(blocks.groups(2) % blocks.lanes, 0);
        }
    }
}
