// linalg.batch_matmul with a transposed operand.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=ones | FileCheck %s
// CHECK: {{\[\[\[}} 6.  6.  6.  6.  6.]
// CHECK-NEXT: [22. 22. 22. 22. 22.]
// CHECK-NEXT: [38. 38. 38. 38. 38.]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}54. 54. 54. 54. 54.]
// CHECK-NEXT: [70. 70. 70. 70. 70.]
// CHECK-NEXT: [86. 86. 86. 86. 86.]]]
func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
 %z = arith.constant dense<0.0> : tensor<2x3x5xf32>
 %r = linalg.batch_matmul indexing_maps = [affine_map<(b,m,n,k)->(b,m,k)>, affine_map<(b,m,n,k)->(b,n,k)>, affine_map<(b,m,n,k)->(b,m,n)>] ins(%a, %b : tensor<2x3x4xf32>, tensor<2x5x4xf32>) outs(%z : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
 return %r : tensor<2x3x5xf32> }
