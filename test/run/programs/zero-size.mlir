// No rows: an elementwise operation and a sum over them.
// RUN: tinymlir-runner %s --strict-args --arg 0=ones | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: []
// CHECK-NEXT: result 1:
// CHECK-NEXT: [0. 0. 0. 0.]
func.func @main(%x: tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>) {
 %z = arith.constant 0.0 : f32
 %e = tensor.empty() : tensor<4xf32>
 %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
 %r = linalg.reduce {arith.addf} ins(%x : tensor<0x4xf32>) outs(%f : tensor<4xf32>) dimensions = [0]
 %g = tensor.empty() : tensor<0x4xf32>
 %q = linalg.exp ins(%x : tensor<0x4xf32>) outs(%g : tensor<0x4xf32>) -> tensor<0x4xf32>
 return %q, %r : tensor<0x4xf32>, tensor<4xf32> }
