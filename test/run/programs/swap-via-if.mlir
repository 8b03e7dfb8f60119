// scf.if that swaps its tensors.
// RUN: tinymlir-runner %s --strict-args --arg 0=0 --arg 1=ones --arg 2=zeros | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [0. 0.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [1. 1.]
func.func @main(%c: i1, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
 %r:2 = scf.if %c -> (tensor<2xf32>, tensor<2xf32>) { scf.yield %a, %b : tensor<2xf32>, tensor<2xf32> } else { scf.yield %b, %a : tensor<2xf32>, tensor<2xf32> }
 return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32> }
