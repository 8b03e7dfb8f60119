// One row and dynamic K.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota@1x3 --arg 1=iota@3x3 | FileCheck %s
// CHECK: {{\[\[}}15. 18. 21.]]
func.func @main(%a: tensor<1x?xf32>, %b: tensor<?x3xf32>) -> tensor<1x3xf32> {
 %z = arith.constant dense<0.0> : tensor<1x3xf32>
 %r = linalg.matmul ins(%a, %b : tensor<1x?xf32>, tensor<?x3xf32>) outs(%z : tensor<1x3xf32>) -> tensor<1x3xf32>
 return %r : tensor<1x3xf32> }
