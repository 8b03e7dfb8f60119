// A reduction with two results.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [ 3. 12.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [ 0. 60.]
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
 %z = arith.constant dense<0.0> : tensor<2xf32>
 %o = arith.constant dense<1.0> : tensor<2xf32>
 %r:2 = linalg.reduce ins(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%z, %o : tensor<2xf32>, tensor<2xf32>) dimensions = [1] (%a: f32, %b: f32, %s: f32, %p: f32) {
  %0 = arith.addf %a, %s : f32
  %1 = arith.mulf %b, %p : f32
  linalg.yield %0, %1 : f32, f32 }
 return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32> }
