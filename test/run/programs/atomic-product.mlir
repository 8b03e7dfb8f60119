// Atomic products of integers, which no processor has an instruction for, from several threads.
// RUN: tinymlir-runner %s --strict-args --arg 0=3 | FileCheck %s
// CHECK: 59049
func.func @main(%y: memref<10xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %unit = arith.constant 1 : i32
  %n = memref.alloc() : memref<1xi32>
  memref.store %unit, %n[%c0] : memref<1xi32>
  scf.parallel (%i) = (%c0) to (%c10) step (%c1) {
    %w = memref.load %y[%i] : memref<10xi32>
    %1 = memref.atomic_rmw muli %w, %n[%c0] : (i32, memref<1xi32>) -> i32
    scf.reduce
  }
  %s = memref.load %n[%c0] : memref<1xi32>
  memref.dealloc %n : memref<1xi32>
  return %s : i32
}
