// The shape dialect.
// RUN: tinymlir-runner %s --strict-args --arg 0=ones@2x3 | FileCheck %s
// CHECK: [2 3]
func.func @main(%x: tensor<?x3xf32>) -> tensor<2xindex> {
 %s = shape.shape_of %x : tensor<?x3xf32> -> tensor<2xindex>
 return %s : tensor<2xindex> }
