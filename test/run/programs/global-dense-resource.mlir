// A constant from a resource that the file holds.
// RUN: tinymlir-runner %s | FileCheck %s
// CHECK: [1. 2.]
func.func @main() -> tensor<2xf32> {
 %w = arith.constant dense_resource<w> : tensor<2xf32>
 return %w : tensor<2xf32> }
{-# dialect_resources: { builtin: { w: "0x040000000000803F00000040" } } #-}
