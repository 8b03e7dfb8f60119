// RUN: tinymlir-opt %s --tinymlir-deallocate | FileCheck %s

// What the compiler allocated is freed after its last use, and the mark is gone.
// CHECK-LABEL: func.func @ours(
// CHECK-NOT:     tinymlir.bufferized
// CHECK:         %[[M:.*]] = memref.alloc()
// CHECK:         memref.load %[[M]]
// CHECK-NEXT:    memref.dealloc %[[M]]
func.func @ours(%x: memref<4xf32>) -> f32 attributes {tinymlir.bufferized} {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%m : memref<4xf32>)
  %v = memref.load %m[%c0] : memref<4xf32>
  return %v : f32
}

// A function that frees by itself, which upstream's pipeline would stop at, is left as it is.
// CHECK-LABEL: func.func @theirs(
// CHECK:         %[[M:.*]] = memref.alloc()
// CHECK-COUNT-1: memref.dealloc %[[M]]
// CHECK-NOT:     memref.dealloc
func.func @theirs(%x: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%m : memref<4xf32>)
  %v = memref.load %m[%c0] : memref<4xf32>
  memref.dealloc %m : memref<4xf32>
  return %v : f32
}
