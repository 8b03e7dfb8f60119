// RUN: tinymlir-opt %s | FileCheck %s
// C = epilogue(A B^T + C) for a few rows in strict fp32; A: M x K, B: N x K, C: M x N, batched. The rows are a parameter.
// Any N and any strides of C, X and Y. K, the strides and the offsets of A and B are multiples of 4 elements and both are
// aligned to 16 bytes; of 8 elements where B's are narrower than f32. Then @widen makes f32 of them, in registers.
//
// Bound by reading B once. A warp takes four rows of B and all rows of A: its lanes read 16 bytes each, every 128 elements
// along K (8 elements, every 256, of narrow ones), and meet by shuffles, always in the same order. A block has eight warps.
//
// CHECK: gpu.func @matmul_skinny_nt(
// CHECK: func.func private @matmul(

// Parameters: the rows of A, whether C is read, and what is done to a sum, in @epilogue.
#rows = 1 : index
!sums = vector<1x4x4xf32>
#accumulate = true
// What a lane reads of a row of B: its elements in memory and in f32, as fours, and how many that are.
!b_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!b_global = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
!b_part = vector<4xf32>
#b_align = 16 : i64
!b_wide = vector<4xf32>
!b_fours = vector<1x4xf32>
!b_rows = vector<4x1x4xf32>
#fours = 1 : index
#lane_elements = 4 : index
#step = 128 : index
// Whether K is known to be a multiple of the step.
#exact = false
!view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!extra = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>
// Batch, row, column.
!out = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>

!global = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
#columns = 32 : index
#threads = 256 : index

module attributes {gpu.container_module} {
gpu.module @matmul_skinny_nt_kernels {
  // What becomes of a sum; %x and %y are the elements of the extra operands at its row and column.
  func.func private @epilogue(%sum: f32, %x: f32, %y: f32) -> f32 {
    return %sum : f32
  }
  // A lane's elements of B in f32.
  func.func private @widen(%v: !b_part) -> !b_wide {
    %e = builtin.unrealized_conversion_cast %v : !b_part to !b_wide
    return %e : !b_wide
  }
  // The sum over a warp, in every lane.
  func.func private @warp_sum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %c16 = arith.constant 16 : i32
    %c8 = arith.constant 8 : i32
    %c4 = arith.constant 4 : i32
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %p0, %ok0 = gpu.shuffle xor %v, %c16, %width : f32
    %v0 = arith.addf %v, %p0 : f32
    %p1, %ok1 = gpu.shuffle xor %v0, %c8, %width : f32
    %v1 = arith.addf %v0, %p1 : f32
    %p2, %ok2 = gpu.shuffle xor %v1, %c4, %width : f32
    %v2 = arith.addf %v1, %p2 : f32
    %p3, %ok3 = gpu.shuffle xor %v2, %c2, %width : f32
    %v3 = arith.addf %v2, %p3 : f32
    %p4, %ok4 = gpu.shuffle xor %v3, %c1, %width : f32
    %v4 = arith.addf %v3, %p4 : f32
    return %v4 : f32
  }

  gpu.func @matmul_skinny_nt(%A: !view, %B: !b_view, %C: !out, %X: !extra, %Y: !extra)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %columns = arith.constant #columns
    %step = arith.constant #step
    %rows = arith.constant #rows
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %n = memref.dim %B, %c1 : !b_view
    %k = memref.dim %B, %c2 : !b_view
    %n_blocks = arith.ceildivui %n, %columns : index
    %block = gpu.block_id x
    %bx = arith.remui %block, %n_blocks : index
    %batch = arith.divui %block, %n_blocks : index
    %tid = gpu.thread_id x upper_bound 256
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %lane_elements = arith.constant #lane_elements
    %fours = arith.constant #fours
    %exact = arith.constant #exact
    %lane_k = arith.muli %lane, %lane_elements : index
    %col0 = affine.apply affine_map<(b, w) -> (32 * b + 4 * w)>(%bx, %warp)
    // Past the last row of B or element of K something valid is loaded that does not count.
    %last_col = arith.subi %n, %c1 : index
    %last_k = arith.subi %k, %lane_elements : index
    %a = memref.memory_space_cast %A : !view to !global
    %b = memref.memory_space_cast %B : !b_view to !b_global

    %none = arith.constant dense<0.0> : !sums
    %sums = scf.for %k0 = %c0 to %k step %step iter_args(%partial = %none) -> (!sums) {
      %kk_any = arith.addi %k0, %lane_k : index
      %inside = arith.cmpi ult, %kk_any, %k : index
      %in = arith.ori %exact, %inside : i1
      %kk_safe = arith.minui %kk_any, %last_k : index
      %kk = arith.select %exact, %kk_any, %kk_safe : index
      %b_none = arith.constant dense<0.0> : !b_rows
      %b_rows = affine.for %j = 0 to 4 iter_args(%f = %b_none) -> (!b_rows) {
        %q_any = arith.addi %col0, %j : index
        %q = arith.minui %q_any, %last_col : index
        %part = vector.load %b[%batch, %q, %kk] {alignment = #b_align} : !b_global, !b_part
        %wide = func.call @widen(%part) : (!b_part) -> !b_wide
        %by_fours = vector.shape_cast %wide : !b_wide to !b_fours
        %f2 = affine.for %h = 0 to %fours iter_args(%f1 = %f) -> (!b_rows) {
          %v_any = vector.extract %by_fours[%h] : vector<4xf32> from !b_fours
          %v = arith.select %in, %v_any, %zeros : vector<4xf32>
          %f3 = vector.insert %v, %f1[%j, %h] : vector<4xf32> into !b_rows
          affine.yield %f3 : !b_rows
        }
        affine.yield %f2 : !b_rows
      }
      %next = affine.for %m = 0 to %rows iter_args(%s = %partial) -> (!sums) {
        %s4 = affine.for %h = 0 to %fours iter_args(%s3 = %s) -> (!sums) {
          %ka = affine.apply affine_map<(k, h) -> (k + 4 * h)>(%kk, %h)
          %av_any = vector.load %a[%batch, %m, %ka] {alignment = 16 : i64} : !global, vector<4xf32>
          %av = arith.select %in, %av_any, %zeros : vector<4xf32>
          %s2 = affine.for %j = 0 to 4 iter_args(%t = %s3) -> (!sums) {
            %bv = vector.extract %b_rows[%j, %h] : vector<4xf32> from !b_rows
            %old = vector.extract %t[%m, %j] : vector<4xf32> from !sums
            %new = vector.fma %av, %bv, %old : vector<4xf32>
            %t1 = vector.insert %new, %t[%m, %j] : vector<4xf32> into !sums
            affine.yield %t1 : !sums
          }
          affine.yield %s2 : !sums
        }
        affine.yield %s4 : !sums
      }
      scf.yield %next : !sums
    }

    %accumulate = arith.constant #accumulate
    affine.for %m = 0 to %rows {
      affine.for %j = 0 to 4 {
        %v0 = vector.extract %sums[%m, %j, 0] : f32 from !sums
        %v1 = vector.extract %sums[%m, %j, 1] : f32 from !sums
        %v2 = vector.extract %sums[%m, %j, 2] : f32 from !sums
        %v3 = vector.extract %sums[%m, %j, 3] : f32 from !sums
        %v01 = arith.addf %v0, %v1 : f32
        %v23 = arith.addf %v2, %v3 : f32
        %v = arith.addf %v01, %v23 : f32
        %sum = func.call @warp_sum(%v) : (f32) -> f32
        // Lane j writes column j.
        %mine = arith.cmpi eq, %lane, %j : index
        %q = arith.addi %col0, %j : index
        %q_in = arith.cmpi ult, %q, %n : index
        %writes = arith.andi %mine, %q_in : i1
        scf.if %writes {
          %s = scf.if %accumulate -> (f32) {
            %old = memref.load %C[%batch, %m, %q] : !out
            %added = arith.addf %sum, %old : f32
            scf.yield %added : f32
          } else {
            scf.yield %sum : f32
          }
          %x = memref.load %X[%batch, %m, %q] : !extra
          %y = memref.load %Y[%batch, %m, %q] : !extra
          %e = func.call @epilogue(%s, %x, %y) : (f32, f32, f32) -> f32
          memref.store %e, %C[%batch, %m, %q] : !out
        }
      }
    }
    gpu.return
  }
}

func.func private @matmul(%A: !view, %B: !b_view, %C: !out, %X: !extra, %Y: !extra) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %columns = arith.constant #columns
  %t = arith.constant #threads
  %batches = memref.dim %B, %c0 : !b_view
  %n = memref.dim %B, %c1 : !b_view
  %n_blocks = arith.ceildivui %n, %columns : index
  %blocks = arith.muli %n_blocks, %batches : index
  gpu.launch_func @matmul_skinny_nt_kernels::@matmul_skinny_nt blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%A : !view, %B : !b_view, %C : !out, %X : !extra, %Y : !extra)
  return
}
}
