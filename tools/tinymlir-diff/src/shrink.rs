//! Makes a faulty program small: as long as it stays faulty, results and steps go, steps become inputs, sizes become 1.

use crate::program::{Fill, Op, Program};
use anyhow::Result;

/// A program that `is_faulty` still accepts and that no single simplification makes smaller, or the best after `most` tries.
pub fn shrink(program: &Program, most: usize, is_faulty: &mut dyn FnMut(&Program) -> Result<bool>) -> Result<Program> {
    let mut best = program.pruned();
    let mut tries = 0;
    'again: loop {
        for candidate in candidates(&best) {
            if candidate.types().is_none() || cost(&candidate) >= cost(&best) {
                continue;
            }
            if tries == most {
                return Ok(best);
            }
            tries += 1;
            if is_faulty(&candidate)? {
                best = candidate;
                continue 'again;
            }
        }
        return Ok(best);
    }
}

/// Fewer operations first, then inputs, then elements, then plain ones.
fn cost(program: &Program) -> (usize, usize, usize, usize, usize) {
    let spelled = program.steps.iter().filter(|op| matches!(op, Op::Spelled(..))).count();
    let inputs = program.inputs().len();
    let elements = program
        .types()
        .map_or(usize::MAX, |types| types.iter().map(|t| t.shape.iter().sum::<usize>() + t.shape.len()).sum());
    let odd = program.steps.iter().filter(|op| matches!(op, Op::Input { fill, .. } if *fill != Fill::Grid)).count();
    (
        program.steps.len() - inputs,
        program.results.len(),
        inputs,
        elements,
        odd + spelled + usize::from(program.memrefs),
    )
}

/// Simpler programs, those that cut most first.
fn candidates(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    let with = |f: &dyn Fn(&mut Program)| {
        let mut changed = program.clone();
        f(&mut changed);
        changed.pruned()
    };
    if program.results.len() > 1 {
        all.extend((0..program.results.len()).map(|i| with(&|p| p.results = vec![p.results[i]])));
        all.extend((0..program.results.len()).map(|i| {
            with(&|p| {
                p.results.remove(i);
            })
        }));
    }
    let types = program.types().unwrap_or_default();
    // An earlier step is returned instead, or a step's operand stands for it.
    for id in (0..program.steps.len()).rev() {
        for operand in program.steps[id].operands() {
            let redirect = |p: &mut Program| {
                p.steps.iter_mut().for_each(|op| op.map_operands(&mut |a| if a == id { operand } else { a }));
                p.results.iter_mut().for_each(|r| *r = if *r == id { operand } else { *r });
            };
            all.push(with(&redirect));
        }
    }
    for (id, op) in program.steps.iter().enumerate().rev() {
        if let Op::Spelled(_, plain) = op {
            all.push(with(&|p| p.steps[id] = (**plain).clone()));
        }
    }
    if program.memrefs {
        all.push(with(&|p| p.memrefs = false));
    }
    // A step becomes an input.
    for (id, op) in program.steps.iter().enumerate().rev() {
        let ty = &types[id];
        if !matches!(op, Op::Input { .. }) {
            let seed = id as u64;
            let input = Op::Input { dtype: ty.dtype, shape: ty.shape.clone(), seed, fill: Fill::Grid };
            all.push(with(&|p| p.steps[id] = input.clone()));
        }
    }
    // A size everywhere.
    let mut sizes: Vec<usize> = types.iter().flat_map(|t| t.shape.iter().copied()).filter(|&n| n > 1).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for &size in sizes.iter().rev() {
        for to in [1, 2, size / 2, size - 1].into_iter().filter(|&to| to > 0 && to < size) {
            all.push(with(&|p| p.steps.iter_mut().for_each(|op| resize(op, size, to))));
        }
    }
    for (id, op) in program.steps.iter().enumerate() {
        if let Op::Input { fill, .. } = op
            && matches!(fill, Fill::Dense | Fill::Special)
        {
            all.push(with(&|p| {
                if let Op::Input { fill, .. } = &mut p.steps[id] {
                    *fill = Fill::Grid;
                }
            }));
        }
    }
    all
}

fn resize(op: &mut Op, from: usize, to: usize) {
    let swap = |shape: &mut Vec<usize>| shape.iter_mut().for_each(|n| *n = if *n == from { to } else { *n });
    match op {
        Op::Input { shape, .. } | Op::Iota(_, shape, _) | Op::Reshape(_, shape) | Op::Broadcast(_, shape) => {
            swap(shape)
        }
        Op::Slice { start, end, .. } => {
            if *end == from {
                *end = to;
            }
            *start = (*start).min(*end);
        }
        Op::Index(_, _, index) => *index = (*index).min(to - 1),
        _ => {}
    }
}
