// RUN: tinymlir-opt %s --tinymlir-hoist-accumulators | FileCheck %s

// The sum is loaded once, carried, and stored once, through both loops.
// CHECK-LABEL: func.func @sum(
// CHECK:         %[[OUT:.*]] = memref.alloc() : memref<4xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      %[[FIRST:.*]] = memref.load %[[OUT]][%[[I]]]
// CHECK-NEXT:      %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[FIRST]]) -> (f32)
// CHECK-NEXT:        %[[INNER:.*]] = scf.for {{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (f32)
// CHECK-NEXT:          memref.load %arg0
// CHECK-NEXT:          %[[ADD:.*]] = arith.addf %[[B]],
// CHECK-NEXT:          scf.yield %[[ADD]]
// CHECK-NEXT:        }
// CHECK-NEXT:        scf.yield %[[INNER]]
// CHECK-NEXT:      }
// CHECK-NEXT:      memref.store %[[SUM]], %[[OUT]][%[[I]]]
func.func @sum(%x: memref<4x8x8xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %out = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
        %v = memref.load %x[%i, %j, %k] : memref<4x8x8xf32>
        %s = memref.load %out[%i] : memref<4xf32>
        %t = arith.addf %s, %v : f32
        memref.store %t, %out[%i] : memref<4xf32>
      }
    }
  }
  return %out : memref<4xf32>
}

// Two elements at once, such as a maximum and its place.
// CHECK-LABEL: func.func @two(
// CHECK:         %[[R:.*]]:2 = scf.for {{.*}} -> (f32, i64)
// CHECK:         memref.store %[[R]]#0
// CHECK:         memref.store %[[R]]#1
func.func @two(%x: memref<8xf32>) -> (memref<f32>, memref<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = memref.alloc() : memref<f32>
  %b = memref.alloc() : memref<i64>
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %x[%i] : memref<8xf32>
    %m = memref.load %a[] : memref<f32>
    %n = memref.load %b[] : memref<i64>
    %more = arith.cmpf ogt, %v, %m : f32
    %j = arith.index_cast %i : index to i64
    %p = arith.select %more, %v, %m : f32
    %q = arith.select %more, %j, %n : i64
    memref.store %p, %a[] : memref<f32>
    memref.store %q, %b[] : memref<i64>
  }
  return %a, %b : memref<f32>, memref<i64>
}

// Two arguments may be the same memory.
// CHECK-LABEL: func.func @alias(
// CHECK-NOT:     iter_args
// CHECK:         return
func.func @alias(%x: memref<8xf32>, %out: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %x[%i] : memref<8xf32>
    %s = memref.load %out[] : memref<f32>
    %t = arith.addf %s, %v : f32
    memref.store %t, %out[] : memref<f32>
  }
  return
}

// The buffer is read elsewhere in the loop, here through a view.
// CHECK-LABEL: func.func @view(
// CHECK-NOT:     iter_args
// CHECK:         return
func.func @view() -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m = memref.alloc() : memref<8xf32>
  %d = memref.cast %m : memref<8xf32> to memref<?xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %d[%i] : memref<?xf32>
    %s = memref.load %m[%c0] : memref<8xf32>
    %t = arith.addf %s, %v : f32
    memref.store %t, %m[%c0] : memref<8xf32>
  }
  return %m : memref<8xf32>
}

// A store under a condition is not made without it.
// CHECK-LABEL: func.func @conditional(
// CHECK-NOT:     iter_args
// CHECK:         return
func.func @conditional(%x: memref<8xi1>) -> memref<i32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %m = memref.alloc() : memref<i32>
  scf.for %i = %c0 to %c8 step %c1 {
    %b = memref.load %x[%i] : memref<8xi1>
    %s = memref.load %m[] : memref<i32>
    %t = arith.addi %s, %one : i32
    scf.if %b {
      memref.store %t, %m[] : memref<i32>
    }
  }
  return %m : memref<i32>
}
