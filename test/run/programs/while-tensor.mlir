// A while loop that carries a tensor and a counter.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [ 0.  8. 16.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: 3
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, i32) {
 %z = arith.constant 0 : i32
 %one = arith.constant 1 : i32
 %n = arith.constant 3 : i32
 %r:2 = scf.while (%i = %z, %t = %x) : (i32, tensor<3xf32>) -> (tensor<3xf32>, i32) {
  %c = arith.cmpi slt, %i, %n : i32
  scf.condition(%c) %t, %i : tensor<3xf32>, i32
 } do {
 ^bb0(%t: tensor<3xf32>, %i: i32):
  %e = tensor.empty() : tensor<3xf32>
  %d = linalg.add ins(%t, %t : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %j = arith.addi %i, %one : i32
  scf.yield %j, %d : i32, tensor<3xf32>
 }
 return %r#0, %r#1 : tensor<3xf32>, i32 }
