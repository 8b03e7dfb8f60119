func.func @main(%x: memref<6x5xf32>) -> memref<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant -1.0 : f32
  %y = memref.alloc() : memref<8x4xf32>
  %v = vector.transfer_read %x[%c2, %c0], %z {permutation_map = affine_map<(i, j) -> (j, i)>} : memref<6x5xf32>, vector<8x4xf32>
  vector.transfer_write %v, %y[%c0, %c0] {in_bounds = [true, true]} : vector<8x4xf32>, memref<8x4xf32>
  return %y : memref<8x4xf32>
}
