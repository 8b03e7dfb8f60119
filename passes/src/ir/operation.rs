//! Operations.

use super::{Attr, Block, Ctx, Loc, Module, Value, handle, printed, string_ref, to_string};
use mlir_sys::*;

handle! {
    /// An operation.
    Op(MlirOperation)
}
impl Op {
    pub(super) fn some(raw: MlirOperation) -> Option<Op> {
        (!raw.ptr.is_null()).then_some(Op(raw))
    }
    /// As the C API has it.
    pub fn raw(self) -> MlirOperation {
        self.0
    }
    /// The operation of a module.
    pub fn of(module: &Module) -> Op {
        module.op()
    }
    /// The context.
    pub fn ctx(self) -> Ctx {
        // SAFETY: a live operation (see the module's comment; so for every call below).
        Ctx(unsafe { mlirOperationGetContext(self.0) })
    }
    /// The name with its dialect, such as `linalg.matmul`.
    pub fn name(self) -> String {
        // SAFETY: as above.
        to_string(unsafe { mlirIdentifierStr(mlirOperationGetName(self.0)) })
    }
    /// Whether the name is `name`.
    pub fn is(self, name: &str) -> bool {
        self.name() == name
    }
    /// Whether it implements upstream's LinalgOp interface.
    pub fn is_linalg(self) -> bool {
        // SAFETY: as above.
        unsafe { super::pass::tmLinalgIsLinalgOp(self.0) }
    }
    /// Where it came from.
    pub fn loc(self) -> Loc {
        // SAFETY: as above.
        Loc(unsafe { mlirOperationGetLocation(self.0) })
    }
    /// Sets where it came from.
    pub fn set_loc(self, loc: Loc) {
        // SAFETY: as above.
        unsafe { mlirOperationSetLocation(self.0, loc.0) }
    }
    /// Makes its location that of all these, for what replaces them to inherit.
    pub fn stand_for(self, ops: impl IntoIterator<Item = Op>) {
        let mut locs = vec![self.loc()];
        for op in ops {
            if !locs.contains(&op.loc()) {
                locs.push(op.loc());
            }
        }
        if locs.len() > 1 {
            self.set_loc(Loc::fused(self.ctx(), &locs));
        }
    }
    /// The operation that holds it.
    pub fn parent(self) -> Option<Op> {
        // SAFETY: as above.
        Op::some(unsafe { mlirOperationGetParentOperation(self.0) })
    }
    /// The nearest operation around it (itself excluded) with that name.
    pub fn parent_named(self, name: &str) -> Option<Op> {
        std::iter::successors(self.parent(), |p| p.parent()).find(|p| p.is(name))
    }
    /// The block that holds it; `None` for a top-level operation.
    pub fn block(self) -> Option<Block> {
        // SAFETY: as above.
        let block = unsafe { mlirOperationGetBlock(self.0) };
        (!block.ptr.is_null()).then_some(Block(block))
    }
    /// The next operation in its block.
    pub fn next(self) -> Option<Op> {
        // SAFETY: as above.
        Op::some(unsafe { mlirOperationGetNextInBlock(self.0) })
    }
    /// Operands in order.
    pub fn operands(self) -> Vec<Value> {
        // SAFETY: as above, within the number of operands.
        unsafe { (0..mlirOperationGetNumOperands(self.0)).map(|i| Value(mlirOperationGetOperand(self.0, i))).collect() }
    }
    /// Operand `i`. Panics past the end.
    pub fn operand(self, i: usize) -> Value {
        self.operands()[i]
    }
    /// Replaces operand `i`.
    pub fn set_operand(self, i: usize, value: Value) {
        assert!(i < self.operands().len(), "operand {i} of {}", self.name());
        // SAFETY: in range.
        unsafe { mlirOperationSetOperand(self.0, i as isize, value.0) }
    }
    /// Replaces all operands.
    pub fn set_operands(self, values: &[Value]) {
        let raw: Vec<_> = values.iter().map(|v| v.0).collect();
        // SAFETY: `raw` lives through the call.
        unsafe { mlirOperationSetOperands(self.0, raw.len() as isize, raw.as_ptr()) }
    }
    /// Results in order.
    pub fn results(self) -> Vec<Value> {
        // SAFETY: within the number of results.
        unsafe { (0..mlirOperationGetNumResults(self.0)).map(|i| Value(mlirOperationGetResult(self.0, i))).collect() }
    }
    /// Result `i`. Panics past the end.
    pub fn result(self, i: usize) -> Value {
        self.results()[i]
    }
    /// The blocks of region `i`, empty when there is no such region.
    pub fn blocks(self, i: usize) -> Vec<Block> {
        // SAFETY: the index is checked, and the list of blocks ends with null.
        unsafe {
            if i as isize >= mlirOperationGetNumRegions(self.0) {
                return vec![];
            }
            let first = mlirRegionGetFirstBlock(mlirOperationGetRegion(self.0, i as isize));
            let some = |b: MlirBlock| (!b.ptr.is_null()).then_some(b);
            std::iter::successors(some(first), |b| some(mlirBlockGetNextInRegion(*b))).map(Block).collect()
        }
    }
    /// Where it may branch to.
    pub fn successors(self) -> Vec<Block> {
        // SAFETY: within the number of successors.
        unsafe {
            (0..mlirOperationGetNumSuccessors(self.0)).map(|i| Block(mlirOperationGetSuccessor(self.0, i))).collect()
        }
    }
    /// The number of regions.
    pub fn num_regions(self) -> usize {
        // SAFETY: as above.
        unsafe { mlirOperationGetNumRegions(self.0) as usize }
    }
    /// The operations of the first block of the first region, such as a module's.
    pub fn body(self) -> Vec<Op> {
        self.blocks(0).first().map(|b| b.ops()).unwrap_or_default()
    }
    /// Itself and every operation inside, outer before inner, in textual order.
    pub fn walk(self) -> Vec<Op> {
        fn visit(op: Op, out: &mut Vec<Op>) {
            out.push(op);
            for region in 0..op.num_regions() {
                for block in op.blocks(region) {
                    block.ops().into_iter().for_each(|inner| visit(inner, out));
                }
            }
        }
        let mut out = vec![];
        visit(self, &mut out);
        out
    }
    /// Every operation inside with one of these names.
    pub fn find(self, names: &[&str]) -> Vec<Op> {
        self.walk().into_iter().filter(|op| names.contains(&op.name().as_str())).collect()
    }
    /// An attribute, inherent or discardable.
    pub fn attr(self, name: &str) -> Option<Attr> {
        // SAFETY: as above; absent is null.
        Attr::some(unsafe { mlirOperationGetAttributeByName(self.0, string_ref(name)) })
    }
    /// The names of its attributes, inherent ones included.
    pub fn attr_names(self) -> Vec<String> {
        // SAFETY: as above, within the number of attributes.
        unsafe {
            (0..mlirOperationGetNumAttributes(self.0))
                .map(|i| to_string(mlirIdentifierStr(mlirOperationGetAttribute(self.0, i).name)))
                .collect()
        }
    }
    /// Sets an attribute.
    pub fn set_attr(self, name: &str, value: Attr) {
        // SAFETY: as above.
        unsafe { mlirOperationSetAttributeByName(self.0, string_ref(name), value.0) }
    }
    /// Removes an attribute; whether it was there.
    pub fn remove_attr(self, name: &str) -> bool {
        // SAFETY: as above.
        unsafe { mlirOperationRemoveAttributeByName(self.0, string_ref(name)) }
    }
    /// The symbol's name, when it is a symbol.
    pub fn symbol(self) -> Option<String> {
        self.attr("sym_name").and_then(|a| a.as_str())
    }
    /// Whether it is a symbol that only its own module sees.
    pub fn is_private(self) -> bool {
        self.attr("sym_visibility").and_then(|a| a.as_str()).is_some_and(|v| v != "public")
    }
    /// Gives a symbol of this symbol table operation (a module) another name, in every use as well.
    pub fn rename(self, symbol: Op, to: &str) {
        let Some(from) = symbol.symbol() else { return };
        // SAFETY: live operations; the strings live through the calls.
        unsafe { mlirSymbolTableReplaceAllSymbolUses(string_ref(&from), string_ref(to), self.0) };
        symbol.set_attr("sym_name", Attr::string(self.ctx(), to));
    }
    /// Erases it. Its results must have no uses left.
    pub fn erase(self) {
        // SAFETY: the caller drops every handle to it and to what is inside.
        unsafe {
            mlirOperationRemoveFromParent(self.0);
            mlirOperationDestroy(self.0)
        }
    }
    /// Moves it before `other`.
    pub fn move_before(self, other: Op) {
        // SAFETY: both live.
        unsafe { mlirOperationMoveBefore(self.0, other.0) }
    }
    /// Moves it after `other`.
    pub fn move_after(self, other: Op) {
        // SAFETY: both live.
        unsafe { mlirOperationMoveAfter(self.0, other.0) }
    }
    /// A copy of it, operands unchanged, inserted before `other`.
    pub fn clone_before(self, other: Op) -> Op {
        let block = other.block().expect("an operation inside a block");
        // SAFETY: both live; the block takes the copy over.
        unsafe {
            let copy = mlirOperationClone(self.0);
            mlirBlockInsertOwnedOperationBefore(block.0, other.0, copy);
            Op(copy)
        }
    }
    /// A copy of a top-level operation, which the caller destroys.
    pub fn copy(self) -> Op {
        // SAFETY: as above.
        Op(unsafe { mlirOperationClone(self.0) })
    }
    /// Replaces every use of its results and erases it.
    pub fn replace_with(self, values: &[Value]) {
        for (old, new) in self.results().into_iter().zip(values) {
            old.replace_all_uses(*new);
        }
        self.erase();
    }
    /// Whether the verifier accepts it; it emits diagnostics where not.
    pub fn verify(self) -> bool {
        // SAFETY: as above.
        unsafe { mlirOperationVerify(self.0) }
    }
    /// Builds operations from text and inserts them before this one.
    ///
    /// `text` is the body of a function whose parameters are `inputs`, each a name (without `%`) and a value. It may end in
    /// `return %a, %b : type, type`; those values are returned. `declarations` are module-level operations that the text
    /// refers to and that the module at hand holds already. The new operations take this one's location.
    ///
    /// The text is the compiler's own: text that does not parse is an error of ours, reported with the text.
    pub fn build_before(self, inputs: &[(&str, Value)], declarations: &str, text: &str) -> Result<Vec<Value>, String> {
        let parameters: Vec<_> = inputs.iter().map(|(name, v)| format!("%{name}: {}", v.ty())).collect();
        let results =
            text.rsplit_once("return ").and_then(|(_, r)| r.split_once(" : ")).map_or("", |(_, types)| types.trim());
        let ending = if text.contains("return ") || text.contains("llvm.unreachable") { "" } else { "return" };
        let module = format!(
            "module {{\n{declarations}\nfunc.func private @snippet({}) -> ({results}) {{\n{text}\n{ending}\n}}\n}}",
            parameters.join(", ")
        );
        let parsed = Op::parse(self.ctx(), &module, "tinymlir-snippet")
            .ok_or_else(|| format!("internal error: cannot build\n{module}"))?;
        let function = parsed.find(&["func.func"]).into_iter().find(|f| f.symbol().as_deref() == Some("snippet"));
        let block = function.and_then(|f| f.blocks(0).first().copied()).ok_or("internal error: no snippet")?;
        for (argument, (_, value)) in block.arguments().into_iter().zip(inputs) {
            argument.replace_all_uses(*value);
        }
        let mut ops = block.ops();
        let terminator = ops.pop().ok_or("internal error: an empty snippet")?;
        let returned = terminator.operands();
        for op in ops {
            op.move_before(self);
            op.walk().into_iter().for_each(|inner| inner.set_loc(self.loc()));
        }
        terminator.erase();
        parsed.destroy();
        Ok(returned)
    }
    /// Parses a top-level operation; `None` after a diagnostic. The caller inserts or destroys it.
    pub fn parse(ctx: Ctx, text: &str, file: &str) -> Option<Op> {
        let text = std::ffi::CString::new(text).ok()?;
        let source = MlirStringRef { data: text.as_ptr(), length: text.as_bytes().len() };
        // SAFETY: both strings live through the call.
        Op::some(unsafe { mlirOperationCreateParse(ctx.0, source, string_ref(file)) })
    }
    /// Destroys a top-level operation.
    pub fn destroy(self) {
        // SAFETY: the caller owns it.
        unsafe { mlirOperationDestroy(self.0) }
    }
    /// The function of a symbol table operation (a module) with this name.
    pub fn lookup(self, symbol: &str) -> Option<Op> {
        self.body().into_iter().find(|op| op.symbol().as_deref() == Some(symbol))
    }
    /// Puts the body of `from` in the place of this operation's; `from` is left without one, to be destroyed.
    pub fn take_body(self, from: Op) {
        // SAFETY: both have a region, whose blocks change hands.
        unsafe { mlirRegionTakeBody(mlirOperationGetRegion(self.0, 0), mlirOperationGetRegion(from.0, 0)) }
    }
    /// Appends a copy of `op` to this module's body. What it refers to must be symbols: a value stays that of the other module.
    pub fn append_clone(self, op: Op) -> Op {
        let block = self.blocks(0)[0];
        // SAFETY: the block takes the copy over.
        unsafe {
            let copy = mlirOperationClone(op.0);
            mlirBlockAppendOwnedOperation(block.0, copy);
            Op(copy)
        }
    }
    /// Inserts a copy of `op` at the start of this module's body.
    pub fn prepend_clone(self, op: Op) -> Op {
        let block = self.blocks(0)[0];
        // SAFETY: the block takes the copy over.
        unsafe {
            let copy = mlirOperationClone(op.0);
            mlirBlockInsertOwnedOperation(block.0, 0, copy);
            Op(copy)
        }
    }
    /// Declares what `text` says (such as `func.func private @f(i32)`) at the start of this module, unless its symbol is
    /// there already. Fails where that is a function of another type.
    pub fn declare(self, text: &str) -> Result<(), String> {
        let parsed = Op::parse(self.ctx(), &format!("module {{ {text} }}"), "tinymlir-declaration")
            .ok_or_else(|| format!("internal error: cannot declare {text}"))?;
        for symbol in parsed.body() {
            let Some(name) = symbol.symbol() else { continue };
            let Some(known) = self.lookup(&name) else {
                self.prepend_clone(symbol).set_loc(self.loc());
                continue;
            };
            let ty = |op: Op| op.attr("function_type").map(|ty| ty.to_string()).unwrap_or_default();
            if known.name() == symbol.name() && ty(known) != ty(symbol) {
                let (wanted, found) = (ty(symbol), ty(known));
                return Err(format!(
                    "needs a function @{name} of type {wanted}, but the module has one of type {found} (rename it)"
                ));
            }
        }
        parsed.destroy();
        Ok(())
    }
    /// Appends the operation that `text` defines to this module and returns it. Its symbol must be new to the module.
    pub fn define(self, text: &str) -> Result<Op, String> {
        let parsed = Op::parse(self.ctx(), &format!("module {{ {text} }}"), "tinymlir-definition");
        let parsed = parsed.ok_or_else(|| format!("internal error: cannot define {text}"))?;
        let op = *parsed.body().first().ok_or("internal error: nothing to define")?;
        let copy = self.append_clone(op);
        parsed.destroy();
        Ok(copy)
    }
    /// A symbol name that starts with `base` and that this module does not hold.
    pub fn unique_symbol(self, base: &str) -> String {
        if self.lookup(base).is_none() {
            return base.to_string();
        }
        (0..).map(|i| format!("{base}_{i}")).find(|name| self.lookup(name).is_none()).unwrap_or_default()
    }
}

impl std::fmt::Display for Op {
    /// As MLIR prints it, numbered from the operation itself and not verified first: printing the whole module around it
    /// would take as long as that is large.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        // SAFETY: a live operation; the flags are destroyed after the call.
        f.write_str(&printed(|append, out| unsafe {
            let flags = mlirOpPrintingFlagsCreate();
            mlirOpPrintingFlagsUseLocalScope(flags);
            mlirOpPrintingFlagsAssumeVerified(flags);
            mlirOperationPrintWithFlags(self.0, flags, append, out);
            mlirOpPrintingFlagsDestroy(flags);
        }))
    }
}

/// Attributes of a function's arguments.
impl Op {
    /// The attributes of argument `i` of a function.
    pub fn arg_attrs(self, i: usize) -> Vec<(String, Attr)> {
        let all = self.attr("arg_attrs").and_then(|a| a.elements()).unwrap_or_default();
        all.get(i).map(|d| d.entries()).unwrap_or_default()
    }
    /// One attribute of argument `i` of a function.
    pub fn arg_attr(self, i: usize, name: &str) -> Option<Attr> {
        self.arg_attrs(i).into_iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }
    /// Sets an attribute of argument `i` of a function.
    pub fn set_arg_attr(self, i: usize, name: &str, value: Attr) {
        let ctx = self.ctx();
        let count = self.blocks(0).first().map_or(0, |b| b.arguments().len());
        let dictionaries: Vec<Attr> = (0..count)
            .map(|j| {
                let mut entries = self.arg_attrs(j);
                if j == i {
                    entries.retain(|(n, _)| n != name);
                    entries.push((name.into(), value));
                }
                Attr::dictionary(ctx, &entries)
            })
            .collect();
        self.set_attr("arg_attrs", Attr::array(ctx, &dictionaries));
    }
}
