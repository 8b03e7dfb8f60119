//! Paddings, concatenations and packs of `tinymlir-decompose` that upstream's lowerings get wrong, as values and text.

use crate::ir::{Attr, Op, Type, Value};

/// What an operation is replaced by: inputs `%v0`, `%v1`, ... and text over them that returns its results.
pub(crate) type Replacement = (Vec<Value>, String);

pub(crate) fn is_empty(ty: Type) -> bool {
    ty.shape().is_some_and(|shape| shape.contains(&Some(0)))
}

fn is_static(ty: Type) -> bool {
    ty.shape().is_some_and(|shape| shape.iter().all(|size| size.is_some()))
}

/// A concatenation of what is not known to be empty; `None` where that is all of it.
pub(crate) fn concat(op: Op) -> Option<Replacement> {
    let ty = op.result(0).ty();
    let kept: Vec<Value> = op.operands().into_iter().filter(|v| !is_empty(v.ty())).collect();
    if kept.len() == op.operands().len() {
        return None;
    }
    if is_empty(ty) && is_static(ty) {
        return Some((vec![], format!("%r = tensor.empty() : {ty}\nreturn %r : {ty}")));
    }
    let dim = op.attr("dim")?.as_int()?;
    let types: Vec<String> = kept.iter().map(|v| v.ty().to_string()).collect();
    let names: Vec<String> = (0..kept.len()).map(|i| format!("%v{i}")).collect();
    let text = format!(
        "%r = tensor.concat dim({dim}) {} : ({}) -> {ty}\nreturn %r : {ty}",
        names.join(", "),
        types.join(", ")
    );
    (!kept.is_empty()).then_some((kept, text))
}

/// Nothing, where a pack or unpack of tensors is known to make nothing.
pub(crate) fn empty(op: Op) -> Option<Replacement> {
    let ty = op.results().first()?.ty();
    (is_empty(ty) && is_static(ty)).then(|| (vec![], format!("%r = tensor.empty() : {ty}\nreturn %r : {ty}")))
}

/// A bitcast of a tensor: of its elements, where both kinds have one.
pub(crate) fn bitcast(op: Op) -> Option<Replacement> {
    let (from, to) = (op.operand(0).ty(), op.result(0).ty());
    let plain = |ty: Type| ty.element().is_some_and(|e| e.is_float() || e.to_string().starts_with('i'));
    (plain(from) && plain(to) && from.shape() == to.shape())
        .then(|| (vec![op.operand(0)], format!("%r = arith.bitcast %v0 : {from} to {to}\nreturn %r : {to}")))
}

/// The padding alone, where what is padded is known to be empty and the padding is one value.
pub(crate) fn pad(op: Op) -> Option<Replacement> {
    let ty = op.result(0).ty();
    if !is_empty(op.operand(0).ty()) || !is_static(ty) {
        return None;
    }
    let body = *op.blocks(0).first()?;
    let value = body.terminator().operand(0);
    if let Some(def) = value.def().filter(|def| def.block() == Some(body)) {
        if !def.is("arith.constant") {
            return None;
        }
        def.move_before(op);
    } else if value.block_argument().is_some_and(|(block, _)| block == body) {
        return None;
    }
    Some((vec![value], format!("%r = tensor.splat %v0 : {ty}\nreturn %r : {ty}")))
}

/// A padding by less than nothing cuts off: the source of a pad becomes a slice, and what is negative zero. Whether it was.
pub(crate) fn cut(op: Op) -> Result<bool, String> {
    let parts = |name: &str| op.attr(name).and_then(|a| a.as_static_sizes()).unwrap_or_default();
    let (low, high) = (parts("static_low"), parts("static_high"));
    let (source, ty) = (op.operand(0), op.operand(0).ty());
    let Some(shape) = ty.shape().filter(|shape| shape.len() == low.len() && shape.len() == high.len()) else {
        return Ok(false);
    };
    let off = |amount: Option<i64>| amount.filter(|n| *n < 0).map_or(0, |n| -n);
    if low.iter().chain(&high).all(|amount| off(*amount) == 0) {
        return Ok(false);
    }
    let (mut text, mut offsets, mut sizes, mut cut) = (String::new(), vec![], vec![], vec![]);
    for (axis, size) in shape.iter().enumerate() {
        let gone = off(low[axis]) + off(high[axis]);
        offsets.push(off(low[axis]).to_string());
        match size {
            Some(size) if *size < gone => {
                return Err(format!(
                    "cuts off {gone} elements along dimension {axis}, which has {size} (pad it by no less than -{size})"
                ));
            }
            Some(size) => {
                sizes.push((size - gone).to_string());
                cut.push((size - gone).to_string());
            }
            None => {
                text += &format!(
                    "%axis{axis} = arith.constant {axis} : index\n%whole{axis} = tensor.dim %v0, %axis{axis} : {ty}\n\
                     %gone{axis} = arith.constant {gone} : index\n%size{axis} = arith.subi %whole{axis}, %gone{axis} : index\n"
                );
                sizes.push(format!("%size{axis}"));
                cut.push("?".into());
            }
        }
    }
    let element = ty.element().map(|e| e.to_string()).unwrap_or_default();
    let slice: String = cut.iter().map(|size| format!("{size}x")).collect();
    let steps = vec!["1"; shape.len()].join(", ");
    // A slice may not begin at the end, even where it is empty.
    let nothing = cut.iter().any(|size| size == "0");
    let open: Vec<&str> = sizes.iter().map(String::as_str).filter(|size| size.starts_with('%')).collect();
    text += &match nothing {
        true => format!("%s = tensor.empty({}) : tensor<{slice}{element}>\n", open.join(", ")),
        false => format!(
            "%s = tensor.extract_slice %v0[{}] [{}] [{steps}] : {ty} to tensor<{slice}{element}>\n",
            offsets.join(", "),
            sizes.join(", ")
        ),
    };
    text += &format!("return %s : tensor<{slice}{element}>");
    let sliced = op.build_before(&[("v0", source)], "", &text)?;
    op.set_operand(0, sliced[0]);
    for (name, amounts) in [("static_low", low), ("static_high", high)] {
        let amounts: Vec<String> = amounts.iter().map(|n| n.map_or(i64::MIN, |n| n.max(0)).to_string()).collect();
        let text = format!("array<i64: {}>", amounts.join(", "));
        op.set_attr(name, Attr::parse(op.ctx(), &text).ok_or("internal error: no array")?);
    }
    Ok(true)
}

/// Asserts that tiles of a pack without padding fill what is packed, where its sizes are known at run time only.
pub(crate) fn check_tiles(op: Op) -> Result<(), String> {
    let list = |name: &str| op.attr(name).and_then(|a| a.as_static_sizes()).unwrap_or_default();
    let (places, tiles) = (list("inner_dims_pos"), list("static_inner_tiles"));
    let (source, ty) = (op.operand(0), op.operand(0).ty());
    // Operands are source, target, the padding if there is one, and tiles of dynamic size.
    let padded = op.operands().len() - tiles.iter().filter(|tile| tile.is_none()).count() > 2;
    let Some(shape) = ty.shape().filter(|_| ty.is_tensor() && !padded) else { return Ok(()) };
    for (place, tile) in places.iter().zip(tiles) {
        let (Some(axis), Some(tile)) = (place, tile.filter(|tile| *tile > 1)) else { continue };
        if shape.get(*axis as usize).is_none_or(|size| size.is_some()) {
            continue;
        }
        let text = format!(
            "%axis = arith.constant {axis} : index\n%tile = arith.constant {tile} : index\n%zero = arith.constant 0 : index\n\
             %size = tensor.dim %v0, %axis : {ty}\n%rest = arith.remui %size, %tile : index\n\
             %fits = arith.cmpi eq, %rest, %zero : index\n\
             cf.assert %fits, \"'linalg.pack' op tiles do not fit: {tile} elements each along dimension {axis} (give a padding_value)\""
        );
        op.build_before(&[("v0", source)], "", &text)?;
    }
    Ok(())
}
