// RUN: tinymlir-opt %s | FileCheck %s
// O = softmax(score(Q K^T)) V on tensor cores in one pass over the keys, sm_80 or newer: f32 in memory, products of tf32 (10 bits
// of mantissa, to which factors are rounded to nearest), sums, maxima and exponentials in f32. Q: M x D, K and V: N x D,
// O: M x D, batched. Any M and N below 2^31. D is at most 64; D, the strides and the offsets are multiples of 4 elements, and the
// buffers are aligned to 16 bytes. Sums are in a fixed order.
//
// A block of 256 threads makes 64 rows, in four groups of two warps, each of which takes every fourth tile of 16 keys, with
// maxima and sums of its own. A warp has 32 rows, so that what it reads of keys and values serves two products. Values arrive by
// asynchronous copies while scores are computed, the next keys while values are multiplied. At the end groups 2 and 3 hand what they
// have to groups 0 and 1, and group 1 to group 0.
//
// Of a product of 16x8 elements lane 4 g + t holds rows g and g + 8, columns 2 t and 2 t + 1. What is summed over may stand in any
// order that both factors share, and columns in any order that the store knows. So elements of Q and K are taken by four
// neighbours a lane; key 8 j + 2 t of the exponentials is summed as element t, key 8 j + 2 t + 1 as element t + 4, which leaves a lane's
// scores in their registers; and columns 4 c to 4 c + 3 of V, which a lane reads at once, are column c of four products. The
// 16-byte chunks of a row of K or V are exchanged by its number, so that neighbours read different banks.
//
// CHECK: gpu.func @attention_tf32(
// CHECK: func.func private @attention(

// Parameters: whether keys after a row's own place have no score, so that they need not be read; whether a row without any score is
// zero, and not a quotient of zeros; an operand that @score
// may read; whether D is 64; what multiplies scores before the power of two, at once with what is added or not; views, whose strides may be constants; @score; and @score_kept.
#causal = false
#zero_rows = false
#whole_depth = false
#fused = false
#factor = 1.44269504 : f32
!extra = memref<f32>
!q_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!k_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!v_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!out_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>

!global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
// Keys and values, group, key, element.
!tiles = memref<2x4x16x64xf32, #gpu.address_space<workgroup>>
!handed = memref<2x64x8xf32, #gpu.address_space<workgroup>>
!q_part = vector<4x4x4xf32>
!scores = vector<2x4x2xf32>
!sums = vector<8x4x2xf32>
#two = 2 : index
#groups = 4 : index
#handed_words = 8 : index
#tile_rows = 64 : index
#tile_keys = 16 : index
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
  // What is added to scores, or with #fused to their multiples by #factor, for these maxima. A row without a score so far has
  // no maximum to subtract.
  func.func private @shift(%maxima: vector<4xf32>) -> vector<4xf32> {
    %lows = arith.constant dense<0xFF800000> : vector<4xf32>
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %factor = arith.constant #factor
    %fused = arith.constant #fused
    %factors = vector.broadcast %factor : f32 to vector<4xf32>
    %is_low = arith.cmpf oeq, %maxima, %lows : vector<4xf32>
    %some = arith.select %is_low, %zeros, %maxima : vector<4xi1>, vector<4xf32>
    %less = arith.negf %some : vector<4xf32>
    %less_scaled = arith.mulf %less, %factors : vector<4xf32>
    %shift = arith.select %fused, %less_scaled, %less : vector<4xf32>
    return %shift : vector<4xf32>
  }
  // The exponential of a score.
  func.func private @exponential(%score: f32, %shift: f32) -> f32 {
    %factor = arith.constant #factor
    %fused = arith.constant #fused
    %x_fused = math.fma %score, %factor, %shift : f32
    %less = arith.addf %score, %shift : f32
    %x_exact = arith.mulf %less, %factor : f32
    %x = arith.select %fused, %x_fused, %x_exact : f32
    %e = func.call @exp2(%x) : (f32) -> f32
    return %e : f32
  }
  func.func private @exponentials(%scores: vector<4xf32>, %shift: vector<4xf32>) -> vector<4xf32> {
    %all = affine.for %i = 0 to 4 iter_args(%f = %scores) -> (vector<4xf32>) {
      %x = vector.extract %scores[%i] : f32 from vector<4xf32>
      %less = vector.extract %shift[%i] : f32 from vector<4xf32>
      %y = func.call @exponential(%x, %less) : (f32, f32) -> f32
      %f1 = vector.insert %y, %f[%i] : f32 into vector<4xf32>
      affine.yield %f1 : vector<4xf32>
    }
    return %all : vector<4xf32>
  }
  // The rows of a batch in global memory.
  func.func private @rows(%base: memref<f32>, %at: index, %batch_stride: index, %row_stride: index, %batch: index, %n: index, %depth: index) -> !global {
    %skipped = arith.muli %batch, %batch_stride : index
    %from = arith.addi %at, %skipped : index
    %all = memref.reinterpret_cast %base to offset: [%from], sizes: [%n, %depth], strides: [%row_stride, 1] : memref<f32> to !rows
    %rows = memref.memory_space_cast %all : !rows to !global
    return %rows : !global
  }
  // Rounds to tf32, to nearest.
  func.func private @round(%x: f32) -> f32 {
    %bits = nvvm.convert.float.to.tf32 %x {rnd = #nvvm.fp_rnd_mode<rna>}
    %r = arith.bitcast %bits : i32 to f32
    return %r : f32
  }
  // The same of an exponential: where it is no number the row's sum is none either, and it need not be looked for.
  func.func private @round_exponential(%x: f32) -> f32 {
    %half = arith.constant 0x1000 : i32
    %bits = arith.bitcast %x : f32 to i32
    %up = arith.addi %bits, %half : i32
    %r = arith.bitcast %up : i32 to f32
    return %r : f32
  }
  func.func private @round4(%x: vector<4xf32>) -> vector<4xf32> {
    %all = affine.for %i = 0 to 4 iter_args(%f = %x) -> (vector<4xf32>) {
      %one = vector.extract %x[%i] : f32 from vector<4xf32>
      %y = func.call @round(%one) : (f32) -> f32
      %f1 = vector.insert %y, %f[%i] : f32 into vector<4xf32>
      affine.yield %f1 : vector<4xf32>
    }
    return %all : vector<4xf32>
  }
  // A product of 16x8 by 8x8 factors added to a sum: rows g and g + 8.
  func.func private @multiply(%a: vector<4x1xf32>, %b: vector<2x1xf32>, %top: vector<2xf32>, %bottom: vector<2xf32>)
      -> (vector<2xf32>, vector<2xf32>) {
    %none = ub.poison : vector<2x2xf32>
    %half = vector.insert %top, %none[0] : vector<2xf32> into vector<2x2xf32>
    %sum = vector.insert %bottom, %half[1] : vector<2xf32> into vector<2x2xf32>
    %new = nvgpu.mma.sync (%a, %b, %sum) {mmaShape = [16, 8, 8], tf32Enabled}
        : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    %r0 = vector.extract %new[0] : vector<2xf32> from vector<2x2xf32>
    %r1 = vector.extract %new[1] : vector<2xf32> from vector<2x2xf32>
    return %r0, %r1 : vector<2xf32>, vector<2xf32>
  }
  // Starts to copy 16 rows of keys or values from row %row0 on; zero past column D. Past the last row, %n - 1, it is that one
  // again: what is made of it is not used. A thread takes four elements of every fourth row: at column %d from outside, as chunk
  // %to_chunk here, exchanged by %swap in every other of its rows.
  func.func private @copy(%from: !global, %n: index, %row0: index, %row: index, %d: index, %count: index,
                          %to: !tiles, %kind: index, %group: index, %to_chunk: index, %swap: index) {
    %c1 = arith.constant 1 : index
    %last_row = arith.subi %n, %c1 : index
    %last = arith.index_cast %last_row : index to i32
    affine.for %i = 0 to 4 {
      %r = affine.apply affine_map<(r, i) -> (r + 4 * i)>(%row, %i)
      %odd = affine.apply affine_map<(i) -> (i mod 2)>(%i)
      %by = arith.muli %swap, %odd : index
      %chunk = arith.xori %to_chunk, %by : index
      %to_d = affine.apply affine_map<(c) -> (4 * c)>(%chunk)
      %g_any = arith.addi %row0, %r : index
      %g_int = arith.index_cast %g_any : index to i32
      %g_least = arith.minui %g_int, %last : i32
      %g = arith.index_castui %g_least : i32 to index
      %t = nvgpu.device_async_copy %from[%g, %d], %to[%kind, %group, %r, %to_d], 4, %count {bypassL1} : !global to !tiles
    }
    return
  }

  gpu.func @attention_tf32(%Q: !q_view, %K: !k_view, %V: !v_view, %O: !out_view, %X: !extra)
      workgroup(%tiles: !tiles {llvm.align = 16 : i64}, %handed: !handed {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %tile_rows = arith.constant #tile_rows
    %tile_keys = arith.constant #tile_keys
    %step_keys = arith.constant #step_keys
    %group_threads = arith.constant 64 : i32
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
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
    // Keys before this one are there and kept for every row of the block.
    %kept_causal = arith.minui %n_all, %row0 : index
    %n_kept = arith.select %causal, %kept_causal, %n_all : index
    %q_base, %q_at, %q_sizes:3, %q_strides:3 = memref.extract_strided_metadata %Q : !q_view -> memref<f32>, index, index, index, index, index, index, index
    %q_from = func.call @rows(%q_base, %q_at, %q_strides#0, %q_strides#1, %batch, %m, %depth) : (memref<f32>, index, index, index, index, index, index) -> !global
    %k_base, %k_at, %k_sizes:3, %k_strides:3 = memref.extract_strided_metadata %K : !k_view -> memref<f32>, index, index, index, index, index, index, index
    %k_from = func.call @rows(%k_base, %k_at, %k_strides#0, %k_strides#1, %batch, %n_all, %depth) : (memref<f32>, index, index, index, index, index, index) -> !global
    %v_base, %v_at, %v_sizes:3, %v_strides:3 = memref.extract_strided_metadata %V : !v_view -> memref<f32>, index, index, index, index, index, index, index
    %v_from = func.call @rows(%v_base, %v_at, %v_strides#0, %v_strides#1, %batch, %n_all, %depth) : (memref<f32>, index, index, index, index, index, index) -> !global

    // A thread's place: its group, which has a barrier of its own; a warp's rows; and a lane's within them.
    %tid = gpu.thread_id x upper_bound 256
    %group = arith.divui %tid, %c64 : index
    %group_tid = arith.remui %tid, %c64 : index
    %group_int = arith.index_cast %group : index to i32
    %one_int = arith.constant 1 : i32
    %barrier = arith.addi %group_int, %one_int : i32
    %warp = arith.divui %group_tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %g = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %my_row = affine.apply affine_map<(w, g) -> (32 * w + g)>(%warp, %g)
    %t_2 = arith.muli %t, %c2 : index
    %t_4 = arith.muli %t, %c4 : index

    // Copying: chunks of keys are exchanged by the last bit of their row, of values by the two before.
    %chunk = arith.remui %group_tid, %c16 : index
    %copy_row = arith.divui %group_tid, %c16 : index
    %d_any = arith.muli %chunk, %c4 : index
    %whole_depth = arith.constant #whole_depth
    %d_inside = arith.cmpi ult, %d_any, %depth : index
    %d_in = arith.ori %whole_depth, %d_inside : i1
    %count = arith.select %d_in, %c4, %c0 : index
    %last_d = arith.subi %depth, %c4 : index
    %d = arith.minui %d_any, %last_d : index
    %copy_odd = arith.remui %copy_row, %c2 : index
    %copy_odd_4 = arith.muli %copy_odd, %c4 : index
    %k_chunk = arith.xori %chunk, %copy_odd_4 : index
    %copy_pair = arith.andi %copy_row, %c2 : index
    %v_chunk = arith.xori %chunk, %copy_pair : index

    // An empty, oldest group: only its token is wanted, which the wait takes. (Without an attribute the printed form does
    // not parse.)
    %token = nvgpu.device_async_create_group {tinymlir.all}
    %key_begin = arith.muli %group, %tile_keys : index
    func.call @copy(%k_from, %n, %key_begin, %copy_row, %d, %count, %tiles, %c0, %group, %k_chunk, %c0) : (!global, index, index, index, index, index, !tiles, index, index, index, index) -> ()
    %first = nvgpu.device_async_create_group {tinymlir.all}

    // Q stays in registers: of rows my_row + 8 e elements 16 u + 4 t and the three after.
    %q_none = ub.poison : !q_part
    %no_four = arith.constant dense<0.0> : vector<4xf32>
    %last_row = arith.subi %m, %c1 : index
    %q = affine.for %u = 0 to 4 iter_args(%f = %q_none) -> (!q_part) {
      %c_any = affine.apply affine_map<(t, u) -> (t + 16 * u)>(%t_4, %u)
      %c_inside = arith.cmpi ult, %c_any, %depth : index
      %c_in = arith.ori %whole_depth, %c_inside : i1
      %c = arith.minui %c_any, %last_d : index
      %f2 = affine.for %e = 0 to 4 iter_args(%f0 = %f) -> (!q_part) {
        %r_any = affine.apply affine_map<(o, r, e) -> (o + r + 8 * e)>(%row0, %my_row, %e)
        %r = arith.minui %r_any, %last_row : index
        %x_any = vector.load %q_from[%r, %c] {alignment = 16 : i64} : !global, vector<4xf32>
        %x = arith.select %c_in, %x_any, %no_four : vector<4xf32>
        %y = func.call @round4(%x) : (vector<4xf32>) -> vector<4xf32>
        %f1 = vector.insert %y, %f0[%u, %e] : vector<4xf32> into !q_part
        affine.yield %f1 : !q_part
      }
      affine.yield %f2 : !q_part
    }

    %no_out = arith.constant dense<0.0> : !sums
    %no_scores = arith.constant dense<0.0> : !scores
    %no_sum = arith.constant dense<0.0> : vector<4xf32>
    %lows = arith.constant dense<0xFF800000> : vector<4xf32>
    %all_lanes = arith.constant -1 : i32
    %factor = arith.constant #factor
    %eight = arith.constant 8.0 : f32
    %slack_1 = arith.divf %eight, %factor : f32
    %slack = vector.broadcast %slack_1 : f32 to vector<4xf32>
    %res:3 = scf.for %key0 = %key_begin to %n step %step_keys
        iter_args(%out = %no_out, %maxima = %lows, %sums = %no_sum) -> (!sums, vector<4xf32>, vector<4xf32>) {
      // The keys are there, and the values before are no longer read.
      nvgpu.device_async_wait %token {numGroups = 0 : i32}
      nvvm.barrier id = %barrier number_of_threads = %group_threads
      func.call @copy(%v_from, %n, %key0, %copy_row, %d, %count, %tiles, %c1, %group, %v_chunk, %c4) : (!global, index, index, index, index, index, !tiles, index, index, index, index) -> ()
      %v_group = nvgpu.device_async_create_group {tinymlir.all}

      // Scores: keys 8 j + g of the tile, elements as of Q.
      %g_odd = arith.remui %g, %c2 : index
      %products = affine.for %u = 0 to 4 iter_args(%f = %no_scores) -> (!scores) {
        %u_swapped = arith.xori %g_odd, %u : index
        %k_c = affine.apply affine_map<(t, u) -> (t + 16 * u)>(%t_4, %u_swapped)
        %f4 = affine.for %j = 0 to 2 iter_args(%f0 = %f) -> (!scores) {
          %r = affine.apply affine_map<(g, j) -> (g + 8 * j)>(%g, %j)
          %b4_exact = vector.load %tiles[%c0, %group, %r, %k_c] {alignment = 16 : i64} : !tiles, vector<4xf32>
          %b4 = func.call @round4(%b4_exact) : (vector<4xf32>) -> vector<4xf32>
          %b2 = vector.shape_cast %b4 : vector<4xf32> to vector<2x2x1xf32>
          %f3 = affine.for %s = 0 to 2 iter_args(%f1 = %f0) -> (!scores) {
            %b = vector.extract %b2[%s] : vector<2x1xf32> from vector<2x2x1xf32>
            %s0 = affine.apply affine_map<(s) -> (2 * s)>(%s)
            %s1 = affine.apply affine_map<(s) -> (2 * s + 1)>(%s)
            %f2 = affine.for %i = 0 to 2 iter_args(%h = %f1) -> (!scores) {
              %e0 = affine.apply affine_map<(i) -> (2 * i)>(%i)
              %e1 = affine.apply affine_map<(i) -> (2 * i + 1)>(%i)
              %a0 = vector.extract %q[%u, %e0, %s0] : f32 from !q_part
              %a1 = vector.extract %q[%u, %e1, %s0] : f32 from !q_part
              %a2 = vector.extract %q[%u, %e0, %s1] : f32 from !q_part
              %a3 = vector.extract %q[%u, %e1, %s1] : f32 from !q_part
              %a = vector.from_elements %a0, %a1, %a2, %a3 : vector<4x1xf32>
              %top = vector.extract %h[%j, %e0] : vector<2xf32> from !scores
              %bottom = vector.extract %h[%j, %e1] : vector<2xf32> from !scores
              %new:2 = func.call @multiply(%a, %b, %top, %bottom) : (vector<4x1xf32>, vector<2x1xf32>, vector<2xf32>, vector<2xf32>) -> (vector<2xf32>, vector<2xf32>)
              %h0 = vector.insert %new#0, %h[%j, %e0] : vector<2xf32> into !scores
              %h1 = vector.insert %new#1, %h0[%j, %e1] : vector<2xf32> into !scores
              affine.yield %h1 : !scores
            }
            affine.yield %f2 : !scores
          }
          affine.yield %f3 : !scores
        }
        affine.yield %f4 : !scores
      }

      %next0 = arith.addi %key0, %tile_keys : index
      %all_kept = arith.cmpi ule, %next0, %n_kept : index
      %scores = scf.if %all_kept -> (!scores) {
        %s = affine.for %j = 0 to 2 iter_args(%f = %products) -> (!scores) {
          %f4 = affine.for %e = 0 to 4 iter_args(%f0 = %f) -> (!scores) {
            %f3 = affine.for %u = 0 to 2 iter_args(%f1 = %f0) -> (!scores) {
              %row = affine.apply affine_map<(o, r, e) -> (o + r + 8 * e)>(%row0, %my_row, %e)
              %key = affine.apply affine_map<(o, t, j, u) -> (o + t + 8 * j + u)>(%key0, %t_2, %j, %u)
              %x = vector.extract %products[%j, %e, %u] : f32 from !scores
              %y = func.call @score_kept(%x, %batch, %row, %key, %X) : (f32, index, index, index, !extra) -> f32
              %f2 = vector.insert %y, %f1[%j, %e, %u] : f32 into !scores
              affine.yield %f2 : !scores
            }
            affine.yield %f3 : !scores
          }
          affine.yield %f4 : !scores
        }
        scf.yield %s : !scores
      } else {
        %s = affine.for %j = 0 to 2 iter_args(%f = %products) -> (!scores) {
          %f4 = affine.for %e = 0 to 4 iter_args(%f0 = %f) -> (!scores) {
            %f3 = affine.for %u = 0 to 2 iter_args(%f1 = %f0) -> (!scores) {
              %row = affine.apply affine_map<(o, r, e) -> (o + r + 8 * e)>(%row0, %my_row, %e)
              %key = affine.apply affine_map<(o, t, j, u) -> (o + t + 8 * j + u)>(%key0, %t_2, %j, %u)
              %x = vector.extract %products[%j, %e, %u] : f32 from !scores
              %y_any = func.call @score(%x, %batch, %row, %key, %X) : (f32, index, index, index, !extra) -> f32
              %in = arith.cmpi ult, %key, %n : index
              %y = arith.select %in, %y_any, %low : f32
              %f2 = vector.insert %y, %f1[%j, %e, %u] : f32 into !scores
              affine.yield %f2 : !scores
            }
            affine.yield %f3 : !scores
          }
          affine.yield %f4 : !scores
        }
        scf.yield %s : !scores
      }

      // The maximum that is subtracted follows where a score exceeds it by more than eight powers of two, which is seldom: until
      // then exponentials are as precise, and nothing that is there must be put on another scale.
      %most = affine.for %e = 0 to 4 iter_args(%f = %lows) -> (vector<4xf32>) {
        %mine = affine.for %j = 0 to 2 iter_args(%so_far = %low) -> (f32) {
          %x = vector.extract %scores[%j, %e, 0] : f32 from !scores
          %y = vector.extract %scores[%j, %e, 1] : f32 from !scores
          %xy = llvm.intr.maximum(%x, %y) : (f32, f32) -> f32
          %more = llvm.intr.maximum(%so_far, %xy) : (f32, f32) -> f32
          affine.yield %more : f32
        }
        %row_most = func.call @row_maximum(%mine) : (f32) -> f32
        %f1 = vector.insert %row_most, %f[%e] : f32 into vector<4xf32>
        affine.yield %f1 : vector<4xf32>
      }
      %bound = arith.addf %maxima, %slack : vector<4xf32>
      %exceeds = arith.cmpf ogt, %most, %bound : vector<4xf32>
      %one_exceeds = vector.reduction <or>, %exceeds : vector<4xi1> into i1
      %any_exceeds = nvvm.vote.sync any %all_lanes, %one_exceeds -> i1
      %now:3 = scf.if %any_exceeds -> (!sums, vector<4xf32>, vector<4xf32>) {
        %new_maxima = llvm.intr.maximum(%maxima, %most) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %new_shift = func.call @shift(%new_maxima) : (vector<4xf32>) -> vector<4xf32>
        %scale = func.call @exponentials(%maxima, %new_shift) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %scaled_sums = arith.mulf %sums, %scale : vector<4xf32>
        %scaled = affine.for %j = 0 to 8 iter_args(%f = %out) -> (!sums) {
          %f2 = affine.for %e = 0 to 4 iter_args(%f0 = %f) -> (!sums) {
            %x = vector.extract %out[%j, %e] : vector<2xf32> from !sums
            %y = vector.extract %scale[%e] : f32 from vector<4xf32>
            %y2 = vector.broadcast %y : f32 to vector<2xf32>
            %z = arith.mulf %x, %y2 : vector<2xf32>
            %f1 = vector.insert %z, %f0[%j, %e] : vector<2xf32> into !sums
            affine.yield %f1 : !sums
          }
          affine.yield %f2 : !sums
        }
        scf.yield %scaled, %new_maxima, %scaled_sums : !sums, vector<4xf32>, vector<4xf32>
      } else {
        scf.yield %out, %maxima, %sums : !sums, vector<4xf32>, vector<4xf32>
      }
      %shift = func.call @shift(%now#1) : (vector<4xf32>) -> vector<4xf32>
      %exponentials = affine.for %j = 0 to 2 iter_args(%f = %no_scores) -> (!scores) {
        %f4 = affine.for %e = 0 to 4 iter_args(%f0 = %f) -> (!scores) {
          %less = vector.extract %shift[%e] : f32 from vector<4xf32>
          %f3 = affine.for %u = 0 to 2 iter_args(%f1 = %f0) -> (!scores) {
            %x = vector.extract %scores[%j, %e, %u] : f32 from !scores
            %y = func.call @exponential(%x, %less) : (f32, f32) -> f32
            %f2 = vector.insert %y, %f1[%j, %e, %u] : f32 into !scores
            affine.yield %f2 : !scores
          }
          affine.yield %f3 : !scores
        }
        affine.yield %f4 : !scores
      }
      %new_sums = affine.for %j = 0 to 2 iter_args(%f = %now#2) -> (vector<4xf32>) {
        %f2 = affine.for %e = 0 to 4 iter_args(%f0 = %f) -> (vector<4xf32>) {
          %x = vector.extract %exponentials[%j, %e, 0] : f32 from !scores
          %y = vector.extract %exponentials[%j, %e, 1] : f32 from !scores
          %old = vector.extract %f0[%e] : f32 from vector<4xf32>
          %xy = arith.addf %x, %y : f32
          %new = arith.addf %old, %xy : f32
          %f1 = vector.insert %new, %f0[%e] : f32 into vector<4xf32>
          affine.yield %f1 : vector<4xf32>
        }
        affine.yield %f2 : vector<4xf32>
      }

      // The values are there, and these keys are no longer read.
      nvgpu.device_async_wait %token {numGroups = 0 : i32}
      nvvm.barrier id = %barrier number_of_threads = %group_threads
      %after0 = arith.addi %key0, %step_keys : index
      func.call @copy(%k_from, %n, %after0, %copy_row, %d, %count, %tiles, %c0, %group, %k_chunk, %c0) : (!global, index, index, index, index, index, !tiles, index, index, index, index) -> ()
      %k_group = nvgpu.device_async_create_group {tinymlir.all}

      // Values: product 4 w + i holds columns 32 w + 4 c + i.
      %new_out = affine.for %j = 0 to 2 iter_args(%f = %now#0) -> (!sums) {
        %a_none = ub.poison : vector<2x4xf32>
        %a2 = affine.for %e = 0 to 4 iter_args(%a0 = %a_none) -> (vector<2x4xf32>) {
          %a3 = affine.for %u = 0 to 2 iter_args(%a1 = %a0) -> (vector<2x4xf32>) {
            %y = vector.extract %exponentials[%j, %e, %u] : f32 from !scores
            %z = func.call @round_exponential(%y) : (f32) -> f32
            %i = affine.apply affine_map<(e) -> (e floordiv 2)>(%e)
            %place = affine.apply affine_map<(e, u) -> (e mod 2 + 2 * u)>(%e, %u)
            %a4 = vector.insert %z, %a1[%i, %place] : f32 into vector<2x4xf32>
            affine.yield %a4 : vector<2x4xf32>
          }
          affine.yield %a3 : vector<2x4xf32>
        }
        %r = affine.apply affine_map<(t, j) -> (t + 8 * j)>(%t_2, %j)
        %r_next = affine.apply affine_map<(t, j) -> (t + 8 * j + 1)>(%t_2, %j)
        %v_place = arith.xori %g, %t_2 : index
        %f4 = affine.for %w = 0 to 2 iter_args(%f0 = %f) -> (!sums) {
          %c = affine.apply affine_map<(c, w) -> (4 * c + 32 * w)>(%v_place, %w)
          %x4_exact = vector.load %tiles[%c1, %group, %r, %c] {alignment = 16 : i64} : !tiles, vector<4xf32>
          %y4_exact = vector.load %tiles[%c1, %group, %r_next, %c] {alignment = 16 : i64} : !tiles, vector<4xf32>
          %x4 = func.call @round4(%x4_exact) : (vector<4xf32>) -> vector<4xf32>
          %y4 = func.call @round4(%y4_exact) : (vector<4xf32>) -> vector<4xf32>
          %f3 = affine.for %k = 0 to 4 iter_args(%f1 = %f0) -> (!sums) {
            %p = affine.apply affine_map<(w, k) -> (4 * w + k)>(%w, %k)
            %x = vector.extract %x4[%k] : f32 from vector<4xf32>
            %y = vector.extract %y4[%k] : f32 from vector<4xf32>
            %b = vector.from_elements %x, %y : vector<2x1xf32>
            %f2 = affine.for %i = 0 to 2 iter_args(%h = %f1) -> (!sums) {
              %a1 = vector.extract %a2[%i] : vector<4xf32> from vector<2x4xf32>
              %a = vector.shape_cast %a1 : vector<4xf32> to vector<4x1xf32>
              %e0 = affine.apply affine_map<(i) -> (2 * i)>(%i)
              %e1 = affine.apply affine_map<(i) -> (2 * i + 1)>(%i)
              %top = vector.extract %h[%p, %e0] : vector<2xf32> from !sums
              %bottom = vector.extract %h[%p, %e1] : vector<2xf32> from !sums
              %new:2 = func.call @multiply(%a, %b, %top, %bottom) : (vector<4x1xf32>, vector<2x1xf32>, vector<2xf32>, vector<2xf32>) -> (vector<2xf32>, vector<2xf32>)
              %h0 = vector.insert %new#0, %h[%p, %e0] : vector<2xf32> into !sums
              %h1 = vector.insert %new#1, %h0[%p, %e1] : vector<2xf32> into !sums
              affine.yield %h1 : !sums
            }
            affine.yield %f2 : !sums
          }
          affine.yield %f3 : !sums
        }
        affine.yield %f4 : !sums
      }
      scf.yield %new_out, %now#1, %new_sums : !sums, vector<4xf32>, vector<4xf32>
    }

    // What a group has goes to the one before by two, then by one, through the memory of keys and values, which is no longer
    // written.
    %sums = affine.for %e = 0 to 4 iter_args(%f = %no_sum) -> (vector<4xf32>) {
      %mine = vector.extract %res#2[%e] : f32 from vector<4xf32>
      %sum = func.call @row_sum(%mine) : (f32) -> f32
      %f1 = vector.insert %sum, %f[%e] : f32 into vector<4xf32>
      affine.yield %f1 : vector<4xf32>
    }
    nvgpu.device_async_wait %token {numGroups = 0 : i32}
    %all:3 = affine.for %round = 0 to 2 iter_args(%out = %res#0, %maxima = %res#1, %my_sums = %sums) -> (!sums, vector<4xf32>, vector<4xf32>) {
      gpu.barrier
      %by = affine.apply affine_map<(r) -> (2 - r)>(%round)
      %to = arith.subi %group, %by : index
      %gives = arith.cmpi ult, %to, %by : index
      scf.if %gives {
        affine.for %i = 0 to 16 {
          %part = affine.apply affine_map<(i) -> (i floordiv 4)>(%i)
          %pair_row = affine.apply affine_map<(t, i) -> (t floordiv 16 + 4 * (i mod 4))>(%group_tid, %i)
          %pair_d = affine.apply affine_map<(t) -> (4 * (t mod 16))>(%group_tid)
          %p = affine.apply affine_map<(i) -> (i floordiv 2)>(%i)
          %e0 = affine.apply affine_map<(i) -> (2 * (i mod 2))>(%i)
          %e1 = affine.apply affine_map<(i) -> (2 * (i mod 2) + 1)>(%i)
          %top = vector.extract %out[%p, %e0] : vector<2xf32> from !sums
          %bottom = vector.extract %out[%p, %e1] : vector<2xf32> from !sums
          %x = vector.shuffle %top, %bottom [0, 1, 2, 3] : vector<2xf32>, vector<2xf32>
          vector.store %x, %tiles[%to, %part, %pair_row, %pair_d] {alignment = 16 : i64} : !tiles, vector<4xf32>
        }
        vector.store %maxima, %handed[%to, %group_tid, %c0] {alignment = 16 : i64} : !handed, vector<4xf32>
        vector.store %my_sums, %handed[%to, %group_tid, %c4] {alignment = 16 : i64} : !handed, vector<4xf32>
      }
      gpu.barrier
      %takes = arith.cmpi ult, %group, %by : index
      %both:3 = scf.if %takes -> (!sums, vector<4xf32>, vector<4xf32>) {
        %their_maxima = vector.load %handed[%group, %group_tid, %c0] {alignment = 16 : i64} : !handed, vector<4xf32>
        %their_sums = vector.load %handed[%group, %group_tid, %c4] {alignment = 16 : i64} : !handed, vector<4xf32>
        %most = llvm.intr.maximum(%maxima, %their_maxima) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %shift = func.call @shift(%most) : (vector<4xf32>) -> vector<4xf32>
        %my_scale = func.call @exponentials(%maxima, %shift) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %their_scale = func.call @exponentials(%their_maxima, %shift) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %my_part = arith.mulf %my_sums, %my_scale : vector<4xf32>
        %sum = math.fma %their_sums, %their_scale, %my_part : vector<4xf32>
        %joined = affine.for %i = 0 to 16 iter_args(%f = %out) -> (!sums) {
          %part = affine.apply affine_map<(i) -> (i floordiv 4)>(%i)
          %pair_row = affine.apply affine_map<(t, i) -> (t floordiv 16 + 4 * (i mod 4))>(%group_tid, %i)
          %pair_d = affine.apply affine_map<(t) -> (4 * (t mod 16))>(%group_tid)
          %p = affine.apply affine_map<(i) -> (i floordiv 2)>(%i)
          %x = vector.load %tiles[%group, %part, %pair_row, %pair_d] {alignment = 16 : i64} : !tiles, vector<4xf32>
          %x2 = vector.shape_cast %x : vector<4xf32> to vector<2x2xf32>
          %f2 = affine.for %h = 0 to 2 iter_args(%f0 = %f) -> (!sums) {
            %e = affine.apply affine_map<(i, h) -> (2 * (i mod 2) + h)>(%i, %h)
            %mine = vector.extract %out[%p, %e] : vector<2xf32> from !sums
            %theirs = vector.extract %x2[%h] : vector<2xf32> from vector<2x2xf32>
            %my_one = vector.extract %my_scale[%e] : f32 from vector<4xf32>
            %their_one = vector.extract %their_scale[%e] : f32 from vector<4xf32>
            %my_two = vector.broadcast %my_one : f32 to vector<2xf32>
            %their_two = vector.broadcast %their_one : f32 to vector<2xf32>
            %mine_scaled = arith.mulf %mine, %my_two : vector<2xf32>
            %y = math.fma %theirs, %their_two, %mine_scaled : vector<2xf32>
            %f1 = vector.insert %y, %f0[%p, %e] : vector<2xf32> into !sums
            affine.yield %f1 : !sums
          }
          affine.yield %f2 : !sums
        }
        scf.yield %joined, %most, %sum : !sums, vector<4xf32>, vector<4xf32>
      } else {
        scf.yield %out, %maxima, %my_sums : !sums, vector<4xf32>, vector<4xf32>
      }
      affine.yield %both#0, %both#1, %both#2 : !sums, vector<4xf32>, vector<4xf32>
    }

    %is_first = arith.cmpi eq, %group, %c0 : index
    scf.if %is_first {
      %ones = arith.constant dense<1.0> : vector<4xf32>
      %zero_rows = arith.constant #zero_rows
      %least_sums = arith.constant dense<1.0e-30> : vector<4xf32>
      %some = arith.maximumf %all#2, %least_sums : vector<4xf32>
      %divisors = arith.select %zero_rows, %some, %all#2 : vector<4xf32>
      %shares = arith.divf %ones, %divisors : vector<4xf32>
      affine.for %e = 0 to 4 {
        %row = affine.apply affine_map<(o, r, e) -> (o + r + 8 * e)>(%row0, %my_row, %e)
        %row_in = arith.cmpi ult, %row, %m : index
        %share = vector.extract %shares[%e] : f32 from vector<4xf32>
        affine.for %w = 0 to 2 {
          affine.for %u = 0 to 2 {
            %c = affine.apply affine_map<(t, w, u) -> (2 * t + 32 * w + 4 * u)>(%t_4, %w, %u)
            %c_in = arith.cmpi ult, %c, %depth : index
            %in = arith.andi %row_in, %c_in : i1
            scf.if %in {
              %z = affine.for %i = 0 to 4 iter_args(%f = %no_four) -> (vector<4xf32>) {
                %p = affine.apply affine_map<(w, i) -> (4 * w + i)>(%w, %i)
                %x = vector.extract %all#0[%p, %e, %u] : f32 from !sums
                %y = arith.mulf %x, %share : f32
                %f1 = vector.insert %y, %f[%i] : f32 into vector<4xf32>
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
