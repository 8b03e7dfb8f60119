// A maximum over nothing.
// RUN: tinymlir-runner %s --strict-args --arg 0=ones@0 | FileCheck %s
// CHECK: -inf
func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
 %n = arith.constant dense<0xFF800000> : tensor<f32>
 %a = linalg.reduce {arith.maximumf} ins(%x : tensor<?xf32>) outs(%n : tensor<f32>) dimensions = [0]
 return %a : tensor<f32> }
