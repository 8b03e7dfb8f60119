// linalg.map.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=iota | FileCheck %s
// CHECK: [0. 1. 4.]
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
 %e = tensor.empty() : tensor<3xf32>
 %r = linalg.map ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) (%a: f32, %b: f32, %o: f32) {
  %0 = arith.mulf %a, %b : f32
  linalg.yield %0 : f32 }
 return %r : tensor<3xf32> }
