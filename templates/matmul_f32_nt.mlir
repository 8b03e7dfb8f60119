// RUN: tinymlir-opt %s | FileCheck %s
// C = epilogue(A B^T + C) in strict fp32 by register tiles, sm_80 or newer; A: M x K, B: N x K, C: M x N, batched.
// Any M, N and K, any strides of C. The strides and the offsets of A are multiples of 4 elements, of B of 16 bytes, and the
// buffers aligned to 16 bytes.
//
// As templates/matmul_f32.mlir, with B staged as it lies: rows along K, padded to an odd multiple of 16 bytes. A thread's 8 columns are
// 8 apart, so that neighbouring lanes store neighbouring elements, one at a time.
//
// CHECK: gpu.func @matmul_f32_nt(
// CHECK: func.func private @matmul(

// Parameters: whether C is read, and what is done to a sum, in @epilogue; the rows of a tile, a warp and a thread.
#accumulate = true
// B in memory: what 16 bytes of it hold, how many of them a row of a slice has, how many rows 128 threads copy at once, and
// how often; four neighbours as they are read from a slot, whose rows have #b_pitch elements.
!b_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!b_global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!b_global_batch = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
!b_ring = memref<3x128x20xf32, #gpu.address_space<workgroup>>
#b_pitch = 20 : index
!b_four = vector<4xf32>
#b_align = 16 : i64
#b_chunk = 4 : index
#b_chunks = 4 : index
#b_copies = 4 : index
#b_row_of = affine_map<(r, i) -> (r + 32 * i)>
!view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
// Batch (or slab), row and column.
!out = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>

!global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!global_batch = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
!sums = vector<8x8xf32>
!a_part = vector<8x4xf32>
!a_ring = memref<3x64x20xf32, #gpu.address_space<workgroup>>
#a_map = affine_map<(i, j, k) -> (i, k)>
#b_map = affine_map<(i, j, k) -> (j, k)>
#c_map = affine_map<(i, j, k) -> (i, j)>
#contract = {indexing_maps = [#a_map, #b_map, #c_map], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
#stages = 3 : index
#tile_rows = 64 : index
#warp_rows = 32 : index
#thread_rows = 8 : index
#a_copies = 2 : index
#slot_rows = 64 : index
#group = 1 : index
#tile_columns = 128 : index
#tile_depth = 16 : index
#pitch = 20 : index
#threads = 128 : index

module attributes {gpu.container_module} {
gpu.module @matmul_f32_nt_kernels {
  // What becomes of a sum; %x and %y are the elements of the extra operands at its row and column.
  func.func private @epilogue(%sum: f32, %x: f32, %y: f32) -> f32 {
    return %sum : f32
  }

  // Four elements of B in f32.
  func.func private @widen(%v: !b_four) -> vector<4xf32> {
    %e = builtin.unrealized_conversion_cast %v : !b_four to vector<4xf32>
    return %e : vector<4xf32>
  }

  gpu.func @matmul_f32_nt(%A: !view, %B: !b_view, %C: !out, %X: !view, %Y: !view, %splits: index, %chunk: index)
      workgroup(%a_ring: !a_ring {llvm.align = 16 : i64}, %b_ring: !b_ring {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 3 : i32} {
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
    %n = memref.dim %B, %c1 : !b_view

    // The block's place: groups of rows, in each rows fastest, then columns, so that blocks that run together share both
    // operands in the L2 cache; then splits, then batches.
    %block = gpu.block_id x
    %n_tiles = arith.ceildivui %n, %n_tile : index
    %m_tiles = arith.ceildivui %m, %m_tile : index
    %group_size = arith.constant #group
    %tiles = arith.muli %n_tiles, %m_tiles : index
    %slab = arith.divui %block, %tiles : index
    %tile = arith.remui %block, %tiles : index
    %group_tiles = arith.muli %group_size, %n_tiles : index
    %group_index = arith.divui %tile, %group_tiles : index
    %in_group = arith.remui %tile, %group_tiles : index
    %group_row = arith.muli %group_index, %group_size : index
    %rows_left = arith.subi %m_tiles, %group_row : index
    %group_rows = arith.minui %rows_left, %group_size : index
    %row_in_group = arith.remui %in_group, %group_rows : index
    %by = arith.addi %group_row, %row_in_group : index
    %bx = arith.divui %in_group, %group_rows : index
    %batch = arith.divui %slab, %splits : index
    %split = arith.remui %slab, %splits : index
    %k_begin = arith.muli %split, %chunk : index
    %k_chunk_end = arith.addi %k_begin, %chunk : index
    %k = arith.minui %k_chunk_end, %k_all : index
    %row0 = arith.muli %by, %m_tile : index
    %col0 = affine.apply affine_map<(b) -> (b * 128)>(%bx)
    %a_all = memref.memory_space_cast %A : !view to !global_batch
    %b_all = memref.memory_space_cast %B : !b_view to !b_global_batch
    %a = memref.subview %a_all[%batch, 0, 0] [1, %m, %k_all] [1, 1, 1] : !global_batch to !global
    %b = memref.subview %b_all[%batch, 0, 0] [1, %n, %k_all] [1, 1, 1] : !b_global_batch to !b_global

    // Copying: thread t takes 16 bytes of A, and of B where they are four elements, at (t / 4 + 32 i, 4 (t mod 4)).
    %tid = gpu.thread_id x upper_bound 128
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %copy_row = arith.divui %tid, %c4 : index
    %copy_chunk = arith.remui %tid, %c4 : index
    %copy_k = arith.muli %copy_chunk, %c4 : index
    %b_chunk = arith.constant #b_chunk
    %b_chunks = arith.constant #b_chunks
    %b_copies = arith.constant #b_copies
    %b_row = arith.divui %tid, %b_chunks : index
    %b_place = arith.remui %tid, %b_chunks : index
    %b_k = arith.muli %b_place, %b_chunk : index
    // Past the last row of A nothing is read (many blocks would ask for the same row); past that of B something valid is
    // loaded that is never stored.
    %last_row = arith.subi %m, %c1 : index
    %last_col = arith.subi %n, %c1 : index

    // Multiplying: 2x2 warps of 4x8 lanes. A lane's rows are 4 apart, its columns 8 apart. The bits of a lane are dealt so
    // that neighbouring lanes read the same 16 bytes: rows have bits 1 and 4, columns 0, 2 and 3.
    %lane_1 = arith.divui %lane, %c2 : index
    %bit_1 = arith.remui %lane_1, %c2 : index
    %bit_4 = arith.divui %lane, %c16 : index
    %bit_0 = arith.remui %lane, %c2 : index
    %lane_2 = arith.divui %lane, %c4 : index
    %bits_23 = arith.remui %lane_2, %c4 : index
    %lane_row = affine.apply affine_map<(x, y) -> (x + 2 * y)>(%bit_1, %bit_4)
    %lane_col = affine.apply affine_map<(x, y) -> (x + 2 * y)>(%bit_0, %bits_23)
    %warp_row = arith.remui %warp, %c2 : index
    %warp_col = arith.divui %warp, %c2 : index
    %warp_rows = arith.constant #warp_rows
    %warp_row0 = arith.muli %warp_row, %warp_rows : index
    %my_row = arith.addi %warp_row0, %lane_row : index
    %my_col = affine.apply affine_map<(w, x) -> (w * 64 + x)>(%warp_col, %lane_col)

    // An empty, oldest group: only its token is wanted, which the wait takes. (Without an attribute the printed form does
    // not parse.)
    %token = nvgpu.device_async_create_group {tinymlir.all}
    affine.for %slot = 0 to 2 {
      %k0 = affine.apply affine_map<(b, s) -> (b + s * 16)>(%k_begin, %slot)
      // The slice of K at %k0 goes to slot %slot. The fourth operand counts the elements that are there: the rest reads as zero.
      %k_mine = arith.addi %k0, %copy_k : index
      %left = arith.subi %k, %k_mine : index
      %left_0 = arith.maxsi %left, %c0 : index
      %count = arith.minsi %left_0, %c4 : index
      affine.for %i = 0 to %a_copies {
        %r = affine.apply affine_map<(r, i) -> (r + 32 * i)>(%copy_row, %i)
        %g_any = arith.addi %row0, %r : index
        %g = arith.minui %g_any, %last_row : index
        %g_in = arith.cmpi ule, %g_any, %last_row : index
        %g_count = arith.select %g_in, %count, %c0 : index
        %t = nvgpu.device_async_copy %a[%g, %k_mine], %a_ring[%slot, %r, %copy_k], 4, %g_count {bypassL1} : !global to !a_ring
      }
      %kb = arith.addi %k0, %b_k : index
      %b_left = arith.subi %k, %kb : index
      %b_left_0 = arith.maxsi %b_left, %c0 : index
      %b_count = arith.minsi %b_left_0, %b_chunk : index
      affine.for %i = 0 to %b_copies {
        %r = affine.apply #b_row_of(%b_row, %i)
        %g_any = arith.addi %col0, %r : index
        %g = arith.minui %g_any, %last_col : index
        %t = nvgpu.device_async_copy %b[%g, %kb], %b_ring[%slot, %r, %b_k], #b_chunk, %b_count {bypassL1} : !b_global to !b_ring
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
      %k_mine = arith.addi %k0, %copy_k : index
      %left = arith.subi %k, %k_mine : index
      %left_0 = arith.maxsi %left, %c0 : index
      %count = arith.minsi %left_0, %c4 : index
      affine.for %i = 0 to %a_copies {
        %r = affine.apply affine_map<(r, i) -> (r + 32 * i)>(%copy_row, %i)
        %g_any = arith.addi %row0, %r : index
        %g = arith.minui %g_any, %last_row : index
        %g_in = arith.cmpi ule, %g_any, %last_row : index
        %g_count = arith.select %g_in, %count, %c0 : index
        %t = nvgpu.device_async_copy %a[%g, %k_mine], %a_ring[%writing, %r, %copy_k], 4, %g_count {bypassL1} : !global to !a_ring
      }
      %kb = arith.addi %k0, %b_k : index
      %b_left = arith.subi %k, %kb : index
      %b_left_0 = arith.maxsi %b_left, %c0 : index
      %b_count = arith.minsi %b_left_0, %b_chunk : index
      affine.for %i = 0 to %b_copies {
        %r = affine.apply #b_row_of(%b_row, %i)
        %g_any = arith.addi %col0, %r : index
        %g = arith.minui %g_any, %last_col : index
        %t = nvgpu.device_async_copy %b[%g, %kb], %b_ring[%writing, %r, %b_k], #b_chunk, %b_count {bypassL1} : !b_global to !b_ring
      }
      %group = nvgpu.device_async_create_group {tinymlir.all}
      %sum = affine.for %kk = 0 to 16 step 4 iter_args(%partial = %acc) -> (!sums) {
        %none = arith.constant dense<0.0> : !a_part
        %a_part = affine.for %i = 0 to %thread_rows iter_args(%f = %none) -> (!a_part) {
          %r = affine.apply affine_map<(t, i) -> (t + 4 * i)>(%my_row, %i)
          %v = vector.load %a_ring[%reading, %r, %kk] {alignment = 16 : i64} : !a_ring, vector<4xf32>
          %f1 = vector.insert %v, %f[%i] : vector<4xf32> into !a_part
          affine.yield %f1 : !a_part
        }
        %b_none = arith.constant dense<0.0> : vector<8x4xf32>
        %b_part = affine.for %j = 0 to 8 iter_args(%f = %b_none) -> (vector<8x4xf32>) {
          %q = affine.apply affine_map<(t, j) -> (t + 8 * j)>(%my_col, %j)
          %four = vector.load %b_ring[%reading, %q, %kk] {alignment = #b_align} : !b_ring, !b_four
          %v = func.call @widen(%four) : (!b_four) -> vector<4xf32>
          %f1 = vector.insert %v, %f[%j] : vector<4xf32> into vector<8x4xf32>
          affine.yield %f1 : vector<8x4xf32>
        }
        %next = vector.contract #contract %a_part, %b_part, %partial : !a_part, vector<8x4xf32> into !sums
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
    affine.for %i = 0 to %thread_rows {
      %r = affine.apply affine_map<(o, t, i) -> (o + t + 4 * i)>(%row0, %my_row, %i)
      %r_in = arith.cmpi ult, %r, %m : index
      affine.for %j = 0 to 8 {
        %q = affine.apply affine_map<(o, t, j) -> (o + t + 8 * j)>(%col0, %my_col, %j)
        %q_in = arith.cmpi ult, %q, %n : index
        %in = arith.andi %r_in, %q_in : i1
        scf.if %in {
          %v = vector.extract %res#0[%i, %j] : f32 from !sums
          %s = scf.if %accumulate -> (f32) {
            %old = memref.load %C[%slab, %r, %q] : !out
            %added = arith.addf %v, %old : f32
            scf.yield %added : f32
          } else {
            scf.yield %v : f32
          }
          %x = memref.load %X[%batch, %r, %q] : !view
          %y = memref.load %Y[%batch, %r, %q] : !view
          %e = func.call @epilogue(%s, %x, %y) : (f32, f32, f32) -> f32
          memref.store %e, %C[%slab, %r, %q] : !out
        }
      }
    }
    gpu.return
  }
}

// Launches the kernel: `splits` splits of K, each of `chunk` elements, a multiple of 16.
func.func private @matmul(%A: !view, %B: !b_view, %C: !out, %X: !view, %Y: !view, %splits: index, %chunk: index)
    attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m_tile = arith.constant #tile_rows
  %n_tile = arith.constant #tile_columns
  %t = arith.constant #threads
  %batches = memref.dim %A, %c0 : !view
  %m = memref.dim %A, %c1 : !view
  %n = memref.dim %B, %c1 : !b_view
  %m_tiles = arith.ceildivui %m, %m_tile : index
  %n_tiles = arith.ceildivui %n, %n_tile : index
  %tiles = arith.muli %m_tiles, %n_tiles : index
  %slabs = arith.muli %batches, %splits : index
  %blocks = arith.muli %tiles, %slabs : index
  gpu.launch_func @matmul_f32_nt_kernels::@matmul_f32_nt blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%A : !view, %B : !b_view, %C : !out, %X : !view, %Y : !view, %splits : index, %chunk : index)
  return
}
}
