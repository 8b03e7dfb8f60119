//! `tinymlir-gemv`: products of a matrix and a vector become loops that read the matrix once, on all threads.
//!
//! A contraction on memrefs one of whose inputs is a matrix and the other a vector, up to dimensions of size 1, is bound by
//! how fast memory is read. Where the outputs lie side by side (`W[k, n]`) each part of 96 rows is added up in a row of its
//! own, eight rows of the matrix at a time, and the parts are added up in order; where the summed elements do (`W[n, k]`) each
//! output is a sum of its own. Elements of narrower types (bf16, f16, i8, which linalg extends to f32) are converted as they
//! are read: nothing is written in a wider type. Parts do not depend on the number of threads, and neither does the result.
//!
//! Runs on bufferized functions before `tinymlir-blas`, which takes what this leaves, with a remark: several dimensions of a
//! kind, such as batches, and types other than those.

use crate::{
    contraction::Contraction,
    ir::{Op, Pass, PassCx, PassResult, Type},
    threads::ParallelLoop,
};
use mlir_sys::*;
use std::collections::HashMap;

pub static PASS: Pass = Pass {
    argument: "tinymlir-gemv",
    description: "Turn products of a matrix and a vector into loops that read the matrix once, on all threads",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("loops", "Products that became loops"), ("declined", "Products that are left")],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__llvm__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
    ],
    run,
};

/// Rows of the matrix that one part adds up, and that are read at a time.
const PART: i64 = 96;
const ROWS: i64 = 8;
/// Elements of a matrix that are a thread's at least: some microseconds.
const LEAST: i64 = 1 << 15;

fn run(cx: &PassCx, module: Op) -> PassResult {
    // From the text of a loop to its function's name.
    let mut functions: HashMap<String, String> = HashMap::new();
    for op in module.walk().into_iter().filter(|op| op.is_contraction()).collect::<Vec<_>>() {
        match Gemv::of(op) {
            Err(reason) => {
                cx.missed(op, &format!("is no product of a matrix and a vector: {reason}"));
                cx.count("declined");
            }
            Ok(gemv) => {
                cx.passed_with(op, "becomes a loop over the matrix", &[("kernel", "loop over the matrix")]);
                cx.count("loops");
                cx.check(op, gemv.emit(module, op, &mut functions))?;
                op.erase();
            }
        }
    }
    Ok(())
}

const C: usize = 2;

struct Gemv {
    contraction: Contraction,
    /// Which input is the matrix and which the vector.
    matrix: usize,
    vector: usize,
    /// The loop dimensions: outputs and sums.
    n: usize,
    k: usize,
    /// How an element of each input becomes one of the output.
    conversions: [Option<&'static str>; 2],
}

impl Gemv {
    fn of(op: Op) -> Result<Gemv, String> {
        let contraction = Contraction::of(op)?;
        let proper = |d: &usize| contraction.sizes[*d] != Some(1);
        let of = |inside: [usize; 2], outside: usize| -> Vec<usize> {
            contraction.dims(inside, outside).into_iter().filter(proper).collect()
        };
        let (k, m, n) = (of([0, 1], C), of([0, C], 1), of([1, C], 0));
        let [k] = k[..] else { return Err(format!("it sums over {} dimensions", k.len())) };
        let (matrix, n) = match (&m[..], &n[..]) {
            ([], [n]) => (1, *n),
            ([m], []) => (0, *m),
            _ => {
                return Err(format!(
                    "it has {} dimensions of the left operand and {} of the right one",
                    m.len(),
                    n.len()
                ));
            }
        };
        let others: Vec<usize> = (0..contraction.sizes.len()).filter(proper).collect();
        if others.len() != 2 {
            return Err("it has batches".into());
        }
        let output = contraction.views[C].element.to_string();
        let conversions = contraction.body.conversions();
        if !["f32", "f64"].contains(&output.as_str()) {
            return Err(format!("it adds up in {output}"));
        }
        if contraction.views.iter().any(|v| v.space.is_some()) {
            return Err("an operand lies in another memory space".into());
        }
        let near = |d: usize| contraction.stride(matrix, d) == Some(1);
        if !near(n) && !near(k) {
            return Err("no elements of the matrix are known to lie side by side".into());
        }
        Ok(Gemv { matrix, vector: 1 - matrix, n, k, conversions, contraction })
    }

    /// `%name`: an element of operand `i`, at `%n` and `%k` or what stands for them, as one of the output's type.
    fn load(&self, name: &str, i: usize, n: &str, k: &str) -> String {
        let view = &self.contraction.views[i];
        let places: Vec<&str> = view
            .dims
            .iter()
            .map(|d| {
                if *d == self.n {
                    n
                } else if *d == self.k {
                    k
                } else {
                    "%c0"
                }
            })
            .collect();
        let conversion = if i == C { None } else { self.conversions[i] };
        let raw = if conversion.is_some() { format!("{name}_raw") } else { name.to_string() };
        let mut text = format!("%{raw} = memref.load %v{i}[{}] : {}\n", places.join(", "), view.ty);
        if let Some(operation) = conversion {
            text +=
                &format!("%{name} = {operation} %{raw} : {} to {}\n", view.element, self.contraction.views[C].element);
        }
        text
    }

    fn store(&self, value: &str, n: &str) -> String {
        let view = &self.contraction.views[C];
        let places: Vec<&str> = view.dims.iter().map(|d| if *d == self.n { n } else { "%c0" }).collect();
        format!("memref.store {value}, %v{C}[{}] : {}\n", places.join(", "), view.ty)
    }

    fn emit(&self, module: Op, op: Op, functions: &mut HashMap<String, String>) -> Result<(), String> {
        let c = &self.contraction;
        let parameters: Vec<(String, Type)> = (0..3).map(|i| (format!("v{i}"), c.views[i].ty)).collect();
        let types = parameters.iter().map(|(_, ty)| ty.to_string()).collect::<Vec<_>>().join(", ");
        let by_rows = c.stride(self.matrix, self.n) != Some(1);
        let key = format!("{by_rows} {} {} {} {:?} {types}", self.matrix, self.n, self.k, self.conversions);
        let name = match functions.get(&key) {
            Some(name) => name.clone(),
            None => {
                let name = module.unique_symbol("gemv");
                if by_rows { self.rows(module, &name, &parameters) } else { self.columns(module, &name, &parameters) }?;
                functions.insert(key, name.clone());
                name
            }
        };
        let inputs: Vec<_> = ["v0", "v1", "v2"].into_iter().zip(c.operands).collect();
        let declaration = format!("func.func private @{name}({types})");
        op.build_before(&inputs, &declaration, &format!("func.call @{name}(%v0, %v1, %v2) : ({types}) -> ()"))?;
        Ok(())
    }

    /// Each output is the sum along a row of the matrix.
    fn rows(&self, module: Op, name: &str, parameters: &[(String, Type)]) -> Result<(), String> {
        let element = self.contraction.views[C].element;
        let mut body = String::from("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n");
        body += &format!("%zero = arith.constant 0.0 : {element}\n");
        body += &self.contraction.size("sums", self.k);
        body += "scf.for %n = %begin to %end step %c1 {\n";
        body += &format!("%sum = scf.for %k = %c0 to %sums step %c1 iter_args(%part = %zero) -> ({element}) {{\n");
        body += &self.load("w", self.matrix, "%n", "%k");
        body += &self.load("x", self.vector, "%n", "%k");
        body += &format!(
            "%product = arith.mulf %w, %x fastmath<contract> : {element}\n\
             %next = arith.addf %part, %product fastmath<reassoc, contract> : {element}\nscf.yield %next : {element}\n}}\n"
        );
        body += &self.load("old", C, "%n", "%c0");
        body += &format!("%new = arith.addf %old, %sum : {element}\n{}}}\n", self.store("%new", "%n"));
        let grain = self.contraction.sizes[self.k].map_or(64, |k| (LEAST / k.max(1)).max(1));
        let before = self.contraction.size("count", self.n);
        let shape = ParallelLoop { name, parameters, before: &before, grain, body: &body, ..Default::default() };
        shape.define(module).map(|_| ())
    }

    /// Parts of rows are added up into rows of a buffer, and these into the output.
    fn columns(&self, module: Op, name: &str, parameters: &[(String, Type)]) -> Result<(), String> {
        let element = self.contraction.views[C].element;
        let sizes = &self.contraction.sizes;
        let columns = sizes[self.n].map_or("?".to_string(), |n| n.to_string());
        let parts_type = format!("memref<?x{columns}x{element}>");
        let indices = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n";
        let mut before =
            indices.to_string() + &self.contraction.size("columns", self.n) + &self.contraction.size("sums", self.k);
        before += &format!("%part = arith.constant {PART} : index\n%count = arith.ceildivui %sums, %part : index\n");
        let dynamic = if sizes[self.n].is_none() { ", %columns" } else { "" };
        before += &format!("%parts = memref.alloc(%count{dynamic}) {{alignment = 64 : i64}} : {parts_type}\n");

        let mut body =
            indices.to_string() + &self.contraction.size("columns", self.n) + &self.contraction.size("sums", self.k);
        body += &format!("%zero = arith.constant 0.0 : {element}\n");
        body += &format!("%part = arith.constant {PART} : index\n%rows = arith.constant {ROWS} : index\n");
        body += "scf.for %p = %begin to %end step %c1 {\n";
        body += &format!(
            "scf.for %n = %c0 to %columns step %c1 {{\nmemref.store %zero, %parts[%p, %n] : {parts_type}\n}}\n"
        );
        body += "%from = arith.muli %p, %part : index\n%full = arith.addi %from, %part : index\n\
                 %to = arith.minui %full, %sums : index\n%length = arith.subi %to, %from : index\n\
                 %rest = arith.remui %length, %rows : index\n%whole = arith.subi %to, %rest : index\n";
        for (first, last, rows) in [("%from", "%whole", ROWS), ("%whole", "%to", 1)] {
            body += &format!(
                "%step{rows} = arith.constant {rows} : index\nscf.for %k = {first} to {last} step %step{rows} {{\n"
            );
            for row in 0..rows {
                body +=
                    &format!("%row{row} = arith.constant {row} : index\n%k{row} = arith.addi %k, %row{row} : index\n");
                body += &self.load(&format!("x{row}"), self.vector, "%c0", &format!("%k{row}"));
            }
            body += "scf.for %n = %c0 to %columns step %c1 {\n";
            body += &format!("%sum0 = memref.load %parts[%p, %n] : {parts_type}\n");
            for row in 0..rows {
                body += &self.load(&format!("w{row}"), self.matrix, "%n", &format!("%k{row}"));
                body += &format!(
                    "%product{row} = arith.mulf %w{row}, %x{row} fastmath<contract> : {element}\n\
                     %sum{} = arith.addf %sum{row}, %product{row} fastmath<contract> : {element}\n",
                    row + 1
                );
            }
            body += &format!("memref.store %sum{rows}, %parts[%p, %n] : {parts_type}\n}}\n}}\n");
        }
        body += "}\n";

        let mut after =
            String::from("scf.for %p = %c0 to %count step %c1 {\nscf.for %n = %c0 to %columns step %c1 {\n");
        after += &self.load("old", C, "%n", "%c0");
        after += &format!(
            "%sum = memref.load %parts[%p, %n] : {parts_type}\n%new = arith.addf %old, %sum : {element}\n{}}}\n}}\n",
            self.store("%new", "%n")
        );
        after += &format!("memref.dealloc %parts : {parts_type}\n");
        let grain = sizes[self.n].map_or(1, |n| (LEAST / (PART * n.max(1))).max(1));
        let ty = Type::parse(module.ctx(), &parts_type).ok_or("internal error: the type of the parts")?;
        let shared = [("parts".to_string(), ty)];
        let shape = ParallelLoop {
            name,
            parameters,
            before: &before,
            shared: &shared,
            grain,
            body: &body,
            after: &after,
            ..Default::default()
        };
        shape.define(module).map(|_| ())
    }
}
