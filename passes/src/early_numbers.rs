//! Elements at constant places that a kernel reads somewhere further down, such as the position that tells where its result is
//! stored: they are read once, where the kernel is about to wait for its predecessor, instead of at the end of all that waits.

use crate::ir::{Block, Op, Value};

/// Places with loads of one element each; past these a kernel's registers are worth more.
const MOST: usize = 4;

/// Reads before `wait`, an operation at the top of a kernel's `body`, what loads behind it read of the kernel's parameters that
/// `is_constant` says nothing writes, where their indices are constants within static sizes: such a load may run whatever happens. How many
/// elements those are.
pub fn read_early(body: Block, wait: Op, is_constant: impl Fn(Value) -> bool) -> Result<usize, String> {
    let behind = body.ops().into_iter().skip_while(|op| *op != wait);
    let mut places: Vec<(Value, Vec<i64>, Vec<Op>)> = vec![];
    for load in behind.flat_map(|op| op.walk()).filter(|op| op.is("memref.load")) {
        let Some((array, place)) = place_of(load)
            .filter(|(array, _)| is_constant(*array) && array.block_argument().is_some_and(|(block, _)| block == body))
        else {
            continue;
        };
        match places.iter_mut().find(|(a, p, _)| *a == array && *p == place) {
            Some((.., loads)) => loads.push(load),
            None => places.push((array, place, vec![load])),
        }
    }
    places.truncate(MOST);
    for (array, place, loads) in &places {
        let ty = array.ty();
        let element = ty.element().ok_or("internal error: an array without an element type")?;
        let constants: String =
            place.iter().enumerate().map(|(i, n)| format!("%i{i} = arith.constant {n} : index\n")).collect();
        let list: Vec<String> = (0..place.len()).map(|i| format!("%i{i}")).collect();
        let text = format!("{constants}%v = memref.load %x[{}] : {ty}\nreturn %v : {element}", list.join(", "));
        let value = wait.build_before(&[("x", *array)], "", &text)?;
        loads.iter().for_each(|load| load.replace_with(&value));
    }
    Ok(places.len())
}

/// The array and the place that a load reads, where that is constant and there.
fn place_of(load: Op) -> Option<(Value, Vec<i64>)> {
    let operands = load.operands();
    let (array, indices) = operands.split_first()?;
    let sizes = array.ty().shape()?;
    let place: Vec<i64> = indices.iter().map(|i| i.constant()).collect::<Option<_>>()?;
    let inside = sizes.iter().zip(&place).all(|(size, at)| size.is_some_and(|size| (0..size).contains(at)));
    inside.then_some((*array, place))
}
