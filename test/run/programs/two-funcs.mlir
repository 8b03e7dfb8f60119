// A function that is called twice.
// RUN: tinymlir-runner %s --strict-args --arg 0=zeros | FileCheck %s
// CHECK: [2.7182817 2.7182817]
func.func @a(%x: tensor<2xf32>) -> tensor<2xf32> {
 %e = tensor.empty() : tensor<2xf32>
 %r = linalg.exp ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
 return %r : tensor<2xf32> }
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
 %0 = call @a(%x) : (tensor<2xf32>) -> tensor<2xf32>
 %1 = call @a(%0) : (tensor<2xf32>) -> tensor<2xf32>
 return %1 : tensor<2xf32> }
