// RUN: tinymlir-opt %s | FileCheck %s
// C = epilogue(A B + C) on tensor cores, sm_80 or newer: f32 in memory, products of tf32 (10 bits of mantissa, cut off), sums in
// f32; A: M x K, B: K x N, C: M x N, batched.
// Any M and K. N, the strides and the offsets are multiples of 4 elements and the buffers aligned to 16 bytes.
//
// A block of 128 threads makes a 128x128 tile of C, a warp 64x64 of it, as 4x8 products of 16x8 a step of 8 along K. Slices
// of 16 of A and B arrive in a ring of two slots by asynchronous copies of 16 bytes: one is on its way while the other
// is multiplied. Rows there are padded, which spreads them over the banks. K may be split as in templates/matmul_f32.mlir.
//
// CHECK: gpu.func @matmul_tf32(
// CHECK: func.func private @matmul(

// Parameters: whether C is read, and what is done to a sum, in @epilogue.
#accumulate = true
!view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
// Batch (or slab), row, group of columns, column within its group.
!out = memref<?x?x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>

!global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!global_batch = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
!a_ring = memref<2x128x20xf32, #gpu.address_space<workgroup>>
!b_ring = memref<2x16x136xf32, #gpu.address_space<workgroup>>
!sums = vector<4x8x2x2xf32>
#stages = 2 : index
#tile_rows = 128 : index
#tile_columns = 128 : index
#tile_depth = 16 : index
#pitch = 20 : index
#b_pitch = 136 : index
#threads = 128 : index

module attributes {gpu.container_module} {
gpu.module @matmul_tf32_kernels {
  // What becomes of a sum; %x and %y are the elements of the extra operands at its row and column.
  func.func private @epilogue(%sum: f32, %x: f32, %y: f32) -> f32 {
    return %sum : f32
  }

  gpu.func @matmul_tf32(%A: !view, %B: !view, %C: !out, %X: !view, %Y: !view, %splits: index, %chunk: index)
      workgroup(%a_ring: !a_ring {llvm.align = 16 : i64}, %b_ring: !b_ring {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 2 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %n_tile = arith.constant #tile_columns
    %m_tile = arith.constant #tile_rows
    %m = memref.dim %A, %c1 : !view
    %k_all = memref.dim %A, %c2 : !view
    %n = memref.dim %B, %c2 : !view

    // The block's place: columns fastest, then rows, then splits, then batches.
    %block = gpu.block_id x
    %n_tiles = arith.ceildivui %n, %n_tile : index
    %m_tiles = arith.ceildivui %m, %m_tile : index
    %bx = arith.remui %block, %n_tiles : index
    %block_rows = arith.divui %block, %n_tiles : index
    %by = arith.remui %block_rows, %m_tiles : index
    %slab = arith.divui %block_rows, %m_tiles : index
    %batch = arith.divui %slab, %splits : index
    %split = arith.remui %slab, %splits : index
    %k_begin = arith.muli %split, %chunk : index
    %k_chunk_end = arith.addi %k_begin, %chunk : index
    %k = arith.minui %k_chunk_end, %k_all : index
    %row0 = arith.muli %by, %m_tile : index
    %col0 = arith.muli %bx, %n_tile : index
    %a_all = memref.memory_space_cast %A : !view to !global_batch
    %b_all = memref.memory_space_cast %B : !view to !global_batch
    %a = memref.subview %a_all[%batch, 0, 0] [1, %m, %k_all] [1, 1, 1] : !global_batch to !global
    %b = memref.subview %b_all[%batch, 0, 0] [1, %k_all, %n] [1, 1, 1] : !global_batch to !global

    // Copying: thread t takes four elements of A at (t / 4 + 32 i, 4 (t mod 4)) and of B at (t / 32 + 4 i, 4 (t mod 32)).
    %tid = gpu.thread_id x upper_bound 128
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %copy_row = arith.divui %tid, %c4 : index
    %copy_chunk = arith.remui %tid, %c4 : index
    %copy_k = arith.muli %copy_chunk, %c4 : index
    // Past the last row or column something valid is loaded that is never stored.
    %last_row = arith.subi %m, %c1 : index
    %b_n = arith.muli %lane, %c4 : index
    %last_col = arith.subi %n, %c4 : index
    %b_col_any = arith.addi %col0, %b_n : index
    %b_col = arith.minui %b_col_any, %last_col : index

    // Multiplying: 2x2 warps. Lane l loads the 16 bytes of row l mod 16 of A, the second half of a step of K for l >= 16; of a
    // product it holds rows l / 4 and l / 4 + 8, columns 2 (l mod 4) and the next.
    %warp_row = arith.remui %warp, %c2 : index
    %warp_col = arith.divui %warp, %c2 : index
    %lane_16 = arith.remui %lane, %c16 : index
    %lane_half = arith.divui %lane, %c16 : index
    %lane_row = arith.divui %lane, %c4 : index
    %lane_col = arith.remui %lane, %c4 : index
    %a_row = affine.apply affine_map<(w, l) -> (64 * w + l)>(%warp_row, %lane_16)
    %a_k = arith.muli %lane_half, %c4 : index
    %b_place = affine.apply affine_map<(w, l) -> (64 * w + l)>(%warp_col, %lane_row)

    // An empty, oldest group: only its token is wanted, which the wait takes. (Without an attribute the printed form does
    // not parse.)
    %token = nvgpu.device_async_create_group {tinymlir.all}
    affine.for %slot = 0 to 1 {
      %k0 = affine.apply affine_map<(b, s) -> (b + s * 16)>(%k_begin, %slot)
      // The slice of K at %k0 goes to slot %slot. The fourth operand counts the elements that are there: the rest reads as zero.
      %k_mine = arith.addi %k0, %copy_k : index
      %left = arith.subi %k, %k_mine : index
      %left_0 = arith.maxsi %left, %c0 : index
      %count = arith.minsi %left_0, %c4 : index
      affine.for %i = 0 to 4 {
        %r = affine.apply affine_map<(r, i) -> (r + 32 * i)>(%copy_row, %i)
        %g_any = arith.addi %row0, %r : index
        %g = arith.minui %g_any, %last_row : index
        %t = nvgpu.device_async_copy %a[%g, %k_mine], %a_ring[%slot, %r, %copy_k], 4, %count {bypassL1} : !global to !a_ring
      }
      affine.for %i = 0 to 4 {
        %r = affine.apply affine_map<(r, i) -> (r + 4 * i)>(%warp, %i)
        %kb = arith.addi %k0, %r : index
        %inside = arith.cmpi slt, %kb, %k : index
        %b_count = arith.select %inside, %c4, %c0 : index
        %t = nvgpu.device_async_copy %b[%kb, %b_col], %b_ring[%slot, %r, %b_n], 4, %b_count {bypassL1} : !global to !b_ring
      }
      %group = nvgpu.device_async_create_group {tinymlir.all}
    }
    %zero = arith.constant dense<0.0> : !sums
    %res:3 = scf.for %k_now = %k_begin to %k step %c16
        iter_args(%acc = %zero, %reading = %c0, %writing = %c1) -> (!sums, index, index) {
      // The slice that is multiplied next is here.
      nvgpu.device_async_wait %token {numGroups = 0 : i32}
      // It is visible to all threads, and slot %writing is read by none.
      gpu.barrier
      %k0 = affine.apply affine_map<(k) -> (k + 16)>(%k_now)
      // The slice of K at %k0 goes to slot %writing. The fourth operand counts the elements that are there: the rest reads as zero.
      %k_mine = arith.addi %k0, %copy_k : index
      %left = arith.subi %k, %k_mine : index
      %left_0 = arith.maxsi %left, %c0 : index
      %count = arith.minsi %left_0, %c4 : index
      affine.for %i = 0 to 4 {
        %r = affine.apply affine_map<(r, i) -> (r + 32 * i)>(%copy_row, %i)
        %g_any = arith.addi %row0, %r : index
        %g = arith.minui %g_any, %last_row : index
        %t = nvgpu.device_async_copy %a[%g, %k_mine], %a_ring[%writing, %r, %copy_k], 4, %count {bypassL1} : !global to !a_ring
      }
      affine.for %i = 0 to 4 {
        %r = affine.apply affine_map<(r, i) -> (r + 4 * i)>(%warp, %i)
        %kb = arith.addi %k0, %r : index
        %inside = arith.cmpi slt, %kb, %k : index
        %b_count = arith.select %inside, %c4, %c0 : index
        %t = nvgpu.device_async_copy %b[%kb, %b_col], %b_ring[%writing, %r, %b_n], 4, %b_count {bypassL1} : !global to !b_ring
      }
      %group = nvgpu.device_async_create_group {tinymlir.all}
      %sum = affine.for %kk = 0 to 16 step 8 iter_args(%partial = %acc) -> (!sums) {
        %a_none = arith.constant dense<0.0> : vector<4x4x1xf32>
        %ak = arith.addi %kk, %a_k : index
        %a_part = affine.for %i = 0 to 4 iter_args(%f = %a_none) -> (vector<4x4x1xf32>) {
          %r = affine.apply affine_map<(r, i) -> (r + 16 * i)>(%a_row, %i)
          %v = nvgpu.ldmatrix %a_ring[%reading, %r, %ak] {numTiles = 4 : i32, transpose = false} : !a_ring -> vector<4x1xf32>
          %f1 = vector.insert %v, %f[%i] : vector<4x1xf32> into vector<4x4x1xf32>
          affine.yield %f1 : vector<4x4x1xf32>
        }
        %b_none = arith.constant dense<0.0> : vector<8x2x1xf32>
        %bk = arith.addi %kk, %lane_col : index
        %bk_next = arith.addi %bk, %c4 : index
        %b_part = affine.for %j = 0 to 8 iter_args(%f = %b_none) -> (vector<8x2x1xf32>) {
          %q = affine.apply affine_map<(q, j) -> (q + 8 * j)>(%b_place, %j)
          %x = memref.load %b_ring[%reading, %bk, %q] : !b_ring
          %y = memref.load %b_ring[%reading, %bk_next, %q] : !b_ring
          %v = vector.from_elements %x, %y : vector<2x1xf32>
          %f1 = vector.insert %v, %f[%j] : vector<2x1xf32> into vector<8x2x1xf32>
          affine.yield %f1 : vector<8x2x1xf32>
        }
        %next = affine.for %i = 0 to 4 iter_args(%s = %partial) -> (!sums) {
          %s1 = affine.for %j = 0 to 8 iter_args(%t = %s) -> (!sums) {
            %x = vector.extract %a_part[%i] : vector<4x1xf32> from vector<4x4x1xf32>
            %y = vector.extract %b_part[%j] : vector<2x1xf32> from vector<8x2x1xf32>
            %old = vector.extract %t[%i, %j] : vector<2x2xf32> from !sums
            %new = nvgpu.mma.sync (%x, %y, %old) {mmaShape = [16, 8, 8], tf32Enabled}
                : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
            %t1 = vector.insert %new, %t[%i, %j] : vector<2x2xf32> into !sums
            affine.yield %t1 : !sums
          }
          affine.yield %s1 : !sums
        }
        affine.yield %next : !sums
      }
      %r_next = arith.subi %c1, %reading : index
      %w_next = arith.subi %c1, %writing : index
      scf.yield %sum, %r_next, %w_next : !sums, index, index
    }

    %accumulate = arith.constant #accumulate
    %my_row = affine.apply affine_map<(w, l) -> (64 * w + l)>(%warp_row, %lane_row)
    %my_col = affine.apply affine_map<(w, l) -> (64 * w + 2 * l)>(%warp_col, %lane_col)
    %width = memref.dim %C, %c3 : !out
    affine.for %j = 0 to 8 {
      %q = affine.apply affine_map<(o, c, j) -> (o + c + 8 * j)>(%col0, %my_col, %j)
      %q_in = arith.cmpi ult, %q, %n : index
      %q_group = arith.divui %q, %width : index
      %q_place = arith.remui %q, %width : index
      affine.for %i = 0 to 4 {
        affine.for %h = 0 to 2 {
          %r = affine.apply affine_map<(o, r, i, h) -> (o + r + 16 * i + 8 * h)>(%row0, %my_row, %i, %h)
          %r_in = arith.cmpi ult, %r, %m : index
          %in = arith.andi %r_in, %q_in : i1
          scf.if %in {
            %v = vector.extract %res#0[%i, %j, %h] : vector<2xf32> from !sums
            %s = scf.if %accumulate -> (vector<2xf32>) {
              %old = vector.load %C[%slab, %r, %q_group, %q_place] {alignment = 8 : i64} : !out, vector<2xf32>
              %added = arith.addf %v, %old : vector<2xf32>
              scf.yield %added : vector<2xf32>
            } else {
              scf.yield %v : vector<2xf32>
            }
            %x = vector.load %X[%batch, %r, %q] {alignment = 8 : i64} : !view, vector<2xf32>
            %y = vector.load %Y[%batch, %r, %q] {alignment = 8 : i64} : !view, vector<2xf32>
            %done = affine.for %u = 0 to 2 iter_args(%d = %s) -> (vector<2xf32>) {
              %su = vector.extract %s[%u] : f32 from vector<2xf32>
              %xu = vector.extract %x[%u] : f32 from vector<2xf32>
              %yu = vector.extract %y[%u] : f32 from vector<2xf32>
              %e = func.call @epilogue(%su, %xu, %yu) : (f32, f32, f32) -> f32
              %d1 = vector.insert %e, %d[%u] : f32 into vector<2xf32>
              affine.yield %d1 : vector<2xf32>
            }
            vector.store %done, %C[%slab, %r, %q_group, %q_place] {alignment = 8 : i64} : !out, vector<2xf32>
          }
        }
      }
    }
    gpu.return
  }
}

// Launches the kernel: `splits` splits of K, each of `chunk` elements, a multiple of 16.
func.func private @matmul(%A: !view, %B: !view, %C: !out, %X: !view, %Y: !view, %splits: index, %chunk: index)
    attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m_tile = arith.constant #tile_rows
  %n_tile = arith.constant #tile_columns
  %t = arith.constant #threads
  %batches = memref.dim %A, %c0 : !view
  %m = memref.dim %A, %c1 : !view
  %n = memref.dim %B, %c2 : !view
  %m_tiles = arith.ceildivui %m, %m_tile : index
  %n_tiles = arith.ceildivui %n, %n_tile : index
  %tiles = arith.muli %m_tiles, %n_tiles : index
  %slabs = arith.muli %batches, %splits : index
  %blocks = arith.muli %tiles, %slabs : index
  gpu.launch_func @matmul_tf32_kernels::@matmul_tf32 blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%A : !view, %B : !view, %C : !out, %X : !view, %Y : !view, %splits : index, %chunk : index)
  return
}
}
