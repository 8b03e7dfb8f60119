// RUN: tinymlir-opt %s | FileCheck %s
// C = epilogue(A B + C) in strict fp32 by register tiles, sm_80 or newer; A: M x K, B: K x N, C: M x N, batched.
// Any M and K. N, the strides and the offsets are multiples of 4 elements and the buffers aligned to 16 bytes; of B, whose
// elements may be narrower than f32, multiples of 16 bytes.
//
// A block of 128 threads makes a 64x128 tile of C, a thread 8x8 elements of it in registers; or fewer rows. Along K, slices of 16 of
// A and B arrive in a ring of three slots by asynchronous copies of 16 bytes: two are on their way while one is
// multiplied. Rows of A's slots are padded from 16 to 20 elements, which spreads them over the banks. Narrow elements of B
// stay as they are up to the registers, where @widen makes f32 of them.
//
// For small grids K is split: a block sums `chunk` of it, split s of a batch writes to the batch's slab s of C, and
// @reduce of templates/split_reduce.mlir adds the slabs in a fixed order. Where only the last turn of a large grid is left
// half empty, K is split for the last rows of tiles alone: their blocks come last, are shorter, and write slabs of P.
//
// Only the loop over K is scf.for; every affine.for has a constant trip count and is unrolled when instantiated.
//
// CHECK: gpu.func @matmul_f32(
// CHECK: func.func private @matmul(

// Parameters: whether C is read, and what is done to a sum, in @epilogue; the rows of a tile, a warp and a thread.
#accumulate = true
// Whether the last rows of tiles alone are in parts.
#tail = false
// B in memory: what 16 bytes of it hold, how many of them a row of a tile has, how many rows 128 threads copy at once, and
// how often; four neighbours as they are read from a slot.
!b_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!b_global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!b_global_batch = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
!b_ring = memref<3x16x128xf32, #gpu.address_space<workgroup>>
!b_four = vector<4xf32>
#b_align = 16 : i64
#b_chunk = 4 : index
#b_chunks = 32 : index
#b_copies = 4 : index
#b_row_of = affine_map<(r, i) -> (r + 4 * i)>
!view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
// Batch (or slab), row, group of columns, column within its group: a result that is transposed after a reshape is
// written in place.
!out = memref<?x?x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>
// Slab, row, column.
!slabs = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>

!global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!global_batch = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
!sums = vector<8x8xf32>
!a_part = vector<8x4xf32>
!out_part = vector<8x2x4xf32>
!a_ring = memref<3x64x20xf32, #gpu.address_space<workgroup>>
#a_map = affine_map<(i, j, k) -> (i, k)>
#b_map = affine_map<(i, j, k) -> (k, j)>
#c_map = affine_map<(i, j, k) -> (i, j)>
#contract = {indexing_maps = [#a_map, #b_map, #c_map], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
#stages = 3 : index
#tile_rows = 64 : index
#warp_rows = 32 : index
#thread_rows = 8 : index
#a_copies = 2 : index
#slot_rows = 64 : index
#group = 8 : index
#blocks = 3 : i32
#tile_columns = 128 : index
#tile_depth = 16 : index
#pitch = 20 : index
#threads = 128 : index

module attributes {gpu.container_module} {
gpu.module @matmul_f32_kernels {
  // What becomes of a sum; %x and %y are the elements of the extra operands at its row and column.
  func.func private @epilogue(%sum: f32, %x: f32, %y: f32) -> f32 {
    return %sum : f32
  }

  // Four elements of B in f32.
  func.func private @widen(%v: !b_four) -> vector<4xf32> {
    %e = builtin.unrealized_conversion_cast %v : !b_four to vector<4xf32>
    return %e : vector<4xf32>
  }

  // What else is done with four elements of C, by row, group of columns and place in that.
  // +functions
  func.func private @also(%value: vector<4xf32>, %row: index, %group: index, %place: index
      // +operands
      ) {
    // +also
    return
  }

  gpu.func @matmul_f32(%A: !view, %B: !b_view, %C: !out, %X: !view, %Y: !view, %splits: index, %chunk: index,
      %P: !slabs, %tail_rows: index
      // +operands
      )
      workgroup(%a_ring: !a_ring {llvm.align = 16 : i64}, %b_ring: !b_ring {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = #blocks} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %n_tile = arith.constant #tile_columns
    %m_tile = arith.constant #tile_rows
    %thread_rows = arith.constant #thread_rows
    %a_copies = arith.constant #a_copies
    %m = memref.dim %A, %c1 : !view
    %k_all = memref.dim %A, %c2 : !view
    %n = memref.dim %B, %c2 : !b_view

    // The block's place: groups of rows, in each rows fastest, then columns, so that blocks that run together share both
    // operands in the L2 cache; then splits, then batches.
    %block = gpu.block_id x
    %n_tiles = arith.ceildivui %n, %n_tile : index
    %m_tiles = arith.ceildivui %m, %m_tile : index
    // Blocks of rows of tiles whose K is one sum, then those of the last %tail_rows rows.
    %has_tail = arith.constant #tail
    %rows_before = arith.subi %m_tiles, %tail_rows : index
    %blocks_before = arith.muli %rows_before, %n_tiles : index
    %is_late = arith.cmpi uge, %block, %blocks_before : index
    %in_tail = arith.andi %has_tail, %is_late : i1
    %in_body = arith.xori %in_tail, %has_tail : i1
    %some_rows = arith.select %in_tail, %tail_rows, %m_tiles : index
    %here_rows = arith.select %in_body, %rows_before, %some_rows : index
    %here_first = arith.select %in_tail, %rows_before, %c0 : index
    %here_block0 = arith.select %in_tail, %blocks_before, %c0 : index
    %here_block = arith.subi %block, %here_block0 : index
    %parts = arith.select %in_body, %c1, %splits : index
    %part_size = arith.select %in_body, %k_all, %chunk : index
    %group_size = arith.constant #group
    %tiles = arith.muli %n_tiles, %here_rows : index
    %slab = arith.divui %here_block, %tiles : index
    %tile = arith.remui %here_block, %tiles : index
    %group_tiles = arith.muli %group_size, %n_tiles : index
    %group_index = arith.divui %tile, %group_tiles : index
    %in_group = arith.remui %tile, %group_tiles : index
    %group_row = arith.muli %group_index, %group_size : index
    %rows_left = arith.subi %here_rows, %group_row : index
    %group_rows = arith.minui %rows_left, %group_size : index
    %row_in_group = arith.remui %in_group, %group_rows : index
    %by_here = arith.addi %group_row, %row_in_group : index
    %by = arith.addi %here_first, %by_here : index
    %bx = arith.divui %in_group, %group_rows : index
    %batch = arith.divui %slab, %parts : index
    %split = arith.remui %slab, %parts : index
    %k_begin = arith.muli %split, %part_size : index
    %k_chunk_end = arith.addi %k_begin, %part_size : index
    %k = arith.minui %k_chunk_end, %k_all : index
    %row0 = arith.muli %by, %m_tile : index
    %here_row0 = arith.muli %here_first, %m_tile : index
    %col0 = affine.apply affine_map<(b) -> (b * 128)>(%bx)
    %a_all = memref.memory_space_cast %A : !view to !global_batch
    %b_all = memref.memory_space_cast %B : !b_view to !b_global_batch
    %a = memref.subview %a_all[%batch, 0, 0] [1, %m, %k_all] [1, 1, 1] : !global_batch to !global
    %b = memref.subview %b_all[%batch, 0, 0] [1, %k_all, %n] [1, 1, 1] : !b_global_batch to !b_global

    // Copying: thread t takes 16 bytes of A at (t / 4 + 32 i, 4 (t mod 4)) and of B, where they are four elements, at
    // (t / 32 + 4 i, 4 (t mod 32)).
    %tid = gpu.thread_id x upper_bound 128
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %a_row = arith.divui %tid, %c4 : index
    %a_chunk = arith.remui %tid, %c4 : index
    %a_k = arith.muli %a_chunk, %c4 : index
    %b_chunk = arith.constant #b_chunk
    %b_chunks = arith.constant #b_chunks
    %b_copies = arith.constant #b_copies
    %b_row = arith.divui %tid, %b_chunks : index
    %b_place = arith.remui %tid, %b_chunks : index
    %b_n = arith.muli %b_place, %b_chunk : index
    // Past the last row nothing is read (many blocks would ask for the same row); past the last column something valid is
    // loaded that is never stored.
    %last_row = arith.subi %m, %c1 : index
    %last_col = arith.subi %n, %b_chunk : index
    %b_col_any = arith.addi %col0, %b_n : index
    %b_col = arith.minui %b_col_any, %last_col : index

    // Multiplying: 2x2 warps of 4x8 lanes. A lane's rows are 4 apart, its two groups of 4 columns 32 apart. The bits of
    // a lane are dealt so that neighbouring lanes read the same 16 bytes: rows have bits 1 and 4, columns 0, 2 and 3.
    %lane_1 = arith.divui %lane, %c2 : index
    %bit_1 = arith.remui %lane_1, %c2 : index
    %bit_4 = arith.divui %lane, %c16 : index
    %bit_0 = arith.remui %lane, %c2 : index
    %lane_2 = arith.divui %lane, %c4 : index
    %bits_23 = arith.remui %lane_2, %c4 : index
    %warp_row = arith.remui %warp, %c2 : index
    %warp_col = arith.divui %warp, %c2 : index
    %warp_rows = arith.constant #warp_rows
    %warp_row0 = arith.muli %warp_row, %warp_rows : index
    %my_row = affine.apply affine_map<(w, x, y) -> (w + x + 2 * y)>(%warp_row0, %bit_1, %bit_4)
    %my_col = affine.apply affine_map<(w, x, y) -> (w * 64 + x * 4 + y * 8)>(%warp_col, %bit_0, %bits_23)

    // An empty, oldest group: only its token is wanted, which the wait takes. (Without an attribute the printed form does
    // not parse.)
    %token = nvgpu.device_async_create_group {tinymlir.all}
    affine.for %slot = 0 to 2 {
      %k0 = affine.apply affine_map<(b, s) -> (b + s * 16)>(%k_begin, %slot)
      // The slice of K at %k0 goes to slot %slot. The fourth operand counts the elements that are there: the rest reads as zero.
      %ka = arith.addi %k0, %a_k : index
      %left = arith.subi %k, %ka : index
      %left_0 = arith.maxsi %left, %c0 : index
      %a_count = arith.minsi %left_0, %c4 : index
      affine.for %i = 0 to %a_copies {
        %r = affine.apply affine_map<(r, i) -> (r + 32 * i)>(%a_row, %i)
        %g_any = arith.addi %row0, %r : index
        %g = arith.minui %g_any, %last_row : index
        %g_in = arith.cmpi ule, %g_any, %last_row : index
        %g_count = arith.select %g_in, %a_count, %c0 : index
        %t = nvgpu.device_async_copy %a[%g, %ka], %a_ring[%slot, %r, %a_k], 4, %g_count {bypassL1} : !global to !a_ring
      }
      affine.for %i = 0 to %b_copies {
        %r = affine.apply #b_row_of(%b_row, %i)
        %kb = arith.addi %k0, %r : index
        %inside = arith.cmpi slt, %kb, %k : index
        %b_count = arith.select %inside, %b_chunk, %c0 : index
        %t = nvgpu.device_async_copy %b[%kb, %b_col], %b_ring[%slot, %r, %b_n], #b_chunk, %b_count {bypassL1} : !b_global to !b_ring
      }
      %group = nvgpu.device_async_create_group {tinymlir.all}
    }
    %zero = arith.constant dense<0.0> : !sums
    %res:3 = scf.for %k_now = %k_begin to %k step %c16
        iter_args(%acc = %zero, %reading = %c0, %writing = %c2) -> (!sums, index, index) {
      // Groups complete in order: all but the newest one are done.
      nvgpu.device_async_wait %token {numGroups = 1 : i32}
      // The slice is visible to all threads, and slot %writing is read by none.
      gpu.barrier
      %k0 = affine.apply affine_map<(k) -> (k + 32)>(%k_now)
      // The slice of K at %k0 goes to slot %writing. The fourth operand counts the elements that are there: the rest reads as zero.
      %ka = arith.addi %k0, %a_k : index
      %left = arith.subi %k, %ka : index
      %left_0 = arith.maxsi %left, %c0 : index
      %a_count = arith.minsi %left_0, %c4 : index
      affine.for %i = 0 to %a_copies {
        %r = affine.apply affine_map<(r, i) -> (r + 32 * i)>(%a_row, %i)
        %g_any = arith.addi %row0, %r : index
        %g = arith.minui %g_any, %last_row : index
        %g_in = arith.cmpi ule, %g_any, %last_row : index
        %g_count = arith.select %g_in, %a_count, %c0 : index
        %t = nvgpu.device_async_copy %a[%g, %ka], %a_ring[%writing, %r, %a_k], 4, %g_count {bypassL1} : !global to !a_ring
      }
      affine.for %i = 0 to %b_copies {
        %r = affine.apply #b_row_of(%b_row, %i)
        %kb = arith.addi %k0, %r : index
        %inside = arith.cmpi slt, %kb, %k : index
        %b_count = arith.select %inside, %b_chunk, %c0 : index
        %t = nvgpu.device_async_copy %b[%kb, %b_col], %b_ring[%writing, %r, %b_n], #b_chunk, %b_count {bypassL1} : !b_global to !b_ring
      }
      %group = nvgpu.device_async_create_group {tinymlir.all}
      %sum = affine.for %kk = 0 to 16 step 4 iter_args(%partial = %acc) -> (!sums) {
        %a_none = arith.constant dense<0.0> : !a_part
        %a_part = affine.for %i = 0 to %thread_rows iter_args(%f = %a_none) -> (!a_part) {
          %r = affine.apply affine_map<(t, i) -> (t + 4 * i)>(%my_row, %i)
          %v = vector.load %a_ring[%reading, %r, %kk] {alignment = 16 : i64} : !a_ring, vector<4xf32>
          %f1 = vector.insert %v, %f[%i] : vector<4xf32> into !a_part
          affine.yield %f1 : !a_part
        }
        %b_none = arith.constant dense<0.0> : vector<4x2x4xf32>
        %b_part = affine.for %u = 0 to 4 iter_args(%f = %b_none) -> (vector<4x2x4xf32>) {
          %kr = affine.apply affine_map<(k, u) -> (k + u)>(%kk, %u)
          %f2 = affine.for %j = 0 to 2 iter_args(%h = %f) -> (vector<4x2x4xf32>) {
            %q = affine.apply affine_map<(t, j) -> (t + 32 * j)>(%my_col, %j)
            %four = vector.load %b_ring[%reading, %kr, %q] {alignment = #b_align} : !b_ring, !b_four
            %v = func.call @widen(%four) : (!b_four) -> vector<4xf32>
            %h1 = vector.insert %v, %h[%u, %j] : vector<4xf32> into vector<4x2x4xf32>
            affine.yield %h1 : vector<4x2x4xf32>
          }
          affine.yield %f2 : vector<4x2x4xf32>
        }
        %b_flat = vector.shape_cast %b_part : vector<4x2x4xf32> to vector<4x8xf32>
        %next = vector.contract #contract %a_part, %b_flat, %partial : !a_part, vector<4x8xf32> into !sums
        affine.yield %next : !sums
      }
      %r1 = arith.addi %reading, %c1 : index
      %r_wraps = arith.cmpi eq, %r1, %c3 : index
      %r_next = arith.select %r_wraps, %c0, %r1 : index
      %w1 = arith.addi %writing, %c1 : index
      %w_wraps = arith.cmpi eq, %w1, %c3 : index
      %w_next = arith.select %w_wraps, %c0, %w1 : index
      scf.yield %sum, %r_next, %w_next : !sums, index, index
    }

    %accumulate = arith.constant #accumulate
    %width = memref.dim %C, %c3 : !out
    %out = vector.shape_cast %res#0 : !sums to !out_part
    affine.for %i = 0 to %thread_rows {
      %r = affine.apply affine_map<(o, t, i) -> (o + t + 4 * i)>(%row0, %my_row, %i)
      %r_in = arith.cmpi ult, %r, %m : index
      affine.for %j = 0 to 2 {
        %q = affine.apply affine_map<(o, t, j) -> (o + t + 32 * j)>(%col0, %my_col, %j)
        %q_in = arith.cmpi ult, %q, %n : index
        %in = arith.andi %r_in, %q_in : i1
        %q_group = arith.divui %q, %width : index
        %q_place = arith.remui %q, %width : index
        %v = vector.extract %out[%i, %j] : vector<4xf32> from !out_part
        %in_part = arith.andi %in, %in_tail : i1
        scf.if %in_part {
          %p = arith.subi %r, %here_row0 : index
          vector.store %v, %P[%slab, %p, %q] {alignment = 16 : i64} : !slabs, vector<4xf32>
        }
        %in_whole = arith.cmpi ugt, %in, %in_tail : i1
        scf.if %in_whole {
          %s = scf.if %accumulate -> (vector<4xf32>) {
            %old = vector.load %C[%slab, %r, %q_group, %q_place] {alignment = 16 : i64} : !out, vector<4xf32>
            %added = arith.addf %v, %old : vector<4xf32>
            scf.yield %added : vector<4xf32>
          } else {
            scf.yield %v : vector<4xf32>
          }
          %x = vector.load %X[%batch, %r, %q] {alignment = 16 : i64} : !view, vector<4xf32>
          %y = vector.load %Y[%batch, %r, %q] {alignment = 16 : i64} : !view, vector<4xf32>
          %done = affine.for %u = 0 to 4 iter_args(%d = %s) -> (vector<4xf32>) {
            %su = vector.extract %s[%u] : f32 from vector<4xf32>
            %xu = vector.extract %x[%u] : f32 from vector<4xf32>
            %yu = vector.extract %y[%u] : f32 from vector<4xf32>
            %e = func.call @epilogue(%su, %xu, %yu) : (f32, f32, f32) -> f32
            %d1 = vector.insert %e, %d[%u] : f32 into vector<4xf32>
            affine.yield %d1 : vector<4xf32>
          }
          vector.store %done, %C[%slab, %r, %q_group, %q_place] {alignment = 16 : i64} : !out, vector<4xf32>
          func.call @also(%done, %r, %q_group, %q_place
            // +names
            ) : (vector<4xf32>, index, index, index
            // +types
            ) -> ()
        }
      }
    }
    gpu.return
  }
}

// Launches the kernel: `splits` splits of K, each of `chunk` elements, a multiple of 16; with a tail, of its last
// `tail_rows` rows of tiles alone.
func.func private @matmul(%A: !view, %B: !b_view, %C: !out, %X: !view, %Y: !view, %splits: index, %chunk: index,
    %P: !slabs, %tail_rows: index
    // +operands
    ) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m_tile = arith.constant #tile_rows
  %n_tile = arith.constant #tile_columns
  %t = arith.constant #threads
  %batches = memref.dim %A, %c0 : !view
  %m = memref.dim %A, %c1 : !view
  %n = memref.dim %B, %c2 : !b_view
  %m_tiles = arith.ceildivui %m, %m_tile : index
  %n_tiles = arith.ceildivui %n, %n_tile : index
  %tiles = arith.muli %m_tiles, %n_tiles : index
  %has_tail = arith.constant #tail
  %slabs = arith.muli %batches, %splits : index
  %all = arith.muli %tiles, %slabs : index
  %late = arith.muli %tail_rows, %n_tiles : index
  %before = arith.subi %tiles, %late : index
  %parts = arith.muli %late, %splits : index
  %some = arith.addi %before, %parts : index
  %blocks = arith.select %has_tail, %some, %all : index
  gpu.launch_func @matmul_f32_kernels::@matmul_f32 blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%A : !view, %B : !b_view, %C : !out, %X : !view, %Y : !view, %splits : index, %chunk : index,
      %P : !slabs, %tail_rows : index
      // +operands
      )
  return
}
}
