//! `tinymlir-blas`: contractions on memrefs become CBLAS calls.
//!
//! Every contraction over f32 or f64, with a name or as a generic that multiplies and adds and nothing else, whose
//! operands a CBLAS routine can address becomes `cblas_?gemm`, `?gemv` or `?dot` and accumulates into its output.
//! A dimension of the contraction is M where the first input and the output have it, N where the second input and the
//! output have it, K where only the inputs have it. One of each goes into the call; the others (batches, further
//! reductions, broadcasts) become loops around it. Layouts fold into flags: a matrix may be row- or column-major, with
//! any leading dimension and offset, of static or dynamic size.
//!
//! Runs on bufferized functions before linalg is lowered. It refuses nothing: what BLAS cannot do is left for loops,
//! with a remark (`--remarks-filter=tinymlir`) that says why.

use crate::{
    contraction::{Body, Contraction},
    ir::{Op, Pass, PassCx, PassResult},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-blas",
    description: "Turn contractions on memrefs into CBLAS calls",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("calls", "Contractions that became CBLAS calls"), ("declined", "Contractions left for loops")],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__llvm__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
    ],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    for op in module.walk().into_iter().filter(|op| op.is_contraction()).collect::<Vec<_>>() {
        match plan(op) {
            Err(reason) => {
                cx.missed(op, &format!("is left for loops: {reason}"));
                cx.count("declined");
            }
            Ok(call) => {
                let routine = format!("cblas_{}{}", call.precision, call.routine.name());
                cx.passed_with(
                    op,
                    &format!("becomes {routine}{}", call.size()),
                    &[("kernel", &routine), ("why", call.why())],
                );
                cx.count("calls");
                cx.check(op, call.emit(module, op))?;
                op.erase();
            }
        }
    }
    Ok(())
}

/// The operands of a contraction: the inputs and the output.
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

#[derive(Clone, Copy, PartialEq)]
enum Routine {
    Gemm,
    /// `vector` is the input that is a vector, the other one is the matrix.
    Gemv {
        vector: usize,
    },
    Dot,
}

impl Routine {
    fn name(self) -> &'static str {
        match self {
            Routine::Gemm => "gemm",
            Routine::Gemv { .. } => "gemv",
            Routine::Dot => "dot",
        }
    }
}

/// A CBLAS call that a contraction can become.
struct Call {
    contraction: Contraction,
    routine: Routine,
    /// `s` or `d`.
    precision: char,
    /// The loop dimensions that go into the call.
    m: Option<usize>,
    n: Option<usize>,
    k: usize,
}

/// How a matrix lies in memory: the dimension along which elements are neighbours, and the other one.
#[derive(Clone, Copy)]
struct Layout {
    rows: usize,
    columns: usize,
}

/// Decides the call, or says why there is none.
fn plan(op: Op) -> Result<Call, String> {
    let contraction = Contraction::of(op)?;
    let elements: Vec<_> = contraction.views.iter().map(|v| v.element.to_string()).collect();
    let precision = match elements[C].as_str() {
        "f32" => 's',
        "f64" => 'd',
        other => return Err(format!("CBLAS has no routine for {other}")),
    };
    if elements[A] != elements[C] || elements[B] != elements[C] {
        return Err(format!("its operands differ in element type: {}", elements.join(", ")));
    }
    if contraction.body != Body::MultiplyAdd {
        return Err("it converts elements before it multiplies".into());
    }
    if contraction.views.iter().any(|v| v.space.is_some()) {
        return Err("an operand lies in another memory space".into());
    }
    let pick = |inside: [usize; 2], outside: usize| contraction.innermost(inside, outside);
    let k = pick([A, B], C).ok_or("it reduces over no dimension that both inputs have")?;
    let (m, n) = (pick([A, C], B), pick([B, C], A));
    // A vector or a single row is a matrix-vector product, several times as fast as a matrix product of that size.
    let proper = |d: Option<usize>| d.filter(|d| contraction.sizes[*d] != Some(1));
    let routine = match (proper(m), proper(n)) {
        (Some(_), Some(_)) => Routine::Gemm,
        (Some(_), None) => Routine::Gemv { vector: B },
        (None, Some(_)) => Routine::Gemv { vector: A },
        (None, None) => Routine::Dot,
    };
    let (m, n) = (proper(m), proper(n));
    let call = Call { contraction, routine, precision, m, n, k };
    call.addressable()?;
    Ok(call)
}

impl Call {
    /// The sizes in the call as `: MxKxN`, where they are known, and the number of loops around it.
    fn size(&self) -> String {
        let dims = [self.m, Some(self.k), self.n].into_iter().flatten();
        let sizes: Option<Vec<String>> = dims.map(|d| self.contraction.sizes[d].map(|s| s.to_string())).collect();
        let inside = 1 + usize::from(self.m.is_some()) + usize::from(self.n.is_some());
        let loops = match self.contraction.sizes.len() - inside {
            0 => String::new(),
            1 => ", in a loop".to_owned(),
            n => format!(", in {n} loops"),
        };
        sizes.map_or(loops.clone(), |sizes| format!(": {}{loops}", sizes.join("x")))
    }
    fn why(&self) -> &'static str {
        match self.routine {
            Routine::Gemm => "both inputs have rows of their own in the output",
            Routine::Gemv { .. } => "one input is a vector, or a single row",
            Routine::Dot => "both inputs are vectors",
        }
    }
    /// The layout of operand `i` over loop dimensions `x` and `y`, when one of them has neighbouring elements.
    fn layout(&self, i: usize, x: usize, y: usize) -> Result<Layout, String> {
        let unit = |d: usize| self.contraction.stride(i, d) == Some(1);
        let single = |d: usize| self.contraction.sizes[d] == Some(1);
        if unit(y) || single(y) && !unit(x) {
            Ok(Layout { rows: x, columns: y })
        } else if unit(x) || single(x) {
            Ok(Layout { rows: y, columns: x })
        } else {
            Err(format!("operand {i} has no dimension whose stride is known to be 1"))
        }
    }

    /// Whether a matrix can be told to BLAS: rows do not overlap as far as is known.
    fn addressable(&self) -> Result<(), String> {
        let matrices: Vec<(usize, usize, usize)> = match (self.m, self.n) {
            (Some(m), Some(n)) => vec![(A, m, self.k), (B, self.k, n), (C, m, n)],
            (Some(m), None) => vec![(A, m, self.k)],
            (None, Some(n)) => vec![(B, self.k, n)],
            (None, None) => vec![],
        };
        for (i, x, y) in matrices {
            let layout = self.layout(i, x, y)?;
            let sizes = &self.contraction.sizes;
            let (leading, row) = (self.contraction.stride(i, layout.rows), sizes[layout.columns]);
            if sizes[layout.rows] != Some(1) && leading.zip(row).is_some_and(|(leading, row)| leading < row) {
                return Err(format!("rows of operand {i} overlap"));
            }
        }
        let vectors = match (self.routine, self.m.or(self.n)) {
            (Routine::Gemv { vector }, Some(rows)) => vec![(vector, self.k), (C, rows)],
            (Routine::Dot, _) => vec![(A, self.k), (B, self.k)],
            _ => vec![],
        };
        // CBLAS takes a negative increment to start at the other end, and refuses zero.
        for (i, dim) in vectors {
            if self.contraction.stride(i, dim).is_none_or(|s| s <= 0) && self.contraction.sizes[dim] != Some(1) {
                return Err(format!("the stride of vector operand {i} is not known to be positive"));
            }
        }
        Ok(())
    }

    /// Inserts the loops and the call before `op`.
    fn emit(&self, module: Op, op: Op) -> Result<(), String> {
        let c = &self.contraction;
        let (element, bytes) = if self.precision == 's' { ("f32", 4) } else { ("f64", 8) };
        let name = format!("cblas_{}{}", self.precision, self.routine.name());
        let signature = match self.routine {
            Routine::Gemm => format!(
                "(i32, i32, i32, i32, i32, i32, {element}, !llvm.ptr, i32, !llvm.ptr, i32, {element}, !llvm.ptr, i32) -> ()"
            ),
            Routine::Gemv { .. } => {
                format!(
                    "(i32, i32, i32, i32, {element}, !llvm.ptr, i32, !llvm.ptr, i32, {element}, !llvm.ptr, i32) -> ()"
                )
            }
            Routine::Dot => format!("(i32, !llvm.ptr, i32, !llvm.ptr, i32) -> {element}"),
        };
        let declaration = format!("func.func private @{name}{signature}");
        module.declare(&declaration)?;

        let mut text = String::from("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n");
        text += &format!("%bytes = arith.constant {bytes} : index\n%one = arith.constant 1.0 : {element}\n");
        for (i, view) in c.views.iter().enumerate() {
            text += &view.metadata(&format!("v{i}"));
            text += &format!("%v{i}_base = memref.extract_aligned_pointer_as_index %v{i} : {} -> index\n", view.ty);
        }
        let used = [self.m, self.n, Some(self.k)];
        let loops: Vec<usize> = (0..c.sizes.len()).filter(|d| !used.contains(&Some(*d))).collect();
        for d in &loops {
            text += &format!("scf.for %i{d} = %c0 to {} step %c1 {{\n", c.size_value(*d));
        }
        for i in [A, B, C] {
            text += &self.pointer(i, &loops);
        }
        text += &match self.routine {
            Routine::Gemm => self.gemm(&name, &signature),
            Routine::Gemv { vector } => self.gemv(vector, &name, &signature),
            Routine::Dot => self.dot(&name, &signature, element),
        }?;
        text += &"}\n".repeat(loops.len());
        let inputs: Vec<_> = ["v0", "v1", "v2"].into_iter().zip(c.operands).collect();
        op.build_before(&inputs, &declaration, &text)?;
        Ok(())
    }

    /// `%p{i}`: the address of operand `i` at the loops' position.
    fn pointer(&self, i: usize, loops: &[usize]) -> String {
        let mut text = String::new();
        let mut place = format!("%v{i}_offset");
        for d in loops {
            if let Some(axis) = self.contraction.axis(i, *d) {
                text += &format!("%v{i}_step{d} = arith.muli %i{d}, %v{i}_stride{axis} : index\n");
                text += &format!("%v{i}_at{d} = arith.addi {place}, %v{i}_step{d} : index\n");
                place = format!("%v{i}_at{d}");
            }
        }
        text += &format!("%v{i}_byte = arith.muli {place}, %bytes : index\n");
        text += &format!("%v{i}_address = arith.addi %v{i}_base, %v{i}_byte : index\n");
        text += &format!("%v{i}_int = arith.index_cast %v{i}_address : index to i64\n");
        text + &format!("%p{i} = llvm.inttoptr %v{i}_int : i64 to !llvm.ptr\n")
    }

    /// `%{name}`: an index value as CBLAS's 32-bit integer.
    fn int(name: &str, value: &str) -> String {
        format!("%{name} = arith.index_cast {value} : index to i32\n")
    }

    /// `%{name}`: the leading dimension of a matrix, at least 1 as CBLAS demands, also of empty matrices; of a single row
    /// the row's length, since its stride may be anything.
    fn leading(&self, name: &str, i: usize, layout: Layout) -> String {
        let value = match self.contraction.axis(i, layout.rows) {
            Some(axis) if self.contraction.sizes[layout.rows] != Some(1) => format!("%v{i}_stride{axis}"),
            _ => self.contraction.size_value(layout.columns),
        };
        format!("%{name}_stride = arith.maxsi {value}, %c1 : index\n{}", Self::int(name, &format!("%{name}_stride")))
    }

    fn gemm(&self, name: &str, signature: &str) -> Result<String, String> {
        let (Some(m), Some(n)) = (self.m, self.n) else { return Err("internal error: gemm without M and N".into()) };
        let c = &self.contraction;
        let output = self.layout(C, m, n)?;
        // A column-major output is the transposed product: C^T = B^T A^T.
        let (left, right) = if output.columns == n { (A, B) } else { (B, A) };
        let (rows, columns) = (output.rows, output.columns);
        let (left_layout, right_layout) = (self.layout(left, rows, self.k)?, self.layout(right, self.k, columns)?);
        let flag = |straight: bool| if straight { 111 } else { 112 }; // CblasNoTrans, CblasTrans
        let mut text = format!(
            "%order = arith.constant 101 : i32\n%left = arith.constant {} : i32\n%right = arith.constant {} : i32\n",
            flag(left_layout.columns == self.k),
            flag(right_layout.columns == columns)
        );
        text += &Self::int("m", &c.size_value(rows));
        text += &Self::int("n", &c.size_value(columns));
        text += &Self::int("k", &c.size_value(self.k));
        text += &self.leading("ldl", left, left_layout);
        text += &self.leading("ldr", right, right_layout);
        text += &self.leading("ldc", C, output);
        Ok(text
            + &format!(
                "func.call @{name}(%order, %left, %right, %m, %n, %k, %one, %p{left}, %ldl, %p{right}, %ldr, %one, %p{C}, %ldc) : {signature}\n"
            ))
    }

    fn gemv(&self, vector: usize, name: &str, signature: &str) -> Result<String, String> {
        let matrix = if vector == A { B } else { A };
        let rows = self.m.or(self.n).ok_or("internal error: gemv without a matrix")?;
        let layout = self.layout(matrix, rows, self.k)?;
        // CBLAS names the matrix as it lies: y = op(X) x.
        let mut text = format!(
            "%order = arith.constant 101 : i32\n%flag = arith.constant {} : i32\n",
            if layout.columns == self.k { 111 } else { 112 }
        );
        text += &Self::int("m", &self.contraction.size_value(layout.rows));
        text += &Self::int("n", &self.contraction.size_value(layout.columns));
        text += &self.leading("ld", matrix, layout);
        text += &self.increment("incx", vector, self.k);
        text += &self.increment("incy", C, rows);
        Ok(text
            + &format!(
                "func.call @{name}(%order, %flag, %m, %n, %one, %p{matrix}, %ld, %p{vector}, %incx, %one, %p{C}, %incy) : {signature}\n"
            ))
    }

    fn dot(&self, name: &str, signature: &str, element: &str) -> Result<String, String> {
        let mut text = Self::int("n", &self.contraction.size_value(self.k));
        text += &self.increment("incx", A, self.k);
        text += &self.increment("incy", B, self.k);
        text += &format!("%sum = func.call @{name}(%n, %p{A}, %incx, %p{B}, %incy) : {signature}\n");
        text += &format!("%old = llvm.load %p{C} : !llvm.ptr -> {element}\n%new = arith.addf %old, %sum : {element}\n");
        Ok(text + &format!("llvm.store %new, %p{C} : {element}, !llvm.ptr\n"))
    }

    /// `%{name}`: the distance of a vector's elements; 1 for one that has no such dimension and so a single element.
    fn increment(&self, name: &str, i: usize, dim: usize) -> String {
        let value = self.contraction.axis(i, dim).map_or("%c1".to_string(), |axis| format!("%v{i}_stride{axis}"));
        format!("%{name}_stride = arith.maxsi {value}, %c1 : index\n{}", Self::int(name, &format!("%{name}_stride")))
    }
}
