// tensor.extract at an index from the caller.
// RUN: %fails tinymlir-runner %s --strict-args --arg 0=iota --arg 1=4 2>&1 | FileCheck %s
// CHECK: 'tensor.extract' op index is out of bounds: 4 along dimension 0, whose size is 4
func.func @main(%x: tensor<4xf32>, %i: index) -> f32 {
 %v = tensor.extract %x[%i] : tensor<4xf32>
 return %v : f32 }
