//! The selection table: which template computes an operation, by its shape, element type and chip.
//!
//! One row a kernel family, the first that fits wins; what no row takes goes to the simple kernels. docs/gpu.md keeps the
//! measurement behind each row.

use crate::{choice::Precision, epilogue::MOST_EXTRAS, narrow, template::Template};

/// A file of templates/.
macro_rules! template {
    ($name:literal) => {
        Template { file: concat!("templates/", $name), text: include_str!(concat!("../../templates/", $name)) }
    };
}
pub(crate) use template;

/// How the second operand of a product lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Neighbouring columns are neighbours: K x N, row-major.
    AlongN,
    /// Neighbouring summed elements are neighbours: N x K, row-major.
    AlongK,
}

/// How a template of products is launched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The number of rows is a parameter and K is summed by one block.
    Skinny,
    /// A block makes one tile of this many rows and columns; K may be split over blocks.
    Tiled { rows: i64, columns: i64 },
}

/// A row of the table of products.
pub struct Product {
    /// The name of its kernels.
    pub name: &'static str,
    /// The most rows that it is for.
    pub most_rows: i64,
    /// How B lies.
    pub layout: Layout,
    /// The element type of A and C.
    pub element: &'static str,
    /// Those that B may have.
    pub b_elements: &'static [&'static str],
    /// The precision that it needs to be allowed.
    pub precision: Precision,
    /// The oldest chip, as in sm_80.
    pub chip: u32,
    /// What one multiprocessor computes at full rate, in GFLOP/s; what bounds a kernel for few rows is memory.
    pub rate: u32,
    /// How it is launched.
    pub kind: Kind,
    /// Its kernel.
    pub template: Template,
    /// Parameters of the template beside those that follow from the shape.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// A tile of 32 rows, four a thread, for B along N and along K.
const HALF_TILE_ALONG_N: &[(&str, &str)] = &[
    ("#tile_rows", "32 : index"),
    ("#warp_rows", "16 : index"),
    ("#thread_rows", "4 : index"),
    ("#slot_rows", "32 : index"),
    ("#a_copies", "1 : index"),
    ("!sums", "vector<4x8xf32>"),
    ("!a_part", "vector<4x4xf32>"),
    ("!out_part", "vector<4x2x4xf32>"),
    ("!a_ring", "memref<3x32x20xf32, #gpu.address_space<workgroup>>"),
];
const HALF_TILE_ALONG_K: &[(&str, &str)] = &[
    ("#tile_rows", "32 : index"),
    ("#warp_rows", "16 : index"),
    ("#thread_rows", "4 : index"),
    ("#slot_rows", "32 : index"),
    ("#a_copies", "1 : index"),
    ("!sums", "vector<4x8xf32>"),
    ("!a_part", "vector<4x4xf32>"),
    ("!a_ring", "memref<3x32x20xf32, #gpu.address_space<workgroup>>"),
];

/// A tile of 48 rows, six a thread, so that four blocks fit on a multiprocessor.
const LOW_TILE_ALONG_N: &[(&str, &str)] = &[
    ("#tile_rows", "48 : index"),
    ("#warp_rows", "24 : index"),
    ("#thread_rows", "6 : index"),
    ("#blocks", "4 : i32"),
    ("!sums", "vector<6x8xf32>"),
    ("!a_part", "vector<6x4xf32>"),
    ("!out_part", "vector<6x2x4xf32>"),
];

/// What a kernel for few rows is unless its row says otherwise: the number of rows is a parameter, and memory its bound.
const SKINNY: Product = Product {
    name: "matmul_skinny_f32",
    most_rows: 8,
    layout: Layout::AlongN,
    element: "f32",
    b_elements: narrow::ELEMENTS,
    precision: Precision::Fp32,
    chip: 70,
    rate: 380,
    kind: Kind::Skinny,
    template: template!("matmul_skinny.mlir"),
    parameters: &[],
};

/// What a kernel of tiles is unless its row says otherwise.
const TILED: Product = Product {
    name: "matmul_tiled_64x128_f32",
    most_rows: i64::MAX,
    layout: Layout::AlongN,
    element: "f32",
    b_elements: narrow::ELEMENTS,
    precision: Precision::Fp32,
    chip: 80,
    rate: 350,
    kind: Kind::Tiled { rows: 64, columns: 128 },
    template: template!("matmul_f32.mlir"),
    parameters: &[],
};

/// The same for B along K.
const TILED_ALONG_K: Product = Product {
    name: "matmul_tiled_64x128_nt_f32",
    layout: Layout::AlongK,
    rate: 330,
    template: template!("matmul_f32_nt.mlir"),
    ..TILED
};

/// Tiles on tensor cores by mma.sync.
pub(crate) const TF32: Product = Product {
    name: "matmul_tf32_128x128",
    b_elements: &["f32"],
    precision: Precision::Tf32,
    rate: 1400,
    kind: Kind::Tiled { rows: 128, columns: 128 },
    template: template!("matmul_tf32.mlir"),
    ..TILED
};

/// The tile of 32 rows.
const HALF_TILE: Product = Product {
    name: "matmul_tiled_32x128_f32",
    most_rows: 32,
    rate: 295,
    kind: Kind::Tiled { rows: 32, columns: 128 },
    parameters: HALF_TILE_ALONG_N,
    ..TILED
};

/// Products C += A B, A: M x K, with K contiguous in A unless the kernel is skinny.
pub const PRODUCTS: &[Product] = &[
    SKINNY,
    Product {
        name: "matmul_skinny_nt_f32",
        layout: Layout::AlongK,
        template: template!("matmul_skinny_nt.mlir"),
        ..SKINNY
    },
    HALF_TILE,
    Product {
        name: "matmul_tiled_32x128_nt_f32",
        layout: Layout::AlongK,
        template: template!("matmul_f32_nt.mlir"),
        parameters: HALF_TILE_ALONG_K,
        ..HALF_TILE
    },
    TF32,
    Product {
        name: "matmul_tf32_128x128_nt",
        layout: Layout::AlongK,
        template: template!("matmul_tf32_nt.mlir"),
        ..TF32
    },
    TILED,
    Product {
        name: "matmul_tiled_48x128_f32",
        rate: 337,
        kind: Kind::Tiled { rows: 48, columns: 128 },
        parameters: LOW_TILE_ALONG_N,
        ..TILED
    },
    TILED_ALONG_K,
];

impl Product {
    /// The most operands that what comes after the product may have beside it.
    pub fn most_extras(&self) -> usize {
        if self.template.file == SKINNY.template.file { MOST_EXTRAS } else { 2 }
    }

    /// Whether its kernel can copy rows elsewhere as it stores them: where B is along N.
    pub fn copies_rows(&self) -> bool {
        [SKINNY.template.file, TILED.template.file].contains(&self.template.file)
    }

    /// The rows of its tile, where its kernel can split K for the last rows of tiles alone.
    pub fn tail_tile(&self) -> Option<i64> {
        match self.kind {
            Kind::Tiled { rows, .. } if self.template.file == TILED.template.file => Some(rows),
            _ => None,
        }
    }
}

/// How many threads a block of `matmul_skinny` has.
pub const SKINNY_THREADS: i64 = 512;
/// The same of `matmul_skinny_nt`, and the columns that they make in a turn.
pub const SKINNY_NT_THREADS: i64 = 256;
pub const SKINNY_NT_COLUMNS: i64 = 32;

/// The row of the table for two products of one row with an elementwise operation between them, where reductions may be atomic.
pub struct ProductPair {
    /// The name of its kernels.
    pub name: &'static str,
    /// The element types that both matrices may have.
    pub elements: &'static [&'static str],
    /// The oldest chip, as in sm_80.
    pub chip: u32,
    /// Its kernel.
    pub template: Template,
}

/// The only one.
pub const PAIR: ProductPair = ProductPair {
    name: "matmul_pair_f32",
    elements: &["f32", "bf16", "f16"],
    chip: 70,
    template: template!("matmul_pair.mlir"),
};

/// A kernel for a softmax between two products.
#[derive(Clone, Copy)]
pub struct Attention {
    /// What is particular to it, in its name.
    pub kind: &'static str,
    /// What factors are multiplied as, in its name.
    pub factors: &'static str,
    /// Its kernel.
    pub template: Template,
    /// Whether it is for tensor cores: its template has a type for each operand's view, whose strides are then constants, and
    /// parameters for scores that are multiples of products.
    pub on_tensor_cores: bool,
    /// Whether it has functions that round to factors and to the result's elements.
    pub converts: bool,
    /// Parameters of the template beside those that follow from the shape.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// The table of kernels for several rows, the first row that fits: the elements of queries, keys and values, the precision that it
/// needs to be allowed, the oldest chip, and the most keys.
const ATTENTION: [(&str, Precision, u32, i64, Attention); 7] = [
    ("bf16", Precision::Fp32, 80, i64::MAX, Attention { parameters: HALVES_OF_BF16, ..ON_HALVES }),
    ("f16", Precision::Fp32, 80, i64::MAX, Attention { factors: "f16", parameters: HALVES_OF_F16, ..ON_HALVES }),
    ("f32", Precision::Bf16, 80, i64::MAX, ON_HALVES),
    ("f32", Precision::Tf32, 80, i64::MAX, ON_TF32),
    ("f32", Precision::Fp32, 80, 32, FEW_KEYS),
    ("f32", Precision::Fp32, 80, i64::MAX, ASYNCHRONOUS),
    ("f32", Precision::Fp32, 0, i64::MAX, STRICT),
];
const STRICT: Attention = Attention {
    kind: "",
    factors: "f32",
    template: template!("attention_f32.mlir"),
    on_tensor_cores: false,
    converts: false,
    parameters: &[],
};
const ASYNCHRONOUS: Attention = Attention { template: template!("attention_async_f32.mlir"), ..STRICT };
const FEW_KEYS: Attention = Attention { kind: "keys32_", template: template!("attention_keys32_f32.mlir"), ..STRICT };
const ON_TF32: Attention =
    Attention { factors: "tf32", template: template!("attention_tf32.mlir"), on_tensor_cores: true, ..STRICT };
const ON_HALVES: Attention =
    Attention { factors: "bf16", template: template!("attention_half.mlir"), converts: true, ..ON_TF32 };
const HALVES_OF_BF16: &[(&str, &str)] = &[("!elem", "bf16"), ("#four_bytes", "8 : i64"), ("#two_bytes", "4 : i64")];
const HALVES_OF_F16: &[(&str, &str)] = &[
    ("!elem", "f16"),
    ("!factor", "f16"),
    ("!pair", "vector<2xf16>"),
    ("#type", "#nvvm.mma_type<f16>"),
    ("#four_bytes", "8 : i64"),
    ("#two_bytes", "4 : i64"),
];

/// The kernel for a softmax of several rows over so many keys between two products of these elements.
pub fn attention(chip: u32, element: &str, precision: Precision, keys: i64) -> Option<Attention> {
    let fits = |row: &&(&str, Precision, u32, i64, Attention)| {
        row.0 == element && row.1 <= precision && chip >= row.2 && keys <= row.3
    };
    ATTENTION.iter().find(fits).map(|row| row.4)
}

/// The same for one row a batch, of f32.
pub const ATTENTION_ROW: Attention =
    Attention { kind: "row_", template: template!("attention_row_f32.mlir"), ..STRICT };

/// The same with the product that alone reads its result, by clusters of blocks.
pub const ATTENTION_ROW_PRODUCT: Template = template!("attention_row_product.mlir");
/// The oldest chip that has them.
pub const FIRST_WITH_CLUSTERS: u32 = 90;

/// The reduction within a block of a kernel of rows.
pub const ROW_REDUCE: Template = template!("row_reduce.mlir");

/// The reduction of the slabs that a split K leaves.
pub const SPLIT_REDUCE: Template = template!("split_reduce.mlir");

/// The most slabs that it reads together.
pub const SLABS_AT_ONCE: i64 = 8;
