// tensor.bitcast, which nothing upstream bufferizes, and back.
// RUN: tinymlir-runner %s --strict-args --arg 0=1.5 | FileCheck %s
// CHECK: [1069547520 1069547520]
// CHECK: [1.5 1.5]
func.func @main(%x: tensor<2xf32>) -> (tensor<2xi32>, tensor<2xf32>) {
  %i = tensor.bitcast %x : tensor<2xf32> to tensor<2xi32>
  %f = tensor.bitcast %i : tensor<2xi32> to tensor<2xf32>
  return %i, %f : tensor<2xi32>, tensor<2xf32>
}
