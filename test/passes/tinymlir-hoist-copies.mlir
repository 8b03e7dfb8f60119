// RUN: tinymlir-opt %s --tinymlir-hoist-copies | FileCheck %s

// Nothing writes %x after the first operation: the copy of half of it, and the memory for that, follow it.
// CHECK-LABEL: func.func @half(
// CHECK:         %[[X:.*]] = memref.alloc() : memref<2x8xf32>
// CHECK:         linalg.fill {{.*}} outs(%[[X]]
// CHECK-DAG:     %[[HALF:.*]] = memref.subview %[[X]]
// CHECK-DAG:     %[[R:.*]] = memref.alloc() : memref<8xf32>
// CHECK:         memref.copy %[[HALF]], %[[R]]
// CHECK:         linalg.fill {{.*}} outs(%arg0
// CHECK:         return %[[R]]
func.func @half(%y: memref<8xf32>, %v: f32) -> memref<8xf32> {
  %x = memref.alloc() : memref<2x8xf32>
  linalg.fill ins(%v : f32) outs(%x : memref<2x8xf32>)
  linalg.fill ins(%v : f32) outs(%y : memref<8xf32>)
  %r = memref.alloc() : memref<8xf32>
  %half = memref.subview %x[1, 0] [1, 8] [1, 1] : memref<2x8xf32> to memref<8xf32, strided<[1], offset: 8>>
  memref.copy %half, %r : memref<8xf32, strided<[1], offset: 8>> to memref<8xf32>
  memref.dealloc %x : memref<2x8xf32>
  return %r : memref<8xf32>
}

// A later write, also through a view, keeps it behind that; so does a caller's memory, which others may write.
// CHECK-LABEL: func.func @written(
// CHECK:         scf.for
// CHECK:         memref.copy
// CHECK:         memref.copy
func.func @written(%y: memref<8xf32>, %v: f32, %n: index) -> (memref<8xf32>, memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloc() : memref<8xf32>
  linalg.fill ins(%v : f32) outs(%x : memref<8xf32>)
  scf.for %i = %c0 to %n step %c1 {
    memref.store %v, %x[%i] : memref<8xf32>
  }
  %r = memref.alloc() : memref<8xf32>
  memref.copy %x, %r : memref<8xf32> to memref<8xf32>
  %s = memref.alloc() : memref<8xf32>
  memref.copy %y, %s : memref<8xf32> to memref<8xf32>
  memref.dealloc %x : memref<8xf32>
  return %r, %s : memref<8xf32>, memref<8xf32>
}

// What a loop before writes to the copy's own memory is overwritten, not the other way round.
// CHECK-LABEL: func.func @overwritten(
// CHECK:         scf.for
// CHECK:         memref.copy
func.func @overwritten(%v: f32, %n: index) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloc() : memref<8xf32>
  linalg.fill ins(%v : f32) outs(%x : memref<8xf32>)
  %r = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %v, %r[%i] : memref<8xf32>
  }
  memref.copy %x, %r : memref<8xf32> to memref<8xf32>
  memref.dealloc %x : memref<8xf32>
  return %r : memref<8xf32>
}
