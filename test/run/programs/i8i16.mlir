// Narrow integers wrap.
// RUN: tinymlir-runner %s --strict-args --arg 0=100 --arg 1=4 | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [-112 -112 -112 -112]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [144 144 144 144]
func.func @main(%x: tensor<4xi8>, %y: tensor<4xi16>) -> (tensor<4xi8>, tensor<4xi32>) {
 %e = tensor.empty() : tensor<4xi8>
 %f = tensor.empty() : tensor<4xi32>
 %r:2 = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->(i)>, affine_map<(i)->(i)>, affine_map<(i)->(i)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xi8>, tensor<4xi16>) outs(%e, %f : tensor<4xi8>, tensor<4xi32>) {
 ^bb0(%a: i8, %b: i16, %o: i8, %p: i32):
  %0 = arith.trunci %b : i16 to i8
  %1 = arith.muli %a, %0 : i8
  %2 = arith.extui %1 : i8 to i32
  linalg.yield %1, %2 : i8, i32
 } -> (tensor<4xi8>, tensor<4xi32>)
 return %r#0, %r#1 : tensor<4xi8>, tensor<4xi32> }
