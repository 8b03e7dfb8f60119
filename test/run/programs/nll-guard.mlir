// A loss that ignores some labels, whose gather is masked.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=-100 | FileCheck %s
// CHECK: [0. 0. 0.]
func.func @main(%x: tensor<3x4xf32>, %t: tensor<3xi64>) -> tensor<3xf32> {
 %e = tensor.empty() : tensor<3xf32>
 %ign = arith.constant -100 : i64
 %z = arith.constant 0.0 : f32
 %r = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->(i)>], iterator_types = ["parallel"]} ins(%t : tensor<3xi64>) outs(%e : tensor<3xf32>) {
 ^bb0(%a: i64, %o: f32):
  %i = linalg.index 0 : index
  %k = arith.index_cast %a : i64 to index
  %v = tensor.extract %x[%i, %k] : tensor<3x4xf32>
  %n = arith.negf %v : f32
  %c = arith.cmpi eq, %a, %ign : i64
  %s = arith.select %c, %z, %n : f32
  linalg.yield %s : f32 } -> tensor<3xf32>
 return %r : tensor<3xf32> }
