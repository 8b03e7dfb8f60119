// Unsigned elements pass through.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: [0 1 2]
func.func @main(%x: tensor<3xui8>) -> tensor<3xui8> {
 return %x : tensor<3xui8> }
