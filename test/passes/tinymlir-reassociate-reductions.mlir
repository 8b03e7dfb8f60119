// RUN: tinymlir-opt %s --tinymlir-reassociate-reductions | FileCheck %s

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A sum of a reduction.
// CHECK-LABEL: func.func @sum(
// CHECK:         arith.mulf %{{[a-z_0-9]*}}, %{{[a-z_0-9]*}} : f32
// CHECK:         arith.addf %{{.*}} fastmath<reassoc> : f32
func.func @sum(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%e: f32, %s: f32):
    %0 = arith.mulf %e, %e : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Nothing is reduced.
// CHECK-LABEL: func.func @map(
// CHECK-NOT:     fastmath
func.func @map(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%e: f32, %s: f32):
    %1 = arith.addf %s, %e : f32
    linalg.yield %1 : f32
  }
  return
}

// Each step looks at the sum so far.
// CHECK-LABEL: func.func @recurrence(
// CHECK-NOT:     fastmath
func.func @recurrence(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%e: f32, %s: f32):
    %0 = arith.mulf %e, %s : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A loop's order is the user's.
// CHECK-LABEL: func.func @loop(
// CHECK-NOT:     fastmath
func.func @loop(%x: memref<8xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f32) {
    %e = memref.load %x[%i] : memref<8xf32>
    %1 = arith.addf %s, %e : f32
    scf.yield %1 : f32
  }
  return %r : f32
}
