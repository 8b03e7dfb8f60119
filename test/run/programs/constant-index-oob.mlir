// A constant index past the end of a hand-written buffer is an error where it is reached, and only there.
// RUN: %fails tinymlir-runner %s --strict-args --arg 0=iota --arg 1=1 2>&1 | FileCheck %s
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=0 | FileCheck %s --check-prefix=FINE
// CHECK: 'memref.load' op index is out of bounds: 4 along dimension 0, whose size is 4
// FINE: 3.0
func.func @main(%x: memref<4xf32>, %past: i1) -> f32 {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %r = scf.if %past -> f32 {
    %v = memref.load %x[%c4] : memref<4xf32>
    scf.yield %v : f32
  } else {
    %v = memref.load %x[%c3] : memref<4xf32>
    scf.yield %v : f32
  }
  return %r : f32
}
