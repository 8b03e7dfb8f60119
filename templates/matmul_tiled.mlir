// RUN: tinymlir-opt %s | FileCheck %s
// C += A B by 16x16 tiles staged in workgroup memory, summed in the element type: f32 and f64.
// Any size, any strides (also zero: a broadcast operand).
//
// A block makes one 16x16 tile of C at a time, a thread one element of it. Along K, a block stages a tile of A and
// one of B, waits, adds their product, and waits again before it overwrites them.
//
// CHECK: func.func private @matmul_2d(
// CHECK: func.func private @matmul_batched

// Parameters:
!elem = f32
!view = memref<?x?x!elem, strided<[?, ?], offset: ?>>
!batched = memref<?x?x?x!elem, strided<[?, ?, ?], offset: ?>>
!stage = memref<16x16x!elem, #gpu.address_space<workgroup>>
#tile = 16 : index
#grid_limit = 65535 : index

// C += A B, with A: M x K, B: K x N, C: M x N.
func.func private @matmul_2d(%A: !view, %B: !view, %C: !view) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant #tile
  %limit = arith.constant #grid_limit
  %rows = memref.dim %C, %c0 : !view
  %cols = memref.dim %C, %c1 : !view
  %row_tiles = arith.ceildivui %rows, %t : index
  %col_tiles = arith.ceildivui %cols, %t : index
  // The y and z dimensions of a grid end at 65,535: blocks stride over what is left.
  %gy_n = arith.minui %row_tiles, %limit : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %col_tiles, %gy = %gy_n, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %t, %sy = %t, %sz = %c1)
             workgroup(%a_tile : !stage, %b_tile : !stage) {
    %zero = arith.constant 0.0 : !elem
    %k0 = arith.constant 0 : index
    %k1 = arith.constant 1 : index
    %tile = arith.constant #tile
    %m = memref.dim %C, %k0 : !view
    %n = memref.dim %C, %k1 : !view
    %k = memref.dim %A, %k1 : !view
    %m_tiles = arith.ceildivui %m, %tile : index
    %col0 = arith.muli %bx, %tile : index
    %col = arith.addi %col0, %tx : index
    %col_in = arith.cmpi ult, %col, %n : index
    scf.for %row_tile = %by to %m_tiles step %gy {
      %row0 = arith.muli %row_tile, %tile : index
      %row = arith.addi %row0, %ty : index
      %row_in = arith.cmpi ult, %row, %m : index
      %sum = scf.for %k_base = %k0 to %k step %tile iter_args(%partial = %zero) -> (!elem) {
        // Each thread stages one element of either operand; what lies outside reads as zero.
        %a_col = arith.addi %k_base, %tx : index
        %a_col_in = arith.cmpi ult, %a_col, %k : index
        %a_in = arith.andi %row_in, %a_col_in : i1
        %a = scf.if %a_in -> (!elem) {
          %v = memref.load %A[%row, %a_col] : !view
          scf.yield %v : !elem
        } else {
          scf.yield %zero : !elem
        }
        %b_row = arith.addi %k_base, %ty : index
        %b_row_in = arith.cmpi ult, %b_row, %k : index
        %b_in = arith.andi %b_row_in, %col_in : i1
        %bv = scf.if %b_in -> (!elem) {
          %v = memref.load %B[%b_row, %col] : !view
          scf.yield %v : !elem
        } else {
          scf.yield %zero : !elem
        }
        memref.store %a, %a_tile[%ty, %tx] : !stage
        memref.store %bv, %b_tile[%ty, %tx] : !stage
        gpu.barrier
        %next = scf.for %i = %k0 to %tile step %k1 iter_args(%s = %partial) -> (!elem) {
          %x = memref.load %a_tile[%ty, %i] : !stage
          %y = memref.load %b_tile[%i, %tx] : !stage
          %s1 = math.fma %x, %y, %s : !elem
          scf.yield %s1 : !elem
        }
        // The tiles are overwritten in the next step: wait until every thread has read them.
        gpu.barrier
        scf.yield %next : !elem
      }
      %inside = arith.andi %row_in, %col_in : i1
      scf.if %inside {
        %old = memref.load %C[%row, %col] : !view
        %new = arith.addf %old, %sum : !elem
        memref.store %new, %C[%row, %col] : !view
      }
    }
    gpu.terminator
  }
  return
}

// C[b] += A[b] B[b] for every b, with A: B x M x K, B: B x K x N, C: B x M x N.
func.func private @matmul_batched(%A: !batched, %B: !batched, %C: !batched) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = arith.constant #tile
  %limit = arith.constant #grid_limit
  %batches = memref.dim %C, %c0 : !batched
  %rows = memref.dim %C, %c1 : !batched
  %cols = memref.dim %C, %c2 : !batched
  %row_tiles = arith.ceildivui %rows, %t : index
  %col_tiles = arith.ceildivui %cols, %t : index
  // The y and z dimensions of a grid end at 65,535: blocks stride over what is left.
  %gy_n = arith.minui %row_tiles, %limit : index
  %gz_n = arith.minui %batches, %limit : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %col_tiles, %gy = %gy_n, %gz = %gz_n)
             threads(%tx, %ty, %tz) in (%sx = %t, %sy = %t, %sz = %c1)
             workgroup(%a_tile : !stage, %b_tile : !stage) {
    %zero = arith.constant 0.0 : !elem
    %k0 = arith.constant 0 : index
    %k1 = arith.constant 1 : index
    %k2 = arith.constant 2 : index
    %tile = arith.constant #tile
    %nb = memref.dim %C, %k0 : !batched
    %m = memref.dim %C, %k1 : !batched
    %n = memref.dim %C, %k2 : !batched
    %k = memref.dim %A, %k2 : !batched
    %m_tiles = arith.ceildivui %m, %tile : index
    %col0 = arith.muli %bx, %tile : index
    %col = arith.addi %col0, %tx : index
    %col_in = arith.cmpi ult, %col, %n : index
    scf.for %b = %bz to %nb step %gz {
      scf.for %row_tile = %by to %m_tiles step %gy {
        %row0 = arith.muli %row_tile, %tile : index
        %row = arith.addi %row0, %ty : index
        %row_in = arith.cmpi ult, %row, %m : index
        %sum = scf.for %k_base = %k0 to %k step %tile iter_args(%partial = %zero) -> (!elem) {
          // Each thread stages one element of either operand; what lies outside reads as zero.
          %a_col = arith.addi %k_base, %tx : index
          %a_col_in = arith.cmpi ult, %a_col, %k : index
          %a_in = arith.andi %row_in, %a_col_in : i1
          %a = scf.if %a_in -> (!elem) {
            %v = memref.load %A[%b, %row, %a_col] : !batched
            scf.yield %v : !elem
          } else {
            scf.yield %zero : !elem
          }
          %b_row = arith.addi %k_base, %ty : index
          %b_row_in = arith.cmpi ult, %b_row, %k : index
          %b_in = arith.andi %b_row_in, %col_in : i1
          %bv = scf.if %b_in -> (!elem) {
            %v = memref.load %B[%b, %b_row, %col] : !batched
            scf.yield %v : !elem
          } else {
            scf.yield %zero : !elem
          }
          memref.store %a, %a_tile[%ty, %tx] : !stage
          memref.store %bv, %b_tile[%ty, %tx] : !stage
          gpu.barrier
          %next = scf.for %i = %k0 to %tile step %k1 iter_args(%s = %partial) -> (!elem) {
            %x = memref.load %a_tile[%ty, %i] : !stage
            %y = memref.load %b_tile[%i, %tx] : !stage
            %s1 = math.fma %x, %y, %s : !elem
            scf.yield %s1 : !elem
          }
          // The tiles are overwritten in the next step: wait until every thread has read them.
          gpu.barrier
          scf.yield %next : !elem
        }
        %inside = arith.andi %row_in, %col_in : i1
        scf.if %inside {
          %old = memref.load %C[%b, %row, %col] : !batched
          %new = arith.addf %old, %sum : !elem
          memref.store %new, %C[%b, %row, %col] : !batched
        }
      }
    }
    gpu.terminator
  }
  return
}
