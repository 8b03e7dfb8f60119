// RUN: tinymlir-opt %s --tinymlir-lower-asserts | FileCheck %s

// Each message starts with the place of its assertion.
// CHECK-DAG: llvm.mlir.global private constant @[[TEXT:.*]]("{{.*}}tinymlir-lower-asserts.mlir:[[#@LINE+16]]:3: no \22luck\22")
// CHECK-DAG: llvm.mlir.global private constant @[[BOUNDS:.*]]("{{.*}}:3: index is out of bounds: {0} of {1}")
// CHECK-DAG: llvm.mlir.global private constant @[[PLAIN:.*]]("{{.*}}:3: index is out of bounds")
// What does not return lets LLVM move a check out of a loop.
// CHECK-DAG: func.func private @tinymlir_fail(!llvm.ptr, i64) attributes {passthrough = ["noreturn", "cold"]}
// CHECK-DAG: func.func private @tinymlir_fail_values(!llvm.ptr, i64, i64, i64) attributes {passthrough = ["noreturn", "cold"]}

// The runtime is called where the condition does not hold.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME:    %[[OK:.*]]: i1
// CHECK:         %[[BAD:.*]] = arith.xori %[[OK]], %true
// CHECK:         scf.if %[[BAD]] {
// CHECK:           %[[POINTER:.*]] = llvm.mlir.addressof @[[TEXT]]
// CHECK:           func.call @tinymlir_fail(%[[POINTER]],
// CHECK-NOT:     cf.assert
func.func @plain(%c: i1) {
  cf.assert %c, "no \"luck\""
  return
}

// The compared indices go along.
// CHECK-LABEL: func.func @values(
// CHECK-SAME:    %[[I:.*]]: index, %[[N:.*]]: index
// CHECK-DAG:       %[[A:.*]] = arith.index_cast %[[I]]
// CHECK-DAG:       %[[B:.*]] = arith.index_cast %[[N]]
// CHECK-DAG:       %[[POINTER:.*]] = llvm.mlir.addressof @[[BOUNDS]]
// CHECK:           func.call @tinymlir_fail_values(%[[POINTER]], %{{.*}}, %[[A]], %[[B]])
func.func @values(%i: index, %n: index) {
  %ok = arith.cmpi ult, %i, %n : index
  cf.assert %ok, "index is out of bounds: {0} of {1}"
  return
}

// Where the comparison is out of sight the message goes without values.
// CHECK-LABEL: func.func @no_values(
// CHECK:           llvm.mlir.addressof @[[PLAIN]]
// CHECK:           func.call @tinymlir_fail(
func.func @no_values(%ok: i1) {
  cf.assert %ok, "index is out of bounds: {0} of {1}"
  return
}

// A kernel reports the number of its message, and the compared indices where the message names them.
// CHECK-LABEL: gpu.module @kernels
// CHECK:           llvm.intr.trap
// CHECK:           llvm.mlir.global external @tinymlir_failure({{.*}}) {addr_space = 1 : i32} : !llvm.array<3 x i64>
// CHECK:           llvm.mlir.global external constant @tinymlir_messages("{{.*}}:[[#@LINE+9]]:5: index is out of bounds: {0} of {1}\00{{.*}}:[[#@LINE+10]]:5: no luck\00")
// CHECK-LABEL:   gpu.func @k(
// CHECK:           scf.if
// CHECK:             llvm.call @tinymlir_fail(%c0_i64, %{{.*}}, %{{.*}}) : (i64, i64, i64) -> ()
// CHECK:             llvm.call @tinymlir_fail(%c1_i64, %c1_i64, %c1_i64)
// CHECK-NOT:     cf.assert
gpu.module @kernels {
  gpu.func @k(%i: index, %n: index, %c: i1) kernel {
    %ok = arith.cmpi ult, %i, %n : index
    cf.assert %ok, "index is out of bounds: {0} of {1}"
    cf.assert %c, "no luck"
    gpu.return
  }
}
