// scf.parallel from a negative bound.
// RUN: tinymlir-runner %s --strict-args --arg 0=zeros | FileCheck %s
// CHECK: [1. 0. 1. 0. 1. 0. 1. 0. 1. 0.]
func.func @main(%m: memref<10xf32>) {
 %lb = arith.constant -4 : index
 %ub = arith.constant 5 : index
 %st = arith.constant 2 : index
 %c4 = arith.constant 4 : index
 %one = arith.constant 1.0 : f32
 scf.parallel (%i) = (%lb) to (%ub) step (%st) {
  %j = arith.addi %i, %c4 : index
  memref.store %one, %m[%j] : memref<10xf32>
  scf.reduce
 }
 return }
