// A pad that cuts off as much as it adds keeps the type: beside TOSA, whose conversion canonicalizes, as elsewhere.
// RUN: tinymlir-runner %s --arg 0=iota | FileCheck %s
// RUN: tinymlir-runner %s --arg 0=iota --gpu --emulate | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [1. 1. 0. 1.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [0. 2. 4. 6.]
// Neither half type holds the other.
// CHECK-NEXT: result 2:
// CHECK-NEXT: [0. 1. 2. 3.]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf16>) {
  %one = arith.constant 1.0 : f32
  %p = tensor.pad %x low[2] high[-2] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<4xf32> to tensor<4xf32>
  %d = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = tosa.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
  %h = tosa.cast %b : (tensor<4xbf16>) -> tensor<4xf16>
  return %p, %d, %h : tensor<4xf32>, tensor<4xf32>, tensor<4xf16>
}
