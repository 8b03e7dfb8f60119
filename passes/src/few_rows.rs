//! How `templates/matmul_skinny.mlir` divides a product of few rows: the columns of a block, and what its threads read at once.

use crate::{
    ir::{Attr, Op},
    row_tile::Tile,
    schedule::{SKINNY_NT_COLUMNS, SKINNY_NT_THREADS, SKINNY_THREADS},
    turns::ceildiv,
};

/// The registers of a multiprocessor.
const REGISTERS: i64 = 65536;
/// The most blocks of `matmul_skinny_nt` on a multiprocessor that takes turns: the threads of an sm_75.
const MOST_BLOCKS: i64 = 4;

/// The blocks of a product of few rows by K x N.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FewRows {
    /// The columns of a block: a row of them is read by a quarter as many threads.
    pub columns: i64,
    /// How many rows of B a thread reads at once.
    pub at_once: i64,
}

impl FewRows {
    /// The division for B of this element type: half as many columns of f32 where all blocks then still run at the same time. (More
    /// than four rows would not fit in registers.)
    ///
    /// As many bytes are read at once for every type where K has them, and so many rows that K is a multiple of the step, if
    /// there is such a number.
    pub fn of(element: &str, [batches, m, n, k]: [i64; 4], multiprocessors: i64) -> FewRows {
        let columns = if element == "f32" && m <= 4 && batches * ceildiv(n, 8) <= multiprocessors { 8 } else { 16 };
        let few = FewRows { columns, at_once: 1 };
        if element == "f32" && columns == 16 {
            return FewRows { at_once: 6, ..few };
        }
        // With half the columns all of K is to be on its way before the kernel's predecessor ends.
        let (least, most) = (8, 12);
        let exact = (least..=most).rev().find(|at_once| k % (few.groups() * at_once) == 0);
        let rows = ceildiv(k, few.groups());
        FewRows { at_once: exact.unwrap_or(ceildiv(rows, ceildiv(rows, most))), ..few }
    }

    /// How many threads together read a row of a block's columns, four elements each.
    fn fours(self) -> i64 {
        self.columns / 4
    }

    fn groups(self) -> i64 {
        SKINNY_THREADS / self.fours()
    }

    /// How many rows of B a block reads at once.
    pub fn step(self) -> i64 {
        self.groups() * self.at_once
    }

    /// The template's parameters.
    pub fn parameters(self, element: &str, rows: i64, k: i64) -> Vec<(&'static str, String)> {
        let index = |n: i64| format!("{n} : index");
        let (columns, groups) = (self.columns, self.groups());
        let lanes = 32 / self.fours();
        vec![
            ("#columns", index(columns)),
            ("#fours", index(self.fours())),
            ("#groups", index(groups)),
            ("#rounds", index(lanes.ilog2().into())),
            ("#row_of", format!("affine_map<(k, u) -> (k + {groups} * u)>")),
            ("!b_rows", format!("vector<{}x4x{element}>", self.at_once)),
            ("#at_once", index(self.at_once)),
            ("#step", index(self.step())),
            ("#exact", (k % self.step() == 0).to_string()),
            ("!warp_sums", format!("memref<16x{rows}x{columns}xf32, #gpu.address_space<workgroup>>")),
        ]
    }
}

/// How `templates/matmul_skinny_nt.mlir` divides a product whose rows each block makes itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turns {
    /// The blocks that a multiprocessor has registers for.
    blocks: i64,
    /// How many times its columns a block makes: all blocks then run at the same time, and as many in each turn.
    turns: i64,
    /// The threads that make a row of A, all rows at the same time.
    pub row_threads: i64,
}

impl Turns {
    /// For rows of B of this element type, where the epilogue reads so many operands. None where making a row takes more registers
    /// than multiplying it: too few blocks would run at the same time to read B at full rate.
    pub fn of(element: &str, extras: usize, [m, n, k]: [i64; 3], multiprocessors: i64) -> Option<Turns> {
        let row_threads = SKINNY_NT_THREADS / (m as u64).next_power_of_two() as i64;
        let tile = Tile::shared_by(k, row_threads);
        // Elements of the row, of gain and of bias; sixteen sums a row. What is read first of B, addresses and the like come to both.
        let making = 40 + 3 * tile.sweeps * tile.vector;
        let multiplying = 48 + 16 * m + if element == "f32" { 0 } else { 20 } + 8 * extras as i64;
        let blocks = (REGISTERS / SKINNY_NT_THREADS / multiplying).clamp(1, MOST_BLOCKS);
        let turns = ceildiv(ceildiv(n, SKINNY_NT_COLUMNS), blocks * multiprocessors);
        (making <= multiplying).then_some(Turns { blocks, turns, row_threads })
    }

    /// Leaves a thread of the template's kernel the registers with which so many blocks fit.
    pub fn bound_registers(self, kernels: Op) -> Result<(), String> {
        let blocks = Attr::parse(kernels.ctx(), &format!("{} : i32", self.blocks));
        let missing = "internal error: the template has no kernel";
        let kernel = *kernels.find(&["gpu.func"]).first().ok_or(missing)?;
        kernel.set_attr("nvvm.minctasm", blocks.ok_or(missing)?);
        Ok(())
    }

    /// The template's parameters.
    pub fn parameters(self, [m, n, k]: [i64; 3]) -> Vec<(&'static str, String)> {
        let index = |n: i64| format!("{n} : index");
        vec![
            ("#whole", (n >= 4).to_string()),
            ("#turns", index(self.turns)),
            ("#row_threads", index(self.row_threads)),
            ("#staged", "true".to_string()),
            ("#depth", index(k)),
            ("!stage", format!("memref<{m}x{k}xf32, #gpu.address_space<workgroup>>")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(element: &str, n: i64, k: i64) -> (i64, i64) {
        let few = FewRows::of(element, [1, 1, n, k], 132);
        (few.columns, few.step())
    }

    #[test]
    fn as_many_bytes_are_read_of_every_type() {
        assert_eq!((of("f32", 2304, 768), of("f32", 2304, 3072)), ((16, 768), (16, 768)));
        assert_eq!(
            (of("bf16", 2304, 768), of("bf16", 2304, 3072), of("i8", 2304, 4096)),
            ((16, 768), (16, 1536), (16, 1024))
        );
        assert_eq!(
            (of("bf16", 2304, 100), of("bf16", 2304, 1600)),
            ((16, 128), (16, 896)),
            "few steps where none divides K"
        );
    }

    #[test]
    fn as_many_blocks_take_turns_as_have_registers() {
        let of = |element, m, n, k| Turns::of(element, 0, [m, n, k], 132).map(|t| (t.blocks, t.turns, t.row_threads));
        assert_eq!(of("f32", 1, 50257, 768), Some((4, 3, 256)));
        assert_eq!(of("bf16", 1, 50257, 768), Some((3, 4, 256)));
        assert_eq!(of("f32", 3, 50257, 768), Some((2, 6, 64)));
        assert_eq!(of("f32", 8, 100, 768), Some((1, 1, 32)));
        assert_eq!(of("f32", 1, 32000, 4096), None, "a thread would hold 16 elements each of the row, gain and bias");
    }

    #[test]
    fn few_columns_are_dealt_to_more_blocks_that_read_all_of_k_at_once() {
        assert_eq!((of("f32", 768, 768), of("f32", 768, 3072)), ((8, 768), (8, 3072)));
        assert_eq!(of("bf16", 768, 3072), (16, 1536), "8 columns of bf16 are half a sector");
        assert_eq!(of("f32", 1280, 5120), (16, 768), "more blocks than multiprocessors");
    }
}
