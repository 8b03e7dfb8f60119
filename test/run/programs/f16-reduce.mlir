// A sum in half precision.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: 28.0
func.func @main(%x: tensor<8xf16>) -> tensor<f16> {
 %z = arith.constant dense<0.0> : tensor<f16>
 %r = linalg.reduce {arith.addf} ins(%x : tensor<8xf16>) outs(%z : tensor<f16>) dimensions = [0]
 return %r : tensor<f16> }
