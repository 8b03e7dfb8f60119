//! A kernel that computes a group of [`crate::rows`], and a product's prologue that does, as text.

use crate::{
    ir::{Ctx, Op, Value},
    kernels::set_whole_body,
    row_tile::{Tile, element},
    row_writer::Writer,
    rows::{Group, Kind},
    schedule::ROW_REDUCE,
};

/// A kernel as text, with what it is called on.
pub struct Kernel {
    pub name: String,
    pub threads: i64,
    combiners: Vec<String>,
    pub buffers: Vec<Value>,
    device: String,
    host: String,
}

/// The kernel of a group: a block computes a row.
pub fn kernel(group: &Group) -> Kernel {
    let mut writer = Writer::new(group);
    writer.head();
    for (i, member) in group.members.iter().enumerate() {
        writer.member(i, member);
    }
    writer.stores();
    let lanes = writer.tile.threads;
    let rows: i64 = group.rows.iter().product();
    let parameters: Vec<String> =
        writer.buffers.iter().enumerate().map(|(i, b)| format!("%b{i}: {}", b.ty())).collect();
    // Every thread reads all slots, which LLVM joins to loads of 16 bytes.
    let slot = |(i, ty): (usize, &String)| format!("%slots{i}: {ty} {{llvm.align = 16 : i64}}");
    let slots: Vec<String> = writer.slots.iter().enumerate().map(slot).collect();
    let slots = if slots.is_empty() { String::new() } else { format!(" workgroup({})", slots.join(", ")) };
    let parameters = parameters.join(", ");
    let combiners = combiners(group);
    let verbs: Vec<&str> = combiners.iter().map(|c| c.trim_start_matches("arith.").trim_end_matches('f')).collect();
    let made = group.members.last().and_then(|m| m.op.operands().last().copied()).map_or_else(|| "f32".into(), element);
    let verbs = if verbs.is_empty() { "sum_parts".to_string() } else { verbs.join("_") };
    let name = format!("rows_{verbs}_{rows}x{}_{made}", group.columns);
    let device = format!(
        "{}gpu.func @{name}({parameters}){slots} kernel attributes {{known_block_size = array<i32: {lanes}, 1, 1>}} {{\n{}    gpu.return\n}}\n",
        writer.functions, writer.text
    );
    let arguments: Vec<String> =
        writer.buffers.iter().enumerate().map(|(i, b)| format!("%b{i} : {}", b.ty())).collect();
    let host = format!(
        "func.func private @rows({parameters}) attributes {{tinymlir.kernel}} {{\n%c1 = arith.constant 1 : index\n\
         %rows = arith.constant {rows} : index\n%threads = arith.constant {lanes} : index\n\
         gpu.launch_func @rows_kernels::@{name} blocks in (%rows, %c1, %c1) threads in (%threads, %c1, %c1) args({})\nreturn\n}}\n",
        arguments.join(", ")
    );
    Kernel { name, threads: lanes, combiners, buffers: writer.buffers, device, host }
}

/// The template's functions, one reduction for each combiner, and the kernel.
pub fn module_text(ctx: Ctx, kernel: &Kernel) -> Result<String, String> {
    let functions = reductions(ctx, &kernel.combiners, kernel.threads, kernel.threads)?;
    Ok(format!(
        "module attributes {{gpu.container_module}} {{\ngpu.module @rows_kernels {{\n{functions}{}}}\n{}}}\n",
        kernel.device, kernel.host
    ))
}

/// The template's functions `@combine_*` and `@reduce_*` for each combiner, for so many threads a row of so many a block.
fn reductions(ctx: Ctx, combiners: &[String], threads: i64, block: i64) -> Result<String, String> {
    let warps = |threads: i64| format!("{} : index", threads / 32);
    let parameters = [
        ("#warps", warps(threads)),
        ("#block_warps", warps(block)),
        ("#several_rows", (threads < block).to_string()),
        ("!slots", format!("memref<{}xf32, #gpu.address_space<workgroup>>", block / 32)),
    ];
    let parsed = ROW_REDUCE.instantiate(ctx, &parameters.each_ref().map(|(name, value)| (*name, value.as_str())))?;
    let mut functions = String::new();
    for combiner in combiners {
        let suffix = combiner.trim_start_matches("arith.");
        for function in parsed.find(&["func.func"]) {
            let text = function.to_string();
            // @combine and @reduce, by names of their own.
            let text = text
                .replace("@combine(", &format!("@combine_{suffix}("))
                .replace("@reduce(", &format!("@reduce_{suffix}("));
            functions += &text.replace("arith.addf ", &format!("{combiner} ")).replace("f32", combined(combiner));
            functions.push('\n');
        }
    }
    parsed.destroy();
    Ok(functions)
}

/// Gives the functions `@operationN` the bodies of the group's operations.
pub fn set_operations(kernels: Op, group: &Group) -> Result<(), String> {
    for (i, member) in group.members.iter().enumerate() {
        let block = member.op.blocks(0)[0];
        let mut inputs = block.arguments();
        inputs.extend(block.ops().into_iter().filter(|o| o.is("linalg.index")).map(|o| o.result(0)));
        set_whole_body(kernels, &format!("operation{i}"), block, &inputs)?;
    }
    Ok(())
}

/// A product's prologue as text: functions that it calls, the body of `@prologue`, and the operands `%oN` that it reads, from
/// the number on that it was asked for, with the place among them of one that it writes.
pub struct PrologueText {
    pub functions: String,
    pub body: String,
    pub buffers: Vec<Value>,
    pub written: Option<usize>,
}

/// The text of a group whose last member makes row `%row` of a product's A in `%stage`, by `threads` threads of the `block` that has
/// them, which all know `%thread`, `%lane` and the block's `%warp`. Where several rows share a block, only threads with `%kept` store. With `stores` the
/// grid's first block stores what the first member makes.
pub fn prologue(
    ctx: Ctx,
    group: &Group,
    (threads, block): (i64, i64),
    first: usize,
    stores: bool,
) -> Result<PrologueText, String> {
    let mut writer = Writer::new(group);
    writer.tile = Tile::shared_by(group.columns, threads);
    writer.block = block;
    writer.operands = Some(first);
    writer.head();
    // What the first member does not read, such as gain and bias, is read first: where it is constant, before the wait.
    let start: Vec<Value> = group.members[0].op.operands();
    for (buffer, axes) in group.members.iter().flat_map(|m| writer.inputs(m)).collect::<Vec<_>>() {
        if !start.contains(&buffer) && group.reads().any(|v| v == buffer) {
            writer.value(buffer, &axes);
        }
    }
    for (i, member) in group.members.iter().enumerate() {
        writer.member(i, member);
    }
    writer.stage(
        group.members.last().and_then(|m| m.op.operands().last().copied()).ok_or("internal error: an empty group")?,
    )?;
    let mut written = None;
    if stores {
        let out = writer.store_in_first_block(&group.members[0]);
        written = writer.buffers.iter().position(|b| *b == out);
    }
    let functions = reductions(ctx, &combiners(group), threads, block)? + &writer.functions;
    Ok(PrologueText { functions, body: writer.text, buffers: writer.buffers, written })
}

/// The element type that a combiner combines.
fn combined(combiner: &str) -> &'static str {
    if combiner.ends_with('f') { "f32" } else { "i32" }
}

/// The combiners of a group's reductions, each once.
fn combiners(group: &Group) -> Vec<String> {
    let mut combiners: Vec<String> = vec![];
    for member in &group.members {
        if let Kind::Reduce { combiner, .. } = &member.kind
            && !combiners.contains(combiner)
        {
            combiners.push(combiner.clone());
        }
    }
    combiners
}
