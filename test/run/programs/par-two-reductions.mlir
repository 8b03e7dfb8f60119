// scf.parallel with two reductions.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: 45.0
// CHECK-NEXT: result 1:
// CHECK-NEXT: 9.0
func.func @main(%m: memref<10xf32>) -> (f32, f32) {
 %c0 = arith.constant 0 : index
 %c10 = arith.constant 10 : index
 %c1 = arith.constant 1 : index
 %z = arith.constant 0.0 : f32
 %n = arith.constant 0xFF800000 : f32
 %r:2 = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%z, %n) -> (f32, f32) {
  %v = memref.load %m[%i] : memref<10xf32>
  scf.reduce(%v, %v : f32, f32) {
  ^bb0(%a: f32, %b: f32):
   %t = arith.addf %a, %b : f32
   scf.reduce.return %t : f32
  }, {
  ^bb0(%a: f32, %b: f32):
   %t = arith.maximumf %a, %b : f32
   scf.reduce.return %t : f32
  }
 }
 return %r#0, %r#1 : f32, f32 }
