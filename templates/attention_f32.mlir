// RUN: tinymlir-opt %s | FileCheck %s
// O = softmax(score(Q K^T)) V in strict fp32 in one pass over the keys, so that no scores reach memory (Dao et al., 2022;
// the running maximum and sum are Milakov and Gimelshein's, 2018). Q: M x D, K and V: N x D, O: M x D, batched.
// Any M and N. D is at most 64; D, the strides and the offsets are multiples of 4 elements, and the buffers are aligned to
// 16 bytes. Sums are in a fixed order.
//
// A block of 128 threads makes 64 rows. For each 32 keys it computes 64x32 scores, a thread 4x4 of them, rescales what it
// has by the new maximum, and adds the product of the exponentials with the values, a thread 4 rows by 8 columns. The next
// 32 keys and values are on their way to registers in the meantime. A warp's 16 rows are its own: the exponentials pass
// through workgroup memory within the warp. Rows there are padded by 4 elements, which spreads them over the banks.
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

!q_tile = memref<64x68xf32, #gpu.address_space<workgroup>>
!k_tile = memref<32x68xf32, #gpu.address_space<workgroup>>
!v_tile = memref<32x64xf32, #gpu.address_space<workgroup>>
!p_tile = memref<64x36xf32, #gpu.address_space<workgroup>>
#tile_rows = 64 : index
#tile_keys = 32 : index
#depth_pitch = 68 : index
#keys_pitch = 36 : index
#threads = 128 : index
#a_map = affine_map<(i, j, k) -> (i, k)>
#b_map = affine_map<(i, j, k) -> (k, j)>
#bt_map = affine_map<(i, j, k) -> (j, k)>
#c_map = affine_map<(i, j, k) -> (i, j)>
#times = {indexing_maps = [#a_map, #b_map, #c_map], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
#times_transposed = {indexing_maps = [#a_map, #bt_map, #c_map], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}

module attributes {gpu.container_module} {
gpu.module @attention_f32_kernels {
  // The score of a row and a key from the product of the two: scaling and masking. Rows and keys past the last ones come too.
  func.func private @score(%product: f32, %batch: index, %row: index, %key: index, %X: !extra) -> f32 {
    return %product : f32
  }
  // The sum, and the maximum, over the eight lanes that share rows.
  func.func private @row_sum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %c4 = arith.constant 4 : i32
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %p0, %ok0 = gpu.shuffle xor %v, %c4, %width : f32
    %v0 = arith.addf %v, %p0 : f32
    %p1, %ok1 = gpu.shuffle xor %v0, %c2, %width : f32
    %v1 = arith.addf %v0, %p1 : f32
    %p2, %ok2 = gpu.shuffle xor %v1, %c1, %width : f32
    %v2 = arith.addf %v1, %p2 : f32
    return %v2 : f32
  }
  func.func private @row_maximum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %c4 = arith.constant 4 : i32
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %p0, %ok0 = gpu.shuffle xor %v, %c4, %width : f32
    %v0 = arith.maximumf %v, %p0 : f32
    %p1, %ok1 = gpu.shuffle xor %v0, %c2, %width : f32
    %v1 = arith.maximumf %v0, %p1 : f32
    %p2, %ok2 = gpu.shuffle xor %v1, %c1, %width : f32
    %v2 = arith.maximumf %v1, %p2 : f32
    return %v2 : f32
  }
  // This thread's part of 32 rows of keys or values from row %row0 on; zero past column D, something valid past the last row.
  func.func private @read(%from: !view, %batch: index, %row0: index) -> vector<4x4xf32> {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %none = arith.constant dense<0.0> : vector<4x4xf32>
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %tid = gpu.thread_id x upper_bound 128
    %chunk = arith.remui %tid, %c16 : index
    %chunk_row = arith.divui %tid, %c16 : index
    %n = memref.dim %from, %c1 : !view
    %depth = memref.dim %from, %c2 : !view
    %last_row = arith.subi %n, %c1 : index
    %last = arith.subi %depth, %c4 : index
    %d_any = arith.muli %chunk, %c4 : index
    %in = arith.cmpi ult, %d_any, %depth : index
    %d = arith.minui %d_any, %last : index
    %read = affine.for %i = 0 to 4 iter_args(%f = %none) -> (vector<4x4xf32>) {
      %r_any = affine.apply affine_map<(o, r, i) -> (o + r + 8 * i)>(%row0, %chunk_row, %i)
      %r = arith.minui %r_any, %last_row : index
      %v_any = vector.load %from[%batch, %r, %d] {alignment = 16 : i64} : !view, vector<4xf32>
      %v = arith.select %in, %v_any, %zeros : vector<4xf32>
      %f1 = vector.insert %v, %f[%i] : vector<4xf32> into vector<4x4xf32>
      affine.yield %f1 : vector<4x4xf32>
    }
    return %read : vector<4x4xf32>
  }

  gpu.func @attention_f32(%Q: !view, %K: !view, %V: !view, %O: !view, %X: !extra)
      workgroup(%q: !q_tile {llvm.align = 16 : i64}, %k: !k_tile {llvm.align = 16 : i64},
                %v: !v_tile {llvm.align = 16 : i64}, %p: !p_tile {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 3 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %tile_rows = arith.constant #tile_rows
    %all_lanes = arith.constant -1 : i32
    %zero = arith.constant 0.0 : f32
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

    %tid = gpu.thread_id x upper_bound 128
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %lane_row = arith.divui %lane, %c8 : index
    %lane_col = arith.remui %lane, %c8 : index
    %my_row = affine.apply affine_map<(w, r) -> (16 * w + r)>(%warp, %lane_row)
    %my_depth = arith.muli %lane_col, %c4 : index
    %chunk = arith.remui %tid, %c16 : index
    %chunk_row = arith.divui %tid, %c16 : index
    %chunk_d = arith.muli %chunk, %c4 : index

    affine.for %half = 0 to 2 {
      %first = affine.apply affine_map<(o, h) -> (o + 32 * h)>(%row0, %half)
      %rows = func.call @read(%Q, %batch, %first) : (!view, index, index) -> vector<4x4xf32>
      affine.for %i = 0 to 4 {
        %r = affine.apply affine_map<(h, r, i) -> (32 * h + r + 8 * i)>(%half, %chunk_row, %i)
        %x = vector.extract %rows[%i] : vector<4xf32> from vector<4x4xf32>
        vector.store %x, %q[%r, %chunk_d] {alignment = 16 : i64} : !q_tile, vector<4xf32>
      }
    }
    %k_first = func.call @read(%K, %batch, %c0) : (!view, index, index) -> vector<4x4xf32>
    %v_first = func.call @read(%V, %batch, %c0) : (!view, index, index) -> vector<4x4xf32>
    %no_out = arith.constant dense<0.0> : vector<4x8xf32>
    %no_sum = arith.constant dense<0.0> : vector<4xf32>
    %lows = arith.constant dense<0xFF800000> : vector<4xf32>
    %res:5 = scf.for %key0 = %c0 to %n step %c32
        iter_args(%out = %no_out, %maxima = %lows, %sums = %no_sum, %k_now = %k_first, %v_now = %v_first)
        -> (vector<4x8xf32>, vector<4xf32>, vector<4xf32>, vector<4x4xf32>, vector<4x4xf32>) {
      // The keys and values before are no longer read.
      gpu.barrier
      affine.for %i = 0 to 4 {
        %r = affine.apply affine_map<(r, i) -> (r + 8 * i)>(%chunk_row, %i)
        %x = vector.extract %k_now[%i] : vector<4xf32> from vector<4x4xf32>
        vector.store %x, %k[%r, %chunk_d] {alignment = 16 : i64} : !k_tile, vector<4xf32>
        %y = vector.extract %v_now[%i] : vector<4xf32> from vector<4x4xf32>
        vector.store %y, %v[%r, %chunk_d] {alignment = 16 : i64} : !v_tile, vector<4xf32>
      }
      gpu.barrier
      %next0 = arith.addi %key0, %c32 : index
      %k_next = func.call @read(%K, %batch, %next0) : (!view, index, index) -> vector<4x4xf32>
      %v_next = func.call @read(%V, %batch, %next0) : (!view, index, index) -> vector<4x4xf32>

      // Scores: rows my_row + 4 i, keys lane_col + 8 j.
      %none = arith.constant dense<0.0> : vector<4x4xf32>
      %products = affine.for %d = 0 to 64 step 4 iter_args(%partial = %none) -> (vector<4x4xf32>) {
        %a = affine.for %i = 0 to 4 iter_args(%f = %none) -> (vector<4x4xf32>) {
          %r = affine.apply affine_map<(r, i) -> (r + 4 * i)>(%my_row, %i)
          %x = vector.load %q[%r, %d] {alignment = 16 : i64} : !q_tile, vector<4xf32>
          %f1 = vector.insert %x, %f[%i] : vector<4xf32> into vector<4x4xf32>
          affine.yield %f1 : vector<4x4xf32>
        }
        %b = affine.for %j = 0 to 4 iter_args(%f = %none) -> (vector<4x4xf32>) {
          %r = affine.apply affine_map<(r, j) -> (r + 8 * j)>(%lane_col, %j)
          %x = vector.load %k[%r, %d] {alignment = 16 : i64} : !k_tile, vector<4xf32>
          %f1 = vector.insert %x, %f[%j] : vector<4xf32> into vector<4x4xf32>
          affine.yield %f1 : vector<4x4xf32>
        }
        %s = vector.contract #times_transposed %a, %b, %partial : vector<4x4xf32>, vector<4x4xf32> into vector<4x4xf32>
        affine.yield %s : vector<4x4xf32>
      }
      %scores = affine.for %i = 0 to 4 iter_args(%f = %products) -> (vector<4x4xf32>) {
        %row = affine.apply affine_map<(o, r, i) -> (o + r + 4 * i)>(%row0, %my_row, %i)
        %g = affine.for %j = 0 to 4 iter_args(%h = %f) -> (vector<4x4xf32>) {
          %key = affine.apply affine_map<(o, r, j) -> (o + r + 8 * j)>(%key0, %lane_col, %j)
          %x = vector.extract %products[%i, %j] : f32 from vector<4x4xf32>
          %s_any = func.call @score(%x, %batch, %row, %key, %X) : (f32, index, index, index, !extra) -> f32
          %in = arith.cmpi ult, %key, %n : index
          %s = arith.select %in, %s_any, %low : f32
          %h1 = vector.insert %s, %h[%i, %j] : f32 into vector<4x4xf32>
          affine.yield %h1 : vector<4x4xf32>
        }
        affine.yield %g : vector<4x4xf32>
      }

      // The running maximum and sum, and what is there already on the new scale.
      %new_maxima = affine.for %i = 0 to 4 iter_args(%f = %maxima) -> (vector<4xf32>) {
        %s = vector.extract %scores[%i] : vector<4xf32> from vector<4x4xf32>
        %mine = vector.reduction <maximumf>, %s : vector<4xf32> into f32
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
      %exponentials = affine.for %i = 0 to 4 iter_args(%f = %scores) -> (vector<4x4xf32>) {
        %r = affine.apply affine_map<(r, i) -> (r + 4 * i)>(%my_row, %i)
        %t = vector.extract %shift[%i] : f32 from vector<4xf32>
        %g = affine.for %j = 0 to 4 iter_args(%h = %f) -> (vector<4x4xf32>) {
          %c = affine.apply affine_map<(r, j) -> (r + 8 * j)>(%lane_col, %j)
          %s = vector.extract %scores[%i, %j] : f32 from vector<4x4xf32>
          %x = arith.subf %s, %t : f32
          %e = math.exp %x : f32
          memref.store %e, %p[%r, %c] : !p_tile
          %h1 = vector.insert %e, %h[%i, %j] : f32 into vector<4x4xf32>
          affine.yield %h1 : vector<4x4xf32>
        }
        affine.yield %g : vector<4x4xf32>
      }
      %scaled_sums = arith.mulf %sums, %scale : vector<4xf32>
      %new_sums = affine.for %i = 0 to 4 iter_args(%f = %scaled_sums) -> (vector<4xf32>) {
        %e = vector.extract %exponentials[%i] : vector<4xf32> from vector<4x4xf32>
        %old = vector.extract %scaled_sums[%i] : f32 from vector<4xf32>
        %new = vector.reduction <add>, %e, %old : vector<4xf32> into f32
        %f1 = vector.insert %new, %f[%i] : f32 into vector<4xf32>
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

      // Values: rows my_row + 4 i, columns my_depth + 32 j and the three after.
      %new_out = affine.for %kk = 0 to 32 step 4 iter_args(%partial = %scaled) -> (vector<4x8xf32>) {
        %a = affine.for %i = 0 to 4 iter_args(%f = %none) -> (vector<4x4xf32>) {
          %r = affine.apply affine_map<(r, i) -> (r + 4 * i)>(%my_row, %i)
          %x = vector.load %p[%r, %kk] {alignment = 16 : i64} : !p_tile, vector<4xf32>
          %f1 = vector.insert %x, %f[%i] : vector<4xf32> into vector<4x4xf32>
          affine.yield %f1 : vector<4x4xf32>
        }
        %b_none = arith.constant dense<0.0> : vector<4x2x4xf32>
        %b = affine.for %u = 0 to 4 iter_args(%f = %b_none) -> (vector<4x2x4xf32>) {
          %r = affine.apply affine_map<(k, u) -> (k + u)>(%kk, %u)
          %g = affine.for %j = 0 to 2 iter_args(%h = %f) -> (vector<4x2x4xf32>) {
            %c = affine.apply affine_map<(d, j) -> (d + 32 * j)>(%my_depth, %j)
            %x = vector.load %v[%r, %c] {alignment = 16 : i64} : !v_tile, vector<4xf32>
            %h1 = vector.insert %x, %h[%u, %j] : vector<4xf32> into vector<4x2x4xf32>
            affine.yield %h1 : vector<4x2x4xf32>
          }
          affine.yield %g : vector<4x2x4xf32>
        }
        %b_flat = vector.shape_cast %b : vector<4x2x4xf32> to vector<4x8xf32>
        %o = vector.contract #times %a, %b_flat, %partial : vector<4x4xf32>, vector<4x8xf32> into vector<4x8xf32>
        affine.yield %o : vector<4x8xf32>
      }
      scf.yield %new_out, %new_maxima, %new_sums, %k_next, %v_next
          : vector<4x8xf32>, vector<4xf32>, vector<4xf32>, vector<4x4xf32>, vector<4x4xf32>
    }

    %out = vector.shape_cast %res#0 : vector<4x8xf32> to vector<4x2x4xf32>
    affine.for %i = 0 to 4 {
      %row = affine.apply affine_map<(o, r, i) -> (o + r + 4 * i)>(%row0, %my_row, %i)
      %row_in = arith.cmpi ult, %row, %m : index
      %mine = vector.extract %res#2[%i] : f32 from vector<4xf32>
      %sum = func.call @row_sum(%mine) : (f32) -> f32
      %zero_rows = arith.constant #zero_rows
      %least_sum = arith.constant 1.0e-30 : f32
      %some = arith.maximumf %sum, %least_sum : f32
      %divisor = arith.select %zero_rows, %some, %sum : f32
      %sum4 = vector.broadcast %divisor : f32 to vector<4xf32>
      affine.for %j = 0 to 2 {
        %c = affine.apply affine_map<(d, j) -> (d + 32 * j)>(%my_depth, %j)
        %c_in = arith.cmpi ult, %c, %depth : index
        %in = arith.andi %row_in, %c_in : i1
        scf.if %in {
          %x = vector.extract %out[%i, %j] : vector<4xf32> from vector<4x2x4xf32>
          %y = arith.divf %x, %sum4 : vector<4xf32>
          vector.store %y, %O[%batch, %row, %c] {alignment = 16 : i64} : !view, vector<4xf32>
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
