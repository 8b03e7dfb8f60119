// linalg.pack of dynamic size with padding.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota@5x4 | FileCheck %s
// CHECK: {{\[\[\[\[}} 0.  1.]
// CHECK-NEXT: [ 4.  5.]
// CHECK-NEXT: [ 8.  9.]
// CHECK-NEXT: [12. 13.]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}} 2.  3.]
// CHECK-NEXT: [ 6.  7.]
// CHECK-NEXT: [10. 11.]
// CHECK-NEXT: [14. 15.]]]
// CHECK-EMPTY:
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[\[}}16. 17.]
// CHECK-NEXT: [ 0.  0.]
// CHECK-NEXT: [ 0.  0.]
// CHECK-NEXT: [ 0.  0.]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}18. 19.]
// CHECK-NEXT: [ 0.  0.]
// CHECK-NEXT: [ 0.  0.]
// CHECK-NEXT: [ 0.  0.]]]]
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x2x4x2xf32> {
 %c0 = arith.constant 0 : index
 %c4 = arith.constant 4 : index
 %p = arith.constant 0.0 : f32
 %d = tensor.dim %x, %c0 : tensor<?x4xf32>
 %n = arith.ceildivui %d, %c4 : index
 %e = tensor.empty(%n) : tensor<?x2x4x2xf32>
 %r = linalg.pack %x padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<?x4xf32> -> tensor<?x2x4x2xf32>
 return %r : tensor<?x2x4x2xf32> }
