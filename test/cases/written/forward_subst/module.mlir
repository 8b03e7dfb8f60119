func.func @main(%l: memref<9x9xf32>, %b: memref<9xf32>) -> memref<9xf32> {
  %x = memref.alloc() : memref<9xf32>
  affine.for %i = 0 to 9 {
    %v = affine.load %b[%i] : memref<9xf32>
    %s = affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) iter_args(%a = %v) -> f32 {
      %p = affine.load %l[%i, %j] : memref<9x9xf32>
      %q = affine.load %x[%j] : memref<9xf32>
      %t = arith.mulf %p, %q : f32
      %u = arith.subf %a, %t : f32
      affine.yield %u : f32
    }
    %d = affine.load %l[%i, %i] : memref<9x9xf32>
    %r = arith.divf %s, %d : f32
    affine.store %r, %x[%i] : memref<9xf32>
  }
  return %x : memref<9xf32>
}
