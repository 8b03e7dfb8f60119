// A gather with negative indices that count from the end.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=-1 | FileCheck %s
// CHECK: [3. 3.]
func.func @main(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
 %e = tensor.empty() : tensor<2xf32>
 %r = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->(i)>], iterator_types = ["parallel"]} ins(%i : tensor<2xi64>) outs(%e : tensor<2xf32>) {
 ^bb0(%a: i64, %o: f32):
  %z = arith.constant 0 : i64
  %n = arith.constant 4 : i64
  %neg = arith.cmpi slt, %a, %z : i64
  %b = arith.addi %a, %n : i64
  %c = arith.select %neg, %b, %a : i64
  %k = arith.index_cast %c : i64 to index
  %v = tensor.extract %x[%k] : tensor<4xf32>
  linalg.yield %v : f32 } -> tensor<2xf32>
 return %r : tensor<2xf32> }
