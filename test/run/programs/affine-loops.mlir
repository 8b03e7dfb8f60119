// Affine loops, one with a bound that depends on the other.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: {{\[\[}} 0.  1.  2.  3.]
// CHECK-NEXT: [ 4. 10.  6.  7.]
// CHECK-NEXT: [ 4.  9. 20. 11.]
// CHECK-NEXT: [12. 14. 14. 30.]]
func.func @main(%x: memref<4x4xf32>) {
 affine.for %i = 0 to 4 {
  affine.for %j = affine_map<(d)->(d)>(%i) to 4 step 2 {
   %v = affine.load %x[%i, %j] : memref<4x4xf32>
   %w = arith.addf %v, %v : f32
   affine.store %w, %x[%j, %i] : memref<4x4xf32>
  }
 }
 return }
