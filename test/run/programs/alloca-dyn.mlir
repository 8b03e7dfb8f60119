// 80 MB of stack, known at run time.
// RUN: tinymlir-runner %s --strict-args --arg 0=20000000 | FileCheck %s
// CHECK: 2.5
func.func @main(%n: index) -> f32 {
 %c0 = arith.constant 0 : index
 %v = arith.constant 2.5 : f32
 %m = memref.alloca(%n) : memref<?xf32>
 linalg.fill ins(%v : f32) outs(%m : memref<?xf32>)
 %r = memref.load %m[%c0] : memref<?xf32>
 return %r : f32 }
