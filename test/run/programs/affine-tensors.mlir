// An affine loop and an affine condition that carry tensors.
// RUN: tinymlir-runner %s --arg 0=iota | FileCheck %s
// RUN: tinymlir-runner %s --arg 0=iota --gpu --emulate | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [0. 1. 4. 6.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: 6.0
#upper = affine_set<(i) : (i - 2 >= 0)>
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, f32) {
  %z = arith.constant 0.0 : f32
  %r:2 = affine.for %i = 0 to 4 iter_args(%a = %x, %s = %z) -> (tensor<4xf32>, f32) {
    %v = tensor.extract %a[%i] : tensor<4xf32>
    %b = affine.if #upper(%i) -> tensor<4xf32> {
      %w = arith.addf %v, %v : f32
      %c = tensor.insert %w into %a[%i] : tensor<4xf32>
      affine.yield %c : tensor<4xf32>
    } else {
      affine.yield %a : tensor<4xf32>
    }
    %t = arith.addf %s, %v : f32
    affine.yield %b, %t : tensor<4xf32>, f32
  }
  return %r#0, %r#1 : tensor<4xf32>, f32
}
