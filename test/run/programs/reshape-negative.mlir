// Sizes that multiply to the right number and are not possible.
// RUN: %fails tinymlir-runner %s --strict-args --arg 0=iota@3x4 --arg 1=-1 --arg 2=12 2>&1 | FileCheck %s
// CHECK: reshape-negative.mlir:[[#@LINE+4]]:8: 'tensor.reshape' op size is negative: -1 along dimension 0
func.func @main(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?x?xf32> {
  %s = tensor.from_elements %m, %m, %n : tensor<3xindex>
  // The place of the operation.
  %r = tensor.reshape %x(%s) : (tensor<?x?xf32>, tensor<3xindex>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
