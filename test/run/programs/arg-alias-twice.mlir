// An argument, and a changed copy of it, as results.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [0. 1. 2.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [7. 1. 2.]
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
 %c0 = arith.constant 0 : index
 %v = arith.constant 7.0 : f32
 %y = tensor.insert %v into %x[%c0] : tensor<3xf32>
 return %x, %y : tensor<3xf32>, tensor<3xf32> }
