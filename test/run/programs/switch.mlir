// scf.index_switch over tensors.
// RUN: tinymlir-runner %s --strict-args --arg 0=5 --arg 1=ones | FileCheck %s
// CHECK: [-1. -1.]
func.func @main(%i: index, %x: tensor<2xf32>) -> tensor<2xf32> {
 %r = scf.index_switch %i -> tensor<2xf32>
 case 0 { scf.yield %x : tensor<2xf32> }
 case 1 { %e = tensor.empty() : tensor<2xf32>
   %y = linalg.exp ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
   scf.yield %y : tensor<2xf32> }
 default { %c = arith.constant dense<-1.0> : tensor<2xf32>
   scf.yield %c : tensor<2xf32> }
 return %r : tensor<2xf32> }
