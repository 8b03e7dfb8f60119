// tensor.scatter.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=1 --arg 2=ones | FileCheck %s
// CHECK: {{\[\[}} 0.  1.  2.]
// CHECK-NEXT: [ 1.  1.  1.]
// CHECK-NEXT: [ 6.  7.  8.]
// CHECK-NEXT: [ 9. 10. 11.]]
func.func @main(%x: tensor<4x3xf32>, %i: tensor<2x1xindex>, %s: tensor<2x1x3xf32>) -> tensor<4x3xf32> {
 %g = tensor.scatter %s into %x[%i] scatter_dims([0]) unique : (tensor<2x1x3xf32>, tensor<4x3xf32>, tensor<2x1xindex>) -> tensor<4x3xf32>
 return %g : tensor<4x3xf32> }
