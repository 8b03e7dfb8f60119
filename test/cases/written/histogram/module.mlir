func.func @main(%i: tensor<16xi32>) -> memref<5xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %h = memref.alloc() : memref<5xi32>
  linalg.fill ins(%z : i32) outs(%h : memref<5xi32>)
  %m = bufferization.to_buffer %i : tensor<16xi32> to memref<16xi32>
  scf.parallel (%k) = (%c0) to (%c16) step (%c1) {
    %v = memref.load %m[%k] : memref<16xi32>
    %j = arith.index_cast %v : i32 to index
    %o = memref.atomic_rmw addi %one, %h[%j] : (i32, memref<5xi32>) -> i32
    scf.reduce
  }
  return %h : memref<5xi32>
}
