//! `tinymlir-dot-products`: products of rows and a matrix of N x K become tiles of dot products in vector registers, on all threads.
//!
//! Where the elements that are summed up lie side by side in both operands, as in `x W^T` with a weight of a linear layer, vectors run
//! along the sum: a tile of rows and columns keeps a vector of sums for each of its elements, and adds up its lanes at the end. The
//! matrix is read as it lies, where a CBLAS would first copy it into another order. A thread takes a strip of columns and a block of
//! rows, and walks along parts of the sum so short that the strip's part stays in the second cache. Narrower elements (bf16, f16, i8, which
//! linalg extends) are converted in registers. No element's arithmetic depends on the number of threads.
//!
//! Runs on bufferized functions between `tinymlir-vector-matmul` and `tinymlir-blas`, which takes what this leaves, with a remark: sizes
//! that are not static, small matrices, one row, more than `most-rows` rows, short sums, batches, operands whose elements lie otherwise,
//! and outputs of other types than f32 and f64.
use crate::{
    contraction::Contraction,
    epilogue::zero_fill,
    ir::{Op, Opt, Pass, PassCx, PassResult, Type},
    shared_functions::SharedFunctions,
    threads::ParallelLoop,
    turns::ceildiv,
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-dot-products",
    description: "Turn products of rows and a matrix of N x K into tiles of dot products, on all threads",
    anchor: "builtin.module",
    options: &[
        Opt::integer("vector-bits", "256", "The width of a vector register"),
        Opt::integer("most-rows", "256", "Rows from which on a product is left to BLAS"),
    ],
    statistics: &[("loops", "Products that became loops"), ("declined", "Products that are left")],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__llvm__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__vector__,
    ],
    run,
};

/// Elements of a matrix below which a call of BLAS is over before the code for tiles would have been worth compiling.
const SMALL: i64 = 1 << 14;
/// Vectors along a sum below which adding up their lanes costs too much.
const LEAST_VECTORS: i64 = 8;
/// Elements of a sum that a strip is walked along at once.
const PART: i64 = 1024;
/// Columns of a strip, and rows of a block, nearly.
const STRIP: i64 = 48;
const BLOCK: i64 = 128;
/// Elements of the matrix that are a thread's at least, for each row of a block: some microseconds.
const LEAST: i64 = 1 << 15;
const C: usize = 2;

fn run(cx: &PassCx, module: Op) -> PassResult {
    let (bits, most) = (cx.integer("vector-bits"), cx.integer("most-rows"));
    let mut functions = SharedFunctions::default();
    for op in module.walk().into_iter().filter(|op| op.is_contraction()).collect::<Vec<_>>() {
        match Product::of(op, bits, most) {
            Err(reason) => {
                cx.missed(op, &format!("is no product for dots: {reason}"));
                cx.count("declined");
            }
            Ok(product) => {
                let message = format!("becomes tiles of {} x {} dot products", product.tile[0], product.tile[1]);
                cx.passed_with(op, &message, &[("kernel", "dot products in registers")]);
                cx.count("loops");
                cx.check(op, product.emit(module, op, &mut functions))?;
                op.erase();
            }
        }
    }
    Ok(())
}

struct Product {
    contraction: Contraction,
    /// Which input has the rows and which is the matrix.
    left: usize,
    matrix: usize,
    /// The loop dimensions: rows, columns, sums; and their sizes.
    dims: [usize; 3],
    sizes: [i64; 3],
    /// Rows and columns of a tile, and the elements in a vector.
    tile: [i64; 2],
    lanes: i64,
    /// How an element of each input becomes one of the output.
    conversions: [Option<&'static str>; 2],
    /// The fill with zero that the loop makes unnecessary.
    fill: Option<Op>,
}

impl Product {
    fn of(op: Op, bits: i64, most: i64) -> Result<Product, String> {
        let contraction = Contraction::of(op)?;
        let output = contraction.views[C].element.to_string();
        let bytes = match output.as_str() {
            "f32" => 4,
            "f64" => 8,
            other => return Err(format!("it adds up in {other}")),
        };
        if contraction.views.iter().any(|v| v.space.is_some()) {
            return Err("an operand lies in another memory space".into());
        }
        let sizes: Option<Vec<i64>> = contraction.sizes.iter().copied().collect();
        let sizes = sizes.ok_or("a size is not known")?;
        let of = |inside: [usize; 2], outside: usize| -> Vec<usize> {
            contraction.dims(inside, outside).into_iter().filter(|d| sizes[*d] != 1).collect()
        };
        let (m, n, k) = (of([0, C], 1), of([1, C], 0), of([0, 1], C));
        let ([m], [n], [k]) = (&m[..], &n[..], &k[..]) else {
            return Err("it is not of one dimension each of rows, columns and sums".into());
        };
        if (0..sizes.len()).filter(|d| sizes[*d] != 1).count() != 3 {
            return Err("it has batches".into());
        }
        let near = |i: usize, d: usize| {
            let last = contraction.axis(i, d).is_some_and(|a| a + 1 == contraction.views[i].dims.len());
            last && contraction.stride(i, d) == Some(1)
        };
        if !near(0, *k) || !near(1, *k) {
            return Err("what is summed up is not known to lie side by side".into());
        }
        // The larger operand is the matrix, however the output lies.
        let (left, dims) = if sizes[*m] <= sizes[*n] { (0, [*m, *n, *k]) } else { (1, [*n, *m, *k]) };
        let sizes = dims.map(|d| sizes[d]);
        let [rows, columns, sums] = sizes;
        let lanes = (bits / 8 / bytes).max(1);
        if rows > most {
            return Err(format!("more than {most} rows"));
        }
        if columns.saturating_mul(sums) < SMALL || rows == 0 {
            return Err(format!("the matrix has less than {SMALL} elements"));
        }
        if sums < LEAST_VECTORS * lanes {
            return Err(format!("it adds up {sums} elements only"));
        }
        // Registers for sums, beside those for a vector of each row and column: 24 of 32, or 12 of 16.
        let most_tile = if bits >= 512 { [6, 4] } else { [4, 3] };
        let even = |count: i64, most: i64| ceildiv(count, ceildiv(count, most));
        let tile = [even(rows, most_tile[0]), most_tile[1].min(columns)];
        let conversions = contraction.body.conversions();
        let fill = zero_fill(op, contraction.operands[C]).filter(|_| sums <= PART);
        Ok(Product { contraction, left, matrix: 1 - left, dims, sizes, tile, lanes, conversions, fill })
    }

    fn element(&self) -> String {
        self.contraction.views[C].element.to_string()
    }

    fn vector(&self, element: &str) -> String {
        format!("vector<{}x{element}>", self.lanes)
    }

    fn emit(&self, module: Op, op: Op, functions: &mut SharedFunctions) -> Result<(), String> {
        let key = format!("{} {:?} {:?} {}", self.left, self.dims, self.conversions, self.fill.is_some());
        let define = |name: &str, parameters: &[(String, Type)]| self.define(module, name, parameters);
        functions.call(module, op, &self.contraction, ("dots", &key), define)?;
        if let Some(fill) = self.fill {
            fill.erase();
        }
        Ok(())
    }

    fn define(&self, module: Op, name: &str, parameters: &[(String, Type)]) -> Result<(), String> {
        let [rows, columns, sums] = self.sizes;
        let [tile_rows, tile_columns] = self.tile;
        let strip = (STRIP / tile_columns).max(1) * tile_columns;
        let block = (BLOCK / tile_rows).max(1) * tile_rows;
        let whole = |count: i64, tile: i64| count / tile * tile;
        let (whole_rows, whole_columns) = (whole(rows, tile_rows), whole(columns, tile_columns));
        // What is left over of less than a tile belongs to the last strip or block.
        let (strips, blocks) = (ceildiv(whole_columns, strip).max(1), ceildiv(whole_rows, block).max(1));
        let before = format!("%count = arith.constant {} : index\n", strips * blocks);

        let constants = [
            ("c0", 0),
            ("c1", 1),
            ("strip_columns", strip),
            ("block_rows", block),
            ("blocks", blocks),
            ("tile_rows", tile_rows),
            ("tile_columns", tile_columns),
            ("whole_rows", whole_rows),
            ("whole_columns", whole_columns),
            ("lanes", self.lanes),
            ("part", PART),
            ("sums", sums),
            ("whole_sums", whole(sums, self.lanes)),
        ];
        let mut body: String =
            constants.iter().map(|(name, value)| format!("%{name} = arith.constant {value} : index\n")).collect();
        body += &format!("%zero = arith.constant dense<0.0> : {}\n", self.vector(&self.element()));
        for i in 0..tile_rows.max(tile_columns) {
            body += &format!("%at{i} = arith.constant {i} : index\n");
        }
        if sums % self.lanes != 0 {
            body += &format!("%rest = arith.constant {} : index\n", sums % self.lanes);
            body += &format!("%mask = vector.create_mask %rest : vector<{}xi1>\n", self.lanes);
        }
        // The blocks of rows of a strip follow one another: the strip stays in a cache.
        body += "scf.for %task = %begin to %end step %c1 {\n%strip = arith.divui %task, %blocks : index\n\
                 %block = arith.remui %task, %blocks : index\n%n_from = arith.muli %strip, %strip_columns : index\n\
                 %n_full = arith.addi %n_from, %strip_columns : index\n%n_to = arith.minui %n_full, %whole_columns : index\n\
                 %m_from = arith.muli %block, %block_rows : index\n\
                 %m_full = arith.addi %m_from, %block_rows : index\n%m_to = arith.minui %m_full, %whole_rows : index\n\
                 %last_strip = arith.cmpi uge, %n_full, %whole_columns : index\n\
                 %last_block = arith.cmpi uge, %m_full, %whole_rows : index\n\
                 scf.for %k_from = %c0 to %sums step %part {\n%k_full = arith.addi %k_from, %part : index\n\
                 %k_to = arith.minui %k_full, %whole_sums : index\n%last_part = arith.cmpi uge, %k_full, %sums : index\n";
        body += "scf.for %m = %m_from to %m_to step %tile_rows {\n";
        body += &self.columns("m", tile_rows);
        body += "}\n";
        if rows % tile_rows != 0 {
            body += "scf.if %last_block {\n";
            body += &self.columns("whole_rows", rows % tile_rows);
            body += "}\n";
        }
        body += "}\n}\n";
        let grain = (LEAST / (strip * sums).max(1) / rows.min(block)).max(1);
        let shape = ParallelLoop { name, parameters, before: &before, grain, body: &body, ..Default::default() };
        shape.define(module).map(|_| ())
    }

    /// The columns of a strip, for as many rows from `%{m}` on.
    fn columns(&self, m: &str, rows: i64) -> String {
        let [_, columns, _] = self.sizes;
        let [_, tile_columns] = self.tile;
        let mut text = String::new();
        for row in 0..rows {
            text += &format!("%m{row} = arith.addi %{m}, %at{row} : index\n");
        }
        text += "scf.for %n = %n_from to %n_to step %tile_columns {\n";
        text += &self.dots("n", [rows, tile_columns]);
        text += "}\n";
        if columns % tile_columns != 0 {
            text += "scf.if %last_strip {\n";
            text += &self.dots("whole_columns", [rows, columns % tile_columns]);
            text += "}\n";
        }
        text
    }

    /// A tile of the output, of rows `%m0` on and columns from `%{n}` on.
    fn dots(&self, n: &str, [rows, columns]: [i64; 2]) -> String {
        let (element, vector) = (self.element(), self.vector(&self.element()));
        let tiles: Vec<(i64, i64)> = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).collect();
        let (count, types) = (tiles.len(), vec![vector.clone(); tiles.len()].join(", "));
        let list = |name: &str| tiles.iter().map(|(r, c)| format!("%{name}{r}_{c}")).collect::<Vec<_>>().join(", ");
        let starts = |name: &str, from: &dyn Fn(usize) -> String| {
            let each = tiles.iter().enumerate().map(|(i, (r, c))| format!("%{name}{r}_{c} = {}", from(i)));
            each.collect::<Vec<_>>().join(", ")
        };
        let mut text = String::new();
        for column in 0..columns {
            text += &format!("%n{column} = arith.addi %{n}, %at{column} : index\n");
        }
        text += &format!(
            "%whole:{count} = scf.for %k = %k_from to %k_to step %lanes iter_args({}) -> ({types}) {{\n",
            starts("sum", &|_| "%zero".into())
        );
        text += &self.step("k", [rows, columns], false);
        text += &format!("scf.yield {} : {types}\n}}\n", list("next"));
        let mut sums = "whole";
        if self.sizes[2] % self.lanes != 0 {
            // What is left over of less than a vector, behind the last part.
            text += &format!("%all:{count} = scf.if %last_part -> ({types}) {{\n");
            for (i, (r, c)) in tiles.iter().enumerate() {
                text += &format!("%sum{r}_{c} = arith.addf %whole#{i}, %zero : {vector}\n");
            }
            text += &self.step("whole_sums", [rows, columns], true);
            let whole = (0..count).map(|i| format!("%whole#{i}")).collect::<Vec<_>>().join(", ");
            text += &format!("scf.yield {} : {types}\n}} else {{\nscf.yield {whole} : {types}\n}}\n", list("next"));
            sums = "all";
        }
        let ty = self.contraction.views[C].ty;
        for (i, (r, c)) in tiles.iter().enumerate() {
            let places = self.places(C, &format!("%m{r}"), &format!("%n{c}"));
            let dot = if self.fill.is_some() { "new" } else { "dot" };
            text += &format!(
                "%{dot}{r}_{c} = vector.reduction <add>, %{sums}#{i} fastmath<reassoc> : {vector} into {element}\n"
            );
            if self.fill.is_none() {
                text += &format!(
                    "%old{r}_{c} = memref.load %v{C}[{places}] : {ty}\n\
                     %new{r}_{c} = arith.addf %old{r}_{c}, %dot{r}_{c} : {element}\n"
                );
            }
            text += &format!("memref.store %new{r}_{c}, %v{C}[{places}] : {ty}\n");
        }
        text
    }

    /// `%nextR_C`: the sums `%sumR_C` and the products of a vector of each row and column from `%{k}` on.
    fn step(&self, k: &str, [rows, columns]: [i64; 2], masked: bool) -> String {
        let vector = self.vector(&self.element());
        let mut text = String::new();
        for column in 0..columns {
            let place = (format!("%n{column}"), format!("%{k}"));
            text += &self.load(&format!("w{column}"), self.matrix, place, masked);
        }
        for row in 0..rows {
            let place = (format!("%m{row}"), format!("%{k}"));
            text += &self.load(&format!("x{row}"), self.left, place, masked);
            for column in 0..columns {
                text += &format!(
                    "%product{row}_{column} = arith.mulf %x{row}, %w{column} fastmath<contract> : {vector}\n\
                     %next{row}_{column} = arith.addf %sum{row}_{column}, %product{row}_{column} fastmath<contract> : {vector}\n"
                );
            }
        }
        text
    }

    /// `%{name}`: a vector of operand `i` at these places, as elements of the output's type.
    fn load(&self, name: &str, i: usize, (first, k): (String, String), masked: bool) -> String {
        let view = &self.contraction.views[i];
        let (own, wide) = (self.vector(&view.element.to_string()), self.vector(&self.element()));
        let raw = if self.conversions[i].is_some() { format!("{name}_raw") } else { name.to_string() };
        let places = self.places(i, &first, &k);
        let mut text = if masked {
            let zero = if view.element.to_string().starts_with('i') { "0" } else { "0.0" };
            format!(
                "%{raw}_none = arith.constant dense<{zero}> : {own}\n\
                 %{raw} = vector.maskedload %v{i}[{places}], %mask, %{raw}_none : {}, vector<{}xi1>, {own} into {own}\n",
                view.ty, self.lanes
            )
        } else {
            format!("%{raw} = vector.load %v{i}[{places}] : {}, {own}\n", view.ty)
        };
        if let Some(operation) = self.conversions[i] {
            text += &format!("%{name} = {operation} %{raw} : {own} to {wide}\n");
        }
        text
    }

    /// The indices of operand `i`: `first` and `second` of its own two dimensions, zero where it has one of size 1.
    fn places(&self, i: usize, first: &str, second: &str) -> String {
        let [m, n, k] = self.dims;
        let own = if i == C {
            [m, n]
        } else if i == self.left {
            [m, k]
        } else {
            [n, k]
        };
        let of = |d: &usize| match own.iter().position(|o| o == d) {
            Some(0) => first,
            Some(_) => second,
            None => "%c0",
        };
        self.contraction.views[i].dims.iter().map(of).collect::<Vec<_>>().join(", ")
    }
}
