// RUN: tinymlir-opt %s --tinymlir-heap-allocas -verify-diagnostics

func.func @returned(%c: i1, %x: memref<2048x2048xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %r = scf.if %c -> memref<2048x2048xf32> {
    // expected-error @below {{'memref.alloca' op takes more of the stack than it holds, and is passed out of its block (use memref.alloc)}}
    %m = memref.alloca() : memref<2048x2048xf32>
    scf.yield %m : memref<2048x2048xf32>
  } else {
    scf.yield %x : memref<2048x2048xf32>
  }
  %v = memref.load %r[%c0, %c0] : memref<2048x2048xf32>
  return %v : f32
}
