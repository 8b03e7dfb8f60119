//! Products on tensors by their loop dimensions, for what changes how they read and write tensors.

use crate::ir::{Attr, Op, Value};

/// The operand that is the result's initial value.
pub const C: usize = 2;

/// A contraction on tensors each of whose axes runs along a loop dimension of its own.
pub struct Product {
    pub op: Op,
    /// For each operand the loop dimensions of its axes.
    pub dims: [Vec<usize>; 3],
}

impl Product {
    /// Takes a contraction apart; nothing where it is none on tensors, or a map is more than a choice of dimensions.
    pub fn of(op: Op) -> Option<Product> {
        if !op.is_contraction() || op.results().len() != 1 || op.operands().len() != 3 {
            return None;
        }
        let operands = op.operands();
        if operands.iter().any(|v| !v.ty().is_tensor() || v.ty().has_encoding() || v.ty().shape().is_none()) {
            return None;
        }
        let dims: Vec<Vec<usize>> =
            op.linalg_maps().into_iter().map(|m| m.dims().into_iter().collect()).collect::<Option<_>>()?;
        let repeated = |dims: &Vec<usize>| (0..dims.len()).any(|i| dims[..i].contains(&dims[i]));
        let dims: [Vec<usize>; 3] = dims.try_into().ok()?;
        (!dims.iter().any(repeated)).then_some(Product { op, dims })
    }

    /// Whether operand `i` has a loop dimension.
    pub fn has(&self, i: usize, dim: usize) -> bool {
        self.dims[i].contains(&dim)
    }

    /// The size of a loop dimension where it is static.
    pub fn size(&self, dim: usize) -> Option<i64> {
        let of = |i: usize| {
            let axis = self.dims[i].iter().position(|d| *d == dim)?;
            self.op.operand(i).ty().shape()?[axis]
        };
        (0..3).find_map(of)
    }

    /// Of some dimensions the last that is not of size 1.
    pub fn last(&self, dims: &[usize]) -> Option<usize> {
        dims.iter().copied().rev().find(|d| self.size(*d) != Some(1))
    }

    /// Whether neighbouring elements of operand `i`, were its axes along `dims`, are what kernels read at once: elements that are summed
    /// up, or columns of the result.
    pub fn reads_rows(&self, i: usize, dims: &[usize]) -> bool {
        let Some(last) = self.last(dims) else { return true };
        let column = self.last(&self.dims[C]);
        match (self.has(1 - i, last), self.has(C, last)) {
            (true, summed) => !summed,
            (false, _) => Some(last) == column,
        }
    }

    /// Whether the product is of one row or one column by a matrix.
    pub fn is_of_one_row(&self) -> bool {
        let one = |i: usize| self.dims[i].iter().all(|d| self.has(1 - i, *d) || self.size(*d) == Some(1));
        one(0) || one(1)
    }

    /// The product under a name that may have such maps: its own, or as a generic.
    pub fn renamed(&self, [a, b, c]: &[Vec<usize>; 3]) -> Op {
        let same = |x: &[usize], y: [usize; 2]| x == y || x == [y[1], y[0]];
        let keeps = match self.op.name().as_str() {
            "linalg.generic" | "linalg.contract" => true,
            "linalg.matmul" => same(a, [0, 2]) && same(b, [1, 2]) && c[..] == [0, 1],
            "linalg.batch_matmul" => {
                let batched = |x: &[usize], y| x.len() == 3 && x[0] == 0 && same(&x[1..], y);
                batched(a, [1, 3]) && batched(b, [2, 3]) && c[..] == [0, 1, 2]
            }
            _ => false,
        };
        if keeps { self.op } else { self.op.linalg_generalize() }
    }

    /// The product with batches that only rows and results have, beside the rows, as rows. Not where both numbers are dynamic: upstream has no
    /// strides of what is expanded to two such axes at once.
    pub fn with_batches_as_rows(self) -> Op {
        let [.., c] = &self.dims;
        let sizes = self.op.operand(C).ty().shape().unwrap_or_default();
        let mut pairs = c.windows(2).zip(sizes.windows(2)).filter(|(_, sizes)| sizes.iter().any(Option::is_some));
        let merge = pairs.find(|(pair, _)| {
            let of =
                |i: usize| self.dims[i].windows(2).any(|p| p == *pair) && pair.iter().all(|d| !self.has(1 - i, *d));
            of(0) || of(1)
        });
        match merge {
            Some((pair, _)) => self.op.linalg_collapse(pair),
            None => self.op,
        }
    }
}

/// Sets the indexing maps of a product: for each operand the loop dimensions of its axes.
pub fn set_maps(op: Op, dims: &[Vec<usize>; 3]) -> Result<(), String> {
    let loops = op.linalg_maps().first().map_or(0, |map| map.num_dims());
    let names = |dims: &mut dyn Iterator<Item = usize>| dims.map(|d| format!("d{d}")).collect::<Vec<_>>().join(", ");
    let map = |own: &Vec<usize>| {
        let (all, own) = (names(&mut (0..loops)), names(&mut own.iter().copied()));
        format!("affine_map<({all}) -> ({own})>")
    };
    let text = format!("[{}]", dims.iter().map(map).collect::<Vec<_>>().join(", "));
    op.set_attr("indexing_maps", Attr::parse(op.ctx(), &text).ok_or("internal error: the maps of a product")?);
    Ok(())
}

/// The products that read a tensor, also through a reshape; nothing where something else reads it.
pub fn readers(value: Value) -> Option<Vec<Op>> {
    let mut products = vec![];
    for (user, operand) in value.uses() {
        match user.name().as_str() {
            "tensor.collapse_shape" => products.extend(readers(user.result(0))?),
            _ if operand < C && Product::of(user).is_some() => products.push(user),
            _ => return None,
        }
    }
    Some(products)
}
