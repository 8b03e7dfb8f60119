// Canonicalisation makes one loop of the two that tiling makes: the outer dimensions first, then the tile's.
// RUN: tinymlir-opt %s --tinymlir-tile-parallel-loops --canonicalize --cse | FileCheck %s

// One dimension: full warps.
// CHECK-LABEL: func.func @vector(
// CHECK:         scf.parallel {{.*}} to (%{{.*}}, %c256) step (%c256, %c1)
// CHECK:           arith.cmpi ult
// CHECK-NEXT:      scf.if
func.func @vector(%m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %f, %m[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// Two dimensions, both long enough: tiles of 16x16.
// CHECK-LABEL: func.func @matrix(
// CHECK:         scf.parallel {{.*}} to (%c64, %c37, %c16, %c16) step (%c16, %c16, %c1, %c1)
func.func @matrix(%m: memref<64x37xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c37 = arith.constant 37 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c64, %c37) step (%c1, %c1) {
    memref.store %f, %m[%i, %j] : memref<64x37xf32>
    scf.reduce
  }
  return
}

// Rows past the limit of a grid's y (65,535 blocks of 16) lie along x, in one dimension.
// CHECK-LABEL: func.func @tall(
// CHECK:         scf.parallel {{.*}} to (%c16777232, %c256) step (%c256, %c1)
func.func @tall(%m: memref<1048577x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 1048577 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %c16) step (%c1, %c1) {
    memref.store %f, %m[%i, %j] : memref<1048577x16xf32>
    scf.reduce
  }
  return
}

// A step of three is normalised first: ten iterations, the index scaled inside.
// CHECK-LABEL: func.func @step3(
// CHECK:         scf.parallel (%[[I:.*]]) = (%c0) to (%c32) step (%c1)
// CHECK:           arith.cmpi ult, %[[I]], %c10
// CHECK:             affine.apply #[[$BY3:.*]](%[[I]])
// CHECK:             memref.store
func.func @step3(%m: memref<30xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c29 = arith.constant 29 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%c29) step (%c3) {
    memref.store %f, %m[%i] : memref<30xf32>
    scf.reduce
  }
  return
}

// Bounds that may cross count as no iteration, also where two of them would multiply to a positive number.
// CHECK-LABEL: func.func @crossing(
// CHECK-COUNT-2: arith.maxsi
func.func @crossing(%m: memref<?x?xf32>, %a: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%a, %b) step (%c1, %c1) {
    memref.store %f, %m[%i, %j] : memref<?x?xf32>
    scf.reduce
  }
  return
}

// A parallel loop inside becomes sequential in its thread; a sum over it stays in registers.
// CHECK-LABEL: func.func @nested(
// CHECK:         scf.parallel
// CHECK-NOT:       scf.parallel
// CHECK:           scf.for {{.*}} iter_args
func.func @nested(%m: memref<64x8xf32>, %r: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %s = scf.parallel (%j) = (%c0) to (%c8) step (%c1) init (%z) -> f32 {
      %v = memref.load %m[%i, %j] : memref<64x8xf32>
      scf.reduce(%v : f32) {
      ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        scf.reduce.return %t : f32
      }
    }
    memref.store %s, %r[%i] : memref<64xf32>
    scf.reduce
  }
  return
}

// The host keeps what reduces to a value, and what calls a function that is only declared.
// CHECK-LABEL: func.func @host(
// CHECK-NOT:     scf.parallel
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK-NEXT:      func.call @elsewhere
func.func private @elsewhere(index)
func.func @host(%m: memref<40xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %z = arith.constant 0.0 : f32
  %s = scf.parallel (%i) = (%c0) to (%c40) step (%c1) init (%z) -> f32 {
    %v = memref.load %m[%i] : memref<40xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      scf.reduce.return %t : f32
    }
  }
  scf.parallel (%i) = (%c0) to (%c40) step (%c1) {
    func.call @elsewhere(%i) : (index) -> ()
    scf.reduce
  }
  return %s : f32
}
