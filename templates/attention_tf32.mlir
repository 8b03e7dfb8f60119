// RUN: tinymlir-opt %s | FileCheck %s
// O = softmax(score(Q K^T)) V on tensor cores in one pass over the keys, sm_80 or newer: f32 in memory, products of tf32 (10 bits
// of mantissa; Q and exponentials are rounded to nearest, K and V cut off), sums, maxima and exponentials in f32. Q: M x D, K and
// V: N x D, O: M x D, batched. Any M and N. D is at most 64; D, the strides and the offsets are multiples of 4 elements, and the
// buffers are aligned to 16 bytes. Sums are in a fixed order.
//
// A block of 256 threads makes 64 rows: four warps 16 rows each from every other 32 keys, four warps the same rows from the
// others, with keys, values, running maxima and sums of their own. The two halves are joined at the end.
//
// Of a product of 16x8 elements lane 4 g + t holds rows g and g + 8, columns 2 t and 2 t + 1. What is summed over may stand in any
// order that both factors share, and columns in any order that the store knows. So elements of Q and K are taken by four
// neighbours a lane; key 8 k + 2 t of the exponentials is summed as element t, key 8 k + 2 t + 1 as element t + 4, which leaves a lane's
// scores in their registers; and columns 4 c to 4 c + 3 of V, which a lane reads at once, are column c of four products. The
// 16-byte chunks of a row of K or V are exchanged by its number, so that neighbours read different banks.
//
// CHECK: gpu.func @attention_tf32(
// CHECK: func.func private @attention(

// Parameters: whether keys after a row's own place have no score, so that they need not be read; an operand that @score
// may read; @score; and @score_kept.
#causal = false
!extra = memref<f32>
!q_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!k_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!v_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!out_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>

!global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
!tiles = memref<2x32x64xf32, #gpu.address_space<workgroup>>
!q_part = vector<4x2x4xf32>
!scores = vector<4x2x2xf32>
!sums = vector<8x2x2xf32>
#halves = 2 : index
#tile_rows = 64 : index
#tile_keys = 32 : index
#tile_depth = 64 : index
#step_keys = 64 : index
#threads = 256 : index

module attributes {gpu.container_module} {
gpu.module @attention_tf32_kernels {
  // The score of a row and a key from the product of the two: scaling and masking. Rows and keys past the last ones come too.
  func.func private @score(%product: f32, %batch: index, %row: index, %key: index, %X: !extra) -> f32 {
    return %product : f32
  }
  // The same where a causal mask is known to keep the key.
  func.func private @score_kept(%product: f32, %batch: index, %row: index, %key: index, %X: !extra) -> f32 {
    return %product : f32
  }
  // 2^x; what is below 2^-126 is zero.
  func.func private @exp2(%x: f32) -> f32 {
    %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%x) : (f32) -> f32
    return %e : f32
  }
  // The sum, and the maximum, over the four lanes that share rows.
  func.func private @row_sum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %p0, %ok0 = gpu.shuffle xor %v, %c2, %width : f32
    %v0 = arith.addf %v, %p0 : f32
    %p1, %ok1 = gpu.shuffle xor %v0, %c1, %width : f32
    %v1 = arith.addf %v0, %p1 : f32
    return %v1 : f32
  }
  func.func private @row_maximum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %p0, %ok0 = gpu.shuffle xor %v, %c2, %width : f32
    %v0 = llvm.intr.maximum(%v, %p0) : (f32, f32) -> f32
    %p1, %ok1 = gpu.shuffle xor %v0, %c1, %width : f32
    %v1 = llvm.intr.maximum(%v0, %p1) : (f32, f32) -> f32
    return %v1 : f32
  }
  // The rows of a batch in global memory.
  func.func private @rows(%base: memref<f32>, %at: index, %batch_stride: index, %row_stride: index, %batch: index, %n: index, %depth: index) -> !global {
    %skipped = arith.muli %batch, %batch_stride : index
    %from = arith.addi %at, %skipped : index
    %all = memref.reinterpret_cast %base to offset: [%from], sizes: [%n, %depth], strides: [%row_stride, 1] : memref<f32> to !rows
    %rows = memref.memory_space_cast %all : !rows to !global
    return %rows : !global
  }
  // What a product of tf32 cuts off, rounded to nearest before; only of numbers.
  func.func private @round(%x: f32) -> f32 {
    %half = arith.constant 0x1000 : i32
    %bits = arith.bitcast %x : f32 to i32
    %up = arith.addi %bits, %half : i32
    %r = arith.bitcast %up : i32 to f32
    return %r : f32
  }
  // Starts to copy 32 rows of keys or values from row %row0 on; zero past column D. Past the last row, %n - 1, it is that one
  // again: what is made of it is not used. A thread takes four elements of every eighth row: at column %d from outside, at
  // column %to_d here.
  func.func private @copy(%from: !global, %n: index, %row0: index, %row: index, %d: index, %count: index, %to: !tiles, %half: index, %to_d: index) {
    %c1 = arith.constant 1 : index
    %last_row = arith.subi %n, %c1 : index
    %last = arith.index_cast %last_row : index to i32
    affine.for %i = 0 to 4 {
      %r = affine.apply affine_map<(r, i) -> (r + 8 * i)>(%row, %i)
      %g_any = arith.addi %row0, %r : index
      %g_int = arith.index_cast %g_any : index to i32
      %g_least = arith.minui %g_int, %last : i32
      %g = arith.index_castui %g_least : i32 to index
      %t = nvgpu.device_async_copy %from[%g, %d], %to[%half, %r, %to_d], 4, %count {bypassL1} : !global to !tiles
    }
    return
  }

  gpu.func @attention_tf32(%Q: !q_view, %K: !k_view, %V: !v_view, %O: !out_view, %X: !extra)
      workgroup(%k: !tiles {llvm.align = 16 : i64}, %v: !tiles {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %tile_rows = arith.constant #tile_rows
    %tile_keys = arith.constant #tile_keys
    %step_keys = arith.constant #step_keys
    %half_threads = arith.constant 128 : i32
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %log2e = arith.constant 1.44269504 : f32
    %m = memref.dim %Q, %c1 : !q_view
    %n_all = memref.dim %K, %c1 : !k_view
    %depth = memref.dim %Q, %c2 : !q_view
    // The last rows first: under a causal mask they have the most keys.
    %block = gpu.block_id x
    %row_tiles = arith.ceildivui %m, %tile_rows : index
    %batches = memref.dim %Q, %c0 : !q_view
    %from_end = arith.divui %block, %batches : index
    %batch = arith.remui %block, %batches : index
    %last_tile = arith.subi %row_tiles, %c1 : index
    %tile = arith.subi %last_tile, %from_end : index
    %row0 = arith.muli %tile, %tile_rows : index
    %row_end = arith.addi %row0, %tile_rows : index
    %causal = arith.constant #causal
    %n_causal = arith.minui %n_all, %row_end : index
    %n = arith.select %causal, %n_causal, %n_all : index
    // Keys before this one are kept for every row of the block.
    %n_kept = arith.select %causal, %row0, %n_all : index
    %q_base, %q_at, %q_sizes:3, %q_strides:3 = memref.extract_strided_metadata %Q : !q_view -> memref<f32>, index, index, index, index, index, index, index
    %q_from = func.call @rows(%q_base, %q_at, %q_strides#0, %q_strides#1, %batch, %m, %depth) : (memref<f32>, index, index, index, index, index, index) -> !global
    %k_base, %k_at, %k_sizes:3, %k_strides:3 = memref.extract_strided_metadata %K : !k_view -> memref<f32>, index, index, index, index, index, index, index
    %k_from = func.call @rows(%k_base, %k_at, %k_strides#0, %k_strides#1, %batch, %n_all, %depth) : (memref<f32>, index, index, index, index, index, index) -> !global
    %v_base, %v_at, %v_sizes:3, %v_strides:3 = memref.extract_strided_metadata %V : !v_view -> memref<f32>, index, index, index, index, index, index, index
    %v_from = func.call @rows(%v_base, %v_at, %v_strides#0, %v_strides#1, %batch, %n_all, %depth) : (memref<f32>, index, index, index, index, index, index) -> !global

    // A thread's place: its half of the block, which has a barrier of its own; a warp's rows; and a lane's within them.
    %tid = gpu.thread_id x upper_bound 256
    %half = arith.divui %tid, %c128 : index
    %half_tid = arith.remui %tid, %c128 : index
    %half_int = arith.index_cast %half : index to i32
    %one_int = arith.constant 1 : i32
    %barrier = arith.addi %half_int, %one_int : i32
    %warp = arith.divui %half_tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %g = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %my_row = affine.apply affine_map<(w, g) -> (16 * w + g)>(%warp, %g)
    %t_4 = arith.muli %t, %c4 : index
    %t_2 = arith.muli %t, %c2 : index

    // Copying: chunks of keys are exchanged by the last bit of their row, of values by the two before.
    %chunk = arith.remui %half_tid, %c16 : index
    %copy_row = arith.divui %half_tid, %c16 : index
    %d_any = arith.muli %chunk, %c4 : index
    %d_in = arith.cmpi ult, %d_any, %depth : index
    %count = arith.select %d_in, %c4, %c0 : index
    %last_d = arith.subi %depth, %c4 : index
    %d = arith.minui %d_any, %last_d : index
    %copy_odd = arith.remui %copy_row, %c2 : index
    %copy_odd_4 = arith.muli %copy_odd, %c4 : index
    %k_chunk = arith.xori %chunk, %copy_odd_4 : index
    %k_d = arith.muli %k_chunk, %c4 : index
    %copy_pair = arith.andi %copy_row, %c6 : index
    %v_chunk = arith.xori %chunk, %copy_pair : index
    %v_d = arith.muli %v_chunk, %c4 : index

    // An empty, oldest group: only its token is wanted, which the wait takes. (Without an attribute the printed form does
    // not parse.)
    %token = nvgpu.device_async_create_group {tinymlir.all}
    %key_begin = arith.muli %half, %tile_keys : index
    func.call @copy(%k_from, %n, %key_begin, %copy_row, %d, %count, %k, %half, %k_d) : (!global, index, index, index, index, index, !tiles, index, index) -> ()
    %first = nvgpu.device_async_create_group {tinymlir.all}

    // Q stays in registers: of rows my_row and my_row + 8 elements 16 u + 4 t and the three after.
    %q_none = arith.constant dense<0.0> : !q_part
    %no_four = arith.constant dense<0.0> : vector<4xf32>
    %last_row = arith.subi %m, %c1 : index
    %q = affine.for %u = 0 to 4 iter_args(%f = %q_none) -> (!q_part) {
      %c_any = affine.apply affine_map<(t, u) -> (t + 16 * u)>(%t_4, %u)
      %c_in = arith.cmpi ult, %c_any, %depth : index
      %c = arith.minui %c_any, %last_d : index
      %f2 = affine.for %h = 0 to 2 iter_args(%f0 = %f) -> (!q_part) {
        %r_any = affine.apply affine_map<(o, r, h) -> (o + r + 8 * h)>(%row0, %my_row, %h)
        %r = arith.minui %r_any, %last_row : index
        %x_any = vector.load %q_from[%r, %c] {alignment = 16 : i64} : !global, vector<4xf32>
        %x = arith.select %c_in, %x_any, %no_four : vector<4xf32>
        %bits = vector.bitcast %x : vector<4xf32> to vector<4xi32>
        // Rounded unless it is infinite or no number.
        %exponent = arith.constant dense<0x7F800000> : vector<4xi32>
        %up = arith.constant dense<0x1000> : vector<4xi32>
        %its = arith.andi %bits, %exponent : vector<4xi32>
        %finite = arith.cmpi ne, %its, %exponent : vector<4xi32>
        %more = arith.addi %bits, %up : vector<4xi32>
        %rounded = arith.select %finite, %more, %bits : vector<4xi1>, vector<4xi32>
        %y = vector.bitcast %rounded : vector<4xi32> to vector<4xf32>
        %f1 = vector.insert %y, %f0[%u, %h] : vector<4xf32> into !q_part
        affine.yield %f1 : !q_part
      }
      affine.yield %f2 : !q_part
    }

    %no_out = arith.constant dense<0.0> : !sums
    %no_scores = arith.constant dense<0.0> : !scores
    %no_sum = arith.constant dense<0.0> : vector<2xf32>
    %lows = arith.constant dense<0xFF800000> : vector<2xf32>
    %res:3 = scf.for %key0 = %key_begin to %n step %step_keys
        iter_args(%out = %no_out, %maxima = %lows, %sums = %no_sum) -> (!sums, vector<2xf32>, vector<2xf32>) {
      // The keys are there, and the values before are no longer read.
      nvgpu.device_async_wait %token {numGroups = 0 : i32}
      nvvm.barrier id = %barrier number_of_threads = %half_threads
      func.call @copy(%v_from, %n, %key0, %copy_row, %d, %count, %v, %half, %v_d) : (!global, index, index, index, index, index, !tiles, index, index) -> ()
      %v_group = nvgpu.device_async_create_group {tinymlir.all}

      // Scores: keys 8 j + g of the tile, elements as of Q.
      %g_odd = arith.remui %g, %c2 : index
      %products = affine.for %u = 0 to 4 iter_args(%f = %no_scores) -> (!scores) {
        %u_swapped = arith.xori %g_odd, %u : index
        %k_c = affine.apply affine_map<(t, u) -> (t + 16 * u)>(%t_4, %u_swapped)
        %f2 = affine.for %j = 0 to 4 iter_args(%f0 = %f) -> (!scores) {
          %r = affine.apply affine_map<(g, j) -> (g + 8 * j)>(%g, %j)
          %b4 = vector.load %k[%half, %r, %k_c] {alignment = 16 : i64} : !tiles, vector<4xf32>
          %b2 = vector.shape_cast %b4 : vector<4xf32> to vector<2x2x1xf32>
          %old = vector.extract %f0[%j] : vector<2x2xf32> from !scores
          %new = affine.for %s = 0 to 2 iter_args(%sum = %old) -> (vector<2x2xf32>) {
            %s2 = affine.apply affine_map<(s) -> (2 * s)>(%s)
            %s3 = affine.apply affine_map<(s) -> (2 * s + 1)>(%s)
            %a0 = vector.extract %q[%u, 0, %s2] : f32 from !q_part
            %a1 = vector.extract %q[%u, 1, %s2] : f32 from !q_part
            %a2 = vector.extract %q[%u, 0, %s3] : f32 from !q_part
            %a3 = vector.extract %q[%u, 1, %s3] : f32 from !q_part
            %a = vector.from_elements %a0, %a1, %a2, %a3 : vector<4x1xf32>
            %b = vector.extract %b2[%s] : vector<2x1xf32> from vector<2x2x1xf32>
            %more = nvgpu.mma.sync (%a, %b, %sum) {mmaShape = [16, 8, 8], tf32Enabled}
                : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
            affine.yield %more : vector<2x2xf32>
          }
          %f1 = vector.insert %new, %f0[%j] : vector<2x2xf32> into !scores
          affine.yield %f1 : !scores
        }
        affine.yield %f2 : !scores
      }

      %next0 = arith.addi %key0, %tile_keys : index
      %all_kept = arith.cmpi ule, %next0, %n_kept : index
      %scores = scf.if %all_kept -> (!scores) {
        %s = affine.for %j = 0 to 4 iter_args(%f = %products) -> (!scores) {
          %f4 = affine.for %h = 0 to 2 iter_args(%f0 = %f) -> (!scores) {
            %f3 = affine.for %u = 0 to 2 iter_args(%f1 = %f0) -> (!scores) {
              %row = affine.apply affine_map<(o, r, h) -> (o + r + 8 * h)>(%row0, %my_row, %h)
              %key = affine.apply affine_map<(o, t, j, u) -> (o + t + 8 * j + u)>(%key0, %t_2, %j, %u)
              %x = vector.extract %products[%j, %h, %u] : f32 from !scores
              %y = func.call @score_kept(%x, %batch, %row, %key, %X) : (f32, index, index, index, !extra) -> f32
              %f2 = vector.insert %y, %f1[%j, %h, %u] : f32 into !scores
              affine.yield %f2 : !scores
            }
            affine.yield %f3 : !scores
          }
          affine.yield %f4 : !scores
        }
        scf.yield %s : !scores
      } else {
        %s = affine.for %j = 0 to 4 iter_args(%f = %products) -> (!scores) {
          %f4 = affine.for %h = 0 to 2 iter_args(%f0 = %f) -> (!scores) {
            %f3 = affine.for %u = 0 to 2 iter_args(%f1 = %f0) -> (!scores) {
              %row = affine.apply affine_map<(o, r, h) -> (o + r + 8 * h)>(%row0, %my_row, %h)
              %key = affine.apply affine_map<(o, t, j, u) -> (o + t + 8 * j + u)>(%key0, %t_2, %j, %u)
              %x = vector.extract %products[%j, %h, %u] : f32 from !scores
              %y_any = func.call @score(%x, %batch, %row, %key, %X) : (f32, index, index, index, !extra) -> f32
              %in = arith.cmpi ult, %key, %n : index
              %y = arith.select %in, %y_any, %low : f32
              %f2 = vector.insert %y, %f1[%j, %h, %u] : f32 into !scores
              affine.yield %f2 : !scores
            }
            affine.yield %f3 : !scores
          }
          affine.yield %f4 : !scores
        }
        scf.yield %s : !scores
      }

      // The running maximum, and what is there already on the new scale.
      %new_maxima = affine.for %h = 0 to 2 iter_args(%f = %maxima) -> (vector<2xf32>) {
        %mine = affine.for %j = 0 to 4 iter_args(%most = %low) -> (f32) {
          %x = vector.extract %scores[%j, %h, 0] : f32 from !scores
          %y = vector.extract %scores[%j, %h, 1] : f32 from !scores
          %xy = llvm.intr.maximum(%x, %y) : (f32, f32) -> f32
          %more = llvm.intr.maximum(%most, %xy) : (f32, f32) -> f32
          affine.yield %more : f32
        }
        %rows = func.call @row_maximum(%mine) : (f32) -> f32
        %old = vector.extract %maxima[%h] : f32 from vector<2xf32>
        %new = llvm.intr.maximum(%old, %rows) : (f32, f32) -> f32
        %f1 = vector.insert %new, %f[%h] : f32 into vector<2xf32>
        affine.yield %f1 : vector<2xf32>
      }
      // In powers of two. A row without a score so far has no maximum to subtract.
      %shift = affine.for %h = 0 to 2 iter_args(%f = %no_sum) -> (vector<2xf32>) {
        %max = vector.extract %new_maxima[%h] : f32 from vector<2xf32>
        %is_low = arith.cmpf oeq, %max, %low : f32
        %some = arith.select %is_low, %zero, %max : f32
        %scaled = arith.mulf %some, %log2e : f32
        %less = arith.negf %scaled : f32
        %f1 = vector.insert %less, %f[%h] : f32 into vector<2xf32>
        affine.yield %f1 : vector<2xf32>
      }
      %scale = affine.for %h = 0 to 2 iter_args(%f = %no_sum) -> (vector<2xf32>) {
        %old = vector.extract %maxima[%h] : f32 from vector<2xf32>
        %less = vector.extract %shift[%h] : f32 from vector<2xf32>
        %past = math.fma %old, %log2e, %less : f32
        %e = func.call @exp2(%past) : (f32) -> f32
        %f1 = vector.insert %e, %f[%h] : f32 into vector<2xf32>
        affine.yield %f1 : vector<2xf32>
      }
      %exponentials = affine.for %j = 0 to 4 iter_args(%f = %no_scores) -> (!scores) {
        %f4 = affine.for %h = 0 to 2 iter_args(%f0 = %f) -> (!scores) {
          %less = vector.extract %shift[%h] : f32 from vector<2xf32>
          %f3 = affine.for %u = 0 to 2 iter_args(%f1 = %f0) -> (!scores) {
            %s = vector.extract %scores[%j, %h, %u] : f32 from !scores
            %x = math.fma %s, %log2e, %less : f32
            %e = func.call @exp2(%x) : (f32) -> f32
            %f2 = vector.insert %e, %f1[%j, %h, %u] : f32 into !scores
            affine.yield %f2 : !scores
          }
          affine.yield %f3 : !scores
        }
        affine.yield %f4 : !scores
      }
      %scaled_sums = arith.mulf %sums, %scale : vector<2xf32>
      %new_sums = affine.for %j = 0 to 4 iter_args(%f = %scaled_sums) -> (vector<2xf32>) {
        %f2 = affine.for %h = 0 to 2 iter_args(%f0 = %f) -> (vector<2xf32>) {
          %x = vector.extract %exponentials[%j, %h, 0] : f32 from !scores
          %y = vector.extract %exponentials[%j, %h, 1] : f32 from !scores
          %old = vector.extract %f0[%h] : f32 from vector<2xf32>
          %xy = arith.addf %x, %y : f32
          %new = arith.addf %old, %xy : f32
          %f1 = vector.insert %new, %f0[%h] : f32 into vector<2xf32>
          affine.yield %f1 : vector<2xf32>
        }
        affine.yield %f2 : vector<2xf32>
      }
      %scaled = affine.for %j = 0 to 8 iter_args(%f = %out) -> (!sums) {
        %f2 = affine.for %h = 0 to 2 iter_args(%f0 = %f) -> (!sums) {
          %x = vector.extract %out[%j, %h] : vector<2xf32> from !sums
          %e = vector.extract %scale[%h] : f32 from vector<2xf32>
          %e2 = vector.broadcast %e : f32 to vector<2xf32>
          %y = arith.mulf %x, %e2 : vector<2xf32>
          %f1 = vector.insert %y, %f0[%j, %h] : vector<2xf32> into !sums
          affine.yield %f1 : !sums
        }
        affine.yield %f2 : !sums
      }

      // The values are there, and these keys are no longer read.
      nvgpu.device_async_wait %token {numGroups = 0 : i32}
      nvvm.barrier id = %barrier number_of_threads = %half_threads
      %after0 = arith.addi %key0, %step_keys : index
      func.call @copy(%k_from, %n, %after0, %copy_row, %d, %count, %k, %half, %k_d) : (!global, index, index, index, index, index, !tiles, index, index) -> ()
      %k_group = nvgpu.device_async_create_group {tinymlir.all}

      // Values: product 4 w + i holds columns 32 w + 4 c + i.
      %new_out = affine.for %j = 0 to 4 iter_args(%f = %scaled) -> (!sums) {
        %a0_any = vector.extract %exponentials[%j, 0, 0] : f32 from !scores
        %a1_any = vector.extract %exponentials[%j, 1, 0] : f32 from !scores
        %a2_any = vector.extract %exponentials[%j, 0, 1] : f32 from !scores
        %a3_any = vector.extract %exponentials[%j, 1, 1] : f32 from !scores
        %a0 = func.call @round(%a0_any) : (f32) -> f32
        %a1 = func.call @round(%a1_any) : (f32) -> f32
        %a2 = func.call @round(%a2_any) : (f32) -> f32
        %a3 = func.call @round(%a3_any) : (f32) -> f32
        %a = vector.from_elements %a0, %a1, %a2, %a3 : vector<4x1xf32>
        %r = affine.apply affine_map<(t, j) -> (t + 8 * j)>(%t_2, %j)
        %r_next = affine.apply affine_map<(t, j) -> (t + 8 * j + 1)>(%t_2, %j)
        %v_place = arith.xori %g, %t_2 : index
        %f3 = affine.for %w = 0 to 2 iter_args(%f0 = %f) -> (!sums) {
          %c = affine.apply affine_map<(c, w) -> (4 * c + 32 * w)>(%v_place, %w)
          %x4 = vector.load %v[%half, %r, %c] {alignment = 16 : i64} : !tiles, vector<4xf32>
          %y4 = vector.load %v[%half, %r_next, %c] {alignment = 16 : i64} : !tiles, vector<4xf32>
          %f2 = affine.for %i = 0 to 4 iter_args(%f1 = %f0) -> (!sums) {
            %p = affine.apply affine_map<(w, i) -> (4 * w + i)>(%w, %i)
            %x = vector.extract %x4[%i] : f32 from vector<4xf32>
            %y = vector.extract %y4[%i] : f32 from vector<4xf32>
            %b = vector.from_elements %x, %y : vector<2x1xf32>
            %old = vector.extract %f1[%p] : vector<2x2xf32> from !sums
            %new = nvgpu.mma.sync (%a, %b, %old) {mmaShape = [16, 8, 8], tf32Enabled}
                : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
            %s = vector.insert %new, %f1[%p] : vector<2x2xf32> into !sums
            affine.yield %s : !sums
          }
          affine.yield %f2 : !sums
        }
        affine.yield %f3 : !sums
      }
      scf.yield %new_out, %new_maxima, %new_sums : !sums, vector<2xf32>, vector<2xf32>
    }

    // The second half of the keys goes through the memory of keys and values, which no copy writes any more.
    nvgpu.device_async_wait %token {numGroups = 0 : i32}
    gpu.barrier
    %sums = affine.for %h = 0 to 2 iter_args(%f = %no_sum) -> (vector<2xf32>) {
      %mine = vector.extract %res#2[%h] : f32 from vector<2xf32>
      %sum = func.call @row_sum(%mine) : (f32) -> f32
      %f1 = vector.insert %sum, %f[%h] : f32 into vector<2xf32>
      affine.yield %f1 : vector<2xf32>
    }
    %out = vector.shape_cast %res#0 : !sums to vector<8x4xf32>
    %pair_row = arith.divui %half_tid, %c16 : index
    %pair_d = arith.muli %chunk, %c4 : index
    %is_second = arith.cmpi eq, %half, %c1 : index
    scf.if %is_second {
      affine.for %i = 0 to 8 {
        %hf = affine.apply affine_map<(i) -> (i floordiv 4)>(%i)
        %r = affine.apply affine_map<(r, i) -> (r + 8 * (i mod 4))>(%pair_row, %i)
        %x = vector.extract %out[%i] : vector<4xf32> from vector<8x4xf32>
        vector.store %x, %k[%hf, %r, %pair_d] {alignment = 16 : i64} : !tiles, vector<4xf32>
      }
      %max0 = vector.extract %res#1[0] : f32 from vector<2xf32>
      %max1 = vector.extract %res#1[1] : f32 from vector<2xf32>
      %sum0 = vector.extract %sums[0] : f32 from vector<2xf32>
      %sum1 = vector.extract %sums[1] : f32 from vector<2xf32>
      %both = vector.from_elements %max0, %max1, %sum0, %sum1 : vector<4xf32>
      vector.store %both, %v[%c0, %pair_row, %pair_d] {alignment = 16 : i64} : !tiles, vector<4xf32>
    }
    gpu.barrier
    %is_first = arith.cmpi eq, %half, %c0 : index
    scf.if %is_first {
      %both = vector.load %v[%c0, %pair_row, %pair_d] {alignment = 16 : i64} : !tiles, vector<4xf32>
      %theirs_none = arith.constant dense<0.0> : vector<8x4xf32>
      %theirs_flat = affine.for %i = 0 to 8 iter_args(%f = %theirs_none) -> (vector<8x4xf32>) {
        %hf = affine.apply affine_map<(i) -> (i floordiv 4)>(%i)
        %r = affine.apply affine_map<(r, i) -> (r + 8 * (i mod 4))>(%pair_row, %i)
        %x = vector.load %k[%hf, %r, %pair_d] {alignment = 16 : i64} : !tiles, vector<4xf32>
        %f1 = vector.insert %x, %f[%i] : vector<4xf32> into vector<8x4xf32>
        affine.yield %f1 : vector<8x4xf32>
      }
      %theirs = vector.shape_cast %theirs_flat : vector<8x4xf32> to !sums
      %both2 = vector.shape_cast %both : vector<4xf32> to vector<2x2xf32>
      affine.for %h = 0 to 2 {
        %my_max = vector.extract %res#1[%h] : f32 from vector<2xf32>
        %their_max = vector.extract %both2[0, %h] : f32 from vector<2x2xf32>
        %my_sum = vector.extract %sums[%h] : f32 from vector<2xf32>
        %their_sum = vector.extract %both2[1, %h] : f32 from vector<2x2xf32>
        %max = llvm.intr.maximum(%my_max, %their_max) : (f32, f32) -> f32
        %is_low = arith.cmpf oeq, %max, %low : f32
        %some = arith.select %is_low, %zero, %max : f32
        %scaled = arith.mulf %some, %log2e : f32
        %less = arith.negf %scaled : f32
        %my_past = math.fma %my_max, %log2e, %less : f32
        %my_scale = func.call @exp2(%my_past) : (f32) -> f32
        %their_past = math.fma %their_max, %log2e, %less : f32
        %their_scale = func.call @exp2(%their_past) : (f32) -> f32
        %my_part = arith.mulf %my_sum, %my_scale : f32
        %their_part = arith.mulf %their_sum, %their_scale : f32
        %sum = arith.addf %my_part, %their_part : f32
        %my_share = arith.divf %my_scale, %sum : f32
        %their_share = arith.divf %their_scale, %sum : f32
        %row = affine.apply affine_map<(o, r, h) -> (o + r + 8 * h)>(%row0, %my_row, %h)
        %row_in = arith.cmpi ult, %row, %m : index
        affine.for %w = 0 to 2 {
          affine.for %u = 0 to 2 {
            %c = affine.apply affine_map<(t, w, u) -> (2 * t + 32 * w + 4 * u)>(%t_4, %w, %u)
            %c_in = arith.cmpi ult, %c, %depth : index
            %in = arith.andi %row_in, %c_in : i1
            scf.if %in {
              %z = affine.for %i = 0 to 4 iter_args(%f = %no_four) -> (vector<4xf32>) {
                %p = affine.apply affine_map<(w, i) -> (4 * w + i)>(%w, %i)
                %x = vector.extract %res#0[%p, %h, %u] : f32 from !sums
                %y = vector.extract %theirs[%p, %h, %u] : f32 from !sums
                %x_scaled = arith.mulf %x, %my_share : f32
                %xy = math.fma %y, %their_share, %x_scaled : f32
                %f1 = vector.insert %xy, %f[%i] : f32 into vector<4xf32>
                affine.yield %f1 : vector<4xf32>
              }
              vector.store %z, %O[%batch, %row, %c] {alignment = 16 : i64} : !out_view, vector<4xf32>
            }
          }
        }
      }
    }
    gpu.return
  }
}

func.func private @attention(%Q: !q_view, %K: !k_view, %V: !v_view, %O: !out_view, %X: !extra) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant #threads
  %tile_rows = arith.constant #tile_rows
  %batches = memref.dim %Q, %c0 : !q_view
  %m = memref.dim %Q, %c1 : !q_view
  %row_tiles = arith.ceildivui %m, %tile_rows : index
  %blocks = arith.muli %row_tiles, %batches : index
  gpu.launch_func @attention_tf32_kernels::@attention_tf32 blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%Q : !q_view, %K : !k_view, %V : !v_view, %O : !out_view, %X : !extra)
  return
}
}
