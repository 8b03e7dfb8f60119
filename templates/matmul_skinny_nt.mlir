// RUN: tinymlir-opt %s | FileCheck %s
// C = epilogue(A B^T + C) for a few rows in strict fp32; A: M x K, B: N x K, C: M x N, batched. The rows are a parameter.
// Any N and any strides of C, X and Y. K, the strides and the offsets of A and B are multiples of 4 elements and both are
// aligned to 16 bytes; of 8 elements where B's are narrower than f32. Then @widen makes f32 of them, in registers.
//
// Bound by reading B once. A warp takes four rows of B and all rows of A: its lanes read 16 bytes each, every 128 elements
// along K (8 elements, every 256, of narrow ones), and meet by shuffles, always in the same order. A block has eight warps.
// Where it makes the rows of A itself, a block takes several turns, and what it reads first of B is on its way before.
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
// Four rows of B, a step of a lane.
!b_parts = vector<4x4xf32>
// Whether K is known to be a multiple of the step.
#exact = false
// Whether N is known to be at least four: a warp's rows of B then follow one another, where the last ones are another warp's too.
#whole = false
// How many times 32 columns a block makes.
#turns = 1 : index
// Whether A's rows are made by @prologue, in workgroup memory, each by so many of the threads, all at the same time.
#staged = false
#row_threads = 256 : index
#depth = 1 : index
!stage = memref<1x1xf32, #gpu.address_space<workgroup>>
!slots = memref<8xf32, #gpu.address_space<workgroup>>
#warps = 8 : index
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
  // Four rows of B from %col0 on, at the lane's place in a step; past the last row that one again.
  func.func private @load(%b: !b_global, %batch: index, %col0: index, %last_col: index, %k1: index, %last_k: index) -> !b_parts {
    %exact = arith.constant #exact
    %k_safe = arith.minui %k1, %last_k : index
    %kk = arith.select %exact, %k1, %k_safe : index
    %c3 = arith.constant 3 : index
    %whole = arith.constant #whole
    %last_col0 = arith.subi %last_col, %c3 : index
    %whole_col0 = arith.minui %col0, %last_col0 : index
    %first = arith.select %whole, %whole_col0, %col0 : index
    %none = ub.poison : !b_parts
    %parts = affine.for %j = 0 to 4 iter_args(%f = %none) -> (!b_parts) {
      %q_any = arith.addi %first, %j : index
      %q_safe = arith.minui %q_any, %last_col : index
      %q = arith.select %whole, %q_any, %q_safe : index
      %part = vector.load %b[%batch, %q, %kk] {alignment = #b_align} : !b_global, !b_part
      %f1 = vector.insert %part, %f[%j] : !b_part into !b_parts
      affine.yield %f1 : !b_parts
    }
    return %parts : !b_parts
  }
  // Adds the products of those with every row of A.
  func.func private @multiply(%a: !global, %stage: !stage, %batch: index, %k1: index, %k: index, %last_k: index, %parts: !b_parts, %sums: !sums) -> !sums {
    %exact = arith.constant #exact
    %rows = arith.constant #rows
    %fours = arith.constant #fours
    %staged = arith.constant #staged
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %inside = arith.cmpi ult, %k1, %k : index
    %in = arith.ori %exact, %inside : i1
    %k_safe = arith.minui %k1, %last_k : index
    %kk = arith.select %exact, %k1, %k_safe : index
    %b_none = arith.constant dense<0.0> : !b_rows
    %b_rows = affine.for %j = 0 to 4 iter_args(%f = %b_none) -> (!b_rows) {
      %part = vector.extract %parts[%j] : !b_part from !b_parts
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
    %next = affine.for %m = 0 to %rows iter_args(%s = %sums) -> (!sums) {
      %s4 = affine.for %h = 0 to %fours iter_args(%s3 = %s) -> (!sums) {
        %ka = affine.apply affine_map<(k, h) -> (k + 4 * h)>(%kk, %h)
        %av_any = scf.if %staged -> (vector<4xf32>) {
          %v = vector.load %stage[%m, %ka] {alignment = 16 : i64} : !stage, vector<4xf32>
          scf.yield %v : vector<4xf32>
        } else {
          %v = vector.load %a[%batch, %m, %ka] {alignment = 16 : i64} : !global, vector<4xf32>
          scf.yield %v : vector<4xf32>
        }
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
    return %next : !sums
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

  // Makes a row of A in workgroup memory, such as a normalised one. Where it reduces, it does so by slots of its own. With several rows
  // a block, threads store only if they are %kept.
  // +functions
  func.func private @prologue(%stage: !stage, %slots0: !slots, %slots1: !slots, %row: index, %thread: index, %warp: index, %lane: index, %kept: i1
      // +operands
      ) {
    // +prologue
    return
  }

  gpu.func @matmul_skinny_nt(%A: !view, %B: !b_view, %C: !out, %X: !extra, %Y: !extra
      // +operands
      )
      workgroup(%stage: !stage {llvm.align = 16 : i64}, %slots0: !slots {llvm.align = 16 : i64}, %slots1: !slots {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %columns = arith.constant #columns
    %step = arith.constant #step
    %rows = arith.constant #rows
    %turns = arith.constant #turns
    %all_lanes = arith.constant -1 : i32
    %n = memref.dim %B, %c1 : !b_view
    %k = memref.dim %B, %c2 : !b_view
    // The blocks of a batch, and the columns that all of them make in a turn.
    %n_parts = arith.ceildivui %n, %columns : index
    %n_blocks = arith.ceildivui %n_parts, %turns : index
    %stride = arith.muli %n_blocks, %columns : index
    %block = gpu.block_id x
    %staged = arith.constant #staged
    %any_bx = arith.remui %block, %n_blocks : index
    %bx = arith.select %staged, %block, %any_bx : index
    %any_batch = arith.divui %block, %n_blocks : index
    %batch = arith.select %staged, %c0, %any_batch : index
    %tid = gpu.thread_id x upper_bound 256
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %lane_elements = arith.constant #lane_elements
    %lane_k = arith.muli %lane, %lane_elements : index
    %first_col0 = affine.apply affine_map<(b, w) -> (32 * b + 4 * w)>(%bx, %warp)
    // Past the last row of B or element of K something valid is loaded that does not count.
    %last_col = arith.subi %n, %c1 : index
    %last_k = arith.subi %k, %lane_elements : index
    %a = memref.memory_space_cast %A : !view to !global
    %b = memref.memory_space_cast %B : !b_view to !b_global

    // Where the rows of A are still to be made, the first step may be on its way before the kernel's predecessor ends, if B is constant.
    %first_parts = func.call @load(%b, %batch, %first_col0, %last_col, %lane_k, %last_k) : (!b_global, index, index, index, index, index) -> !b_parts
    scf.if %staged {
      // Keeps these loads in flight together and in front: without it they sink to their uses.
      nvvm.bar.warp.sync %all_lanes : i32
      %row_threads = arith.constant #row_threads
      %row_any = arith.divui %tid, %row_threads : index
      %row_thread = arith.remui %tid, %row_threads : index
      %last_row = arith.subi %rows, %c1 : index
      %row = arith.minui %row_any, %last_row : index
      %kept = arith.cmpi ult, %row_any, %rows : index
      func.call @prologue(%stage, %slots0, %slots1, %row, %row_thread, %warp, %lane, %kept
        // +names
        ) : (!stage, !slots, !slots, index, index, index, index, i1
        // +types
        ) -> ()
      gpu.barrier
    }
    %c3 = arith.constant 3 : index
    %whole = arith.constant #whole
    %last_col0 = arith.subi %last_col, %c3 : index
    %none = arith.constant dense<0.0> : !sums
    %first_turn = arith.constant 0 : i32
    %one_turn = arith.constant 1 : i32
    %end_turn = arith.index_cast %turns : index to i32
    %accumulate = arith.constant #accumulate
    %end = scf.for %turn = %first_turn to %end_turn step %one_turn iter_args(%turn_parts = %first_parts) -> (!b_parts) : i32 {
      %turn_index = arith.index_cast %turn : i32 to index
      %before = arith.muli %turn_index, %stride : index
      %col0 = arith.addi %first_col0, %before : index
      %sums, %next_parts = scf.if %staged -> (!sums, !b_parts) {
        %past:3 = scf.for %k0 = %step to %k step %step iter_args(%partial = %none, %parts = %turn_parts, %k1 = %lane_k) -> (!sums, !b_parts, index) {
          %sums_k = func.call @multiply(%a, %stage, %batch, %k1, %k, %last_k, %parts, %partial) : (!global, !stage, index, index, index, index, !b_parts, !sums) -> !sums
          %next_k1 = arith.addi %k0, %lane_k : index
          %next = func.call @load(%b, %batch, %col0, %last_col, %next_k1, %last_k) : (!b_global, index, index, index, index, index) -> !b_parts
          nvvm.bar.warp.sync %all_lanes : i32
          scf.yield %sums_k, %next, %next_k1 : !sums, !b_parts, index
        }
        %all = func.call @multiply(%a, %stage, %batch, %past#2, %k, %last_k, %past#1, %past#0) : (!global, !stage, index, index, index, index, !b_parts, !sums) -> !sums
        // What the next turn reads first is on its way while the lanes meet; after the last turn nothing reads it.
        %next_col0 = arith.addi %col0, %stride : index
        %of_next = func.call @load(%b, %batch, %next_col0, %last_col, %lane_k, %last_k) : (!b_global, index, index, index, index, index) -> !b_parts
        nvvm.bar.warp.sync %all_lanes : i32
        scf.yield %all, %of_next : !sums, !b_parts
      } else {
        %all = scf.for %k0 = %c0 to %k step %step iter_args(%partial = %none) -> (!sums) {
          %k1 = arith.addi %k0, %lane_k : index
          %parts = func.call @load(%b, %batch, %col0, %last_col, %k1, %last_k) : (!b_global, index, index, index, index, index) -> !b_parts
          %sums_k = func.call @multiply(%a, %stage, %batch, %k1, %k, %last_k, %parts, %partial) : (!global, !stage, index, index, index, index, !b_parts, !sums) -> !sums
          scf.yield %sums_k : !sums
        }
        scf.yield %all, %turn_parts : !sums, !b_parts
      }
      %whole_col0 = arith.minui %col0, %last_col0 : index
      %first = arith.select %whole, %whole_col0, %col0 : index
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
          %q = arith.addi %first, %j : index
          %own = arith.cmpi uge, %q, %col0 : index
          %before_end = arith.cmpi ult, %q, %n : index
          %q_in = arith.andi %own, %before_end : i1
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
      scf.yield %next_parts : !b_parts
    }
    gpu.return
  }
}

func.func private @matmul(%A: !view, %B: !b_view, %C: !out, %X: !extra, %Y: !extra
    // +operands
    ) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %columns = arith.constant #columns
  %turns = arith.constant #turns
  %t = arith.constant #threads
  %batches = memref.dim %B, %c0 : !b_view
  %n = memref.dim %B, %c1 : !b_view
  %n_parts = arith.ceildivui %n, %columns : index
  %n_blocks = arith.ceildivui %n_parts, %turns : index
  %blocks = arith.muli %n_blocks, %batches : index
  gpu.launch_func @matmul_skinny_nt_kernels::@matmul_skinny_nt blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%A : !view, %B : !b_view, %C : !out, %X : !extra, %Y : !extra
      // +operands
      )
  return
}
}
