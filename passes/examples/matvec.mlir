// y += A x, a thread a row. Any sizes, any strides.
// Parameters:
!elem = f32
!matrix = memref<?x?x!elem, strided<[?, ?], offset: ?>>
!vector = memref<?x!elem, strided<[?], offset: ?>>
#threads = 128 : index

func.func private @matvec(%A: !matrix, %x: !vector, %y: !vector) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant #threads
  %rows = memref.dim %A, %c0 : !matrix
  %blocks = arith.ceildivui %rows, %threads : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    %k0 = arith.constant 0 : index
    %k1 = arith.constant 1 : index
    %m = memref.dim %A, %k0 : !matrix
    %n = memref.dim %A, %k1 : !matrix
    %first = arith.muli %bx, %sx : index
    %row = arith.addi %first, %tx : index
    %inside = arith.cmpi ult, %row, %m : index
    scf.if %inside {
      %old = memref.load %y[%row] : !vector
      %sum = scf.for %k = %k0 to %n step %k1 iter_args(%partial = %old) -> (!elem) {
        %a = memref.load %A[%row, %k] : !matrix
        %b = memref.load %x[%k] : !vector
        %product = arith.mulf %a, %b : !elem
        %next = arith.addf %partial, %product : !elem
        scf.yield %next : !elem
      }
      memref.store %sum, %y[%row] : !vector
    }
    gpu.terminator
  }
  return
}
