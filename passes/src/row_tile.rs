//! How the threads of a block share a row.

use crate::{ir::Value, turns::ceildiv};

/// The shape of a block's work.
pub struct Tile {
    pub threads: i64,
    /// Elements that a thread reads together.
    pub vector: i64,
    /// How often the threads sweep along the columns.
    pub sweeps: i64,
    pub columns: i64,
}

impl Tile {
    pub fn of(columns: i64) -> Tile {
        let vector = if columns % 4 == 0 && columns >= 128 { 4 } else { 1 };
        let items = ceildiv(columns, vector);
        let most = if columns > 4096 { 512 } else { 256 };
        let threads = ((items + 31) / 32 * 32).min(most);
        Tile { threads, vector, sweeps: ceildiv(items, threads), columns }
    }
    /// The same for a number of threads: as few elements a thread as all of them leave it.
    pub fn shared_by(columns: i64, threads: i64) -> Tile {
        let items = |vector: i64| ceildiv(columns, vector);
        let vector = Tile::of(columns).vector;
        let vector = if vector == 4 && items(2) <= threads { 2 } else { vector };
        Tile { threads, vector, sweeps: ceildiv(items(vector), threads), columns }
    }
    pub fn is_exact(&self) -> bool {
        self.threads * self.vector * self.sweeps == self.columns
    }
    pub fn lanes(&self, element: &str) -> String {
        format!("vector<{}x{}x{element}>", self.sweeps, self.vector)
    }
}

/// The bytes of an element: of 8 bits, of 16, or else of 32.
pub fn bytes(element: &str) -> i64 {
    match element {
        "i8" => 1,
        "f16" | "bf16" => 2,
        _ => 4,
    }
}

/// Zero of an element type.
pub fn zero(element: &str) -> &'static str {
    if element == "i32" { "0" } else { "0.0" }
}

/// The element type of a buffer, as text.
pub fn element(buffer: Value) -> String {
    buffer.ty().element().map_or_else(|| "f32".into(), |e| e.to_string())
}
