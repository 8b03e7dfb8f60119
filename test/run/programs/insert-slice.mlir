// tensor.insert_slice with a stride.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=ones | FileCheck %s
// CHECK: {{\[\[}} 0.  1.  2.  3.]
// CHECK-NEXT: [ 1.  5.  1.  7.]
// CHECK-NEXT: [ 1.  9.  1. 11.]
// CHECK-NEXT: [12. 13. 14. 15.]]
func.func @main(%x: tensor<4x4xf32>, %y: tensor<2x2xf32>) -> tensor<4x4xf32> {
 %r = tensor.insert_slice %y into %x[1, 0] [2, 2] [1, 2] : tensor<2x2xf32> into tensor<4x4xf32>
 return %r : tensor<4x4xf32> }
