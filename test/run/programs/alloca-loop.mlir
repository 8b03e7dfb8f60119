// 16 KiB of stack in each of 100,000 iterations.
// RUN: tinymlir-runner %s --strict-args --arg 0=100000 | FileCheck %s
// CHECK: 100000.0
func.func @main(%n: index) -> f32 {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %z = arith.constant 0.0 : f32
 %one = arith.constant 1.0 : f32
 %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> f32 {
  %m = memref.alloca() : memref<4096xf32>
  memref.store %one, %m[%c0] : memref<4096xf32>
  %v = memref.load %m[%c0] : memref<4096xf32>
  %s = arith.addf %a, %v : f32
  scf.yield %s : f32 }
 return %r : f32 }
