// Sine and cosine at once, also where a kernel calls libdevice's function for both.
// RUN: tinymlir-runner %s --arg 0=zeros | FileCheck %s
// RUN: tinymlir-runner %s --arg 0=zeros --gpu --emulate | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [0. 0. 0.]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [1. 1. 1.]
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %s, %c = math.sincos %x : tensor<3xf32>
  return %s, %c : tensor<3xf32>, tensor<3xf32>
}
