//! Operations that transpose or repeat a tensor: what becomes of its axes, and how a reshape moves past them.

use crate::ir::{Op, Value};

/// A linalg operation on tensors that moves elements and changes none: axis `i` of `input` is axis `axes[i]` of the result, and
/// along each other axis of the result it is repeated.
pub struct Permutation {
    pub op: Op,
    pub input: Value,
    pub axes: Vec<usize>,
}

impl Permutation {
    /// What makes `value`, where that is such an operation and more than a copy.
    pub fn of(value: Value) -> Option<Permutation> {
        let op = value.def().filter(|op| op.is_linalg() && op.results().len() == 1)?;
        let ([input, _], [from, to]) = (&op.operands()[..], &op.linalg_maps()[..]) else { return None };
        let body = *op.blocks(0).first()?;
        let yields = body.terminator().operands() == body.arguments().first().copied().into_iter().collect::<Vec<_>>();
        if !yields || body.ops().len() != 1 || op.linalg_num_parallel() != from.num_dims() {
            return None;
        }
        if [*input, value].iter().any(|v| !v.ty().is_tensor() || v.ty().has_encoding()) {
            return None;
        }
        let dims = |map: &crate::ir::AffineMap| -> Option<Vec<usize>> {
            let dims: Vec<usize> = map.dims().into_iter().collect::<Option<_>>()?;
            (0..dims.len()).all(|i| !dims[..i].contains(&dims[i])).then_some(dims)
        };
        let (from, to) = (dims(from)?, dims(to)?);
        let axes: Vec<usize> = from.iter().map(|d| to.iter().position(|t| t == d)).collect::<Option<_>>()?;
        let moves = axes.len() != to.len() || axes.iter().enumerate().any(|(i, axis)| i != *axis);
        moves.then_some(Permutation { op, input: *input, axes })
    }

    /// Whether the result has more elements than the input.
    pub fn repeats(&self) -> bool {
        self.op.result(0).ty().shape().is_some_and(|shape| shape.len() != self.axes.len())
    }

    /// The axis of the input that is an axis of the result; of all, where nothing is repeated.
    pub fn sources(&self) -> Vec<usize> {
        (0..self.axes.len()).filter_map(|axis| self.axes.iter().position(|a| *a == axis)).collect()
    }
}

/// Neighbouring axes of a tensor that are one axis on the other side of a permutation.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    /// The number of that axis.
    pub group: usize,
    /// The axes, ascending.
    pub axes: Vec<usize>,
}

/// Gathers the axes of a tensor of these sizes so that each group of axes of its permuted form is one run of neighbours. `places`
/// says which axis of the permuted form each axis is, `groups` which axes of that belong together. An axis of size 1 may join any
/// run. Nothing where the axes of a group lie apart or in another order, so that a reshape has to copy.
pub fn runs(sizes: &[Option<i64>], places: &[usize], groups: &[Vec<usize>]) -> Option<Vec<Run>> {
    let group = |axis: usize| groups.iter().position(|g| g.contains(&places[axis]));
    let proper = |axis: &usize| sizes[*axis] != Some(1);
    let mut runs: Vec<Run> = vec![];
    let mut first = vec![]; // of size 1, before any run
    for axis in 0..sizes.len() {
        let group_of = group(axis)?;
        let started = runs.iter().any(|run| run.group == group_of);
        let empty = !(0..sizes.len()).any(|other| proper(&other) && group(other) == Some(group_of));
        match runs.last_mut() {
            Some(run) if proper(&axis) && run.group == group_of => run.axes.push(axis),
            Some(run) if !proper(&axis) && (started || !empty) => run.axes.push(axis),
            None if !proper(&axis) && !empty => first.push(axis),
            _ if started => return None,
            _ => {
                runs.push(Run { group: group_of, axes: std::mem::take(&mut first).into_iter().chain([axis]).collect() })
            }
        }
    }
    let ordered = |run: &Run| {
        let own: Vec<usize> = run.axes.iter().filter(|axis| proper(axis)).map(|axis| places[*axis]).collect();
        own.is_sorted()
    };
    (runs.len() == groups.len() && runs.iter().all(ordered)).then_some(runs)
}

/// The groups of axes of a `collapse_shape` or `expand_shape`, of tensors or memrefs.
pub fn reassociation(op: Op) -> Option<Vec<Vec<usize>>> {
    let group = |group: crate::ir::Attr| -> Option<Vec<usize>> {
        group.elements()?.into_iter().map(|axis| axis.as_int().and_then(|axis| usize::try_from(axis).ok())).collect()
    };
    op.attr("reassociation")?.elements()?.into_iter().map(group).collect()
}

/// The type of a tensor of these sizes, as text.
pub fn tensor_type(sizes: &[Option<i64>], element: &str) -> String {
    let size = |size: &Option<i64>| size.map_or("?x".to_string(), |size| format!("{size}x"));
    format!("tensor<{}{element}>", sizes.iter().map(size).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(sizes: &[i64], places: &[usize], groups: &[&[usize]]) -> Option<Vec<(usize, Vec<usize>)>> {
        let sizes: Vec<_> = sizes.iter().map(|size| (*size >= 0).then_some(*size)).collect();
        let groups: Vec<_> = groups.iter().map(|group| group.to_vec()).collect();
        runs(&sizes, places, &groups).map(|runs| runs.into_iter().map(|run| (run.group, run.axes)).collect())
    }

    #[test]
    fn neighbours_stay_neighbours() {
        // Heads and batches before a transposition of the matrices behind them.
        let found = axes(&[2, 4, 16, 8], &[0, 1, 3, 2], &[&[0, 1], &[2], &[3]]);
        assert_eq!(found, Some(vec![(0, vec![0, 1]), (2, vec![2]), (1, vec![3])]));
    }

    #[test]
    fn axes_of_one_element_join_any_run() {
        let found = axes(&[1, 16, 4, 8], &[0, 2, 1, 3], &[&[0, 1], &[2], &[3]]);
        assert_eq!(found, Some(vec![(1, vec![0, 1]), (0, vec![2]), (2, vec![3])]));
        let found = axes(&[16, 1, 4, 1], &[2, 0, 1, 3], &[&[0, 1], &[2, 3]]);
        assert_eq!(found, Some(vec![(1, vec![0, 1]), (0, vec![2, 3])]));
    }

    #[test]
    fn a_group_of_one_element_is_a_run() {
        let found = axes(&[4, 1, 8], &[1, 0, 2], &[&[0], &[1], &[2]]);
        assert_eq!(found, Some(vec![(1, vec![0]), (0, vec![1]), (2, vec![2])]));
    }

    #[test]
    fn what_lies_apart_or_in_another_order_has_no_runs() {
        assert_eq!(axes(&[2, 16, 4, 8], &[0, 2, 1, 3], &[&[0, 1], &[2], &[3]]), None);
        assert_eq!(axes(&[-1, 16, 4, 8], &[0, 2, 1, 3], &[&[0, 1], &[2], &[3]]), None);
        assert_eq!(axes(&[2, 4, 8], &[1, 0, 2], &[&[0, 1], &[2]]), None);
    }
}
