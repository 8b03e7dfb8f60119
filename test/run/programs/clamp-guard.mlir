// A gather whose index is clamped.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: [0. 0. 1. 2. 3. 3.]
func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
 %e = tensor.empty() : tensor<6xf32>
 %c1 = arith.constant 1 : index
 %c0 = arith.constant 0 : index
 %c3 = arith.constant 3 : index
 %r = linalg.generic {indexing_maps = [affine_map<(i)->(i)>], iterator_types = ["parallel"]} outs(%e : tensor<6xf32>) {
 ^bb0(%o: f32):
  %i = linalg.index 0 : index
  %k = arith.subi %i, %c1 : index
  %a = arith.maxsi %k, %c0 : index
  %b = arith.minsi %a, %c3 : index
  %v = tensor.extract %x[%b] : tensor<4xf32>
  linalg.yield %v : f32 } -> tensor<6xf32>
 return %r : tensor<6xf32> }
