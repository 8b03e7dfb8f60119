//! `tinymlir-vector-matmul`: products of rows and a matrix become tiles of vector registers, on all threads.
//!
//! A CBLAS copies the matrix into an order of its own before it multiplies, which costs as much as the product where few rows
//! use it. Here the matrix `B[k, n]` is read as it lies. A thread takes a strip of columns as wide as a few vectors and a block
//! of rows, and keeps a tile of the output in registers while it walks down the strip: a vector of B times an element of A, added
//! up. The strip stays in the cache for the next tile, and the next strip is prefetched meanwhile. Narrower elements
//! (bf16, f16, i8, which linalg extends) are converted in registers. An output that a fill with zero starts is not read,
//! and the fill goes. No element's arithmetic depends on the number of threads.
//!
//! A tile is as large as the registers of `vector-bits` allow, as in Goto and van de Geijn, "Anatomy of high-performance
//! matrix multiplication" (2008), without their packing.
//!
//! Runs on bufferized functions between `tinymlir-gemv` and `tinymlir-blas`, which takes what this leaves, with a remark: small
//! matrices, one row, more than `most-rows` or an unknown number, sums so long that no cache has a strip, batches, matrices
//! whose columns do not lie side by side, and outputs of other types.
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
    argument: "tinymlir-vector-matmul",
    description: "Turn products of rows and a matrix into tiles of vector registers, on all threads",
    anchor: "builtin.module",
    options: &[
        Opt::integer("vector-bits", "256", "The width of a vector register"),
        Opt::integer("most-rows", "1024", "Rows from which on a product is left to BLAS"),
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
/// Elements of a matrix that are a thread's at least: some microseconds.
const LEAST: i64 = 1 << 15;
/// Bytes of a strip at most that are read more than once: it stays in the second cache, or nearly.
const STRIP: i64 = 2 << 20;
/// Rows of a block at most.
const BLOCK: i64 = 128;
/// Bytes of a cache line.
const LINE: i64 = 64;

fn run(cx: &PassCx, module: Op) -> PassResult {
    let (bits, most) = (cx.integer("vector-bits"), cx.integer("most-rows"));
    // From the text of a loop to its function's name.
    let mut functions = SharedFunctions::default();
    for op in module.walk().into_iter().filter(|op| op.is_contraction()).collect::<Vec<_>>() {
        match Product::of(op, bits, most) {
            Err(reason) => {
                cx.missed(op, &format!("is no product for registers: {reason}"));
                cx.count("declined");
            }
            Ok(product) => {
                let message = format!("becomes tiles of {} x {} in registers", product.rows, product.width());
                cx.passed_with(op, &message, &[("kernel", "tiles in registers")]);
                cx.count("loops");
                cx.check(op, product.emit(module, op, &mut functions))?;
                op.erase();
            }
        }
    }
    Ok(())
}

const C: usize = 2;

struct Product {
    contraction: Contraction,
    /// Which input has the rows and which is the matrix.
    left: usize,
    matrix: usize,
    /// The loop dimensions: rows, columns, sums.
    dims: [usize; 3],
    /// The number of rows, of rows in a tile, of vectors beside one another in a tile, and of elements in a vector.
    count: i64,
    rows: i64,
    vectors: i64,
    lanes: i64,
    /// How an element of each input becomes one of the output.
    conversions: [Option<&'static str>; 2],
    /// Whether the output starts as zero.
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
        let proper = |d: &usize| contraction.sizes[*d] != Some(1);
        let of = |inside: [usize; 2], outside: usize| -> Vec<usize> {
            contraction.dims(inside, outside).into_iter().filter(proper).collect()
        };
        let (k, m, n) = (of([0, 1], C), of([0, C], 1), of([1, C], 0));
        let ([k], [m], [n]) = (&k[..], &m[..], &n[..]) else {
            return Err(format!(
                "it has {}, {} and {} dimensions of rows, columns and sums",
                m.len(),
                n.len(),
                k.len()
            ));
        };
        if (0..contraction.sizes.len()).filter(proper).count() != 3 {
            return Err("it has batches".into());
        }
        let last =
            |i: usize, d: usize| contraction.axis(i, d).is_some_and(|a| a + 1 == contraction.views[i].dims.len());
        let near = |i, d| last(i, d) && contraction.stride(i, d) == Some(1);
        let (left, dims) = if near(1, *n) && near(C, *n) {
            (0, [*m, *n, *k])
        } else if near(0, *m) && near(C, *m) {
            (1, [*n, *m, *k])
        } else {
            return Err("the columns of the matrix or the output are not known to lie side by side".into());
        };
        let count = contraction.sizes[dims[0]].filter(|count| *count <= most);
        let count = count.ok_or_else(|| format!("more than {most} rows, or an unknown number"))?;
        if count == 0 {
            return Err("it has no rows".into());
        }
        let elements = [dims[1], dims[2]].map(|d| contraction.sizes[d]);
        if let [Some(columns), Some(sums)] = elements
            && columns.saturating_mul(sums) < SMALL
        {
            return Err(format!("the matrix has less than {SMALL} elements"));
        }
        let conversions = contraction.body.conversions();
        // Registers for the output, beside those for a row of the matrix and an element: 24 of 32, or 12 of 16.
        let (tall, tiles) = if bits >= 512 { (8, 24) } else { (6, 12) };
        let blocks = ceildiv(count, tall);
        let rows = ceildiv(count, blocks);
        let vectors = (tiles / rows).clamp(2, 6);
        let lanes = (bits / 8 / bytes).max(1);
        let summed = contraction.sizes[dims[2]].unwrap_or(0);
        if blocks > 1 && summed.saturating_mul(vectors * lanes * bytes) > STRIP {
            return Err(format!("it adds up {summed} elements, more than a cache has for it"));
        }
        let fill = zero_fill(op, contraction.operands[C]);
        Ok(Product { contraction, left, matrix: 1 - left, dims, count, rows, vectors, lanes, conversions, fill })
    }

    /// Columns of a strip.
    fn width(&self) -> i64 {
        self.vectors * self.lanes
    }

    /// Rows that walk down a strip one tile after the other, a multiple of those of a tile: so many that the strip's reading is paid
    /// for, and so few that they stay in a cache.
    fn block_rows(&self) -> i64 {
        (BLOCK / self.rows).max(1) * self.rows
    }

    /// How many such blocks there are; what is left over of less than a tile belongs to the last.
    fn blocks(&self) -> i64 {
        let whole = self.count / self.rows * self.rows;
        ceildiv(whole, self.block_rows()).max(1)
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
        functions.call(module, op, &self.contraction, ("matmul", &key), define)?;
        if let Some(fill) = self.fill {
            fill.erase();
        }
        Ok(())
    }

    fn define(&self, module: Op, name: &str, parameters: &[(String, Type)]) -> Result<(), String> {
        let width = self.width();
        let mut sizes = String::from("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n");
        sizes += &format!("%width = arith.constant {width} : index\n");
        sizes += &self.contraction.size("columns", self.dims[1]);
        sizes += "%strips = arith.ceildivui %columns, %width : index\n";
        let before = format!(
            "{sizes}%blocks = arith.constant {} : index\n%count = arith.muli %strips, %blocks : index\n",
            self.blocks()
        );

        let mut body = sizes + &self.contraction.size("sums", self.dims[2]);
        if self.fill.is_some() {
            body += &format!("%zero = arith.constant dense<0.0> : {}\n", self.vector(&self.element()));
        }
        for row in 0..self.rows {
            body += &format!("%row{row} = arith.constant {row} : index\n");
        }
        body += &format!(
            "%rows = arith.constant {} : index\n%whole_rows = arith.constant {} : index\n\
             %block_rows = arith.constant {} : index\n",
            self.rows,
            self.count / self.rows * self.rows,
            self.block_rows()
        );
        body += "%highest = arith.subi %columns, %c1 : index\n";
        body += "scf.for %task = %begin to %end step %c1 {\n%block = arith.divui %task, %strips : index\n\
                 %strip = arith.remui %task, %strips : index\n%from = arith.muli %block, %block_rows : index\n\
                 %full_block = arith.addi %from, %block_rows : index\n\
                 %to = arith.minui %full_block, %whole_rows : index\n\
                 %n0 = arith.muli %strip, %width : index\n%next = arith.addi %n0, %width : index\n";
        for v in 1..self.vectors {
            body += &format!("%at{v} = arith.constant {} : index\n", v * self.lanes);
            body += &format!("%n{v} = arith.addi %n0, %at{v} : index\n");
        }
        for (line, at) in self.lines() {
            body += &format!("%line{line} = arith.constant {at} : index\n");
            body += &format!("%beyond{line} = arith.addi %next, %line{line} : index\n");
            body += &format!("%ahead{line} = arith.minui %beyond{line}, %highest : index\n");
        }
        let even = self.contraction.sizes[self.dims[1]].is_some_and(|n| n % width == 0);
        if even {
            body += &self.strip(false);
        } else {
            body += "%left = arith.subi %columns, %n0 : index\n%full = arith.cmpi uge, %left, %width : index\n";
            body += &format!("scf.if %full {{\n{}}} else {{\n{}}}\n", self.strip(false), self.strip(true));
        }
        body += "}\n";
        let depth = self.contraction.sizes[self.dims[2]].unwrap_or(64);
        let grain = (LEAST / (depth * width).max(1)).max(1);
        let shape = ParallelLoop { name, parameters, before: &before, grain, body: &body, ..Default::default() };
        shape.define(module).map(|_| ())
    }

    /// The cache lines of a strip's row: their numbers and first elements.
    fn lines(&self) -> Vec<(i64, i64)> {
        let element = self.contraction.views[self.matrix].element;
        let step = LINE / element.bytes().unwrap_or(4).clamp(1, LINE);
        (0..self.width()).step_by(step as usize).enumerate().map(|(i, at)| (i as i64, at)).collect()
    }

    /// All rows of a strip; `masked` where it is narrower than the vectors of a tile.
    fn strip(&self, masked: bool) -> String {
        let mut text = String::new();
        if masked {
            for v in 0..self.vectors {
                text += &format!("%start{v} = arith.constant {} : index\n", v * self.lanes);
                text += &format!("%inside{v} = arith.minui %start{v}, %left : index\n");
                text += &format!("%live{v} = arith.subi %left, %inside{v} : index\n");
                text += &format!("%mask{v} = vector.create_mask %live{v} : vector<{}xi1>\n", self.lanes);
            }
        }
        text += "scf.for %m = %from to %to step %rows {\n";
        text += &self.tile("m", self.rows, masked);
        text += "}\n";
        let rest = self.count % self.rows;
        if rest != 0 {
            text += "%last_block = arith.cmpi eq, %to, %whole_rows : index\nscf.if %last_block {\n";
            text += &self.tile("whole_rows", rest, masked);
            text += "}\n";
        }
        text
    }

    /// A block of rows of the output, from row `%{m}` on.
    fn tile(&self, m: &str, rows: i64, masked: bool) -> String {
        let (element, vector) = (self.element(), self.vector(&self.element()));
        let tiles: Vec<(i64, i64)> = (0..rows).flat_map(|r| (0..self.vectors).map(move |v| (r, v))).collect();
        let mut text = String::new();
        for row in 0..rows {
            text += &format!("%m{row} = arith.addi %{m}, %row{row} : index\n");
        }
        for (row, v) in &tiles {
            if self.fill.is_none() {
                let place = (format!("%m{row}"), format!("%n{v}"));
                text += &self.load(&format!("old{row}_{v}"), C, place, masked.then_some(*v));
            }
        }
        let carried = tiles.iter().map(|(r, v)| {
            let start = if self.fill.is_some() { "%zero".into() } else { format!("%old{r}_{v}") };
            format!("%sum{r}_{v} = {start}")
        });
        let types = vec![vector.clone(); tiles.len()].join(", ");
        text += &format!(
            "%sums_of:{} = scf.for %k = %c0 to %sums step %c1 iter_args({}) -> ({types}) {{\n",
            tiles.len(),
            carried.collect::<Vec<_>>().join(", ")
        );
        for v in 0..self.vectors {
            let place = ("%k".to_string(), format!("%n{v}"));
            text += &self.load(&format!("w{v}"), self.matrix, place, masked.then_some(v));
        }
        for (line, _) in self.lines() {
            let places = self.places(self.matrix, "%k", &format!("%ahead{line}"));
            let ty = self.contraction.views[self.matrix].ty;
            text += &format!("memref.prefetch %v{}[{places}], read, locality<2>, data : {ty}\n", self.matrix);
        }
        let view = &self.contraction.views[self.left];
        for row in 0..rows {
            let places = self.places(self.left, &format!("%m{row}"), "%k");
            let conversion = self.conversions[self.left];
            let raw = if conversion.is_some() { format!("x{row}_raw") } else { format!("x{row}") };
            text += &format!("%{raw} = memref.load %v{}[{places}] : {}\n", self.left, view.ty);
            if let Some(operation) = conversion {
                text += &format!("%x{row} = {operation} %{raw} : {} to {element}\n", view.element);
            }
            text += &format!("%xs{row} = vector.broadcast %x{row} : {element} to {vector}\n");
        }
        for (r, v) in &tiles {
            text += &format!(
                "%product{r}_{v} = arith.mulf %w{v}, %xs{r} fastmath<contract> : {vector}\n\
                 %next{r}_{v} = arith.addf %sum{r}_{v}, %product{r}_{v} fastmath<contract> : {vector}\n"
            );
        }
        let next = tiles.iter().map(|(r, v)| format!("%next{r}_{v}")).collect::<Vec<_>>().join(", ");
        text += &format!("scf.yield {next} : {types}\n}}\n");
        for (i, (row, v)) in tiles.iter().enumerate() {
            let (places, ty) = (self.places(C, &format!("%m{row}"), &format!("%n{v}")), self.contraction.views[C].ty);
            text += &if masked {
                let mask = format!("vector<{}xi1>", self.lanes);
                format!("vector.maskedstore %v{C}[{places}], %mask{v}, %sums_of#{i} : {ty}, {mask}, {vector}\n")
            } else {
                format!("vector.store %sums_of#{i}, %v{C}[{places}] : {ty}, {vector}\n")
            };
        }
        text
    }

    /// `%{name}`: a vector of operand `i` at these places, as elements of the output's type; under mask `masked`.
    fn load(&self, name: &str, i: usize, (row, column): (String, String), masked: Option<i64>) -> String {
        let view = &self.contraction.views[i];
        let (own, wide) = (self.vector(&view.element.to_string()), self.vector(&self.element()));
        let conversion = if i == C { None } else { self.conversions[i] };
        let raw = if conversion.is_some() { format!("{name}_raw") } else { name.to_string() };
        let places = self.places(i, &row, &column);
        let mut text = match masked {
            None => format!("%{raw} = vector.load %v{i}[{places}] : {}, {own}\n", view.ty),
            Some(v) => {
                let zero = if view.element.to_string().starts_with('i') { "0" } else { "0.0" };
                format!(
                    "%{raw}_none = arith.constant dense<{zero}> : {own}\n\
                     %{raw} = vector.maskedload %v{i}[{places}], %mask{v}, %{raw}_none : {}, vector<{}xi1>, {own} into {own}\n",
                    view.ty, self.lanes
                )
            }
        };
        if let Some(operation) = conversion {
            text += &format!("%{name} = {operation} %{raw} : {own} to {wide}\n");
        }
        text
    }

    /// The indices of operand `i`: `first` and `second` of its own two dimensions, zero where it has one of size 1.
    fn places(&self, i: usize, first: &str, second: &str) -> String {
        let [m, n, k] = self.dims;
        let (outer, inner) = if i == C {
            (m, n)
        } else if i == self.left {
            (m, k)
        } else {
            (k, n)
        };
        let of = |d: &usize| match *d {
            d if d == outer => first,
            d if d == inner => second,
            _ => "%c0",
        };
        self.contraction.views[i].dims.iter().map(of).collect::<Vec<_>>().join(", ")
    }
}
