// A private function with the name of one of libm.
// RUN: tinymlir-runner %s --strict-args --arg 0=zeros | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [1. 1.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: 5.0
func.func private @exp(%x: f32) -> f32 {
 %c = arith.constant 5.0 : f32
 return %c : f32 }
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, f32) {
 %e = tensor.empty() : tensor<2xf32>
 %z = arith.constant 0.0 : f32
 %r = linalg.exp ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
 %q = call @exp(%z) : (f32) -> f32
 return %r, %q : tensor<2xf32>, f32 }
