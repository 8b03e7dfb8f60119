func.func @main(%x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.transfer_read %x[%i], %z : memref<?xf32>, vector<4xf32>
    %w = math.sqrt %v : vector<4xf32>
    vector.transfer_write %w, %y[%i] : vector<4xf32>, memref<?xf32>
  }
  return %y : memref<?xf32>
}
