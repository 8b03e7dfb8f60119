//! The chains that [`crate::attention_chain`] finds, whatever ranks and views lie between their operations, as a kernel for batches of
//! matrices takes them: static sizes, one stride for all batches, and at most one operand beside the products in the scores.

use crate::{
    attention_chain::{AttentionChain, Operand as Axes, Stage},
    attention_match::{Chain, LEAST_ROWS, MOST_DEPTH, MOST_ROW_BATCHES},
    attention_steps::{Along, Score},
    contraction::Contraction,
    device::source,
    host::Operand,
    ir::Op,
    memory::outputs,
};

/// The chains of a module that a kernel can take, in order, also those with views between their operations.
pub fn chains_through_views(module: Op) -> impl Iterator<Item = Chain> {
    let products = module.walk().into_iter().filter(|op| op.is_linalg() && Contraction::of(*op).is_ok());
    products.filter_map(|op| Chain::ending_with(op).or_else(|| through_views(op)))
}

fn through_views(second: Op) -> Option<Chain> {
    let chain = AttentionChain::ending_with(second).ok()??;
    let (products, context, last) = (&chain.products, &chain.context, chain.last_stage());
    let size = |stage: &Stage, dim: usize| stage.sizes[dim];
    let batch = |stage: &Stage| stage.roles.batch.iter().map(|dim| stage.sizes[*dim]).product::<Option<i64>>();
    let (m, n) = (size(products, products.roles.row)?, size(products, products.roles.column)?);
    let (batches, depth) = (batch(products)?, size(products, chain.depth)?);
    let alike = [context, last].iter().all(|stage| batch(stage) == Some(batches));
    let rows = m >= LEAST_ROWS || m == 1 && batches <= MOST_ROW_BATCHES;
    let fits = alike && rows && depth <= MOST_DEPTH && depth % 4 == 0 && size(context, chain.width) == Some(depth);
    // The kernels for one row have no zeros for it.
    if !fits || m == 1 && chain.empty_is_zero || batches * m * n * depth == 0 || chain.element != "f32" {
        return None;
    }
    let score = match &chain.scores {
        None => None,
        Some(scores) => {
            let extra = match scores.places[..] {
                [] => None,
                [extra] => Some(extra),
                _ => return None,
            };
            let (op, product, loops) = (scores.stage.op, scores.product, loops(&scores.stage)?);
            Some(Score { op, product, extra, loops })
        }
    };
    let result = if chain.end.is_some() { last.roles.column } else { chain.width };
    let out = operand(last, chain.out(), [last.roles.row, result])?;
    let mut between: Vec<_> = chain.ops.iter().flat_map(|op| outputs(*op)).map(source).collect();
    between.retain(|buffer| *buffer != source(out.buffer));
    let found = Chain {
        size: [batches, m, n, depth],
        element: chain.element.clone(),
        q: operand(products, &products.operands[0], [products.roles.row, chain.depth])?,
        k: operand(products, &products.operands[1], [products.roles.column, chain.depth])?,
        v: operand(context, &context.operands[0], [context.roles.column, chain.width])?,
        out,
        score,
        empty_is_zero: chain.empty_is_zero,
        second,
        ops: chain.ops,
        between,
    };
    if !found.fits() {
        return None;
    }
    let turned = found.score.as_ref().map_or(Ok(()), |score| score.turn_selection());
    turned.is_ok().then_some(found)
}

/// What an operand's rows and columns are in memory; nothing where batches have more than one stride, or something is dynamic.
fn operand(stage: &Stage, Axes { buffer, axes }: &Axes, [row, column]: [usize; 2]) -> Option<Operand> {
    let memref = buffer.ty().memref()?;
    let stride = |dim: usize| match axes.iter().position(|axis| *axis == Some(dim)) {
        Some(axis) => memref.strides[axis],
        None => Some(0),
    };
    let (mut batch, mut reach) = (0, 1);
    for dim in stage.roles.batch.iter().rev().filter(|dim| stage.sizes[**dim] != Some(1)) {
        let step = stride(*dim)?;
        if reach == 1 {
            batch = step;
        } else if step != batch * reach {
            return None;
        }
        reach *= stage.sizes[*dim]?;
    }
    Some(Operand { buffer: *buffer, offset: memref.offset?, strides: [batch, stride(row)?, stride(column)?] })
}

/// What the loops of an elementwise operation on scores run along.
fn loops(stage: &Stage) -> Option<Vec<Along>> {
    let mut loops = vec![Along::One; stage.sizes.len()];
    loops[stage.roles.row] = Along::Row;
    loops[stage.roles.column] = Along::Key;
    let mut inner = 1;
    for (place, dim) in stage.roles.batch.iter().enumerate().rev() {
        let size = stage.sizes[*dim]?;
        loops[*dim] = Along::Batch { inner, size: (place > 0).then_some(size) };
        inner *= size;
    }
    Some(loops)
}
