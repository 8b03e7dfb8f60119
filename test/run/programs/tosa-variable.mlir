// A variable of TOSA is state of the module: a second call sees what the first one wrote.
// RUN: tinymlir-runner %s --strict-args --arg 0=ones | FileCheck %s
// CHECK: [9. 9. 9.]
tosa.variable @v = dense<7.0> : tensor<3xf32>
func.func private @step(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tosa.variable_read @v : tensor<3xf32>
  %1 = tosa.add %0, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  tosa.variable_write @v, %1 : tensor<3xf32>
  %2 = tosa.variable_read @v : tensor<3xf32>
  return %2 : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @step(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = call @step(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
