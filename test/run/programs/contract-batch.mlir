// linalg.contract with its batch in three different places.
// RUN: tinymlir-runner %s --strict-args --arg 0=ones --arg 1=ones | FileCheck %s
// CHECK: {{\[\[\[}}4. 4.]
// CHECK-NEXT: [4. 4.]
// CHECK-NEXT: [4. 4.]
// CHECK-NEXT: [4. 4.]
// CHECK-NEXT: [4. 4.]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}4. 4.]
// CHECK-NEXT: [4. 4.]
// CHECK-NEXT: [4. 4.]
// CHECK-NEXT: [4. 4.]
// CHECK-NEXT: [4. 4.]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}4. 4.]
// CHECK-NEXT: [4. 4.]
// CHECK-NEXT: [4. 4.]
// CHECK-NEXT: [4. 4.]
// CHECK-NEXT: [4. 4.]]]
func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<3x5x2xf32> {
 %z = arith.constant dense<0.0> : tensor<3x5x2xf32>
 %r = linalg.contract indexing_maps = [affine_map<(b,m,n,k)->(b,m,k)>, affine_map<(b,m,n,k)->(k,b,n)>, affine_map<(b,m,n,k)->(m,n,b)>] ins(%a, %b : tensor<2x3x4xf32>, tensor<4x2x5xf32>) outs(%z : tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
 return %r : tensor<3x5x2xf32> }
