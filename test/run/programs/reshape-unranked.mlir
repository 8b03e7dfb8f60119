// A reshape to a rank that only its sizes tell.
// RUN: tinymlir-runner %s --arg 0=iota | FileCheck %s
// CHECK: {{\[\[}}0. 1. 2.]
// CHECK-NEXT: [3. 4. 5.]]
func.func @main(%x: tensor<6xf32>) -> tensor<*xf32> {
  %s = arith.constant dense<[2, 3]> : tensor<2xindex>
  %r = tensor.reshape %x(%s) : (tensor<6xf32>, tensor<2xindex>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}
