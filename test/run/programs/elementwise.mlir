// linalg.elementwise.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=ones | FileCheck %s
// CHECK: [2.7182817 2.7182817 7.389056 ]
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
 %e = tensor.empty() : tensor<3xf32>
 %r = linalg.elementwise kind=#linalg.elementwise_kind<max_signed> ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
 %q = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%r : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
 return %q : tensor<3xf32> }
