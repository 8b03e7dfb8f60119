// A mean over a dynamic dimension.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota@2x3 | FileCheck %s
// CHECK: [1. 4.]
func.func @main(%x: tensor<2x?xf32>) -> tensor<2xf32> {
 %c1 = arith.constant 1 : index
 %z = arith.constant dense<0.0> : tensor<2xf32>
 %d = tensor.dim %x, %c1 : tensor<2x?xf32>
 %i = arith.index_cast %d : index to i64
 %f = arith.sitofp %i : i64 to f32
 %s = linalg.reduce {arith.addf} ins(%x : tensor<2x?xf32>) outs(%z : tensor<2xf32>) dimensions = [1]
 %e = tensor.empty() : tensor<2xf32>
 %m = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->(i)>], iterator_types = ["parallel"]} ins(%s : tensor<2xf32>) outs(%e : tensor<2xf32>) {
 ^bb0(%a: f32, %o: f32):
  %q = arith.divf %a, %f : f32
  linalg.yield %q : f32 } -> tensor<2xf32>
 return %m : tensor<2xf32> }
