//! `tinymlir-tuned-matmul`: give products the fast kernel that the selection table has for their shape.
//!
//! Looks every product on memrefs up in [`crate::schedule`]. What it takes becomes a call of the template's launching
//! function on views of the operands, with the fill before it (the sum then starts at zero) and one elementwise operation
//! after it (bias, activation, residual, transposition of the result) inside the kernel's store; with few rows also the loops
//! that copy parts of the only row elsewhere, such as to a cache (`scatter.rs`), and before it what makes the rows,
//! such as a layer norm, which every block then computes for itself (`prologue.rs`). K is split over blocks
//! where the grid is small; the partial sums go to a buffer and are added in a fixed order.
//!
//! Sizes and strides must be static, the strides those that 16-byte loads need, and buffers whole allocations or arguments
//! (both are aligned to 16 bytes at least). Everything else is left to `tinymlir-tiled-matmul`, with a remark.

use crate::{
    choice::{Choice, Precision, Reductions},
    contraction::Contraction,
    epilogue::Target,
    few_rows::{FewRows, Turns},
    host::{Operand, Workspaces},
    ir::{Op, Opt, Pass, PassCx, PassResult},
    kernels::Kernels,
    matrices::Matrices,
    memory::is_aligned,
    narrow,
    product_call::Call,
    product_pairs::Pair,
    products::{self, Work},
    prologue, row_copies, row_tile, scatter,
    schedule::{Kind, Layout, PRODUCTS, Product},
    turns::{Parts, multiprocessors, parts},
    warpgroups::{self, Cores},
    zeroed::Zeroed,
};
use mlir_sys::*;
use std::collections::HashSet;

pub static PASS: Pass = Pass {
    argument: "tinymlir-tuned-matmul",
    description: "Replace matrix products on memrefs by calls of the fast GPU kernel for their shape",
    anchor: "builtin.module",
    options: &[
        Opt::string("chip", "sm_80", "The chip that the kernels are for"),
        Opt::string(
            "precision",
            "fp32",
            "How products of f32 may be rounded: fp32, tf32 on tensor cores, or bf16, which admits tf32",
        ),
        Opt::string(
            "reductions",
            "ordered",
            "How blocks add up what they compute: ordered, or atomic, in an order that differs from run to run",
        ),
    ],
    statistics: &[
        ("substituted", "Products replaced by a call"),
        ("fills", "Fills that a kernel makes unnecessary"),
        ("epilogues", "Elementwise operations computed in a kernel's store"),
        ("pairs", "Pairs of products of one row that are one kernel"),
        ("prologues", "Norms and the like computed by the product that reads their result"),
        ("scatters", "Loops that copy a result, computed in a kernel's store"),
        ("declined", "Products left to the simple kernels"),
    ],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__cf__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__gpu__,
        mlirGetDialectHandle__linalg__,
        mlirGetDialectHandle__llvm__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__nvgpu__,
        mlirGetDialectHandle__nvvm__,
        mlirGetDialectHandle__scf__,
        mlirGetDialectHandle__vector__,
    ],
    run,
};

fn run(cx: &PassCx, module: Op) -> PassResult {
    let Choice { name, chip, precision, reductions } = cx.check(module, Choice::of(cx))?;
    let cores = Cores::of(&name, chip);
    let mut kernels = Kernels::default();
    let mut zeroed = Zeroed::default();
    let mut workspaces = Workspaces::default();
    // Collected first: elementwise operations join kernels on the way, and are gone.
    let products = module.walk().into_iter().filter(|op| op.is_linalg() && Contraction::of(*op).is_ok());
    let mut paired = HashSet::new();
    for op in products.collect::<Vec<_>>() {
        if paired.contains(&op) {
            continue;
        }
        let Ok(contraction) = Contraction::of(op) else { continue };
        let pair = (reductions == Reductions::Atomic).then(|| Pair::of(op, &contraction, chip));
        if let Some(pair) = pair.flatten() {
            paired.insert(pair.second.op);
            pair.emit(cx, module, &mut kernels, &mut zeroed)?;
            continue;
        }
        let of_halves = cores.map(|cores| warpgroups::Call::of(op, &contraction, cores, precision));
        if let Some(Ok(Some(call))) = of_halves {
            call.emit(cx, module, &mut kernels, &mut workspaces)?;
            continue;
        }
        match choose(op, &contraction, chip, precision) {
            Ok(None) => {}
            Ok(Some(call)) => call.emit(cx, module, &mut kernels, &mut workspaces)?,
            Err(reason) => {
                cx.missed(op, &format!("has no fast kernel: {reason}"));
                cx.count("declined");
            }
        }
    }
    cx.check(module, zeroed.emit())
}

/// The call for a product, or the reason why no template takes it.
fn choose(op: Op, contraction: &Contraction, chip: u32, precision: Precision) -> Result<Option<Call>, String> {
    let Some(matrices) = Matrices::of_widened(op, contraction)? else { return Ok(None) };
    let Matrices { size, a, b, c, element, b_element, .. } = matrices;
    let [batch, m, n, k] = size;
    let (fill, epilogue) = products::neighbours(op, &c, [&a, &b], size);
    // With the epilogue if a template takes it, else without; as it stands, or transposed for a matrix times few columns.
    let mut reason = String::new();
    for epilogue in epilogue.filter(|e| e.is_f32()).into_iter().map(Some).chain([None]) {
        let target = epilogue.as_ref().map_or_else(|| products::whole(&c, size), |e| e.target.clone());
        let mut work = Work { op, size, a: a.clone(), b: b.clone(), target, fill, epilogue, splits: 1, tail: None };
        // What is narrow is B.
        let (mut a_type, mut b_type) = (&element, &b_element);
        let turns = if a_type == b_type { n < m && n <= 8 } else { b_type == "f32" };
        if turns && work.target.group.0 == 1 {
            work = transposed(work);
            (a_type, b_type) = (b_type, a_type);
        }
        let (product, parts) = match select(&work, chip, precision, (a_type, b_type)) {
            Ok(selected) => selected,
            Err(why) => {
                reason = why;
                continue;
            }
        };
        if work.extras().count() > product.most_extras() {
            continue;
        }
        let (mut scatters, mut copies, mut prologue, mut few) = (vec![], vec![], None, None);
        let extras = work.extras().map(|extra| extra.buffer);
        let inputs: Vec<_> = [work.a.buffer, work.b.buffer].into_iter().chain(extras).collect();
        if product.copies_rows() {
            copies = row_copies::find(work.at(), &work.target, &inputs);
        }
        // Rows of which only the last are in parts are not copied elsewhere.
        if parts.tail.is_none() || copies.is_empty() {
            (work.splits, work.tail) = (parts.splits, parts.tail);
        }
        if product.kind == Kind::Skinny && product.layout == Layout::AlongN {
            let element = row_tile::element(work.b.buffer);
            few = Some(FewRows::of(&element, work.size, multiprocessors(chip)));
            scatters = scatter::find(work.at(), &work.target, &inputs);
            let scattered = scatters.iter().flat_map(|s| s.buffers.iter().copied());
            let copied = copies.iter().map(|c| c.to.buffer);
            let written: Vec<_> = scattered.chain(copied).chain([work.target.buffer]).collect();
            if batch == 1 && work.size == size {
                prologue = prologue::find(op, &work.a, (m, k), work.at(), &written, &inputs);
            }
        }
        let mut turns = None;
        if product.kind == Kind::Skinny && product.layout == Layout::AlongK && batch == 1 && work.size == size {
            let possible = Turns::of(b_type, work.extras().count(), [m, n, k], multiprocessors(chip));
            let find = || prologue::find(op, &work.a, (m, k), work.at(), &[work.target.buffer], &inputs);
            prologue = possible.and_then(|_| find());
            turns = possible.filter(|_| prologue.is_some());
        }
        // The product reads its rows from workgroup memory; its operand A is one that nothing reads.
        if let Some(row) = prologue.as_ref().and_then(|p| p.group.reads().next()) {
            work.a.buffer = row;
        }
        return Ok(Some(Call { work, product, few, scatters, copies, prologue, turns }));
    }
    Err(reason)
}

/// The product of the transposed matrices, for the transposed result.
fn transposed(work: Work) -> Work {
    let [batch, m, n, k] = work.size;
    let (a, b) = (work.b.transposed(), work.a.transposed());
    let target = Target { row: work.target.inner, inner: work.target.row, ..work.target };
    let epilogue = work.epilogue.map(|mut e| {
        e.extras.iter_mut().for_each(|(extra, _)| extra.strides.swap(1, 2));
        e
    });
    Work { size: [batch, n, m, k], a, b, target, epilogue, ..work }
}

/// The first row of the table that fits, or the quickest of those of its template for as many rows, and the parts of K.
fn select(
    work: &Work,
    chip: u32,
    precision: Precision,
    (element, b_element): (&str, &str),
) -> Result<(&'static Product, Parts), String> {
    let [batch, m, n, k] = work.size;
    let columns_first = work.b.clone().transposed();
    let along_n = |group: i64| n % group == 0 && work.b.reads_groups([batch, k, n], group);
    let along_k = |group: i64| columns_first.reads_groups([batch, n, k], group);
    let a_rows = work.a.reads_vectors([batch, m, k]);
    let store = |step: i64, size: i64| size == 1 || step % 4 == 0;
    let t = &work.target;
    let stores_vectors = t.inner.1 == 1
        && t.inner.0 % 4 == 0
        && t.offset % 4 == 0
        && store(t.row.1, t.row.0)
        && store(t.group.1, t.group.0)
        && store(t.batch.1, t.batch.0)
        && is_aligned(t.buffer);
    let extras: Vec<&Operand> = work.extras().collect();
    let extra_vectors = extras.iter().all(|e| e.reads_vectors([batch, m, n]));
    let extra_rows = extras.iter().all(|e| e.strides[2] == 1);
    let fits = |p: &&Product| {
        let group = narrow::group(b_element, p.layout, p.kind);
        let layout = match (p.layout, p.kind) {
            (Layout::AlongN, Kind::Skinny) => along_n(group),
            (Layout::AlongN, Kind::Tiled { .. }) => along_n(group) && a_rows && stores_vectors && extra_vectors,
            (Layout::AlongK, Kind::Skinny) => along_k(group) && k % group == 0 && a_rows && t.group.0 == 1,
            (Layout::AlongK, Kind::Tiled { .. }) => along_k(group) && a_rows && extra_rows && t.group.0 == 1,
        };
        let elements = p.element == element && p.b_elements.contains(&b_element);
        layout && elements && m <= p.most_rows && chip >= p.chip && p.precision <= precision
    };
    let first = PRODUCTS.iter().find(fits);
    let divided = |p: &'static Product| match p.kind {
        Kind::Tiled { rows, columns } => (p, parts(chip, p.rate, (rows, columns), work.size, p.tail_tile().is_some())),
        Kind::Skinny => (p, Parts { splits: 1, tail: None, seconds: 0.0 }),
    };
    let rivals = |first: &'static Product| {
        let alike = |p: &&Product| p.template.file == first.template.file && p.most_rows == first.most_rows;
        let all = PRODUCTS.iter().filter(fits).filter(alike).map(divided);
        all.min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))
    };
    first.and_then(rivals).ok_or_else(|| {
        let by = if element == b_element { String::new() } else { format!(" by {b_element}") };
        format!("no row of the table takes {element}{by}, sm_{chip} and these strides (K or N contiguous, in multiples of 16 bytes)")
    })
}
