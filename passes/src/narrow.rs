//! Products whose B has narrower elements than f32: what a template reads of them at once, and how they become f32.
//!
//! B travels as it is, up to the registers. Elements of bf16 are the upper halves of f32's and are moved there; those of i8 are
//! put into the mantissa of 2^23, which is then subtracted: a conversion instruction takes one lane in eight clocks, which
//! reading at full rate does not leave time for. Both are exact.

use crate::{
    ir::Op,
    row_tile::bytes,
    schedule::{Kind, Layout},
};

/// The elements that B may have.
pub const ELEMENTS: &[&str] = &["f32", "bf16", "f16", "i8"];

/// How many neighbouring elements of B a template reads at once: offsets and strides are multiples of it.
pub fn group(element: &str, layout: Layout, kind: Kind) -> i64 {
    match (layout, kind) {
        _ if element == "f32" => 4,
        (Layout::AlongN, Kind::Skinny) => 4,
        (Layout::AlongK, Kind::Skinny) => 8,
        (_, Kind::Tiled { .. }) => 16 / bytes(element),
    }
}

/// The parameters of a template of products that follow from the element type of B: none for f32, which is their default.
pub fn parameters(element: &str, layout: Layout, kind: Kind, k: i64) -> Vec<(&'static str, String)> {
    if element == "f32" {
        return vec![];
    }
    let index = |n: i64| format!("{n} : index");
    let align = |elements: i64| format!("{} : i64", elements * bytes(element));
    let rows = |space: &str| format!("memref<?x?x?x{element}, strided<[?, ?, 1], offset: ?>{space}>");
    let (global, workgroup) = (", #gpu.address_space<global>", "#gpu.address_space<workgroup>");
    match (layout, kind) {
        (Layout::AlongN, Kind::Skinny) => vec![("!b_part", format!("vector<4x{element}>")), ("#b_align", align(4))],
        (Layout::AlongK, Kind::Skinny) => vec![
            ("!b_view", rows("")),
            ("!b_global", rows(global)),
            ("!b_part", format!("vector<8x{element}>")),
            ("#b_align", align(8)),
            ("!b_wide", "vector<8xf32>".into()),
            ("!b_fours", "vector<2x4xf32>".into()),
            ("!b_rows", "vector<4x2x4xf32>".into()),
            ("!b_parts", format!("vector<4x8x{element}>")),
            ("#fours", index(2)),
            ("#lane_elements", index(8)),
            ("#step", index(256)),
            ("#exact", (k % 256 == 0).to_string()),
        ],
        (_, Kind::Tiled { .. }) => {
            let chunk = 16 / bytes(element);
            // A slice of B has 16 rows of 128 elements along N, and 128 rows of 16 along K.
            let (length, all) = if layout == Layout::AlongN { (128, 16) } else { (16, 128) };
            let (chunks, pitch) = (length / chunk, 48 / bytes(element));
            let rows_at_once = 128 / chunks;
            let slot = if layout == Layout::AlongN { "16x128".into() } else { format!("128x{pitch}") };
            let mut parameters = vec![
                ("!b_view", rows("")),
                ("!b_global", format!("memref<?x?x{element}, strided<[?, 1], offset: ?>{global}>")),
                ("!b_global_batch", rows(global)),
                ("!b_ring", format!("memref<3x{slot}x{element}, {workgroup}>")),
                ("!b_four", format!("vector<4x{element}>")),
                ("#b_align", align(4)),
                ("#b_chunk", index(chunk)),
                ("#b_chunks", index(chunks)),
                ("#b_copies", index(all / rows_at_once)),
                ("#b_row_of", format!("affine_map<(r, i) -> (r + {rows_at_once} * i)>")),
            ];
            if layout == Layout::AlongK {
                parameters.push(("#b_pitch", index(pitch)));
            }
            parameters
        }
    }
}

/// Gives a template's `@widen` its body for elements of this type.
pub fn set_widen(kernels: Op, element: &str, layout: Layout, kind: Kind) -> Result<(), String> {
    set_widen_of(kernels, element, if (layout, kind) == (Layout::AlongK, Kind::Skinny) { 8 } else { 4 })
}

/// The same for so many elements at once.
pub fn set_widen_of(kernels: Op, element: &str, count: i64) -> Result<(), String> {
    let text = match element {
        "bf16" => upper_halves(count),
        "f16" => format!("%w = arith.extf %v : vector<{count}xf16> to vector<{count}xf32>\n"),
        "i8" => mantissas(count),
        _ => return Ok(()),
    };
    let missing = "internal error: the template has no function @widen";
    let function = kernels.lookup("widen").ok_or(missing)?;
    let body = *function.blocks(0).first().ok_or(missing)?;
    let end = body.terminator();
    let argument = *body.arguments().first().ok_or(missing)?;
    let made = end.build_before(&[("v", argument)], "", &format!("{text}return %w : vector<{count}xf32>"))?;
    end.set_operands(&made);
    Ok(())
}

/// `%w` of `%v`, a vector of bf16.
fn upper_halves(count: i64) -> String {
    let (half, order) = (count / 2, (0..count).map(|i| (i / 2 + i % 2 * (count / 2)).to_string()));
    let (pair, order) = (format!("vector<{half}xi32>"), order.collect::<Vec<_>>().join(", "));
    format!(
        "%bits = vector.bitcast %v : vector<{count}xbf16> to {pair}\n\
         %sixteen = arith.constant dense<16> : {pair}\n\
         %upper = arith.constant dense<-65536> : {pair}\n\
         %even = arith.shli %bits, %sixteen : {pair}\n\
         %odd = arith.andi %bits, %upper : {pair}\n\
         %all = vector.shuffle %even, %odd [{order}] : {pair}, {pair}\n\
         %w = vector.bitcast %all : vector<{count}xi32> to vector<{count}xf32>\n"
    )
}

/// `%w` of `%v`, a vector of i8.
fn mantissas(count: i64) -> String {
    let words = count / 4;
    let ty = format!("vector<{words}xi32>");
    let mut text = format!(
        "%bits = vector.bitcast %v : vector<{count}xi8> to {ty}\n\
         %signs = arith.constant dense<0x80808080> : {ty}\n\
         %from_0 = arith.xori %bits, %signs : {ty}\n\
         %byte = arith.constant dense<255> : {ty}\n\
         %exponent = arith.constant dense<0x4B000000> : {ty}\n"
    );
    for i in 0..4 {
        text += &format!(
            "%places{i} = arith.constant dense<{}> : {ty}\n\
             %moved{i} = arith.shrui %from_0, %places{i} : {ty}\n\
             %low{i} = arith.andi %moved{i}, %byte : {ty}\n\
             %float{i} = arith.ori %low{i}, %exponent : {ty}\n",
            8 * i
        );
    }
    let list = |order: Vec<i64>| order.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let halves = list((0..2 * words).collect());
    let order = list((0..count).map(|i| i % 4 * words + i / 4).collect());
    let (pair, all) = (format!("vector<{}xi32>", 2 * words), format!("vector<{count}xf32>"));
    text + &format!(
        "%first = vector.shuffle %float0, %float1 [{halves}] : {ty}, {ty}\n\
         %second = vector.shuffle %float2, %float3 [{halves}] : {ty}, {ty}\n\
         %four = vector.shuffle %first, %second [{order}] : {pair}, {pair}\n\
         %shifted = vector.bitcast %four : vector<{count}xi32> to {all}\n\
         %offset = arith.constant dense<8388736.0> : {all}\n\
         %w = arith.subf %shifted, %offset : {all}\n"
    )
}
