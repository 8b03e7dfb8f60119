//! Copies of a product's rows elsewhere, such as keys and values to their place in a cache: `memref.copy` of a range of columns
//! of all rows, behind a product. The kernel that makes the elements writes them there, too.

use crate::{
    device::{following, source},
    epilogue::Target,
    host::Operand,
    ir::{Op, Value},
    memory::{is_aligned, may_alias},
    scatter::stands_before,
};

/// A copy of neighbouring columns, or of neighbouring groups of columns, of all rows of a product.
pub struct RowCopy {
    /// The copy: it goes.
    pub op: Op,
    /// The first group and how many there are; the first column within a group, and how many there are.
    groups: (i64, i64),
    columns: (i64, i64),
    /// Where it goes, by group, row and column.
    pub to: Operand,
}

/// The type of a place to copy to: group, row, column.
pub const VIEW: &str = "memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>";

/// The copies behind `at` of what it leaves in `target`, as far as nothing stands between that touches memory. They must not
/// write what the product reads or what another of them writes, and rows go elsewhere four elements at a time.
pub fn find(at: Op, target: &Target, inputs: &[Value]) -> Vec<RowCopy> {
    if target.batch.0 != 1 || target.inner.1 != 1 {
        return vec![];
    }
    following(at, |op, found: &[RowCopy]| {
        let copy = RowCopy::of(op, at, target, inputs)?;
        found.iter().all(|other| copy.is_apart(other, target.row.0)).then_some(copy)
    })
}

impl RowCopy {
    fn of(op: Op, at: Op, target: &Target, inputs: &[Value]) -> Option<RowCopy> {
        if !op.is("memref.copy") || source(op.operand(0)) != source(target.buffer) {
            return None;
        }
        let buffer = source(op.operand(1));
        let (from, to) = (op.operand(0).ty().memref()?, op.operand(1).ty().memref()?);
        let f32 = from.element.is("f32") && to.element.is("f32");
        let place = from.offset? - target.offset;
        let grouped = target.group.0 > 1;
        let first_group = if grouped { place / target.group.1 } else { 0 };
        let first_column = place - if grouped { first_group * target.group.1 } else { 0 };
        let (mut groups, mut columns, mut rows) = (1, 1, 1);
        let mut strides = [0, 0, 1];
        for ((size, step), there) in from.shape.iter().zip(&from.strides).zip(&to.strides) {
            let (size, step, there) = ((*size)?, (*step)?, (*there)?);
            if size == 1 {
                continue;
            }
            let (count, role) = match step {
                1 => (&mut columns, 2),
                _ if target.row.0 > 1 && step == target.row.1 => (&mut rows, 1),
                _ if grouped && step == target.group.1 => (&mut groups, 0),
                _ => return None,
            };
            if *count != 1 {
                return None;
            }
            (*count, strides[role]) = (size, there);
        }
        let to = Operand { buffer, offset: to.offset?, strides };
        let inside = place >= 0
            && rows == target.row.0
            && first_group + groups <= target.group.0
            && first_column + columns <= target.inner.0;
        let by_four = first_column % 4 == 0 && columns % 4 == 0 && to.reads_vectors([groups, rows, columns]);
        let apart = inputs.iter().chain([&target.buffer]).all(|b| !may_alias(*b, buffer));
        let whole = is_aligned(buffer) && stands_before(buffer, at);
        (f32 && inside && by_four && apart && whole).then_some(RowCopy {
            op,
            groups: (first_group, groups),
            columns: (first_column, columns),
            to,
        })
    }

    /// Whether it writes nothing that the other, of as many rows, does: the kernel's threads would do so in any order.
    fn is_apart(&self, other: &RowCopy, rows: i64) -> bool {
        let ((first, last), (other_first, other_last)) = (self.extent(rows), other.extent(rows));
        let disjoint = last < other_first || other_last < first;
        !may_alias(self.to.buffer, other.to.buffer) || source(self.to.buffer) == source(other.to.buffer) && disjoint
    }

    /// The first and the last element of the place that it goes to.
    fn extent(&self, rows: i64) -> (i64, i64) {
        let steps = self.sizes(rows).into_iter().zip(self.to.strides).map(|(size, stride)| (size - 1) * stride);
        (self.to.offset, self.to.offset + steps.sum::<i64>())
    }

    /// The sizes of the place that it goes to.
    pub fn sizes(&self, rows: i64) -> [i64; 3] {
        [self.groups.1, rows, self.columns.1]
    }

    /// The template's function `@copyN(value, row, group, place, to)` for values of this type, an element or four neighbours.
    pub fn function(&self, number: usize, value: &str) -> String {
        let ((group, groups), (column, columns)) = (self.groups, self.columns);
        let store = match value {
            "f32" => format!("memref.store %value, %to[%g, %row, %c] : {VIEW}"),
            _ => format!("vector.store %value, %to[%g, %row, %c] {{alignment = 16 : i64}} : {VIEW}, {value}"),
        };
        format!(
            "func.func private @copy{number}(%value: {value}, %row: index, %group: index, %place: index, %to: {VIEW}) {{\n\
             %first_group = arith.constant {group} : index\n%groups = arith.constant {groups} : index\n\
             %g = arith.subi %group, %first_group : index\n%g_in = arith.cmpi ult, %g, %groups : index\n\
             %first_column = arith.constant {column} : index\n%columns = arith.constant {columns} : index\n\
             %c = arith.subi %place, %first_column : index\n%c_in = arith.cmpi ult, %c, %columns : index\n\
             %in = arith.andi %g_in, %c_in : i1\nscf.if %in {{\n{store}\n}}\nreturn\n}}\n"
        )
    }
}
