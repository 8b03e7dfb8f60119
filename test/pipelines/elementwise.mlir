// RUN: tinymlir-opt %s --tinymlir-optimize | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-bufferize --tinymlir-lower-cpu | FileCheck %s --check-prefix=LLVM

// Arithmetic on whole tensors, which bufferization does not know, becomes linalg and is fused.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: linalg.generic
// CHECK:       arith.addf
// CHECK-NEXT:  math.tanh
// CHECK-NOT:   linalg.generic
// LLVM:        llvm.func @main
func.func @main(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %sum = arith.addf %a, %b : tensor<?x4xf32>
  %result = math.tanh %sum : tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}
