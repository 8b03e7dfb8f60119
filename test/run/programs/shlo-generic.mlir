// A dialect that is not here, in generic syntax.
// RUN: %fails tinymlir-runner %s 2>&1 | FileCheck %s
// CHECK: 'stablehlo.add' op cannot be read: there is no dialect `stablehlo`
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
 %0 = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
 return %0 : tensor<4xf32> }
