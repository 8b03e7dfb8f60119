//! `tinymlir-thread-loops`: parallel loops of the host run on several threads.
//!
//! Each outermost `scf.parallel` becomes a call of the runtime's `tinymlirParallelFor` with a function for a range of it. As
//! many of its outer dimensions are joined as it takes to have iterations for many threads; the innermost one stays a loop
//! that LLVM can vectorise. What an iteration costs is estimated from its operations: a loop that is over in a few
//! microseconds stays where it is, and one of a size known at run time only is measured by the runtime.
//!
//! Runs once linalg has become loops. It leaves, as sequential loops, what reduces to a value, uses a value that has no form in
//! memory, calls functions other than BLAS or prints, so that the order of iterations would show. A failed check ends the program with the message of whichever thread
//! comes first.

use crate::{
    captures::{captured, rewire},
    ir::{Op, Pass, PassCx, PassResult, Type, Value},
    threads::{ParallelLoop, lowered},
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-thread-loops",
    description: "Run outermost parallel loops of the host on several threads, where they are long enough",
    anchor: "builtin.module",
    options: &[],
    statistics: &[
        ("parallel", "Loops that threads share"),
        ("sequential", "Loops that are too short, or cannot be shared"),
    ],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__llvm__,
        mlirGetDialectHandle__scf__,
    ],
    run,
};

/// What a thread's share costs at least, in units of about a tenth of a nanosecond: some microseconds.
const LEAST: i64 = 40_000;
/// Iterations that are enough for any number of threads.
const MANY: i64 = 256;
/// The trip count of a loop of unknown bounds.
const UNKNOWN: i64 = 64;

fn run(cx: &PassCx, module: Op) -> PassResult {
    let outermost = |l: &Op| ["scf.parallel", "gpu.launch", "gpu.module"].iter().all(|p| l.parent_named(p).is_none());
    for parallel in module.find(&["scf.parallel"]).into_iter().filter(outermost).collect::<Vec<_>>() {
        for inner in parallel.find(&["scf.parallel"]).into_iter().skip(1).rev() {
            inner.parallel_to_for();
        }
        match Shape::of(parallel) {
            Err(reason) => {
                cx.missed(parallel, &format!("stays on one thread: {reason}"));
                cx.count("sequential");
                parallel.parallel_to_for();
            }
            Ok(shape) => {
                cx.passed(parallel, "is shared among threads");
                cx.count("parallel");
                cx.check(parallel, shape.emit(module, parallel))?;
            }
        }
    }
    Ok(())
}

/// How a loop is cut.
struct Shape {
    /// Lower bound, upper bound, step of each dimension.
    bounds: Vec<[Value; 3]>,
    sizes: Vec<Option<i64>>,
    /// The dimensions that ranges are of, joined; those that follow stay loops.
    joined: usize,
    /// Iterations of the joined dimensions that are too few for a thread.
    grain: i64,
    captured: Vec<Value>,
}

impl Shape {
    fn of(parallel: Op) -> Result<Shape, String> {
        let all = parallel.walk();
        if !parallel.results().is_empty() {
            return Err("it reduces to a value".into());
        }
        if let Some(op) = all[1..].iter().find(|op| !shareable(**op)) {
            return Err(format!("'{}' in its body may not be called by several threads", op.name()));
        }
        let operands = parallel.operands();
        let dims = operands.len() / 3;
        let bounds: Vec<[Value; 3]> = (0..dims).map(|i| [0, 1, 2].map(|group| operands[group * dims + i])).collect();
        let sizes: Vec<Option<i64>> = bounds.iter().map(trips).collect();
        let inner = cost(parallel);
        // The innermost dimension stays a loop unless it is the only one, and so do inner ones where the outer are enough.
        let proper: Vec<usize> = (0..dims).filter(|i| sizes[*i] != Some(1)).collect();
        let joined = match proper[..] {
            [] | [_] => dims,
            [.., last] => {
                let product = |n: usize| sizes[..n].iter().try_fold(1i64, |p, s| s.and_then(|s| p.checked_mul(s)));
                (1..=last).find(|n| product(*n).is_some_and(|p| p >= MANY)).unwrap_or(last)
            }
        };
        let below: i64 =
            sizes[joined..].iter().map(|s| s.unwrap_or(UNKNOWN)).fold(inner, |p, s| p.saturating_mul(s.max(1)));
        let grain = (LEAST / below.max(1)).max(1);
        let total = sizes[..joined].iter().try_fold(1i64, |p, s| s.and_then(|s| p.checked_mul(s)));
        if total.is_some_and(|n| n <= grain) {
            return Err("it is short".into());
        }
        let captured = captured(&all[1..], &all);
        captured.iter().try_for_each(|value| lowered(value.ty()).map(|_| ()))?;
        Ok(Shape { captured, bounds, sizes, joined, grain })
    }

    fn emit(&self, module: Op, parallel: Op) -> Result<(), String> {
        let index = Type::parse(module.ctx(), "index").ok_or("internal error: no index")?;
        let mut parameters: Vec<(String, Type)> =
            self.captured.iter().enumerate().map(|(i, v)| (format!("a{i}"), v.ty())).collect();
        let mut inputs = self.captured.clone();
        // Bounds, as parameters where they are no constants.
        let mut names = vec![];
        let mut constants = String::new();
        for (i, bound) in self.bounds.iter().enumerate() {
            let name = |part: &str| format!("{part}{i}");
            let mut row = vec![];
            for (part, value) in ["lower", "upper", "step"].into_iter().zip(bound) {
                match value.constant() {
                    Some(known) => constants += &format!("%{} = arith.constant {known} : index\n", name(part)),
                    None => {
                        parameters.push((name(part), index));
                        inputs.push(*value);
                    }
                }
                row.push(format!("%{}", name(part)));
            }
            names.push(row);
        }
        let mut before = constants.clone() + "%c0_count = arith.constant 0 : index\n";
        let mut sizes = String::new();
        for (i, row) in names.iter().enumerate().take(self.joined) {
            let [lower, upper, step] = &row[..] else { return Err("internal error: bounds".into()) };
            sizes += &match self.sizes[i] {
                Some(size) => format!("%size{i} = arith.constant {size} : index\n"),
                None => format!(
                    "%length{i} = arith.subi {upper}, {lower} : index\n%some{i} = arith.ceildivsi %length{i}, {step} : index\n\
                     %zero{i} = arith.constant 0 : index\n%size{i} = arith.maxsi %some{i}, %zero{i} : index\n"
                ),
            };
        }
        before += &sizes;
        let mut product = "%size0".to_string();
        for i in 1..self.joined {
            before += &format!("%product{i} = arith.muli {product}, %size{i} : index\n");
            product = format!("%product{i}");
        }
        before += &format!("%count = arith.addi {product}, %c0_count : index\n");
        // The place along each joined dimension, then the loops that stay.
        let mut body =
            constants + &sizes + "%unit = arith.constant 1 : index\nscf.for %flat = %begin to %end step %unit {\n";
        let mut rest = "%flat".to_string();
        let outermost = (0..self.joined).find(|i| self.sizes[*i] != Some(1)).unwrap_or(0);
        body += "%nowhere = arith.constant 0 : index\n";
        for i in (0..self.joined).rev() {
            let place = if i == outermost {
                rest.clone()
            } else if self.sizes[i] == Some(1) {
                "%nowhere".into()
            } else {
                body += &format!(
                    "%place{i} = arith.remui {rest}, %size{i} : index\n%rest{i} = arith.divui {rest}, %size{i} : index\n"
                );
                rest = format!("%rest{i}");
                format!("%place{i}")
            };
            body += &format!(
                "%scaled{i} = arith.muli {place}, {} : index\n%i{i} = arith.addi %scaled{i}, {} : index\n",
                names[i][2], names[i][0]
            );
        }
        let inner = self.joined..names.len();
        for i in inner.clone() {
            body += &format!("scf.for %i{i} = {} to {} step {} {{\n", names[i][0], names[i][1], names[i][2]);
        }
        let all = (0..names.len()).map(|i| format!("%i{i}")).collect::<Vec<_>>().join(", ");
        let indices = vec!["index"; names.len()].join(", ");
        // Where the loop's own body goes.
        body += &format!("%here = builtin.unrealized_conversion_cast {all} : {indices} to index {{tinymlir.body}}\n");
        body += &"}\n".repeat(inner.len() + 1);

        let base = parallel.parent_named("func.func").and_then(|f| f.symbol()).unwrap_or_default();
        // As it can be written without quotes.
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_$.-".contains(c) { c } else { '_' };
        let digit = if base.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        let base: String = base.chars().map(plain).collect();
        let name = module.unique_symbol(&format!("{digit}{base}_threads"));
        let shape = ParallelLoop {
            name: &name,
            parameters: &parameters,
            before: &before,
            grain: self.grain,
            body: &body,
            ..Default::default()
        };
        let [_, range] = shape.define(module)?;
        self.fill(range, parallel)?;

        let named: Vec<(&str, Value)> = parameters.iter().map(|(n, _)| n.as_str()).zip(inputs).collect();
        let list = parameters.iter().map(|(n, _)| format!("%{n}")).collect::<Vec<_>>().join(", ");
        let types = parameters.iter().map(|(_, ty)| ty.to_string()).collect::<Vec<_>>().join(", ");
        let declaration = format!("func.func private @{name}({types})");
        parallel.build_before(&named, &declaration, &format!("func.call @{name}({list}) : ({types}) -> ()"))?;
        parallel.erase();
        Ok(())
    }

    /// Moves the loop's body to its place in the ranges' function.
    fn fill(&self, range: Op, parallel: Op) -> Result<(), String> {
        let casts = range.find(&["builtin.unrealized_conversion_cast"]);
        let place = casts.into_iter().find(|op| op.attr("tinymlir.body").is_some());
        let place = place.ok_or("internal error: no place for a loop's body")?;
        let block = parallel.blocks(0)[0];
        for (argument, value) in block.arguments().into_iter().zip(place.operands()) {
            argument.replace_all_uses(value);
        }
        let mut ops = block.ops();
        ops.pop();
        for op in &ops {
            op.move_before(place);
        }
        let entry = *range.blocks(0)[0].ops().first().ok_or("internal error: an empty function")?;
        let values: Option<Vec<Value>> = (0..self.captured.len()).map(|i| unpacked(range, i)).collect();
        let moved: Vec<Op> = ops.iter().flat_map(|op| op.walk()).collect();
        rewire(&moved, &self.captured, &values.ok_or("internal error: a captured value")?, entry);
        place.erase();
        Ok(())
    }
}

/// The value that parameter `i` is in the ranges' function: the field of that number, converted where it is.
fn unpacked(range: Op, i: usize) -> Option<Value> {
    let position = format!("array<i64: {i}>");
    let field = range
        .find(&["llvm.extractvalue"])
        .into_iter()
        .find(|op| op.attr("position").is_some_and(|p| p.to_string() == position))?;
    let converted =
        field.next().filter(|n| n.is("builtin.unrealized_conversion_cast") && n.operand(0) == field.result(0));
    Some(converted.map_or(field.result(0), |c| c.result(0)))
}

fn trips(bounds: &[Value; 3]) -> Option<i64> {
    let [lower, upper, step] = bounds.map(|bound| bound.constant());
    let (lower, upper, step) = (lower?, upper?, step?);
    (step > 0).then(|| (upper - lower).max(0).div_euclid(step) + i64::from((upper - lower).max(0) % step > 0))
}

/// Whether an operation does nothing but compute, touch memory, or call BLAS: no order of iterations shows in it.
fn shareable(op: Op) -> bool {
    let name = op.name();
    match name.as_str() {
        "func.call" => op.attr("callee").is_some_and(|c| c.to_string().starts_with("@cblas_")),
        "cf.assert" | "llvm.inttoptr" | "llvm.load" | "llvm.store" | "affine.apply" | "affine.min" | "affine.max" => {
            true
        }
        _ => {
            ["arith.", "math.", "memref.", "scf.", "index.", "vector.", "ub.", "complex."]
                .iter()
                .any(|d| name.starts_with(d))
                && name != "vector.print"
        }
    }
}

/// What the operations of a loop's body cost, with the loops inside.
fn cost(op: Op) -> i64 {
    let body = (0..op.num_regions()).flat_map(|r| op.blocks(r)).flat_map(|b| b.ops());
    body.map(|inner| {
        let own = match inner.name().as_str() {
            "memref.load" | "memref.store" => 3,
            "math.exp" | "math.tanh" | "math.log" | "math.powf" | "math.erf" | "math.sin" | "math.cos" => 15,
            "arith.divf" | "math.sqrt" => 5,
            "func.call" => 2000,
            "memref.copy" | "memref.alloc" => 500,
            name if name.starts_with("math.") => 10,
            name if name.starts_with("arith.") => 1,
            _ => 0,
        };
        let times = match inner.name().as_str() {
            "scf.for" => trips(&[inner.operand(0), inner.operand(1), inner.operand(2)]).unwrap_or(UNKNOWN),
            _ => 1,
        };
        cost(inner).saturating_mul(times.max(1)).saturating_add(own)
    })
    .fold(0i64, i64::saturating_add)
    .max(1)
}
