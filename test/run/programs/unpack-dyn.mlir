// linalg.unpack that cuts off padding.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: {{\[\[}} 0.  1.  8.  9.]
// CHECK-NEXT: [ 2.  3. 10. 11.]
// CHECK-NEXT: [ 4.  5. 12. 13.]
// CHECK-NEXT: [ 6.  7. 14. 15.]
// CHECK-NEXT: [16. 17. 24. 25.]]
func.func @main(%x: tensor<2x2x4x2xf32>) -> tensor<5x4xf32> {
 %e = tensor.empty() : tensor<5x4xf32>
 %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<2x2x4x2xf32> -> tensor<5x4xf32>
 return %r : tensor<5x4xf32> }
