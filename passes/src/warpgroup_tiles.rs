//! The tiles of `templates/matmul_wgmma.mlir`, and which of them suits a product: the part of the selection table for the
//! warpgroups of sm_90a.

use crate::{
    schedule::{Kind, TF32, template},
    template::Template,
    turns::{Parts, ceildiv, splits},
};

/// Any product on the warpgroups of sm_90a.
pub const WARPGROUPS: Template = template!("matmul_wgmma.mlir");

/// B transposed and rounded to tf32, for products of f32 where B lies K x N.
pub const TRANSPOSE: Template = template!("transpose_tf32.mlir");

/// A tile of `templates/matmul_wgmma.mlir`, and what it needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Warpgroups {
    /// Warpgroups that multiply, each 64 rows.
    pub consumers: i64,
    /// Columns: a multiple of 64.
    pub columns: i64,
    /// Slots of the ring.
    pub stages: i64,
    /// Blocks a multiprocessor.
    pub blocks: i64,
}

/// The tiles to choose from.
const WARPGROUP_TILES: [Warpgroups; 7] = [
    Warpgroups { consumers: 2, columns: 256, stages: 4, blocks: 1 },
    Warpgroups { consumers: 2, columns: 192, stages: 5, blocks: 1 },
    Warpgroups { consumers: 2, columns: 128, stages: 6, blocks: 1 },
    Warpgroups { consumers: 2, columns: 64, stages: 4, blocks: 2 },
    Warpgroups { consumers: 1, columns: 192, stages: 3, blocks: 2 },
    Warpgroups { consumers: 1, columns: 128, stages: 4, blocks: 2 },
    Warpgroups { consumers: 1, columns: 64, stages: 6, blocks: 2 },
];

/// The multiprocessors of the largest chip with warpgroups.
const WARPGROUP_PROCESSORS: i64 = 132;

impl Warpgroups {
    /// Rows and columns.
    pub fn tile(&self) -> (i64, i64) {
        (64 * self.consumers, self.columns)
    }

    /// The elements that a thread holds of a tile's sums.
    pub fn sums(&self) -> i64 {
        self.columns / 2
    }

    /// The most blocks of a launch: one that has a multiprocessor to itself stays and takes tile after tile, the others
    /// make one.
    pub fn most_blocks(&self) -> i64 {
        if self.blocks == 1 { WARPGROUP_PROCESSORS } else { i64::from(i32::MAX) }
    }

    /// The parameters of the template for operands of this type (f32 is multiplied as tf32) and B as N x K or K x N.
    pub fn parameters(&self, element: &str, along_k: bool) -> Vec<(&'static str, String)> {
        let single = element == "f32";
        let slice = if single { 32 } else { 64 };
        let boxes = self.columns / 64;
        let bytes = (self.consumers + boxes) * 8192;
        // A warpgroup that can give registers away, where those that multiply need them; else a warp.
        let gives = self.consumers == 2 && self.columns >= 192;
        let threads = self.consumers * 128 + if gives { 128 } else { 32 };
        let index = |n: i64| format!("{n} : index");
        let tile_box = format!("memref<1x64x{slice}x{element}, #gpu.address_space<workgroup>>");
        vec![
            ("!elem", element.into()),
            ("#type", format!("#nvvm.wgmma_type<{}>", if single { "tf32" } else { element })),
            ("#b_along_k", along_k.to_string()),
            ("#b_layout", format!("#nvvm.mma_layout<{}>", if along_k { "col" } else { "row" })),
            ("#b_step", index(if along_k { 2 } else { 128 })),
            ("#shape", format!("#nvvm.shape<m = 64, n = {}, k = {}>", self.columns, if single { 8 } else { 16 })),
            ("#slice", index(slice)),
            ("#tile_rows", index(64 * self.consumers)),
            ("#tile_columns", index(self.columns)),
            ("#column_groups", index(self.columns / 8)),
            ("#pair_groups", index(self.columns / 16)),
            ("#boxes_b", index(boxes)),
            ("#stages", index(self.stages)),
            ("#stage_bytes", index(bytes)),
            ("#shared_bytes", format!("{} : i32", self.stages * bytes + 1024)),
            ("#consumers", index(self.consumers)),
            ("#threads", index(threads)),
            ("#block", format!("array<i32: {threads}, 1, 1>")),
            ("#min_blocks", format!("{} : i32", self.blocks)),
            ("#registers", gives.to_string()),
            (
                "!map",
                format!(
                    "!nvgpu.tensormap.descriptor<tensor = {tile_box}, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>"
                ),
            ),
            ("!box", tile_box),
            (
                "!barriers",
                format!(
                    "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = {}>",
                    self.stages
                ),
            ),
            ("!sums", format!("!llvm.struct<({})>", vec!["f32"; self.sums() as usize].join(", "))),
            ("!sums_vector", format!("vector<{}xf32>", self.sums())),
            ("!view", format!("memref<?x?x?x{element}, strided<[?, ?, 1], offset: ?>>")),
        ]
    }
}

/// The tile with the least estimated time for a product of this size, the number of parts to split K into, and the seconds;
/// one part where nothing sums them up. `sum` is how many bytes a second are written and read for that.
///
/// The model: the blocks of a multiprocessor share its rate and its bytes a second from the L2 cache, whichever is used up
/// first; a launch and every tile take a time of their own. Its numbers are fitted to 205 measured products.
pub fn warpgroups(single: bool, sum: Option<f64>, [batches, m, n, k]: [i64; 4]) -> (Warpgroups, i64, f64) {
    const L2_BYTES: f64 = 70e9;
    const TILE: f64 = 1e-6;
    const LAUNCH: f64 = 3e-6;
    let (flops, element) = if single { (2.9e12, 4.0) } else { (5.8e12, 2.0) };
    let time = |tile: &Warpgroups, splits: i64| {
        let (rows, columns) = tile.tile();
        let tiles = batches * ceildiv(m, rows) * ceildiv(n, columns) * splits;
        let chunk = ceildiv(ceildiv(k, splits), 64) * 64;
        let multiply = (2 * rows * columns * chunk) as f64 / flops;
        let load = ((rows + columns) * chunk) as f64 * element / L2_BYTES;
        let parts = (batches * m * n * 4 * (2 * splits + 1)) as f64 / sum.unwrap_or(SUM_BYTES);
        let sum = if splits == 1 { 0.0 } else { LAUNCH + parts };
        let (each, waves) = (ceildiv(tiles, WARPGROUP_PROCESSORS), ceildiv(tiles, WARPGROUP_PROCESSORS * tile.blocks));
        LAUNCH + each as f64 * multiply.max(load) + waves as f64 * TILE + sum
    };
    let most = if sum.is_some() { 8 } else { 1 };
    let candidates = WARPGROUP_TILES.iter().flat_map(|tile| (1..=most).map(move |s| (*tile, s)));
    let candidates = candidates.filter(|(_, s)| *s == 1 || k / s >= 128);
    let timed = candidates.map(|(tile, splits)| (tile, splits, time(&tile, splits)));
    timed.min_by(|a, b| a.2.total_cmp(&b.2)).unwrap_or((WARPGROUP_TILES[0], 1, 0.0))
}

/// The bytes a second of parts that `templates/split_reduce.mlir` sums up, which is for results of f32.
pub const SUM_BYTES: f64 = 2.5e12;

/// The same of [`crate::parts`], by kernels of rows.
pub const ROWS_SUM_BYTES: f64 = 5e12;

/// The seconds that [`TRANSPOSE`] is estimated to take: a launch, and reading and writing B.
fn transposition([batches, _, n, k]: [i64; 4]) -> f64 {
    const LAUNCH: f64 = 2.5e-6;
    const BYTES: f64 = 4e12;
    LAUNCH + (8 * batches * n * k) as f64 / BYTES
}

/// Whether a product of f32 with B as K x N, which takes this many seconds on the warpgroups once B lies N x K, takes less with
/// the transposition than on tensor cores by mma.sync.
pub fn transposing_pays(size: [i64; 4], seconds: f64) -> bool {
    const CHIP: u32 = 90;
    let Kind::Tiled { rows, columns } = TF32.kind else { return false };
    let [batches, m, n, _] = size;
    let Parts { splits: parts, seconds: time, .. } = splits(CHIP, TF32.rate, (rows, columns), size);
    // What the sum of parts takes beside a product of another, which that estimate leaves out.
    let sum = if parts > 1 { (batches * m * n * 4 * parts) as f64 / SUM_BYTES } else { 0.0 };
    transposition(size) + seconds < time + sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_products_take_the_largest_tile_and_small_grids_are_split() {
        let (tile, splits, _) = warpgroups(false, Some(SUM_BYTES), [1, 4096, 4096, 4096]);
        assert_eq!((tile.tile(), splits), ((128, 256), 1));
        let (tile, splits, _) = warpgroups(false, Some(SUM_BYTES), [1, 1024, 3072, 768]);
        assert_eq!((tile.tile(), splits), ((128, 192), 1));
        assert!(warpgroups(false, Some(SUM_BYTES), [1, 128, 128, 8192]).1 > 1);
        assert_eq!(warpgroups(false, None, [1, 128, 128, 8192]).1, 1);
    }

    // A transposition costs the same for any number of rows.
    #[test]
    fn b_is_transposed_where_rows_are_many() {
        let pays = |size| transposing_pays(size, warpgroups(true, Some(SUM_BYTES), size).2);
        assert!(pays([1, 1024, 2304, 768]) && pays([1, 1024, 3072, 768]) && pays([1, 4096, 4096, 4096]));
        assert!(!pays([1, 64, 768, 768]));
    }

    #[test]
    fn blocks_that_share_a_multiprocessor_make_one_tile() {
        for tile in WARPGROUP_TILES {
            assert_eq!(tile.most_blocks() == WARPGROUP_PROCESSORS, tile.blocks == 1, "{tile:?}");
        }
    }
}
