// RUN: tinymlir-opt %s | FileCheck %s
// C = epilogue(A B + C) for a few rows in strict fp32; A: M x K, B: K x N, C: M x N, batched. The rows are a parameter.
// Any K and any strides of A, C, X, Y and Z. N, the strides and the offsets of B are multiples of 4 elements and B is
// aligned to four elements. Elements of B may be narrower than f32: @widen makes f32 of them, in registers.
//
// Bound by reading B once. A block of 512 threads makes 16 columns of all rows, or 8 where that makes too few blocks, and
// sums all of K: four neighbouring threads read 16 elements of a row of B, and the 128 groups of four take every 128th row,
// six of them at once (more of narrow elements, so that as many bytes are on their way). Warps sum by shuffles, the block
// through workgroup memory, always in the same order.
//
// CHECK: gpu.func @matmul_skinny(
// CHECK: func.func private @matmul(

// Parameters: the rows of A, whether C is read, and what is done to a sum, in @epilogue.
#rows = 1 : index
!sums = vector<1x4xf32>
!warp_sums = memref<16x1x16xf32, #gpu.address_space<workgroup>>
#accumulate = true
// The columns of a block, the threads that read a row of them, the groups of so many threads, the shuffles that sum up a
// warp's groups, and the rows of B that a group takes.
#columns = 16 : index
#fours = 4 : index
#groups = 128 : index
#rounds = 3 : index
#row_of = affine_map<(k, u) -> (k + 128 * u)>
// What four elements of B are in memory, and how many rows of it a thread reads at once: #step is #groups times as many.
!b_part = vector<4xf32>
#b_align = 16 : i64
!b_rows = vector<6x4xf32>
#at_once = 6 : index
#step = 768 : index
// Whether K is a multiple of the step.
#exact = false
// The columns of a group of C, which follow one another; as large as this there is one group.
#group_width = 4611686018427387904 : index
// Whether A's rows are made by @prologue, in workgroup memory.
#staged = false
#depth = 1 : index
!stage = memref<1x1xf32, #gpu.address_space<workgroup>>
!slots = memref<16xf32, #gpu.address_space<workgroup>>
!a_view = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>
!extra = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>
!b_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
// Batch, row, group of columns, column within its group.
!out = memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>>

!global = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
#warps = 16 : index
#threads = 512 : index

module attributes {gpu.container_module} {
gpu.module @matmul_skinny_kernels {
  // What becomes of a sum; %x, %y and %z are the elements of the extra operands at its row and column.
  func.func private @epilogue(%sum: f32, %x: f32, %y: f32, %z: f32) -> f32 {
    return %sum : f32
  }

  // Four elements of B in f32.
  func.func private @widen(%v: !b_part) -> vector<4xf32> {
    %e = builtin.unrealized_conversion_cast %v : !b_part to vector<4xf32>
    return %e : vector<4xf32>
  }

  // Rows k1, k1 + #groups, ... of B at the thread's columns; past the last row that one again.
  func.func private @load(%b: !global, %batch: index, %k1: index, %last_k: index, %col: index) -> !b_rows {
    %at_once = arith.constant #at_once
    %none = ub.poison : !b_rows
    %rows = affine.for %u = 0 to %at_once iter_args(%f = %none) -> (!b_rows) {
      %r_any = affine.apply #row_of(%k1, %u)
      %r_safe = arith.minui %r_any, %last_k : index
      %exact = arith.constant #exact
      %r = arith.select %exact, %r_any, %r_safe : index
      %v = vector.load %b[%batch, %r, %col] {alignment = #b_align} : !global, !b_part
      %f1 = vector.insert %v, %f[%u] : !b_part into !b_rows
      affine.yield %f1 : !b_rows
    }
    return %rows : !b_rows
  }
  // Adds the products of those rows with every row of A.
  func.func private @multiply(%A: !a_view, %stage: !stage, %batch: index, %k1: index, %k: index, %b_rows: !b_rows, %sums: !sums) -> !sums {
    %c1 = arith.constant 1 : index
    %rows = arith.constant #rows
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %last_k = arith.subi %k, %c1 : index
    %at_once = arith.constant #at_once
    %next = affine.for %u = 0 to %at_once iter_args(%s = %sums) -> (!sums) {
      %r_any = affine.apply #row_of(%k1, %u)
      %inside = arith.cmpi ult, %r_any, %k : index
      %r_safe = arith.minui %r_any, %last_k : index
      %exact = arith.constant #exact
      %in = arith.ori %exact, %inside : i1
      %r = arith.select %exact, %r_any, %r_safe : index
      %b_part = vector.extract %b_rows[%u] : !b_part from !b_rows
      %b_any = func.call @widen(%b_part) : (!b_part) -> vector<4xf32>
      %b_row = arith.select %in, %b_any, %zeros : vector<4xf32>
      %s2 = affine.for %m = 0 to %rows iter_args(%t = %s) -> (!sums) {
        %staged = arith.constant #staged
        %a_any = scf.if %staged -> (f32) {
          %v = memref.load %stage[%m, %r] : !stage
          scf.yield %v : f32
        } else {
          %v = memref.load %A[%batch, %m, %r] : !a_view
          scf.yield %v : f32
        }
        %a = arith.select %in, %a_any, %zero : f32
        %a4 = vector.broadcast %a : f32 to vector<4xf32>
        %old = vector.extract %t[%m] : vector<4xf32> from !sums
        %new = vector.fma %a4, %b_row, %old : vector<4xf32>
        %t1 = vector.insert %new, %t[%m] : vector<4xf32> into !sums
        affine.yield %t1 : !sums
      }
      affine.yield %s2 : !sums
    }
    return %next : !sums
  }

  // Makes a row of A in workgroup memory, such as a normalised one; all threads of the block do. Where it reduces, it does so
  // by slots of its own.
  // +functions
  func.func private @prologue(%stage: !stage, %slots0: !slots, %slots1: !slots, %row: index, %thread: index, %warp: index, %lane: index
      // +operands
      ) {
    // +prologue
    return
  }
  // What else is done with an element of C, of which the column is also known by its group and its place in that.
  func.func private @also(%value: f32, %row: index, %group: index, %place: index, %column: index
      // +operands
      ) {
    // +also
    return
  }

  gpu.func @matmul_skinny(%A: !a_view, %B: !b_view, %C: !out, %X: !extra, %Y: !extra, %Z: !extra
      // +operands
      )
      workgroup(%warp_sums: !warp_sums {llvm.align = 16 : i64}, %stage: !stage {llvm.align = 16 : i64},
                %slots0: !slots {llvm.align = 16 : i64}, %slots1: !slots {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %columns = arith.constant #columns
    %fours = arith.constant #fours
    %step = arith.constant #step
    %rows = arith.constant #rows
    %warps = arith.constant #warps
    %all_lanes = arith.constant -1 : i32
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %k = memref.dim %B, %c1 : !b_view
    %n = memref.dim %B, %c2 : !b_view
    %n_blocks = arith.ceildivui %n, %columns : index
    %block = gpu.block_id x
    %bx = arith.remui %block, %n_blocks : index
    %batch = arith.divui %block, %n_blocks : index
    %col0 = arith.muli %bx, %columns : index
    %tid = gpu.thread_id x upper_bound 512
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %four = arith.remui %tid, %fours : index
    %group = arith.divui %tid, %fours : index
    %four_col = arith.muli %four, %c4 : index
    // Past the last column or row something valid is loaded that does not count.
    %col_any = arith.addi %col0, %four_col : index
    %last_col = arith.subi %n, %c4 : index
    %col = arith.minui %col_any, %last_col : index
    %last_k = arith.subi %k, %c1 : index
    %b = memref.memory_space_cast %B : !b_view to !global

    // The rows of the first step may be on their way before the kernel's predecessor ends, if B is constant.
    %none = arith.constant dense<0.0> : !sums
    %first_rows = func.call @load(%b, %batch, %group, %last_k, %col) : (!global, index, index, index, index) -> !b_rows
    // Keeps these loads in flight together and in front: without it they sink to their uses.
    nvvm.bar.warp.sync %all_lanes : i32
    // What the epilogue reads at the thread's element of C is on its way early, too.
    %r = arith.divui %tid, %columns : index
    %place = arith.remui %tid, %columns : index
    %q = arith.addi %col0, %place : index
    %r_in = arith.cmpi ult, %r, %rows : index
    %q_in = arith.cmpi ult, %q, %n : index
    %in = arith.andi %r_in, %q_in : i1
    %x = scf.if %in -> (f32) {
      %v = memref.load %X[%batch, %r, %q] : !extra
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %y = scf.if %in -> (f32) {
      %v = memref.load %Y[%batch, %r, %q] : !extra
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %z = scf.if %in -> (f32) {
      %v = memref.load %Z[%batch, %r, %q] : !extra
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %staged = arith.constant #staged
    scf.if %staged {
      affine.for %m = 0 to %rows {
        func.call @prologue(%stage, %slots0, %slots1, %m, %tid, %warp, %lane
          // +names
          ) : (!stage, !slots, !slots, index, index, index, index
          // +types
          ) -> ()
        gpu.barrier
      }
    }
    %past:3 = scf.for %k0 = %step to %k step %step iter_args(%partial = %none, %b_rows = %first_rows, %k1 = %group) -> (!sums, !b_rows, index) {
      %next = func.call @multiply(%A, %stage, %batch, %k1, %k, %b_rows, %partial) : (!a_view, !stage, index, index, index, !b_rows, !sums) -> !sums
      %next_k1 = arith.addi %k0, %group : index
      %next_rows = func.call @load(%b, %batch, %next_k1, %last_k, %col) : (!global, index, index, index, index) -> !b_rows
      nvvm.bar.warp.sync %all_lanes : i32
      scf.yield %next, %next_rows, %next_k1 : !sums, !b_rows, index
    }
    %sums = func.call @multiply(%A, %stage, %batch, %past#2, %k, %past#1, %past#0) : (!a_view, !stage, index, index, index, !b_rows, !sums) -> !sums

    // The groups of a warp meet by shuffles: lanes that differ in bit 4, in bit 3, and so on.
    %width = arith.constant 32 : i32
    %far = arith.constant 16 : i32
    %is_first = arith.cmpi ult, %lane, %fours : index
    %rounds = arith.constant #rounds
    affine.for %m = 0 to %rows {
      affine.for %e = 0 to 4 {
        %own = vector.extract %sums[%m, %e] : f32 from !sums
        %all = affine.for %round = 0 to %rounds iter_args(%v = %own) -> (f32) {
          %nearer = arith.index_cast %round : index to i32
          %distance = arith.shrui %far, %nearer : i32
          %other, %ok = gpu.shuffle xor %v, %distance, %width : f32
          %both = arith.addf %v, %other : f32
          affine.yield %both : f32
        }
        %to = arith.addi %four_col, %e : index
        scf.if %is_first {
          memref.store %all, %warp_sums[%warp, %m, %to] : !warp_sums
        }
      }
    }
    gpu.barrier
    scf.if %in {
      %sum = affine.for %w = 0 to %warps iter_args(%t = %zero) -> (f32) {
        %v = memref.load %warp_sums[%w, %r, %place] : !warp_sums
        %t1 = arith.addf %t, %v : f32
        affine.yield %t1 : f32
      }
      %group_width = arith.constant #group_width
      %q_group = arith.divui %q, %group_width : index
      %q_place = arith.remui %q, %group_width : index
      %accumulate = arith.constant #accumulate
      %s = scf.if %accumulate -> (f32) {
        %old = memref.load %C[%batch, %r, %q_group, %q_place] : !out
        %added = arith.addf %sum, %old : f32
        scf.yield %added : f32
      } else {
        scf.yield %sum : f32
      }
      %e = func.call @epilogue(%s, %x, %y, %z) : (f32, f32, f32, f32) -> f32
      memref.store %e, %C[%batch, %r, %q_group, %q_place] : !out
      func.call @also(%e, %r, %q_group, %q_place, %q
        // +names
        ) : (f32, index, index, index, index
        // +types
        ) -> ()
    }
    gpu.return
  }
}

func.func private @matmul(%A: !a_view, %B: !b_view, %C: !out, %X: !extra, %Y: !extra, %Z: !extra
    // +operands
    ) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %columns = arith.constant #columns
  %t = arith.constant #threads
  %batches = memref.dim %B, %c0 : !b_view
  %n = memref.dim %B, %c2 : !b_view
  %n_blocks = arith.ceildivui %n, %columns : index
  %blocks = arith.muli %n_blocks, %batches : index
  gpu.launch_func @matmul_skinny_kernels::@matmul_skinny blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%A : !a_view, %B : !b_view, %C : !out, %X : !extra, %Y : !extra, %Z : !extra
      // +operands
      )
  return
}
}
