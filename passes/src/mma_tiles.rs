//! The tiles of `templates/matmul_mma.mlir`, and which of them suits a product: the part of the selection table for products of
//! f16 and bf16 on tensor cores without warpgroups.

use crate::{
    schedule::template,
    template::Template,
    turns::{ceildiv, multiprocessors},
    warpgroup_tiles::SUM_BYTES,
};

/// Any product of f16 or bf16 on tensor cores from sm_80 on.
pub const MMA: Template = template!("matmul_mma.mlir");

/// The first chip that has what the template needs: asynchronous copies and products of bf16.
pub const FIRST_CHIP: u32 = 80;

/// A tile of `templates/matmul_mma.mlir`, and what it needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mma {
    /// Warps one below the other, and rows of each: a multiple of 16.
    pub down: i64,
    pub warp_rows: i64,
    /// Warps side by side, 1, 2 or 4, which share every 64 columns of the tile.
    pub across: i64,
    pub columns: i64,
    /// Elements of a slice along K: 32 or 64.
    pub slice: i64,
    /// Slots of the ring.
    pub stages: i64,
    /// Blocks a multiprocessor.
    pub blocks: i64,
    /// Operations a second of a multiprocessor of an H200 that has as many blocks.
    pub rate: f64,
}

/// The tiles to choose from: with slices of 64 for chips that have memory and registers for them, with slices of 32 for every chip.
const MMA_TILES: [Mma; 11] = [
    Mma { down: 2, warp_rows: 64, across: 4, columns: 256, slice: 64, stages: 3, blocks: 1, rate: 3.8e12 },
    Mma { down: 2, warp_rows: 64, across: 4, columns: 192, slice: 64, stages: 3, blocks: 1, rate: 3.5e12 },
    Mma { down: 2, warp_rows: 64, across: 2, columns: 128, slice: 64, stages: 3, blocks: 2, rate: 3.5e12 },
    Mma { down: 2, warp_rows: 32, across: 2, columns: 128, slice: 64, stages: 3, blocks: 3, rate: 2.9e12 },
    Mma { down: 4, warp_rows: 32, across: 2, columns: 64, slice: 64, stages: 4, blocks: 2, rate: 2.6e12 },
    Mma { down: 2, warp_rows: 32, across: 2, columns: 64, slice: 64, stages: 4, blocks: 3, rate: 2.3e12 },
    Mma { down: 2, warp_rows: 64, across: 4, columns: 256, slice: 32, stages: 4, blocks: 1, rate: 3.5e12 },
    Mma { down: 2, warp_rows: 64, across: 4, columns: 192, slice: 32, stages: 4, blocks: 1, rate: 3.2e12 },
    Mma { down: 2, warp_rows: 64, across: 2, columns: 128, slice: 32, stages: 3, blocks: 2, rate: 3.2e12 },
    Mma { down: 2, warp_rows: 32, across: 2, columns: 128, slice: 32, stages: 3, blocks: 2, rate: 2.5e12 },
    LEAST,
];

/// The tile to fall back to.
const LEAST: Mma =
    Mma { down: 2, warp_rows: 32, across: 2, columns: 64, slice: 32, stages: 4, blocks: 3, rate: 2.2e12 };

/// Workgroup memory of a multiprocessor in bytes.
fn workgroup_bytes(chip: u32) -> i64 {
    1024 * match chip {
        80 | 87 => 164,
        90..120 => 228,
        _ => 100,
    }
}

impl Mma {
    /// Rows and columns.
    pub fn tile(&self) -> (i64, i64) {
        (self.down * self.warp_rows, self.columns)
    }

    /// Bytes of the ring.
    fn bytes(&self) -> i64 {
        self.stages * (self.tile().0 + self.columns) * self.slice * 2
    }

    /// Whether a multiprocessor has memory for its blocks, each of which takes a KB more, and registers: before sm_90 slices of 64
    /// take more of them than there are.
    fn fits(&self, chip: u32) -> bool {
        (self.slice == 32 || chip >= 90) && self.blocks * (self.bytes() + 1024) <= workgroup_bytes(chip)
    }

    fn threads(&self) -> i64 {
        32 * self.down * self.across
    }

    /// Groups of 8 columns that a warp multiplies.
    fn column_groups(&self) -> i64 {
        self.columns / self.across / 8
    }

    /// The parameters of the template for operands of this element and these strides of A and B (batch, row, 1), B as N x K or K x
    /// N, rows of both that are whole chunks of 16 bytes or not, and elements of C and of what the epilogue reads.
    pub fn parameters(
        &self,
        element: &str,
        along_k: bool,
        whole: bool,
        [a_strides, b_strides]: [[i64; 3]; 2],
        [out, x, y]: [&str; 3],
    ) -> Vec<(&'static str, String)> {
        let index = |n: i64| format!("{n} : index");
        let (rows, columns) = self.tile();
        let (threads, slice, stages) = (self.threads(), self.slice, self.stages);
        let (boxes, part) = (columns / 64, 64 / self.across);
        let (row_groups, column_groups) = (self.warp_rows / 16, self.column_groups());
        let (box_rows, box_width) = if along_k { (64, slice) } else { (slice, 64) };
        let (a_step, b_step) = (threads / (slice / 8), threads / (box_width / 8));
        let (from, mask) = if slice == 32 { (1, 3) } else { (0, 7) };
        let b_at = stages * rows * slice * 2;
        let shared = |sizes: String| format!("memref<{sizes}x{element}, #gpu.address_space<workgroup>>");
        let row = |element: &str| format!("vector<{column_groups}x2x{element}>");
        let view = |strides: &[i64], space: &str| {
            let sizes = "?x".repeat(strides.len());
            format!("memref<{sizes}{element}, strided<{strides:?}, offset: ?>{space}>")
        };
        const GLOBAL: &str = ", #gpu.address_space<global>";
        vec![
            ("!a_view", view(&a_strides, "")),
            ("!a_batch", view(&a_strides, GLOBAL)),
            ("!a_matrix", view(&a_strides[1..], GLOBAL)),
            ("!b_view", view(&b_strides, "")),
            ("!b_batch", view(&b_strides, GLOBAL)),
            ("!b_matrix", view(&b_strides[1..], GLOBAL)),
            ("!elem", element.into()),
            ("!pair", if element == "f16" { "vector<2xf16>" } else { "i32" }.into()),
            ("#type", format!("#nvvm.mma_type<{element}>")),
            ("#b_along_k", along_k.to_string()),
            ("#b_transpose", (!along_k).to_string()),
            ("#tile_rows", index(rows)),
            ("#tile_columns", index(columns)),
            ("#slice", index(slice)),
            ("#stages", index(stages)),
            ("#stages_left", format!("{} : i32", stages - 2)),
            ("#first_steps", index(slice / 16 - 1)),
            ("#warps_down", index(self.down)),
            ("#warp_rows", index(self.warp_rows)),
            ("#row_groups", index(row_groups)),
            ("#boxes", index(boxes)),
            ("#box_part", index(part)),
            ("#part_pairs", index(part / 16)),
            ("#part_groups", index(part / 8)),
            ("#column_groups", index(column_groups)),
            ("#column_pairs", index(column_groups / 2)),
            ("#threads", index(threads)),
            ("#block", format!("array<i32: {threads}, 1, 1>")),
            ("#min_blocks", format!("{} : i32", self.blocks)),
            ("#a_chunks", index(slice / 8)),
            ("#a_step", index(a_step)),
            ("#a_copies", index(rows / a_step)),
            ("#b_chunks", index(box_width / 8)),
            ("#b_step", index(b_step)),
            ("#b_copies", index(box_rows / b_step)),
            ("#swizzle_from", index(from)),
            ("#swizzle_mask", index(mask)),
            ("#b_at", index(b_at)),
            ("#shared_bytes", format!("{} : i32", self.bytes())),
            ("#whole", whole.to_string()),
            ("!a_ring", shared(format!("{stages}x{rows}x{slice}"))),
            ("!b_ring", shared(format!("{stages}x{boxes}x{box_rows}x{box_width}"))),
            ("!a_part", format!("vector<{row_groups}x4xi32>")),
            ("!b_loads", format!("vector<{}x4xi32>", column_groups / 2)),
            ("!b_part", format!("vector<{column_groups}x2xi32>")),
            ("!sums", format!("vector<{row_groups}x{column_groups}x2x2xf32>")),
            ("!row_sums", row("f32")),
            ("!row_out", row(out)),
            ("!out_part", format!("vector<2x{column_groups}x2x{out}>")),
            ("!row_x", row(x)),
            ("!row_y", row(y)),
        ]
    }
}

/// The tile with the least estimated time for a product of this size, and the number of parts to split K into: one, or as many
/// as pay off where parts are summed up at `sum` bytes a second.
///
/// The model is that of `warpgroup_tiles.rs`: a multiprocessor's blocks share its rate and its bytes a second from the L2 cache; a
/// launch and every tile take a time of their own. On an H200 it is within 15 % of what benches/gpu/mma.py measures.
pub fn mma(chip: u32, sum: Option<f64>, [batches, m, n, k]: [i64; 4]) -> (Mma, i64) {
    const TILE: f64 = 1.5e-6;
    const LAUNCH: f64 = 3e-6;
    // Tensor cores before sm_90 are slower than the tiles are on an H200.
    let (share, l2_bytes) = if chip >= 90 { (1.0, 70e9) } else { (0.65, 35e9) };
    let processors = multiprocessors(chip);
    let time = |tile: &Mma, splits: i64| {
        let (rows, columns) = tile.tile();
        let tiles = batches * ceildiv(m, rows) * ceildiv(n, columns) * splits;
        let chunk = ceildiv(ceildiv(k, splits), 64) * 64;
        let (each, waves) = (ceildiv(tiles, processors), ceildiv(tiles, processors * tile.blocks));
        // Four warps alone leave a multiprocessor waiting.
        let alone = if each == 1 && tile.threads() < 256 { 0.85 } else { 1.0 };
        let multiply = (2 * rows * columns * chunk) as f64 / (tile.rate * share * alone);
        let load = ((rows + columns) * chunk) as f64 * 2.0 / l2_bytes;
        let parts = (batches * m * n * 4 * (2 * splits + 1)) as f64 / sum.unwrap_or(SUM_BYTES);
        let sum = if splits == 1 { 0.0 } else { LAUNCH + parts };
        LAUNCH + each as f64 * multiply.max(load) + waves as f64 * TILE + sum
    };
    let most = if sum.is_some() { 8 } else { 1 };
    let tiles = MMA_TILES.iter().filter(|tile| tile.fits(chip));
    let candidates = tiles.flat_map(|tile| (1..=most).map(move |s| (*tile, s)));
    let candidates = candidates.filter(|(_, s)| *s == 1 || k / s >= 128);
    candidates.min_by(|a, b| time(&a.0, a.1).total_cmp(&time(&b.0, b.1))).unwrap_or((LEAST, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_products_take_the_largest_tile_and_small_grids_are_split() {
        for chip in [80, 86, 90] {
            let (tile, splits) = mma(chip, Some(SUM_BYTES), [1, 4096, 4096, 4096]);
            assert_eq!((tile.tile(), splits), ((128, 256), 1), "sm_{chip}");
            assert!(mma(chip, Some(SUM_BYTES), [1, 128, 128, 8192]).1 > 1);
            assert_eq!(mma(chip, None, [1, 128, 128, 8192]).1, 1);
        }
    }

    #[test]
    fn few_rows_take_a_low_tile() {
        assert_eq!(mma(80, None, [1, 64, 3072, 768]).0.tile().0, 64);
    }

    // sm_86 has 100 KB a multiprocessor.
    #[test]
    fn tiles_with_slices_of_32_fit_every_chip() {
        assert!(MMA_TILES.iter().filter(|tile| tile.slice == 32).all(|tile| tile.fits(86)));
        assert!(MMA_TILES.iter().filter(|tile| tile.slice == 64).all(|tile| tile.fits(90)));
        assert!(!MMA_TILES[0].fits(86) && !MMA_TILES[0].fits(80));
    }

    // Measured on an H200: 128 tiles of 128x192 fill it.
    #[test]
    fn tiles_that_fill_the_chip_are_chosen() {
        assert_eq!(mma(90, None, [1, 1024, 3072, 768]).0.tile(), (128, 192));
        assert_eq!(mma(90, None, [1, 1024, 768, 768]).0.tile(), (128, 64));
        assert_eq!(mma(90, None, [1, 1024, 768, 3072]).0.tile(), (128, 64));
    }

    // What the template's copies and loads take for granted.
    #[test]
    fn copies_cover_a_tile() {
        for tile in MMA_TILES {
            let (rows, _) = tile.tile();
            let (along_k, along_n) = (tile.threads() / (tile.slice / 8), tile.threads() / 8);
            assert!(along_k % 8 == 0 && along_n % 8 == 0, "{tile:?}: rows copied at once are exchanged alike");
            assert!(rows % along_k == 0 && 64 % along_k == 0 && tile.slice % along_n == 0, "{tile:?}");
            assert!(tile.columns % 64 == 0 && tile.column_groups() % 2 == 0, "{tile:?}");
        }
    }
}
