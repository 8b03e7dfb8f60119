// linalg.broadcast, then linalg.transpose.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: {{\[\[}}0. 0.]
// CHECK-NEXT: [1. 1.]
// CHECK-NEXT: [2. 2.]]
func.func @main(%x: tensor<3xf32>) -> tensor<3x2xf32> {
 %e = tensor.empty() : tensor<2x3xf32>
 %b = linalg.broadcast ins(%x : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
 %f = tensor.empty() : tensor<3x2xf32>
 %t = linalg.transpose ins(%b : tensor<2x3xf32>) outs(%f : tensor<3x2xf32>) permutation = [1, 0]
 return %t : tensor<3x2xf32> }
