//! `tinymlir-host-attention`: attention on the host without arrays of all scores, and without the keys that are masked.
//!
//! Finds product, elementwise scores, softmax over the keys, product, which become a loop that is shared among threads. The result
//! differs from the separate operations by rounding only, from theirs in that a masked key or value may be anything, NaN
//! included, and is the same bits on any number of threads.
//!
//! - One row, as in a decoding step ([`crate::tinymlir_attention`] says which): a loop over the batches (heads) that asks the mask
//!   first. Keys and values that are masked are neither read nor multiplied, and exponentials end after the last key that counts. Up to
//!   16384 keys.
//! - Many rows of f32 or f64 (`attention_chain.rs`), of any size, static or dynamic, with keys and values that batches may
//!   share, as torch-mlir writes it too, with zeros for rows without keys: a loop over batches and blocks of rows
//!   (`attention_rows.rs`), whose products are CBLAS calls and whose scores stay in a cache. After the last group of 64 keys of
//!   which one counts for a row of the block, keys are neither multiplied nor exponentiated.
//!
//! Runs on bufferized functions before `tinymlir-gemv` and `tinymlir-blas`, which take the products of what it leaves, with a
//! remark: arrays between that something else reads, other element types, and scores that are more than arithmetic.

use crate::{
    attention_chain::AttentionChain,
    attention_match::{Chain, chains},
    attention_rows::{Functions, Rows},
    host::{Operand, Text},
    ir::{Op, Pass, PassCx, PassResult, Type, Value},
    threads::ParallelLoop,
    tinymlir_attention::dynamic_type,
};
use mlir_sys::*;
use std::collections::HashMap;

pub static PASS: Pass = Pass {
    argument: "tinymlir-host-attention",
    description: "Compute a softmax between two products in a loop over rows that skips masked keys",
    anchor: "builtin.module",
    options: &[],
    statistics: &[("loops", "Chains that became a loop")],
    dialects: &[
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__llvm__,
        mlirGetDialectHandle__math__,
        mlirGetDialectHandle__memref__,
        mlirGetDialectHandle__scf__,
    ],
    run,
};

/// What the scores of a row may take of a thread's stack, in elements.
const MOST_KEYS: i64 = 16384;
/// Elements of keys that are a thread's at least.
const LEAST: i64 = 1 << 15;

fn run(cx: &PassCx, module: Op) -> PassResult {
    // From what makes loops equal to the function's name.
    let mut functions: HashMap<String, String> = HashMap::new();
    let one_row = |chain: &Chain| chain.element == "f32" && chain.size[1] == 1 && chain.size[2] <= MOST_KEYS;
    while let Some(chain) = chains(module).find(one_row) {
        let at = chain.ops[chain.ops.len() - 1];
        at.stand_for(chain.ops.iter().copied());
        cx.passed_with(at, "becomes a loop over heads that skips masked keys", &[("kernel", "attention loop")]);
        cx.check(at, emit(&chain, module, at, &mut functions))?;
        cx.count("loops");
        chain.erase();
    }
    let mut functions = Functions::new();
    // A chain's first product comes before its second one, so that none is met after it is gone.
    for product in module.walk().into_iter().filter(|op| op.is_contraction()).collect::<Vec<_>>() {
        match AttentionChain::ending_with(product) {
            Ok(None) => {}
            Err(reason) => cx.missed(product, &format!("and the softmax before it are left: {reason}")),
            Ok(Some(chain)) => {
                let at = chain.ops[chain.ops.len() - 1];
                let rows = Rows::of(&chain);
                let texts = match rows.texts() {
                    Ok(texts) => texts,
                    Err(reason) => {
                        cx.missed(product, &format!("and the softmax before it are left: {reason}"));
                        continue;
                    }
                };
                let skips = if rows.skips() { " that leave out keys masked for all of them" } else { "" };
                at.stand_for(chain.ops.iter().copied());
                let message = format!("and what it is made of become a loop over blocks of rows{skips}");
                cx.passed_with(at, &message, &[("kernel", "attention loop")]);
                cx.check(at, rows.emit(module, at, texts, &mut functions))?;
                cx.count("loops");
                chain.erase();
            }
        }
    }
    Ok(())
}

/// The type of an operand as `[batch, rows, depth]`.
fn view_type(operand: &Operand, sizes: [i64; 3]) -> String {
    let [a, b, c] = sizes;
    let [x, y, z] = operand.strides;
    format!("memref<{a}x{b}x{c}xf32, strided<[{x}, {y}, {z}], offset: {}>>", operand.offset)
}

fn emit(chain: &Chain, module: Op, at: Op, functions: &mut HashMap<String, String>) -> Result<(), String> {
    let [batch, _, keys, depth] = chain.size;
    let extra = chain.score.as_ref().and_then(|s| s.extra.map(|i| s.op.operand(i)));
    let operands = [("q", &chain.q, 1), ("k", &chain.k, keys), ("v", &chain.v, keys), ("o", &chain.out, 1)];
    let mut types: Vec<(String, String)> =
        operands.iter().map(|(name, o, rows)| (name.to_string(), view_type(o, [batch, *rows, depth]))).collect();
    types.extend(extra.map(|x| ("x".to_string(), dynamic_type(x))));
    let name = define(chain, module, &types, functions)?;
    let mut text = Text::default();
    let mut inputs: Vec<(&str, Value)> = vec![];
    for ((name, operand, rows), (_, ty)) in operands.iter().zip(&types) {
        let (base, _) = text.operand(name, operand);
        let [x, y, z] = operand.strides;
        text.line(&format!(
            "%{name}v = memref.reinterpret_cast {base} to offset: [{}], sizes: [{batch}, {rows}, {depth}], strides: [{x}, {y}, {z}] : memref<f32> to {ty}",
            operand.offset
        ));
        inputs.push((name, operand.buffer));
    }
    let mut arguments = vec!["%qv", "%kv", "%vv", "%ov"];
    if let Some(extra) = extra {
        inputs.push(("x", extra));
        text.line(&format!("%xv = memref.cast %x : {} to {}", extra.ty(), dynamic_type(extra)));
        arguments.push("%xv");
    }
    let types: Vec<String> = types.into_iter().map(|(_, ty)| ty).collect();
    text.call(&name, &arguments, &types);
    at.build_before(&inputs, &text.declarations, &text.body).map(|_| ())
}

/// The function of the loop, with those that say what the score of a product is and which keys are kept: added to the module
/// unless it holds equal ones.
fn define(
    chain: &Chain,
    module: Op,
    types: &[(String, String)],
    functions: &mut HashMap<String, String>,
) -> Result<String, String> {
    let [batch, _, keys, depth] = chain.size;
    let parse = |text: &str| Type::parse(module.ctx(), text).ok_or("internal error: the type of an operand");
    let parameters: Vec<(String, Type)> =
        types.iter().map(|(name, ty)| Ok((name.clone(), parse(ty)?))).collect::<Result<_, String>>()?;
    let ty = |name: &str| types.iter().find(|(n, _)| n == name).map(|(_, ty)| ty.as_str()).unwrap_or_default();
    let (extra, extra_type) = if ty("x").is_empty() { ("", String::new()) } else { (", %x", format!(", {}", ty("x"))) };
    let kept = chain.score.as_ref().and_then(|s| s.kept());
    let name = module.unique_symbol("attention_row");
    let name = name.as_str();
    let mut declarations = String::new();
    let mut key = format!("{types:?}");
    let mut bodies: Vec<Op> = vec![];
    let mut define_body = |suffix: &str,
                           first: usize,
                           result: &str,
                           value: &str,
                           results: &[Value]|
     -> Result<String, String> {
        let Some(score) = &chain.score else { return Ok(String::new()) };
        let symbol = module.unique_symbol(&format!("{name}_{suffix}"));
        let x = if extra.is_empty() { String::new() } else { format!(", %x: {}", ty("x")) };
        let product = if first == 1 { "%p: f32, " } else { "" };
        let function = module.define(&format!(
            "func.func private @{symbol}({product}%b: index, %r: index, %k: index{x}) -> {result} {{\n%d = arith.constant {value}\nreturn %d : {result}\n}}"
        ))?;
        score.set(module, &symbol, results, first, None)?;
        let product = if first == 1 { "f32, " } else { "" };
        declarations += &format!("func.func private @{symbol}({product}index, index, index{extra_type}) -> {result}\n");
        key += &function.to_string().replacen(&format!("@{symbol}("), "@(", 1);
        bodies.push(function);
        Ok(symbol)
    };
    let scored = chain.score.as_ref().map(|s| s.op.blocks(0)[0].terminator().operands()).unwrap_or_default();
    let score = define_body("score", 1, "f32", "0.0 : f32", &scored)?;
    let keep = match kept {
        Some(value) => define_body("keep", 0, "i1", "true", &[value])?,
        None => String::new(),
    };
    if let Some(known) = functions.get(&key) {
        bodies.iter().for_each(|function| function.erase());
        return Ok(known.clone());
    }
    functions.insert(key, name.to_string());
    let indices = format!("index, index, index{extra_type}");
    let guard = |result: &str, inside: &str, otherwise: &str| match keep.is_empty() {
        true => inside.replace("YIELD ", "scf.yield "),
        false => {
            let (result, arrow) =
                if result.is_empty() { (String::new(), "") } else { (format!("{result} = "), " -> (f32, index)") };
            format!(
                "%keep = func.call @{keep}(%b, %c0, %j{extra}) : ({indices}) -> i1\n{result}scf.if %keep{arrow} {{\n{}}}{otherwise}\n",
                inside.replace("YIELD ", "scf.yield ")
            )
        }
    };
    let (q, k, v, o) = (ty("q"), ty("k"), ty("v"), ty("o"));
    let scores = format!("memref<{keys}xf32>");
    let sums = format!("memref<{depth}xf32>");
    let score_line = match score.is_empty() {
        true => String::new(),
        false => format!("%s = func.call @{score}(%dot, %b, %c0, %j{extra}) : (f32, {indices}) -> f32\n"),
    };
    let s = if score.is_empty() { "%dot" } else { "%s" };
    let dot = format!(
        "%dot = scf.for %d = %c0 to %depth step %c1 iter_args(%part = %zero) -> (f32) {{\n\
         %qd = memref.load %q[%b, %c0, %d] : {q}\n%kd = memref.load %k[%b, %j, %d] : {k}\n\
         %product = arith.mulf %qd, %kd fastmath<contract> : f32\n\
         %next = arith.addf %part, %product fastmath<reassoc, contract> : f32\nscf.yield %next : f32\n}}\n\
         {score_line}memref.store {s}, %scores[%j] : {scores}\n%m2 = arith.maximumf %m, {s} : f32\n%above = arith.addi %j, %c1 : index\n"
    );
    let first = match keep.is_empty() {
        true => format!("{dot}scf.yield %m2, %above : f32, index\n"),
        false => {
            let inside = format!("{dot}scf.yield %m2, %above : f32, index\n");
            let skip =
                format!(" else {{\nmemref.store %low, %scores[%j] : {scores}\nscf.yield %m, %n : f32, index\n}}");
            guard("%both:2", &inside, &skip) + "scf.yield %both#0, %both#1 : f32, index\n"
        }
    };
    let add = format!(
        "%e = memref.load %scores[%j] : {scores}\nscf.for %d = %c0 to %depth step %c1 {{\n\
         %old = memref.load %sums[%d] : {sums}\n%vd = memref.load %v[%b, %j, %d] : {v}\n\
         %product = arith.mulf %e, %vd fastmath<contract> : f32\n%new = arith.addf %old, %product fastmath<contract> : f32\n\
         memref.store %new, %sums[%d] : {sums}\n}}\n"
    );
    let body = format!(
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%keys = arith.constant {keys} : index\n\
         %depth = arith.constant {depth} : index\n%zero = arith.constant 0.0 : f32\n%low = arith.constant 0xFF800000 : f32\n\
         %scores = memref.alloca() {{alignment = 64 : i64}} : {scores}\n%sums = memref.alloca() {{alignment = 64 : i64}} : {sums}\n\
         scf.for %b = %begin to %end step %c1 {{\n\
         %top:2 = scf.for %j = %c0 to %keys step %c1 iter_args(%m = %low, %n = %c0) -> (f32, index) {{\n{first}}}\n\
         %sum = scf.for %j = %c0 to %top#1 step %c1 iter_args(%part = %zero) -> (f32) {{\n\
         %score = memref.load %scores[%j] : {scores}\n%less = arith.subf %score, %top#0 : f32\n%e = math.exp %less : f32\n\
         memref.store %e, %scores[%j] : {scores}\n%next = arith.addf %part, %e fastmath<reassoc> : f32\nscf.yield %next : f32\n}}\n\
         scf.for %d = %c0 to %depth step %c1 {{\nmemref.store %zero, %sums[%d] : {sums}\n}}\n\
         scf.for %j = %c0 to %top#1 step %c1 {{\n{}}}\n\
         scf.for %d = %c0 to %depth step %c1 {{\n%all = memref.load %sums[%d] : {sums}\n%mean = arith.divf %all, %sum : f32\n\
         memref.store %mean, %o[%b, %c0, %d] : {o}\n}}\n}}\n",
        guard("", &add, "")
    );
    let before = format!("%count = arith.constant {batch} : index\n");
    let grain = (LEAST / (keys * depth).max(1)).max(1);
    let shape = ParallelLoop {
        name,
        parameters: &parameters,
        before: &before,
        grain,
        body: &body,
        declarations: &declarations,
        ..Default::default()
    };
    shape.define(module)?;
    Ok(name.to_string())
}
