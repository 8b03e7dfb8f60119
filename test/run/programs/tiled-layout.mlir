// A buffer in tiles of 2x2, by its layout.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: {{\[}}[ 0.  1.  2.  3.]
// CHECK-NEXT: [ 4.  5.  6.  7.]
#tiled = affine_map<(i, j) -> (i floordiv 2, j floordiv 2, i mod 2, j mod 2)>
func.func @main(%x: memref<4x4xf32>) -> memref<4x4xf32> {
  %t = memref.alloc() : memref<4x4xf32, #tiled>
  %r = memref.alloc() : memref<4x4xf32>
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      %v = affine.load %x[%i, %j] : memref<4x4xf32>
      affine.store %v, %t[%i, %j] : memref<4x4xf32, #tiled>
    }
  }
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      %v = affine.load %t[%i, %j] : memref<4x4xf32, #tiled>
      affine.store %v, %r[%i, %j] : memref<4x4xf32>
    }
  }
  memref.dealloc %t : memref<4x4xf32, #tiled>
  return %r : memref<4x4xf32>
}
