// A function with the name of one of libc that compiled code does not call.
// RUN: tinymlir-runner %s --strict-args --arg 0=zeros | FileCheck %s
// CHECK: [0. 0.]
func.func @printf(%x: tensor<2xf32>) -> tensor<2xf32> {
 return %x : tensor<2xf32> }
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
 %0 = call @printf(%x) : (tensor<2xf32>) -> tensor<2xf32>
 return %0 : tensor<2xf32> }
