//! Static sizes of a linalg operation that contradict one another: upstream's verifier compares them only where it knows every size.

use crate::ir::Op;

/// What does not fit in a linalg operation, whatever its dynamic sizes are: two sizes along one loop differ, or a window reaches past its
/// operand. `None` where all fits as far as sizes are known, and for other operations.
pub(crate) fn misfit(op: Op) -> Option<String> {
    let (maps, operands) = (op.linalg_maps(), op.operands());
    if maps.len() != operands.len() {
        return None;
    }
    let shapes: Vec<Vec<Option<i64>>> = operands.iter().map(|v| v.ty().shape().unwrap_or_default()).collect();
    // Of each loop the size, where it is known, and the operand and dimension that it is of.
    let mut loops: Vec<Option<(i64, usize, usize)>> = vec![None; maps.first().map_or(0, |map| map.num_dims())];
    for (i, (map, shape)) in maps.iter().zip(&shapes).enumerate() {
        for (axis, (dim, size)) in map.dims().into_iter().zip(shape).enumerate() {
            let (Some(dim), Some(size)) = (dim, *size) else { continue };
            match loops[dim] {
                Some((other, j, there)) if other != size => {
                    return Some(format!(
                        "sizes differ: {size} and {other}, along dimension {axis} of operand {i} and dimension {there} of operand {j}"
                    ));
                }
                Some(_) => {}
                None => loops[dim] = Some((size, i, axis)),
            }
        }
    }
    for (i, (map, shape)) in maps.iter().zip(&shapes).enumerate() {
        for (axis, (dim, size)) in map.dims().into_iter().zip(shape).enumerate() {
            let used = map.dims_of(axis);
            let (None, Some(size)) = (dim, *size) else { continue };
            let known = used.iter().all(|d| loops[*d].is_some_and(|(size, ..)| size > 0));
            if used.is_empty() || !known {
                continue;
            }
            let last: Vec<i64> =
                loops.iter().enumerate().map(|(d, l)| l.filter(|_| used.contains(&d)).map_or(0, |l| l.0 - 1)).collect();
            let ends = [map.value(axis, &last), map.value(axis, &vec![0; last.len()])];
            if let Some(index) = ends.into_iter().flatten().find(|index| !(0..size).contains(index)) {
                return Some(format!(
                    "window is out of bounds: it reaches index {index} of dimension {axis} of operand {i}, whose size is {size}"
                ));
            }
        }
    }
    None
}
