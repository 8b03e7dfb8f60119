// Tensors from scalars.
// RUN: tinymlir-runner %s --strict-args --arg 0=1 --arg 1=2 | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: {{\[\[}}1. 2.]
// CHECK-NEXT: [2. 1.]]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [1. 1. 1.]
// CHECK-NEXT: result 2:
// CHECK-NEXT: 2.0
func.func @main(%a: f32, %b: f32) -> (tensor<2x2xf32>, tensor<3xf32>, tensor<f32>) {
 %t = tensor.from_elements %a, %b, %b, %a : tensor<2x2xf32>
 %s = tensor.splat %a : tensor<3xf32>
 %z = tensor.from_elements %b : tensor<f32>
 return %t, %s, %z : tensor<2x2xf32>, tensor<3xf32>, tensor<f32> }
