// RUN: tinymlir-opt %s --tinymlir-record-signatures | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-lower-cpu | FileCheck %s --check-prefix=LLVM

// The type, and of the arguments what is ours; the lowering to LLVM keeps both.
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    tinymlir.arg_attrs = [{tinymlir.name = "a", tinymlir.range = [0, 3]}, {}]
// CHECK-SAME:    tinymlir.signature = (memref<?x4xf32>, i32) -> memref<4xi64>
// LLVM-LABEL:  llvm.func @f(
// LLVM-SAME:     tinymlir.arg_attrs = [{tinymlir.name = "a", tinymlir.range = [0, 3]}, {}]
// LLVM-SAME:     tinymlir.signature = (memref<?x4xf32>, i32) -> memref<4xi64>
func.func @f(%a: memref<?x4xf32> {tinymlir.name = "a", tinymlir.range = [0, 3]}, %n: i32) -> memref<4xi64> {
  %m = memref.alloc() : memref<4xi64>
  return %m : memref<4xi64>
}

// Nobody calls a private function from outside.
// CHECK-LABEL: func.func private @helper(
// CHECK-NOT:     tinymlir
// CHECK:         return
func.func private @helper(%a: memref<4xf32>) {
  return
}
