//! Blocks, values and locations.

use super::{Op, Type, handle, printed, string_ref, to_string};
use mlir_sys::*;

handle! {
    /// A block of a region.
    Block(MlirBlock)
}
handle! {
    /// A result of an operation or an argument of a block.
    Value(MlirValue)
}
handle! {
    /// Where something came from in the source.
    Loc(MlirLocation)
}

impl Block {
    /// Its operations in order.
    pub fn ops(self) -> Vec<Op> {
        // SAFETY: a live block; an empty one gives null.
        std::iter::successors(Op::some(unsafe { mlirBlockGetFirstOperation(self.0) }), |op| op.next()).collect()
    }
    /// Its arguments in order.
    pub fn arguments(self) -> Vec<Value> {
        // SAFETY: within the number of arguments.
        unsafe { (0..mlirBlockGetNumArguments(self.0)).map(|i| Value(mlirBlockGetArgument(self.0, i))).collect() }
    }
    /// Inserts an argument of a type as argument `i`, which must not be past the one behind the last.
    pub fn insert_argument(self, i: usize, ty: Type) -> Value {
        assert!(i <= self.arguments().len(), "argument {i}");
        // SAFETY: in range, a live block and type.
        unsafe {
            Value(mlirBlockInsertArgument(self.0, i as isize, ty.0, mlirLocationUnknownGet(mlirTypeGetContext(ty.0))))
        }
    }
    /// Erases argument `i`, which must be there and have no uses.
    pub fn erase_argument(self, i: usize) {
        assert!(i < self.arguments().len(), "argument {i}");
        // SAFETY: in range; the caller drops the handles to it.
        unsafe { mlirBlockEraseArgument(self.0, i as u32) }
    }
    /// Its last operation. Panics on an empty block.
    pub fn terminator(self) -> Op {
        *self.ops().last().expect("a block with a terminator")
    }
    /// The operation whose region holds it.
    pub fn parent(self) -> Op {
        // SAFETY: a live block in a region of an operation.
        Op(unsafe { mlirBlockGetParentOperation(self.0) })
    }
}

impl Value {
    /// Its type.
    pub fn ty(self) -> Type {
        // SAFETY: a live value.
        Type(unsafe { mlirValueGetType(self.0) })
    }
    /// Changes its type; users must accept the new one.
    pub fn set_ty(self, ty: Type) {
        // SAFETY: a live value.
        unsafe { mlirValueSetType(self.0, ty.0) }
    }
    /// The operation that makes it; `None` for a block's argument.
    pub fn def(self) -> Option<Op> {
        // SAFETY: the kind is checked first.
        unsafe { mlirValueIsAOpResult(self.0).then(|| Op(mlirOpResultGetOwner(self.0))) }
    }
    /// The integer that it is, where an `arith.constant` makes it.
    pub fn constant(self) -> Option<i64> {
        self.def().filter(|d| d.is("arith.constant")).and_then(|d| d.attr("value")).and_then(|a| a.as_int())
    }
    /// The block and the number, when it is a block's argument.
    pub fn block_argument(self) -> Option<(Block, usize)> {
        // SAFETY: the kind is checked first.
        unsafe {
            mlirValueIsABlockArgument(self.0)
                .then(|| (Block(mlirBlockArgumentGetOwner(self.0)), mlirBlockArgumentGetArgNumber(self.0) as usize))
        }
    }
    /// Every use: the operation and the operand's number.
    pub fn uses(self) -> Vec<(Op, usize)> {
        let mut uses = vec![];
        // SAFETY: the list of uses ends with null.
        unsafe {
            let mut operand = mlirValueGetFirstUse(self.0);
            while !mlirOpOperandIsNull(operand) {
                uses.push((Op(mlirOpOperandGetOwner(operand)), mlirOpOperandGetOperandNumber(operand) as usize));
                operand = mlirOpOperandGetNextUse(operand);
            }
        }
        uses
    }
    /// Makes every use of it a use of `other`.
    pub fn replace_all_uses(self, other: Value) {
        // SAFETY: both live.
        unsafe { mlirValueReplaceAllUsesOfWith(self.0, other.0) }
    }
}

impl Loc {
    /// File, line and column, when it holds them.
    pub fn file(self) -> Option<(String, u32, u32)> {
        let (mut file, mut line, mut column) = (string_ref(""), 0, 0);
        // SAFETY: the pointers are valid for the call.
        let found = unsafe { super::pass::tmLocationFile(self.0, &mut file, &mut line, &mut column) };
        found.then(|| (to_string(file), line, column))
    }
}

impl std::fmt::Display for Loc {
    /// `file:line:column`, or what MLIR prints where there is no file.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.file() {
            Some((file, line, column)) => write!(f, "{file}:{line}:{column}"),
            // SAFETY: a live location.
            None => f.write_str(&printed(|append, out| unsafe { mlirLocationPrint(self.0, append, out) })),
        }
    }
}
