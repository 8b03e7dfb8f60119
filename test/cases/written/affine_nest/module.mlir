func.func @main(%x: memref<8x8xf32>) -> memref<8x8xf32> {
  %o = memref.alloc() : memref<8x8xf32>
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %v = affine.load %x[%j, %i] : memref<8x8xf32>
      %w = affine.if affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j) -> f32 {
        affine.yield %v : f32
      } else {
        %n = arith.negf %v : f32
        affine.yield %n : f32
      }
      affine.store %w, %o[%i, %j] : memref<8x8xf32>
    }
  }
  return %o : memref<8x8xf32>
}
