// A recursion without an end is one message, on whatever stack it runs.
// RUN: %fails tinymlir-runner %s --arg 0=1 2>&1 | FileCheck %s
// CHECK-NOT: {{.}}
// CHECK: error: the stack is full: calls are nested too deeply (does a function call itself without end?)
// CHECK-NOT: {{.}}
func.func private @f(%n: i64, %t: memref<64xf32>) -> f32 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : index
  %a = memref.alloca() : memref<64xf32>
  memref.copy %t, %a : memref<64xf32> to memref<64xf32>
  %end = arith.cmpi eq, %n, %zero : i64
  %r = scf.if %end -> f32 {
    %x = memref.load %a[%c0] : memref<64xf32>
    scf.yield %x : f32
  } else {
    %m = arith.addi %n, %one : i64
    %p = func.call @f(%m, %a) : (i64, memref<64xf32>) -> f32
    %q = func.call @f(%m, %a) : (i64, memref<64xf32>) -> f32
    %s = arith.addf %p, %q : f32
    scf.yield %s : f32
  }
  return %r : f32
}
func.func @main(%n: i64) -> f32 {
  %t = memref.alloc() : memref<64xf32>
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%t : memref<64xf32>)
  %r = call @f(%n, %t) : (i64, memref<64xf32>) -> f32
  memref.dealloc %t : memref<64xf32>
  return %r : f32
}
