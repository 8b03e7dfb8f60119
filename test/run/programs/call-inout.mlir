// A callee that writes to its argument, called twice with one tensor.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [5. 1. 2.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [0. 1. 5.]
func.func private @upd(%x: tensor<3xf32>, %i: index) -> tensor<3xf32> {
 %v = arith.constant 5.0 : f32
 %y = tensor.insert %v into %x[%i] : tensor<3xf32>
 return %y : tensor<3xf32> }
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
 %c0 = arith.constant 0 : index
 %c2 = arith.constant 2 : index
 %a = call @upd(%x, %c0) : (tensor<3xf32>, index) -> tensor<3xf32>
 %b = call @upd(%x, %c2) : (tensor<3xf32>, index) -> tensor<3xf32>
 return %a, %b : tensor<3xf32>, tensor<3xf32> }
