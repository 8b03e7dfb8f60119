//! Checks before accesses: to shared memory, the block's and the cluster's, and of several elements at once.

use super::{
    Rewriter,
    runtime::{BAD_ACCESS, CHECK_ALIGNED, CHECK_SHARED},
};
use crate::{
    ir::{Op, PassResult, Type, Value},
    tinymlir_emulate_gpu::declare_text,
};

/// More bytes than a thread's registers hold.
const MOST_BYTES: i64 = 1 << 20;

impl Rewriter<'_> {
    /// Checks an access that may lie outside of shared memory, or that is of several elements and may not be aligned.
    pub(super) fn check_access(&mut self, op: Op, pointer: Value, ty: Type, thread: Value) -> PassResult {
        let vector = ty.shape();
        let element = ty.element().unwrap_or(ty);
        let Some(bytes) = element.bytes() else { return Ok(()) };
        let bytes = vector.iter().flatten().flatten().try_fold(bytes, |bytes, n| bytes.checked_mul(*n));
        let Some(bytes) = bytes.filter(|bytes| *bytes <= MOST_BYTES) else {
            return Err(self.cx.error(op, "cannot be emulated: no thread has so many elements"));
        };
        let natural = (bytes.max(1) as u64).next_power_of_two() as i64;
        let alignment = op.attr("alignment").and_then(|a| a.as_int()).filter(|a| *a > 0).unwrap_or(natural);
        let space = pointer.ty().to_string();
        if space == "!llvm.ptr<3>" {
            self.check_shared(op, pointer, (bytes, alignment), thread)
        } else if space == "!llvm.ptr<7>" {
            self.check(op, pointer, (bytes, alignment), thread, "remote")
        } else if vector.is_some() && alignment > 1 && ["!llvm.ptr", "!llvm.ptr<1>"].contains(&space.as_str()) {
            self.check(op, pointer, (bytes, alignment), thread, "aligned")
        } else {
            Ok(())
        }
    }

    pub(super) fn check_shared(&mut self, op: Op, pointer: Value, size: (i64, i64), thread: Value) -> PassResult {
        self.check(op, pointer, size, thread, "shared")
    }

    fn check(
        &mut self,
        op: Op,
        pointer: Value,
        (bytes, alignment): (i64, i64),
        thread: Value,
        what: &str,
    ) -> PassResult {
        let place = op.loc().file().map(|(f, l, c)| format!(" at {f}:{l}:{c}")).unwrap_or_default();
        let access = format!("'{}' of {bytes} bytes{place}", op.name());
        let text = match self.accesses.get(&access) {
            Some(text) => text.clone(),
            None => {
                let text = declare_text(self.cx, self.module, op, "tinymlir_access", &access)?;
                self.accesses.insert(access, text.clone());
                text
            }
        };
        let space = pointer.ty().to_string();
        let cast = if space == "!llvm.ptr" {
            String::new()
        } else {
            format!("%q = llvm.addrspacecast %p : {space} to !llvm.ptr\n")
        };
        let q = if space == "!llvm.ptr" { "%p" } else { "%q" };
        let (check, definition) = match what {
            "shared" => ("tinymlir_check_shared", Some(CHECK_SHARED)),
            "aligned" => ("tinymlir_check_aligned", Some(CHECK_ALIGNED)),
            _ => ("tinymlirEmulatedRemoteAccess", None),
        };
        let call = format!(
            "{cast}%what = llvm.mlir.addressof @{text} : !llvm.ptr\n%bytes = llvm.mlir.constant({bytes} : i64) : i64\n\
             %alignment = llvm.mlir.constant({alignment} : i64) : i64\n\
             llvm.call @{check}(%t, %what, {q}, %bytes, %alignment) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()"
        );
        let mut declarations =
            format!("llvm.mlir.global external constant @{text}() {{addr_space = 0 : i32}} : !llvm.array<1 x i8>");
        if let Some(definition) = definition {
            declarations += &format!("\nllvm.func @{check}(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)");
            self.cx.check(op, self.module.declare(&format!("{BAD_ACCESS}\n{definition}")))?;
        }
        self.build(op, &[("t", thread), ("p", pointer)], &declarations, &call)?;
        Ok(())
    }
}
