func.func private @scale(%m: memref<?x?xf32, strided<[?, ?], offset: ?>>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = memref.dim %m, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %w = memref.dim %m, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  scf.parallel (%i, %j) = (%c0, %c0) to (%h, %w) step (%c1, %c1) {
    %v = memref.load %m[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %s = arith.mulf %v, %f : f32
    memref.store %s, %m[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    scf.reduce
  }
  return
}
func.func @main(%x: tensor<5x6xf32>) -> memref<5x6xf32> {
  %f = arith.constant 3.0 : f32
  %o = memref.alloc() : memref<5x6xf32>
  %b = bufferization.to_buffer %x : tensor<5x6xf32> to memref<5x6xf32>
  memref.copy %b, %o : memref<5x6xf32> to memref<5x6xf32>
  %s = memref.subview %o[1, 2] [3, 2] [1, 2] : memref<5x6xf32> to memref<3x2xf32, strided<[6, 2], offset: 8>>
  %d = memref.cast %s : memref<3x2xf32, strided<[6, 2], offset: 8>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  call @scale(%d, %f) : (memref<?x?xf32, strided<[?, ?], offset: ?>>, f32) -> ()
  return %o : memref<5x6xf32>
}
