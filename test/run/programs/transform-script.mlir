// A script of the transform dialect beside the code is not run, which a warning says.
// RUN: tinymlir-runner %s --strict-args --arg 0=0 2>&1 | FileCheck %s
// CHECK: transform-script.mlir:[[#@LINE+7]]:3: warning: 'transform.named_sequence' op is not applied here, and left out (apply it with mlir-opt first)
// CHECK: [1. 1.]
module attributes {transform.with_named_sequence} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = math.exp %x : tensor<2xf32>
    return %r : tensor<2xf32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    transform.yield
  }
}
