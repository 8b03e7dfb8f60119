func.func @main(%x: memref<4x6xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %o = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %v = vector.transfer_read %x[%i, %c0], %z {in_bounds = [true]} : memref<4x6xf32>, vector<6xf32>
    %s = vector.reduction <add>, %v : vector<6xf32> into f32
    memref.store %s, %o[%i] : memref<4xf32>
  }
  return %o : memref<4xf32>
}
