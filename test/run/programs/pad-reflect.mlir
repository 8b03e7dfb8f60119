// Padding with a value that is computed.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: [1. 0. 1. 2. 1.]
func.func @main(%x: tensor<3xf32>) -> tensor<5xf32> {
 %p = tensor.pad %x low[1] high[1] {
 ^bb0(%i: index):
  %c1 = arith.constant 1 : index
  %v = tensor.extract %x[%c1] : tensor<3xf32>
  tensor.yield %v : f32
 } : tensor<3xf32> to tensor<5xf32>
 return %p : tensor<5xf32> }
