// scf.execute_region with a tensor.
// RUN: tinymlir-runner %s --strict-args --arg 0=ones | FileCheck %s
// CHECK: [-1. -1.]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
 %r = scf.execute_region -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.negf ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  scf.yield %y : tensor<2xf32> }
 return %r : tensor<2xf32> }
