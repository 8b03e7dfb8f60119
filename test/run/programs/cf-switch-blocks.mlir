// cf.switch over tensors.
// RUN: tinymlir-runner %s --strict-args --arg 0=1 --arg 1=ones | FileCheck %s
// CHECK: [-1. -1.]
func.func @main(%i: i32, %x: tensor<2xf32>) -> tensor<2xf32> {
 cf.switch %i : i32, [ default: ^d, 1: ^one(%x : tensor<2xf32>) ]
^one(%t: tensor<2xf32>):
 %e = tensor.empty() : tensor<2xf32>
 %y = linalg.negf ins(%t : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
 return %y : tensor<2xf32>
^d:
 return %x : tensor<2xf32> }
