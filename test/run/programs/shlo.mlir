// A dialect that is not here, in its own syntax.
// RUN: %fails tinymlir-runner %s 2>&1 | FileCheck %s
// CHECK: Dialect `stablehlo' not found for custom op 'stablehlo.add' 
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
 %0 = stablehlo.add %x, %x : tensor<4xf32>
 return %0 : tensor<4xf32> }
