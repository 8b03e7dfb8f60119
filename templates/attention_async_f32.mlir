// RUN: tinymlir-opt %s | FileCheck %s
// O = softmax(score(Q K^T)) V in strict fp32 in one pass over the keys, sm_80 or newer, so that no scores reach memory (Dao et
// al., 2022; the running maximum and sum are Milakov and Gimelshein's, 2018). Q: M x D, K and V: N x D, O: M x D, batched.
// Any M and N. D is at most 64; D, the strides and the offsets are multiples of 4 elements, and the buffers are aligned to
// 16 bytes. Sums are in a fixed order.
//
// A block of 128 threads makes 32 rows and takes 64 keys a step: two warps the first 32 of them, two warps the others, each
// for 16 rows with a running maximum and sum of its own. A thread computes 4x4 scores, rescales what it has by the new
// maximum, and adds the product of the exponentials with the values, 4 rows by 8 columns. The two halves are joined at the
// end. So even one block keeps the four schedulers of a multiprocessor busy, and rows of few keys even out those of many.
//
// Values arrive by asynchronous copies while scores are computed, the next keys while values are multiplied. The 16-byte
// chunks of a row of Q or K are exchanged by its number, which spreads rows over the banks; exponentials lie in columns. The
// bits of a lane are dealt so that neighbouring lanes read the same 16 bytes: rows have bits 1 and 4, columns 0, 2 and 3.
//
// CHECK: gpu.func @attention_f32(
// CHECK: func.func private @attention(

// Parameters: whether keys after a row's own place have no score, so that they need not be read; whether a row without any score is
// zero, and not a quotient of zeros; an operand that @score
// may read; and @score.
#causal = false
#zero_rows = false
!extra = memref<f32>
!view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>

!global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!global_batch = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
!q_tile = memref<32x64xf32, #gpu.address_space<workgroup>>
!k_tile = memref<64x64xf32, #gpu.address_space<workgroup>>
!k_part = vector<4x4xf32>
!scores = vector<4x4xf32>
!row_scores = vector<4xf32>
!by_key = vector<4x4xf32>
!p_tile = memref<128x16xf32, #gpu.address_space<workgroup>>
#tile_rows = 32 : index
#tile_keys = 64 : index
#half_keys = 32 : index
#half_end = affine_map<() -> (32)>
#thread_keys = affine_map<() -> (4)>
#copies = affine_map<() -> (8)>
#tile_depth = 64 : index
#warp_rows = 16 : index
#threads = 128 : index
#ki_map = affine_map<(i, j, k) -> (k, i)>
#ik_map = affine_map<(i, j, k) -> (i, k)>
#kj_map = affine_map<(i, j, k) -> (k, j)>
#jk_map = affine_map<(i, j, k) -> (j, k)>
#ij_map = affine_map<(i, j, k) -> (i, j)>
#scores = {indexing_maps = [#ik_map, #jk_map, #ij_map], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
#values = {indexing_maps = [#ki_map, #kj_map, #ij_map], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}

module attributes {gpu.container_module} {
gpu.module @attention_f32_kernels {
  // The score of a row and a key from the product of the two: scaling and masking. Rows and keys past the last ones come too.
  func.func private @score(%product: f32, %batch: index, %row: index, %key: index, %X: !extra) -> f32 {
    return %product : f32
  }
  // The sum, and the maximum, over the eight lanes that share rows.
  func.func private @row_sum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %c8 = arith.constant 8 : i32
    %c4 = arith.constant 4 : i32
    %c1 = arith.constant 1 : i32
    %p0, %ok0 = gpu.shuffle xor %v, %c8, %width : f32
    %v0 = arith.addf %v, %p0 : f32
    %p1, %ok1 = gpu.shuffle xor %v0, %c4, %width : f32
    %v1 = arith.addf %v0, %p1 : f32
    %p2, %ok2 = gpu.shuffle xor %v1, %c1, %width : f32
    %v2 = arith.addf %v1, %p2 : f32
    return %v2 : f32
  }
  func.func private @row_maximum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %c8 = arith.constant 8 : i32
    %c4 = arith.constant 4 : i32
    %c1 = arith.constant 1 : i32
    %p0, %ok0 = gpu.shuffle xor %v, %c8, %width : f32
    %v0 = arith.maximumf %v, %p0 : f32
    %p1, %ok1 = gpu.shuffle xor %v0, %c4, %width : f32
    %v1 = arith.maximumf %v0, %p1 : f32
    %p2, %ok2 = gpu.shuffle xor %v1, %c1, %width : f32
    %v2 = arith.maximumf %v1, %p2 : f32
    return %v2 : f32
  }
  // Starts to copy 64 rows of keys or values from row %row0 on; zero past column D and from row %n on, where nothing is read. A
  // thread takes four elements of every eighth row: at column %d from outside, at column %to_d here.
  func.func private @copy(%from: !global, %n: index, %row0: index, %row: index, %d: index, %count: index, %to: !k_tile, %to_d: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %last_row = arith.subi %n, %c1 : index
    affine.for %i = 0 to #copies() {
      %r = affine.apply affine_map<(r, i) -> (r + 8 * i)>(%row, %i)
      %g_any = arith.addi %row0, %r : index
      %g = arith.minui %g_any, %last_row : index
      %in = arith.cmpi ult, %g_any, %n : index
      %g_count = arith.select %in, %count, %c0 : index
      %t = nvgpu.device_async_copy %from[%g, %d], %to[%r, %to_d], 4, %g_count {bypassL1} : !global to !k_tile
    }
    return
  }

  gpu.func @attention_f32(%Q: !view, %K: !view, %V: !view, %O: !view, %X: !extra)
      workgroup(%q: !q_tile {llvm.align = 16 : i64}, %k: !k_tile {llvm.align = 16 : i64},
                %v: !k_tile {llvm.align = 16 : i64}, %p: !p_tile {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 2 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %tile_rows = arith.constant #tile_rows
    %tile_keys = arith.constant #tile_keys
    %all_lanes = arith.constant -1 : i32
    %low = arith.constant 0xFF800000 : f32
    %m = memref.dim %Q, %c1 : !view
    %n_all = memref.dim %K, %c1 : !view
    %depth = memref.dim %Q, %c2 : !view
    // The last rows first: under a causal mask they have the most keys.
    %block = gpu.block_id x
    %row_tiles = arith.ceildivui %m, %tile_rows : index
    %batches = memref.dim %Q, %c0 : !view
    %from_end = arith.divui %block, %batches : index
    %batch = arith.remui %block, %batches : index
    %last_tile = arith.subi %row_tiles, %c1 : index
    %tile = arith.subi %last_tile, %from_end : index
    %row0 = arith.muli %tile, %tile_rows : index
    %row_end = arith.addi %row0, %tile_rows : index
    %causal = arith.constant #causal
    %n_causal = arith.minui %n_all, %row_end : index
    %n = arith.select %causal, %n_causal, %n_all : index
    %q_all = memref.memory_space_cast %Q : !view to !global_batch
    %k_all = memref.memory_space_cast %K : !view to !global_batch
    %v_all = memref.memory_space_cast %V : !view to !global_batch
    %q_from = memref.subview %q_all[%batch, 0, 0] [1, %m, %depth] [1, 1, 1] : !global_batch to !global
    %k_from = memref.subview %k_all[%batch, 0, 0] [1, %n_all, %depth] [1, 1, 1] : !global_batch to !global
    %v_from = memref.subview %v_all[%batch, 0, 0] [1, %n_all, %depth] [1, 1, 1] : !global_batch to !global

    // Multiplying: a warp's place, and a lane's within it.
    %tid = gpu.thread_id x upper_bound 128
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %rows_of = arith.remui %warp, %c2 : index
    %half = arith.divui %warp, %c2 : index
    %lane_1 = arith.divui %lane, %c2 : index
    %bit_1 = arith.remui %lane_1, %c2 : index
    %bit_4 = arith.divui %lane, %c16 : index
    %bit_0 = arith.remui %lane, %c2 : index
    %lane_2 = arith.divui %lane, %c4 : index
    %bits_23 = arith.remui %lane_2, %c4 : index
    %lane_row = affine.apply affine_map<(x, y) -> (x + 2 * y)>(%bit_1, %bit_4)
    %lane_col = affine.apply affine_map<(x, y) -> (x + 2 * y)>(%bit_0, %bits_23)
    %my_row = affine.apply affine_map<(w, r) -> (16 * w + 4 * r)>(%rows_of, %lane_row)
    %half_keys = arith.constant #half_keys
    %half_key = arith.muli %half, %half_keys : index
    %my_key = arith.addi %half_key, %lane_col : index
    %my_depth = arith.muli %lane_col, %c4 : index
    %p_row = arith.muli %lane_row, %c4 : index
    %p_key = arith.muli %warp, %half_keys : index

    // Copying.
    %chunk = arith.remui %tid, %c16 : index
    %copy_row = arith.divui %tid, %c16 : index
    %d_any = arith.muli %chunk, %c4 : index
    %d_in = arith.cmpi ult, %d_any, %depth : index
    %count = arith.select %d_in, %c4, %c0 : index
    %last_d = arith.subi %depth, %c4 : index
    %d = arith.minui %d_any, %last_d : index
    %chunk_swapped = arith.xori %chunk, %copy_row : index
    %d_swapped = arith.muli %chunk_swapped, %c4 : index

    // An empty, oldest group: only its token is wanted, which the wait takes. (Without an attribute the printed form does
    // not parse.)
    %token = nvgpu.device_async_create_group {tinymlir.all}
    %last_row = arith.subi %m, %c1 : index
    %copy_row_4 = arith.divui %copy_row, %c4 : index
    affine.for %i = 0 to 4 {
      %r = affine.apply affine_map<(r, i) -> (r + 8 * i)>(%copy_row, %i)
      %g_any = arith.addi %row0, %r : index
      %g = arith.minui %g_any, %last_row : index
      %key = affine.apply affine_map<(r, i) -> ((r + 2 * i) mod 4)>(%copy_row_4, %i)
      %q_chunk = arith.xori %chunk, %key : index
      %to_d = arith.muli %q_chunk, %c4 : index
      %in = arith.cmpi ule, %g_any, %last_row : index
      %g_count = arith.select %in, %count, %c0 : index
      %t = nvgpu.device_async_copy %q_from[%g, %d], %q[%r, %to_d], 4, %g_count {bypassL1} : !global to !q_tile
    }
    func.call @copy(%k_from, %n, %c0, %copy_row, %d, %count, %k, %d_swapped) : (!global, index, index, index, index, index, !k_tile, index) -> ()
    %first = nvgpu.device_async_create_group {tinymlir.all}

    %no_out = arith.constant dense<0.0> : vector<4x8xf32>
    %no_sum = arith.constant dense<0.0> : vector<4xf32>
    %lows = arith.constant dense<0xFF800000> : vector<4xf32>
    %none = arith.constant dense<0.0> : vector<4x4xf32>
    %no_keys = arith.constant dense<0.0> : !k_part
    %no_scores = arith.constant dense<0.0> : !scores
    %none_by_key = arith.constant dense<0.0> : !by_key
    %res:3 = scf.for %key0 = %c0 to %n step %tile_keys
        iter_args(%out = %no_out, %maxima = %lows, %sums = %no_sum) -> (vector<4x8xf32>, vector<4xf32>, vector<4xf32>) {
      // The keys are there, and the values before are no longer read.
      nvgpu.device_async_wait %token {numGroups = 0 : i32}
      gpu.barrier
      func.call @copy(%v_from, %n, %key0, %copy_row, %d, %count, %v, %d_any) : (!global, index, index, index, index, index, !k_tile, index) -> ()
      %v_group = nvgpu.device_async_create_group {tinymlir.all}

      // Scores: rows my_row + i, keys my_key + 8 j.
      %products = affine.for %c = 0 to 16 iter_args(%partial = %no_scores) -> (!scores) {
        // Only the low bits of a chunk's number are exchanged: few places to keep in registers.
        %c_4 = affine.apply affine_map<(c) -> (c mod 4)>(%c)
        %q_chunk = arith.xori %lane_row, %c_4 : index
        %q_d = affine.apply affine_map<(x, c) -> (4 * x + 16 * (c floordiv 4))>(%q_chunk, %c)
        %c_8 = affine.apply affine_map<(c) -> (c mod 8)>(%c)
        %k_chunk = arith.xori %lane_col, %c_8 : index
        %k_d = affine.apply affine_map<(x, c) -> (4 * x + 32 * (c floordiv 8))>(%k_chunk, %c)
        %a = affine.for %i = 0 to 4 iter_args(%f = %none) -> (vector<4x4xf32>) {
          %r = affine.apply affine_map<(r, i) -> (r + i)>(%my_row, %i)
          %x = vector.load %q[%r, %q_d] {alignment = 16 : i64} : !q_tile, vector<4xf32>
          %f1 = vector.insert %x, %f[%i] : vector<4xf32> into vector<4x4xf32>
          affine.yield %f1 : vector<4x4xf32>
        }
        %b = affine.for %j = 0 to #thread_keys() iter_args(%f = %no_keys) -> (!k_part) {
          %r = affine.apply affine_map<(r, j) -> (r + 8 * j)>(%my_key, %j)
          %x = vector.load %k[%r, %k_d] {alignment = 16 : i64} : !k_tile, vector<4xf32>
          %f1 = vector.insert %x, %f[%j] : vector<4xf32> into !k_part
          affine.yield %f1 : !k_part
        }
        %s = vector.contract #scores %a, %b, %partial : vector<4x4xf32>, !k_part into !scores
        affine.yield %s : !scores
      }
      // The values are there, and these keys are no longer read.
      nvgpu.device_async_wait %token {numGroups = 0 : i32}
      gpu.barrier
      %next0 = arith.addi %key0, %tile_keys : index
      func.call @copy(%k_from, %n, %next0, %copy_row, %d, %count, %k, %d_swapped) : (!global, index, index, index, index, index, !k_tile, index) -> ()
      %k_group = nvgpu.device_async_create_group {tinymlir.all}

      %scores = affine.for %i = 0 to 4 iter_args(%f = %products) -> (!scores) {
        %row = affine.apply affine_map<(o, r, i) -> (o + r + i)>(%row0, %my_row, %i)
        %g = affine.for %j = 0 to #thread_keys() iter_args(%h = %f) -> (!scores) {
          %key = affine.apply affine_map<(o, r, j) -> (o + r + 8 * j)>(%key0, %my_key, %j)
          %x = vector.extract %products[%i, %j] : f32 from !scores
          %s_any = func.call @score(%x, %batch, %row, %key, %X) : (f32, index, index, index, !extra) -> f32
          %in = arith.cmpi ult, %key, %n : index
          %s = arith.select %in, %s_any, %low : f32
          %h1 = vector.insert %s, %h[%i, %j] : f32 into !scores
          affine.yield %h1 : !scores
        }
        affine.yield %g : !scores
      }

      // The running maximum and sum, and what is there already on the new scale.
      %new_maxima = affine.for %i = 0 to 4 iter_args(%f = %maxima) -> (vector<4xf32>) {
        %s = vector.extract %scores[%i] : !row_scores from !scores
        %mine = vector.reduction <maximumf>, %s : !row_scores into f32
        %rows = func.call @row_maximum(%mine) : (f32) -> f32
        %old = vector.extract %maxima[%i] : f32 from vector<4xf32>
        %new = arith.maximumf %old, %rows : f32
        %f1 = vector.insert %new, %f[%i] : f32 into vector<4xf32>
        affine.yield %f1 : vector<4xf32>
      }
      // A row without a score so far has no maximum to subtract.
      %is_low = arith.cmpf oeq, %new_maxima, %lows : vector<4xf32>
      %shift = arith.select %is_low, %no_sum, %new_maxima : vector<4xi1>, vector<4xf32>
      %past = arith.subf %maxima, %shift : vector<4xf32>
      %scale = math.exp %past : vector<4xf32>
      // By key, then row.
      %exponentials = affine.for %i = 0 to 4 iter_args(%f = %none_by_key) -> (!by_key) {
        %t = vector.extract %shift[%i] : f32 from vector<4xf32>
        %g = affine.for %j = 0 to #thread_keys() iter_args(%h = %f) -> (!by_key) {
          %s = vector.extract %scores[%i, %j] : f32 from !scores
          %x = arith.subf %s, %t : f32
          %e = math.exp %x : f32
          %h1 = vector.insert %e, %h[%j, %i] : f32 into !by_key
          affine.yield %h1 : !by_key
        }
        affine.yield %g : !by_key
      }
      %scaled_sums = arith.mulf %sums, %scale : vector<4xf32>
      %new_sums = affine.for %j = 0 to #thread_keys() iter_args(%f = %scaled_sums) -> (vector<4xf32>) {
        %key = affine.apply affine_map<(w, c, j) -> (w + c + 8 * j)>(%p_key, %lane_col, %j)
        %e = vector.extract %exponentials[%j] : vector<4xf32> from !by_key
        vector.store %e, %p[%key, %p_row] {alignment = 16 : i64} : !p_tile, vector<4xf32>
        %f1 = arith.addf %f, %e : vector<4xf32>
        affine.yield %f1 : vector<4xf32>
      }
      %scaled = affine.for %i = 0 to 4 iter_args(%f = %out) -> (vector<4x8xf32>) {
        %x = vector.extract %out[%i] : vector<8xf32> from vector<4x8xf32>
        %t = vector.extract %scale[%i] : f32 from vector<4xf32>
        %t8 = vector.broadcast %t : f32 to vector<8xf32>
        %y = arith.mulf %x, %t8 : vector<8xf32>
        %f1 = vector.insert %y, %f[%i] : vector<8xf32> into vector<4x8xf32>
        affine.yield %f1 : vector<4x8xf32>
      }
      nvvm.bar.warp.sync %all_lanes : i32

      // Values: rows my_row + i, columns my_depth + 32 j and the three after.
      %new_out = affine.for %kk = 0 to #half_end() step 4 iter_args(%partial = %scaled) -> (vector<4x8xf32>) {
        %a = affine.for %u = 0 to 4 iter_args(%f = %none) -> (vector<4x4xf32>) {
          %r = affine.apply affine_map<(w, k, u) -> (w + k + u)>(%p_key, %kk, %u)
          %x = vector.load %p[%r, %p_row] {alignment = 16 : i64} : !p_tile, vector<4xf32>
          %f1 = vector.insert %x, %f[%u] : vector<4xf32> into vector<4x4xf32>
          affine.yield %f1 : vector<4x4xf32>
        }
        %b_none = arith.constant dense<0.0> : vector<4x2x4xf32>
        %b = affine.for %u = 0 to 4 iter_args(%f = %b_none) -> (vector<4x2x4xf32>) {
          %r = affine.apply affine_map<(h, k, u) -> (h + k + u)>(%half_key, %kk, %u)
          %g = affine.for %j = 0 to 2 iter_args(%h = %f) -> (vector<4x2x4xf32>) {
            %c = affine.apply affine_map<(d, j) -> (d + 32 * j)>(%my_depth, %j)
            %x = vector.load %v[%r, %c] {alignment = 16 : i64} : !k_tile, vector<4xf32>
            %h1 = vector.insert %x, %h[%u, %j] : vector<4xf32> into vector<4x2x4xf32>
            affine.yield %h1 : vector<4x2x4xf32>
          }
          affine.yield %g : vector<4x2x4xf32>
        }
        %b_flat = vector.shape_cast %b : vector<4x2x4xf32> to vector<4x8xf32>
        %o = vector.contract #values %a, %b_flat, %partial : vector<4x4xf32>, vector<4x8xf32> into vector<4x8xf32>
        affine.yield %o : vector<4x8xf32>
      }
      // Exponentials that others of the warp still read are not overwritten: a barrier stands before the next.
      scf.yield %new_out, %new_maxima, %new_sums : vector<4x8xf32>, vector<4xf32>, vector<4xf32>
    }

    // The second half of the keys goes through the memory of keys and values, which no copy writes any more.
    nvgpu.device_async_wait %token {numGroups = 0 : i32}
    gpu.barrier
    %c64 = arith.constant 64 : index
    %pair = arith.remui %tid, %c64 : index
    %pair_row = arith.divui %pair, %c16 : index
    %pair_chunk = arith.remui %pair, %c16 : index
    %pair_d = arith.muli %pair_chunk, %c4 : index
    %out = vector.shape_cast %res#0 : vector<4x8xf32> to vector<8x4xf32>
    %sums = affine.for %i = 0 to 4 iter_args(%f = %no_sum) -> (vector<4xf32>) {
      %mine = vector.extract %res#2[%i] : f32 from vector<4xf32>
      %sum = func.call @row_sum(%mine) : (f32) -> f32
      %f1 = vector.insert %sum, %f[%i] : f32 into vector<4xf32>
      affine.yield %f1 : vector<4xf32>
    }
    %is_second = arith.cmpi eq, %half, %c1 : index
    scf.if %is_second {
      affine.for %i = 0 to 8 {
        %r = affine.apply affine_map<(r, i) -> (r + 4 * i)>(%pair_row, %i)
        %x = vector.extract %out[%i] : vector<4xf32> from vector<8x4xf32>
        vector.store %x, %k[%r, %pair_d] {alignment = 16 : i64} : !k_tile, vector<4xf32>
      }
            vector.store %res#1, %v[%pair_row, %pair_d] {alignment = 16 : i64} : !k_tile, vector<4xf32>
      %r_sums = affine.apply affine_map<(r) -> (r + 4)>(%pair_row)
      vector.store %sums, %v[%r_sums, %pair_d] {alignment = 16 : i64} : !k_tile, vector<4xf32>
    }
    gpu.barrier
    %is_first = arith.cmpi eq, %half, %c0 : index
    scf.if %is_first {
            %r_sums = affine.apply affine_map<(r) -> (r + 4)>(%pair_row)
      %their_maxima = vector.load %v[%pair_row, %pair_d] {alignment = 16 : i64} : !k_tile, vector<4xf32>
      %their_sums = vector.load %v[%r_sums, %pair_d] {alignment = 16 : i64} : !k_tile, vector<4xf32>
      %maxima = arith.maximumf %res#1, %their_maxima : vector<4xf32>
      %is_low = arith.cmpf oeq, %maxima, %lows : vector<4xf32>
      %shift = arith.select %is_low, %no_sum, %maxima : vector<4xi1>, vector<4xf32>
      %past = arith.subf %res#1, %shift : vector<4xf32>
      %scale = math.exp %past : vector<4xf32>
      %their_past = arith.subf %their_maxima, %shift : vector<4xf32>
      %their_scale = math.exp %their_past : vector<4xf32>
      %part = arith.mulf %sums, %scale : vector<4xf32>
      %their_part = arith.mulf %their_sums, %their_scale : vector<4xf32>
      %sum = arith.addf %part, %their_part : vector<4xf32>
      affine.for %i = 0 to 4 {
        %row = affine.apply affine_map<(o, r, i) -> (o + r + i)>(%row0, %my_row, %i)
        %row_in = arith.cmpi ult, %row, %m : index
        %scale_1 = vector.extract %scale[%i] : f32 from vector<4xf32>
        %scale_4 = vector.broadcast %scale_1 : f32 to vector<4xf32>
        %their_scale_1 = vector.extract %their_scale[%i] : f32 from vector<4xf32>
        %their_scale_4 = vector.broadcast %their_scale_1 : f32 to vector<4xf32>
        %sum_1 = vector.extract %sum[%i] : f32 from vector<4xf32>
        %zero_rows = arith.constant #zero_rows
        %least_sum = arith.constant 1.0e-30 : f32
        %some = arith.maximumf %sum_1, %least_sum : f32
        %divisor = arith.select %zero_rows, %some, %sum_1 : f32
        %sum_4 = vector.broadcast %divisor : f32 to vector<4xf32>
        affine.for %j = 0 to 2 {
          %piece = affine.apply affine_map<(i, j) -> (2 * i + j)>(%i, %j)
          %r = affine.apply affine_map<(r, p) -> (r + 4 * p)>(%pair_row, %piece)
          %c = affine.apply affine_map<(d, j) -> (d + 32 * j)>(%my_depth, %j)
          %c_in = arith.cmpi ult, %c, %depth : index
          %in = arith.andi %row_in, %c_in : i1
          scf.if %in {
            %x = vector.extract %out[%piece] : vector<4xf32> from vector<8x4xf32>
            %theirs = vector.load %k[%r, %pair_d] {alignment = 16 : i64} : !k_tile, vector<4xf32>
            %x_scaled = arith.mulf %x, %scale_4 : vector<4xf32>
            %theirs_scaled = arith.mulf %theirs, %their_scale_4 : vector<4xf32>
            %y = arith.addf %x_scaled, %theirs_scaled : vector<4xf32>
            %z = arith.divf %y, %sum_4 : vector<4xf32>
            vector.store %z, %O[%batch, %row, %c] {alignment = 16 : i64} : !view, vector<4xf32>
          }
        }
      }
    }
    gpu.return
  }
}

func.func private @attention(%Q: !view, %K: !view, %V: !view, %O: !view, %X: !extra) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant #threads
  %tile_rows = arith.constant #tile_rows
  %batches = memref.dim %Q, %c0 : !view
  %m = memref.dim %Q, %c1 : !view
  %row_tiles = arith.ceildivui %m, %tile_rows : index
  %blocks = arith.muli %row_tiles, %batches : index
  gpu.launch_func @attention_f32_kernels::@attention_f32 blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%Q : !view, %K : !view, %V : !view, %O : !view, %X : !extra)
  return
}
}
