//! What rewritten kernels and launches call: the runtime's functions, and the checks that are inlined.

use crate::ir::Op;

/// What the runtime has for kernels and their launches, one a line.
pub(crate) const RUNTIME: &str = "\
llvm.func @tinymlirEmulatedLaunch(!llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr)
llvm.func @tinymlirEmulatedThread() -> !llvm.ptr attributes {memory_effects = #llvm.memory_effects<other = none, argMem = none, \
inaccessibleMem = none, errnoMem = none, targetMem0 = none, targetMem1 = none>, passthrough = [\"nounwind\", \"willreturn\"]}
llvm.func @tinymlirEmulatedFail(!llvm.ptr, i64, i64, i64) attributes {passthrough = [\"noreturn\", \"cold\"]}
llvm.func @tinymlirEmulatedBarrier(!llvm.ptr, i32, i32)
llvm.func @tinymlirEmulatedClusterArrive(!llvm.ptr)
llvm.func @tinymlirEmulatedClusterWait(!llvm.ptr)
llvm.func @tinymlirEmulatedMap(!llvm.ptr, !llvm.ptr, i32) -> !llvm.ptr
llvm.func @tinymlirEmulatedRemoteAccess(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
llvm.func @tinymlirEmulatedWarp(!llvm.ptr, i32)
llvm.func @tinymlirEmulatedShuffle(!llvm.ptr, i32, i32, i32, i32, i32) -> i64
llvm.func @tinymlirEmulatedVote(!llvm.ptr, i32, i32, i1) -> i64
llvm.func @tinymlirEmulatedReduce(!llvm.ptr, i32, i32, i32) -> i64
llvm.func @tinymlirEmulatedMultiply(!llvm.ptr, i32, i1, i32, i32, !llvm.ptr)
llvm.func @tinymlirEmulatedLoadMatrix(!llvm.ptr, i1, i32, !llvm.ptr, !llvm.ptr)
llvm.func @tinymlirEmulatedCopy(!llvm.ptr, !llvm.ptr<3>, !llvm.ptr<1>, i32, i32)
llvm.func @tinymlirEmulatedPrint(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @tinymlirEmulatedCommit(!llvm.ptr)
llvm.func @tinymlirEmulatedWait(!llvm.ptr, i32)";

/// What the checks call.
pub(super) const BAD_ACCESS: &str = "llvm.func @tinymlirEmulatedBadAccess(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes {passthrough = [\"noreturn\", \"cold\"]}";
/// Ends the program where an access is not aligned, or not inside of shared memory. What is compared first is inlined.
pub(super) const CHECK_ALIGNED: &str = "\
llvm.func internal @tinymlir_check_aligned(%t: !llvm.ptr, %what: !llvm.ptr, %p: !llvm.ptr, %bytes: i64, %alignment: i64) attributes {sym_visibility = \"private\"} {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %a = llvm.ptrtoint %p : !llvm.ptr to i64
  %mask = llvm.sub %alignment, %one : i64
  %low = llvm.and %a, %mask : i64
  %ok = llvm.icmp \"eq\" %low, %zero : i64
  llvm.cond_br %ok, ^good, ^bad
^good:
  llvm.return
^bad:
  llvm.call @tinymlirEmulatedBadAccess(%t, %what, %p, %bytes, %alignment) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  llvm.unreachable
}";
pub(super) const CHECK_SHARED: &str = "\
llvm.func internal @tinymlir_check_shared(%t: !llvm.ptr, %what: !llvm.ptr, %p: !llvm.ptr, %bytes: i64, %alignment: i64) attributes {sym_visibility = \"private\"} {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %a = llvm.ptrtoint %p : !llvm.ptr to i64
  %b = llvm.add %a, %bytes : i64
  %begin_at = llvm.getelementptr %t[128] : (!llvm.ptr) -> !llvm.ptr, i8
  %begin = llvm.load %begin_at invariant : !llvm.ptr -> i64
  %end_at = llvm.getelementptr %t[136] : (!llvm.ptr) -> !llvm.ptr, i8
  %end = llvm.load %end_at invariant : !llvm.ptr -> i64
  %mask = llvm.sub %alignment, %one : i64
  %low = llvm.and %a, %mask : i64
  %aligned = llvm.icmp \"eq\" %low, %zero : i64
  %after = llvm.icmp \"uge\" %a, %begin : i64
  %before = llvm.icmp \"ule\" %b, %end : i64
  %inside = llvm.and %after, %before : i1
  %ok = llvm.and %inside, %aligned : i1
  llvm.cond_br %ok, ^good, ^bad
^good:
  llvm.return
^bad:
  llvm.call @tinymlirEmulatedBadAccess(%t, %what, %p, %bytes, %alignment) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  llvm.unreachable
}";

/// Declares the functions of the runtime that a text calls.
pub(crate) fn declare_called(module: Op, text: &str) -> Result<(), String> {
    let name = |line: &str| {
        line.split_once('@').and_then(|(_, rest)| rest.split_once('(')).map(|(name, _)| format!("@{name}("))
    };
    RUNTIME
        .lines()
        .filter(|line| name(line).is_some_and(|name| text.contains(&name)))
        .try_for_each(|line| module.declare(line))
}
