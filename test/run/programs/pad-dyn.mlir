// Padding by an amount that is known at run time.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota@2x2 --arg 1=1 | FileCheck %s
// CHECK: {{\[\[}}9. 9. 9. 9.]
// CHECK-NEXT: [9. 0. 1. 9.]
// CHECK-NEXT: [9. 2. 3. 9.]]
func.func @main(%x: tensor<?x2xf32>, %n: index) -> tensor<?x4xf32> {
 %v = arith.constant 9.0 : f32
 %p = tensor.pad %x low[%n, 1] high[0, 1] {
 ^bb0(%i: index, %j: index):
  tensor.yield %v : f32
 } : tensor<?x2xf32> to tensor<?x4xf32>
 return %p : tensor<?x4xf32> }
