// Truth values, and a reduction of them.
// RUN: tinymlir-runner %s --strict-args --arg 0=1 --arg 1=0 | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [ True  True  True  True]
// CHECK-NEXT: result 1:
// CHECK-NEXT: True
func.func @main(%x: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<i1>) {
 %e = tensor.empty() : tensor<4xi1>
 %r = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->(i)>, affine_map<(i)->(i)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xi1>, tensor<4xi1>) outs(%e : tensor<4xi1>) {
 ^bb0(%a: i1, %b: i1, %o: i1):
  %0 = arith.xori %a, %b : i1
  linalg.yield %0 : i1
 } -> tensor<4xi1>
 %f = arith.constant dense<false> : tensor<i1>
 %s = linalg.reduce {arith.ori} ins(%r : tensor<4xi1>) outs(%f : tensor<i1>) dimensions = [0]
 return %r, %s : tensor<4xi1>, tensor<i1> }
