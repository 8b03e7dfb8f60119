// Constants as results, one of them twice.
// RUN: tinymlir-runner %s | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [1. 2.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [1. 2.]
// CHECK-NEXT: result 2:
// CHECK-NEXT: 5.0
func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<f32>) {
 %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
 %s = arith.constant dense<5.0> : tensor<f32>
 return %a, %a, %s : tensor<2xf32>, tensor<2xf32>, tensor<f32> }
