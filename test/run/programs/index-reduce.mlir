// Integer reductions.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: 10
// CHECK-NEXT: result 1:
// CHECK-NEXT: 120
func.func @main(%x: tensor<5xi32>) -> (tensor<i32>, tensor<i64>) {
 %z = arith.constant dense<0> : tensor<i32>
 %w = arith.constant dense<1> : tensor<i64>
 %s = linalg.reduce {arith.addi} ins(%x : tensor<5xi32>) outs(%z : tensor<i32>) dimensions = [0]
 %p = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->()>], iterator_types = ["reduction"]} ins(%x : tensor<5xi32>) outs(%w : tensor<i64>) {
 ^bb0(%a: i32, %o: i64):
  %b = arith.extsi %a : i32 to i64
  %one = arith.constant 1 : i64
  %c = arith.addi %b, %one : i64
  %m = arith.muli %c, %o : i64
  linalg.yield %m : i64 } -> tensor<i64>
 return %s, %p : tensor<i32>, tensor<i64> }
