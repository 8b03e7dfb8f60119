// Nested loops that update one tensor in place.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: {{\[\[}} 0.  8. 16. 24.]
// CHECK-NEXT: [ 4.  5. 18. 26.]
// CHECK-NEXT: [ 8.  9. 10. 28.]
// CHECK-NEXT: [12. 13. 14. 15.]]
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %c4 = arith.constant 4 : index
 %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<4x4xf32> {
  %q = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> tensor<4x4xf32> {
   %v = tensor.extract %b[%i, %j] : tensor<4x4xf32>
   %w = arith.addf %v, %v : f32
   %d = tensor.insert %w into %b[%j, %i] : tensor<4x4xf32>
   scf.yield %d : tensor<4x4xf32>
  }
  scf.yield %q : tensor<4x4xf32>
 }
 return %r : tensor<4x4xf32> }
