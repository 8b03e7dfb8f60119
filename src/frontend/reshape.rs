//! Reshapes as `tensor.collapse_shape` and `tensor.expand_shape`, through the finest common grouping of axes.

use super::types::Type;
use crate::DType;

/// How many axes of each side make each group of equal products.
fn groups(from: &[usize], to: &[usize]) -> Vec<(usize, usize)> {
    if from.contains(&0) {
        return vec![(from.len(), to.len())];
    }
    let (mut i, mut j, mut groups) = (0, 0, Vec::new());
    while i < from.len() && j < to.len() {
        let start = (i, j);
        let (mut a, mut b) = (from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        while a != b {
            if a < b {
                a *= from[i];
                i += 1;
            } else {
                b *= to[j];
                j += 1;
            }
        }
        groups.push((i - start.0, j - start.1));
    }
    // Only sizes of 1 are left.
    if let Some(last) = groups.last_mut() {
        last.0 += from.len() - i;
        last.1 += to.len() - j;
    }
    groups
}

fn reassociation(lengths: impl Iterator<Item = usize>) -> String {
    let mut next = 0;
    let groups: Vec<String> = lengths
        .map(|n| {
            let axes: Vec<String> = (next..next + n).map(|axis| axis.to_string()).collect();
            next += n;
            format!("[{}]", axes.join(", "))
        })
        .collect();
    format!("[{}]", groups.join(", "))
}

/// The operations, in order, each with `{}` for its operand, that turn an array of shape `from` into one of shape `to`.
pub(super) fn operations(dtype: DType, from: &[usize], to: &[usize]) -> Vec<String> {
    if from == to {
        return Vec::new();
    }
    let groups = groups(from, to);
    let mut middle = Vec::new();
    let mut axis = 0;
    for (n, _) in &groups {
        middle.push(from[axis..axis + n].iter().product::<usize>());
        axis += n;
    }
    let [source, between, target] = [from, &middle, to].map(|shape| Type::new(dtype, shape).mlir());
    let mut operations = Vec::new();
    if from.len() != middle.len() {
        let groups = reassociation(groups.iter().map(|g| g.0));
        operations.push(format!("tensor.collapse_shape {{}} {groups} : {source} into {between}"));
    }
    if to.len() != middle.len() {
        let groups = reassociation(groups.iter().map(|g| g.1));
        operations.push(format!("tensor.expand_shape {{}} {groups} output_shape {to:?} : {between} into {target}"));
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_the_finest() {
        assert_eq!(groups(&[6, 4], &[2, 3, 4]), [(1, 2), (1, 1)]);
        assert_eq!(groups(&[2, 3, 4], &[3, 2, 4]), [(2, 2), (1, 1)]);
        assert_eq!(groups(&[1, 5, 1, 1], &[5]), [(4, 1)]);
        assert_eq!(groups(&[1], &[]), []);
        assert_eq!(groups(&[0, 3], &[5, 0]), [(2, 2)]);
    }

    #[test]
    fn a_change_across_axes_goes_through_one() {
        let operations = operations(DType::F32, &[2, 3], &[3, 2]);
        assert_eq!(
            operations,
            [
                "tensor.collapse_shape {} [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>",
                "tensor.expand_shape {} [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>"
            ]
        );
    }
}
