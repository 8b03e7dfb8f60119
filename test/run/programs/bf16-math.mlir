// Math over bf16.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: [1.   0.76 0.93]
func.func @main(%x: tensor<3xbf16>) -> tensor<3xbf16> {
 %e = tensor.empty() : tensor<3xbf16>
 %r = linalg.tanh ins(%x : tensor<3xbf16>) outs(%e : tensor<3xbf16>) -> tensor<3xbf16>
 %q = linalg.powf ins(%r, %x : tensor<3xbf16>, tensor<3xbf16>) outs(%e : tensor<3xbf16>) -> tensor<3xbf16>
 return %q : tensor<3xbf16> }
