//! `tinymlir-attention`: softmax between two products, in one kernel that never writes the scores.
//!
//! Finds product, elementwise scores (scaling, masking), softmax over the columns, product, in the two orders in which
//! the quotient by the sum is written: of the exponentials, or of the second product (which may permute its result). Becomes a
//! call of the template that [`crate::schedule::attention`] names for the chip, the elements and the precision, or of
//! `templates/attention_row_f32.mlir` for one row, or from sm_90 on, where one product alone reads all rows side by side and a norm
//! follows, of `templates/attention_row_product.mlir` for both, whose parts an elementwise operation adds up, or which with `reductions=atomic` adds them to the result itself. A mask that keeps a row's own
//! column and those before it, by index, makes the kernel skip what is after; for one row no masked key is read. Products of
//! f32 are rounded as `precision` says, and with bf16 a copy of the result to bf16 joins the kernel. Else the result
//! differs from the separate operations by rounding of what lies between only.
//!
//! Takes f32, and from sm_80 on f16 and bf16, with static sizes, up to 64 elements a head, more than 8 rows or one of f32, and at
//! most one operand beside the products in the scores, such as a mask; everything between must be read by nothing else. Of f32 the
//! operations between may be of any rank, with reshapes, as exporters write several sequences of heads, and rows without keys may
//! give zeros (`attention_views.rs`); batches have one stride then. What it leaves, with a remark, goes to the kernels for products and rows.

use crate::{
    attention_match::{Chain, MOST_DEPTH, element},
    attention_product::AttentionProduct,
    attention_views::chains_through_views,
    choice::{Choice, Precision},
    host::{Operand, Text, Workspaces},
    ir::{Op, Opt, Pass, PassCx, PassResult, Value},
    kernels::{Instance, Kernels, set_conversion},
    schedule::{ATTENTION_ROW, Attention, attention},
    turns::ceildiv,
    zeroed::Zeroed,
};
use mlir_sys::*;

pub static PASS: Pass = Pass {
    argument: "tinymlir-attention",
    description: "Compute a softmax between two products in one kernel that never writes the scores",
    anchor: "builtin.module",
    options: &[
        Opt::string("chip", "sm_80", "The chip that the kernels are for"),
        Opt::string("precision", "fp32", "How factors of f32 may be rounded: fp32, or tf32 or bf16 on tensor cores"),
        Opt::string(
            "reductions",
            "ordered",
            "How heads that a product joins are added up: ordered, or atomic, in an order that differs from run to run",
        ),
    ],
    statistics: &[
        ("kernels", "Chains that became a kernel"),
        ("products", "Products behind a chain that are part of its kernel"),
    ],
    dialects: &[
        mlirGetDialectHandle__affine__,
        mlirGetDialectHandle__arith__,
        mlirGetDialectHandle__func__,
        mlirGetDialectHandle__gpu__,
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

/// How many rows f32 is rounded for: fewer fill no tile of tensor cores.
const LEAST_ROUNDED_ROWS: i64 = 33;
/// How many keys a block of the kernel for one row takes.
const BLOCK_KEYS: i64 = 128;

fn run(cx: &PassCx, module: Op) -> PassResult {
    let Choice { chip, precision, reductions, .. } = cx.check(module, Choice::of(cx))?;
    let mut kernels = Kernels::default();
    let mut workspaces = Workspaces::default();
    let mut zeroed = Zeroed::default();
    let chosen = |chain: Chain| {
        let [_, m, n, _] = chain.size;
        let precision = if m < LEAST_ROUNDED_ROWS { Precision::Fp32 } else { precision };
        let one_row = (m == 1 && chain.element == "f32").then_some(ATTENTION_ROW);
        let kernel = one_row.or_else(|| attention(chip, &chain.element, precision, n).filter(|_| m > 1))?;
        Some((if kernel.factors == "bf16" { chain.rounded() } else { chain }, kernel))
    };
    while let Some((chain, kernel)) = chains_through_views(module).find_map(chosen) {
        match AttentionProduct::behind(&chain, chip, reductions) {
            Some(both) => both.emit(cx, module, &mut kernels, (&mut workspaces, &mut zeroed))?,
            None => chain.emit(cx, &kernel, module, &mut kernels, &mut workspaces)?,
        }
    }
    cx.check(module, zeroed.emit())
}

impl Chain {
    fn emit(
        self,
        cx: &PassCx,
        kernel: &Attention,
        module: Op,
        kernels: &mut Kernels,
        workspaces: &mut Workspaces,
    ) -> PassResult {
        let [batch, m, n, depth] = self.size;
        let at = self.ops[self.ops.len() - 1];
        let one_row = m == 1;
        let kept = self.score.as_ref().and_then(|s| s.causal()).filter(|_| !one_row);
        let causal = kept.is_some();
        // Scores that are multiples of products are made where the power is taken.
        let multiple =
            self.score.as_ref().map_or(Some((1.0, None)), |s| s.multiple()).filter(|_| kernel.on_tensor_cores);
        let power = format!("{:.9e} : f32", multiple.map_or(1.0, |(factor, _)| factor) * std::f64::consts::LOG2_E);
        let extra = self.extra();
        let extra_type = extra.map_or(format!("memref<{}>", self.element), dynamic_type);
        let body = |kernels: Op| -> Result<(), String> {
            if kernel.converts {
                set_conversion(kernels, "factors", "arith.truncf")?;
                set_conversion(kernels, "result", "arith.truncf")?;
            }
            let Some(score) = &self.score else { return Ok(()) };
            if one_row {
                return self.set_row_score(kernels);
            }
            match multiple {
                Some((_, None)) => return Ok(()),
                Some((_, Some(condition))) => {
                    score.set_masked(kernels, "score", condition)?;
                    return if causal { Ok(()) } else { score.set_masked(kernels, "score_kept", condition) };
                }
                None => {}
            }
            let results = score.op.blocks(0)[0].terminator().operands();
            score.set(kernels, "score", &results, 1, None)?;
            if kernel.on_tensor_cores { score.set(kernels, "score_kept", &results, 1, kept) } else { Ok(()) }
        };
        let out_element = element(self.out.buffer);
        let mut parameters = vec![("!extra", extra_type.as_str())];
        if !one_row {
            parameters.push(("#causal", if causal { "true" } else { "false" }));
            parameters.push(("#zero_rows", if self.empty_is_zero { "true" } else { "false" }));
        }
        parameters.extend(kernel.parameters);
        let operands = [
            ("q", "!q_view", &self.q, m),
            ("k", "!k_view", &self.k, n),
            ("v", "!v_view", &self.v, n),
            ("o", "!out_view", &self.out, m),
        ];
        let view = |operand: &Operand, strides: &str| {
            format!("memref<?x?x?x{}, strided<[{strides}, 1], offset: ?>>", element(operand.buffer))
        };
        let dynamic = operands.map(|(.., o, _)| view(o, "?, ?"));
        let mut types = dynamic.clone();
        if kernel.on_tensor_cores {
            let truth = |holds: bool| if holds { "true" } else { "false" };
            parameters.extend([("#whole_depth", truth(depth == MOST_DEPTH)), ("#fused", truth(multiple.is_some()))]);
            parameters.push(("#factor", power.as_str()));
            types = operands.map(|(.., o, _)| view(o, &format!("{}, {}", o.strides[0], o.strides[1])));
            parameters.extend(operands.iter().zip(&types).map(|((_, parameter, ..), ty)| (*parameter, ty.as_str())));
        }
        if kernel.converts {
            let bytes = if out_element == "f32" { "8 : i64" } else { "4 : i64" };
            parameters.extend([("!out_elem", out_element.as_str()), ("#out_bytes", bytes)]);
        }
        let causal_name = if causal { "causal_" } else { "" };
        let (template, name) = (&kernel.template, format!("attention_{}{causal_name}{}", kernel.kind, kernel.factors));
        let name = name.as_str();
        let instance = Instance { template, parameters: &parameters, launcher: "attention", name };
        let symbol = kernels.place(cx, at, module, instance, body)?;
        let mut text = Text::default();
        let mut arguments: Vec<String> = vec![];
        for ((name, _, operand, rows), (any, ty)) in operands.iter().zip(dynamic.iter().zip(&types)) {
            let base = text.operand(name, operand);
            text.view(&format!("{name}v"), &base, &operand.strides, &[batch, *rows, depth], any);
            text.line(&format!("%{name}s = memref.cast %{name}v : {any} to {ty}"));
            arguments.push(format!("%{name}s"));
        }
        let mut inputs: Vec<(&str, Value)> = operands.iter().map(|(name, _, o, _)| (*name, o.buffer)).collect();
        let mut types = types.to_vec();
        if one_row {
            let parts = ceildiv(n, BLOCK_KEYS);
            let workspace = cx.check(at, workspaces.of(at, batch * parts * (depth + 2)))?;
            inputs.push(("w", workspace));
            let base = text.operand("w", &Operand { buffer: workspace, offset: 0, strides: [0; 3] });
            text.view("wv", &base, &[parts * (depth + 2), depth + 2, 1], &[batch, parts, depth + 2], &dynamic[0]);
            arguments.push("%wv".into());
            types.push(dynamic[0].clone());
        }
        match extra {
            Some(extra) => {
                inputs.push(("x", extra));
                text.line(&format!("%xv = memref.cast %x : {} to {extra_type}", extra.ty()));
            }
            // Nothing reads it: the first element of Q.
            None => text.line(&format!(
                "%xv = memref.reinterpret_cast %q_base to offset: [0], sizes: [], strides: [] : memref<{0}> to memref<{0}>",
                self.element
            )),
        }
        arguments.push("%xv".into());
        types.push(extra_type.clone());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        // The result, and for one row the parts.
        let writes: &[usize] = if one_row { &[3, 4] } else { &[3] };
        text.call_writing(&symbol, &arguments, &types, writes);
        let size = format!("{batch}x{m}x{n}x{depth}");
        let why = match (one_row, causal) {
            (true, _) => "products around a softmax of one row",
            (false, true) => "products around a softmax whose mask is causal: tiles past the diagonal are skipped",
            (false, false) => "products around a softmax",
        };
        let message = format!(
            "and {} operations before it become {name} ({}): {batch} batches, {m} rows, {n} keys of {depth}",
            self.ops.len() - 1,
            template.file
        );
        cx.passed_with(at, &message, &[("kernel", name), ("template", template.file), ("size", &size), ("why", why)]);
        at.stand_for(self.ops.iter().copied());
        cx.check(at, at.build_before(&inputs, &text.declarations, &text.body).map(|_| ()))?;
        cx.count("kernels");
        self.erase();
        Ok(())
    }
}

/// The type of a buffer with everything but its rank and element left open.
pub(crate) fn dynamic_type(buffer: Value) -> String {
    let ty = buffer.ty();
    let (rank, element) = (ty.shape().map_or(0, |s| s.len()), ty.element().map(|e| e.to_string()).unwrap_or_default());
    let (sizes, strides) = ("?x".repeat(rank), vec!["?"; rank].join(", "));
    format!("memref<{sizes}{element}, strided<[{strides}], offset: ?>>")
}
