// Minima of data with NaN.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: nan
// CHECK-NEXT: result 1:
// CHECK-NEXT: 0.0
func.func @main(%x: tensor<3xf32>) -> (tensor<f32>, tensor<f32>) {
 %n = arith.constant 0x7FC00000 : f32
 %c1 = arith.constant 1 : index
 %y = tensor.insert %n into %x[%c1] : tensor<3xf32>
 %i = arith.constant dense<0x7F800000> : tensor<f32>
 %a = linalg.reduce {arith.minimumf} ins(%y : tensor<3xf32>) outs(%i : tensor<f32>) dimensions = [0]
 %b = linalg.reduce {arith.minnumf} ins(%y : tensor<3xf32>) outs(%i : tensor<f32>) dimensions = [0]
 return %a, %b : tensor<f32>, tensor<f32> }
