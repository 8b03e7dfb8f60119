// RUN: tinymlir-opt %s | FileCheck %s
// O = softmax(score(Q K^T)) V on tensor cores in one pass over the keys, sm_80 or newer: factors of bf16 or f16, to which f32 is
// rounded on its way to them; sums, maxima and exponentials in f32, exponentials rounded as factors. Q: M x D, K and V: N x D, O:
// M x D, batched. Any M and N below 2^31. D is at most 64; D, the strides and the offsets are multiples of 4 elements, and the buffers are
// aligned to 16 bytes. Sums are in a fixed order.
//
// A block of 256 threads makes 64 rows: four warps 16 rows each from every other 64 keys, four warps the same rows from the
// others, with keys, values, running maxima and sums of their own. The two halves are joined at the end. Values are read from
// memory before scores are computed and stored after them; the next keys before values are multiplied.
//
// Of a product of 16x8 elements lane 4 g + t holds rows g and g + 8, columns 2 t and 2 t + 1, which is also how the first factor of
// the next product is held: scores stay in their registers. The 16-byte chunks of a row of K or V are exchanged by its number, so
// that neighbours read different banks.
//
// CHECK: gpu.func @attention_half(
// CHECK: func.func private @attention(

// Parameters: whether keys after a row's own place have no score, so that they need not be read; whether a row without any score is
// zero, and not a quotient of zeros; an operand that @score may
// read; whether D is 64; what multiplies scores before the power of two, at once with what is added or
// not; the elements of Q, K and V, of factors, and of O; two factors as an instruction takes them (i32, or vector<2xf16>) and their
// name there; the bytes of four elements, of two, and of two of O; @score; @score_kept; @factors; and @result.
#causal = false
#zero_rows = false
#whole_depth = false
#fused = false
#factor = 1.44269504 : f32
!extra = memref<f32>
!elem = f32
!factor = bf16
!out_elem = f32
!pair = i32
#type = #nvvm.mma_type<bf16>
#four_bytes = 16 : i64
#two_bytes = 8 : i64
#out_bytes = 8 : i64
!q_view = memref<?x?x?x!elem, strided<[?, ?, 1], offset: ?>>
!k_view = memref<?x?x?x!elem, strided<[?, ?, 1], offset: ?>>
!v_view = memref<?x?x?x!elem, strided<[?, ?, 1], offset: ?>>
!out_view = memref<?x?x?x!out_elem, strided<[?, ?, 1], offset: ?>>

!global = memref<?x?x!elem, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!rows = memref<?x?x!elem, strided<[?, 1], offset: ?>>
!tiles = memref<2x64x64x!factor, #gpu.address_space<workgroup>>
!q_part = vector<4x4xi32>
!staged = vector<8x4x!elem>
!scores = vector<8x2x2xf32>
!sums = vector<8x2x2xf32>
#halves = 2 : index
#tile_rows = 64 : index
#tile_keys = 64 : index
#step_keys = 128 : index
#threads = 256 : index

module attributes {gpu.container_module} {
gpu.module @attention_half_kernels {
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
  // What is added to scores, or with #fused to their multiples by #factor, for this maximum. A row without a score so far has no
  // maximum to subtract.
  func.func private @shift(%maximum: f32) -> f32 {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %factor = arith.constant #factor
    %fused = arith.constant #fused
    %is_low = arith.cmpf oeq, %maximum, %low : f32
    %some = arith.select %is_low, %zero, %maximum : f32
    %less = arith.negf %some : f32
    %less_scaled = arith.mulf %less, %factor : f32
    %shift = arith.select %fused, %less_scaled, %less : f32
    return %shift : f32
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
  func.func private @rows(%base: memref<!elem>, %at: index, %batch_stride: index, %row_stride: index, %batch: index, %n: index, %depth: index) -> !global {
    %skipped = arith.muli %batch, %batch_stride : index
    %from = arith.addi %at, %skipped : index
    %all = memref.reinterpret_cast %base to offset: [%from], sizes: [%n, %depth], strides: [%row_stride, 1] : memref<!elem> to !rows
    %rows = memref.memory_space_cast %all : !rows to !global
    return %rows : !global
  }
  // Two elements as factors, and two sums as elements of O.
  func.func private @factors(%x: vector<2x!elem>) -> vector<2x!factor> {
    %f = builtin.unrealized_conversion_cast %x : vector<2x!elem> to vector<2x!factor>
    return %f : vector<2x!factor>
  }
  func.func private @result(%x: vector<2xf32>) -> vector<2x!out_elem> {
    %r = builtin.unrealized_conversion_cast %x : vector<2xf32> to vector<2x!out_elem>
    return %r : vector<2x!out_elem>
  }
  // A product of 16x16 by 16x8 factors added to a sum.
  func.func private @multiply(%a: vector<4xi32>, %b0_bits: i32, %b1_bits: i32, %sum: vector<2x2xf32>) -> vector<2x2xf32> {
    %a0_bits = vector.extract %a[0] : i32 from vector<4xi32>
    %a1_bits = vector.extract %a[1] : i32 from vector<4xi32>
    %a2_bits = vector.extract %a[2] : i32 from vector<4xi32>
    %a3_bits = vector.extract %a[3] : i32 from vector<4xi32>
    %a0 = llvm.bitcast %a0_bits : i32 to !pair
    %a1 = llvm.bitcast %a1_bits : i32 to !pair
    %a2 = llvm.bitcast %a2_bits : i32 to !pair
    %a3 = llvm.bitcast %a3_bits : i32 to !pair
    %b0 = llvm.bitcast %b0_bits : i32 to !pair
    %b1 = llvm.bitcast %b1_bits : i32 to !pair
    %c0 = vector.extract %sum[0, 0] : f32 from vector<2x2xf32>
    %c1 = vector.extract %sum[0, 1] : f32 from vector<2x2xf32>
    %c2 = vector.extract %sum[1, 0] : f32 from vector<2x2xf32>
    %c3 = vector.extract %sum[1, 1] : f32 from vector<2x2xf32>
    %d = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%c0, %c1, %c2, %c3]
        {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #type,
         multiplicandBPtxType = #type, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
        : (!pair, !pair, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
    %r = vector.from_elements %d0, %d1, %d2, %d3 : vector<2x2xf32>
    return %r : vector<2x2xf32>
  }
  // 64 rows of keys or values from row %row0 on, of which a thread takes four elements of every eighth at column %d. Past the
  // last row, %n - 1, it is that one again: what is made of it is not used.
  func.func private @load(%from: !global, %n: index, %row0: index, %row: index, %d: index) -> !staged {
    %c1 = arith.constant 1 : index
    %last_row = arith.subi %n, %c1 : index
    %last = arith.index_cast %last_row : index to i32
    %none = ub.poison : !staged
    %all = affine.for %i = 0 to 8 iter_args(%f = %none) -> (!staged) {
      %g_any = affine.apply affine_map<(o, r, i) -> (o + r + 8 * i)>(%row0, %row, %i)
      %g_int = arith.index_cast %g_any : index to i32
      %g_least = arith.minui %g_int, %last : i32
      %g = arith.index_castui %g_least : i32 to index
      %x = vector.load %from[%g, %d] {alignment = #four_bytes} : !global, vector<4x!elem>
      %f1 = vector.insert %x, %f[%i] : vector<4x!elem> into !staged
      affine.yield %f1 : !staged
    }
    return %all : !staged
  }
  // Stores them as factors at column %to_d, zeros where not %in.
  func.func private @store(%all: !staged, %to: !tiles, %half: index, %row: index, %to_d: index, %in: i1) {
    %none = arith.constant dense<0> : vector<2xi32>
    affine.for %i = 0 to 8 {
      %r = affine.apply affine_map<(r, i) -> (r + 8 * i)>(%row, %i)
      %x = vector.extract %all[%i] : vector<4x!elem> from !staged
      %x2 = vector.shape_cast %x : vector<4x!elem> to vector<2x2x!elem>
      %y2_none = ub.poison : vector<2x2x!factor>
      %y2 = affine.for %j = 0 to 2 iter_args(%f = %y2_none) -> (vector<2x2x!factor>) {
        %p = vector.extract %x2[%j] : vector<2x!elem> from vector<2x2x!elem>
        %q = func.call @factors(%p) : (vector<2x!elem>) -> vector<2x!factor>
        %f1 = vector.insert %q, %f[%j] : vector<2x!factor> into vector<2x2x!factor>
        affine.yield %f1 : vector<2x2x!factor>
      }
      %y_any = vector.shape_cast %y2 : vector<2x2x!factor> to vector<4x!factor>
      %bits_any = vector.bitcast %y_any : vector<4x!factor> to vector<2xi32>
      %bits = arith.select %in, %bits_any, %none : vector<2xi32>
      %y = vector.bitcast %bits : vector<2xi32> to vector<4x!factor>
      vector.store %y, %to[%half, %r, %to_d] {alignment = 8 : i64} : !tiles, vector<4x!factor>
    }
    return
  }

  gpu.func @attention_half(%Q: !q_view, %K: !k_view, %V: !v_view, %O: !out_view, %X: !extra)
      workgroup(%k: !tiles {llvm.align = 16 : i64}, %v: !tiles {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %tile_rows = arith.constant #tile_rows
    %tile_keys = arith.constant #tile_keys
    %step_keys = arith.constant #step_keys
    %half_threads = arith.constant 128 : i32
    %low = arith.constant 0xFF800000 : f32
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
    %q_base, %q_at, %q_sizes:3, %q_strides:3 = memref.extract_strided_metadata %Q : !q_view -> memref<!elem>, index, index, index, index, index, index, index
    %q_from = func.call @rows(%q_base, %q_at, %q_strides#0, %q_strides#1, %batch, %m, %depth) : (memref<!elem>, index, index, index, index, index, index) -> !global
    %k_base, %k_at, %k_sizes:3, %k_strides:3 = memref.extract_strided_metadata %K : !k_view -> memref<!elem>, index, index, index, index, index, index, index
    %k_from = func.call @rows(%k_base, %k_at, %k_strides#0, %k_strides#1, %batch, %n_all, %depth) : (memref<!elem>, index, index, index, index, index, index) -> !global
    %v_base, %v_at, %v_sizes:3, %v_strides:3 = memref.extract_strided_metadata %V : !v_view -> memref<!elem>, index, index, index, index, index, index, index
    %v_from = func.call @rows(%v_base, %v_at, %v_strides#0, %v_strides#1, %batch, %n_all, %depth) : (memref<!elem>, index, index, index, index, index, index) -> !global

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
    %t_2 = arith.muli %t, %c2 : index

    // Copying: four elements, half a chunk, of every eighth row.
    %piece = arith.remui %half_tid, %c16 : index
    %copy_row = arith.divui %half_tid, %c16 : index
    %d_any = arith.muli %piece, %c4 : index
    %whole_depth = arith.constant #whole_depth
    %d_inside = arith.cmpi ult, %d_any, %depth : index
    %d_in = arith.ori %whole_depth, %d_inside : i1
    %last_d = arith.subi %depth, %c4 : index
    %d = arith.minui %d_any, %last_d : index
    %chunk = arith.divui %piece, %c2 : index
    %chunk_half = arith.remui %piece, %c2 : index
    %to_chunk = arith.xori %chunk, %copy_row : index
    %to_d = affine.apply affine_map<(c, h) -> (8 * c + 4 * h)>(%to_chunk, %chunk_half)
    %yes = arith.constant true

    // Reading 8x8 factors, four times at once: lane l gives the address of row l mod 8 of the (l / 8)-th. Of keys the bit of 8
    // is that of elements and the bit of 16 that of keys, of values the other way around.
    %in_eight = arith.remui %lane, %c8 : index
    %eights = arith.divui %lane, %c8 : index
    %bit_8 = arith.remui %eights, %c2 : index
    %bit_16 = arith.divui %lane, %c16 : index
    %k_row = affine.apply affine_map<(r, b) -> (r + 8 * b)>(%in_eight, %bit_16)
    %v_row = affine.apply affine_map<(r, b) -> (r + 8 * b)>(%in_eight, %bit_8)

    %key_begin = arith.muli %half, %tile_keys : index
    %has_keys = arith.cmpi ult, %key_begin, %n : index
    scf.if %has_keys {
      %first = func.call @load(%k_from, %n, %key_begin, %copy_row, %d) : (!global, index, index, index, index) -> !staged
      func.call @store(%first, %k, %half, %copy_row, %to_d, %d_in) : (!staged, !tiles, index, index, index, i1) -> ()
    }

    // Q stays in registers: of rows my_row and my_row + 8 elements 16 s + 2 t and the next, and eight further on.
    %q_none = ub.poison : !q_part
    %no_two = arith.constant dense<0.0> : vector<2x!factor>
    %last_row = arith.subi %m, %c1 : index
    %q = affine.for %s = 0 to 4 iter_args(%f = %q_none) -> (!q_part) {
      %f4 = affine.for %e = 0 to 2 iter_args(%f0 = %f) -> (!q_part) {
        %c_any = affine.apply affine_map<(t, s, e) -> (t + 16 * s + 8 * e)>(%t_2, %s, %e)
        %c_inside = arith.cmpi ult, %c_any, %depth : index
        %c_in = arith.ori %whole_depth, %c_inside : i1
        %last_c = arith.subi %depth, %c2 : index
        %c = arith.minui %c_any, %last_c : index
        %f3 = affine.for %h = 0 to 2 iter_args(%f1 = %f0) -> (!q_part) {
          %r_any = affine.apply affine_map<(o, r, h) -> (o + r + 8 * h)>(%row0, %my_row, %h)
          %r = arith.minui %r_any, %last_row : index
          %x = vector.load %q_from[%r, %c] {alignment = #two_bytes} : !global, vector<2x!elem>
          %y_any = func.call @factors(%x) : (vector<2x!elem>) -> vector<2x!factor>
          %y = arith.select %c_in, %y_any, %no_two : vector<2x!factor>
          %p = llvm.bitcast %y : vector<2x!factor> to i32
          %place = affine.apply affine_map<(h, e) -> (h + 2 * e)>(%h, %e)
          %f2 = vector.insert %p, %f1[%s, %place] : i32 into !q_part
          affine.yield %f2 : !q_part
        }
        affine.yield %f3 : !q_part
      }
      affine.yield %f4 : !q_part
    }

    %no_out = arith.constant dense<0.0> : !sums
    %no_scores = arith.constant dense<0.0> : !scores
    %no_sum = arith.constant dense<0.0> : vector<2xf32>
    %lows = arith.constant dense<0xFF800000> : vector<2xf32>
    %res:3 = scf.for %key0 = %key_begin to %n step %step_keys
        iter_args(%out = %no_out, %maxima = %lows, %sums = %no_sum) -> (!sums, vector<2xf32>, vector<2xf32>) {
      // The keys are there, and the values before are no longer read.
      nvvm.barrier id = %barrier number_of_threads = %half_threads
      %v_staged = func.call @load(%v_from, %n, %key0, %copy_row, %d) : (!global, index, index, index, index) -> !staged

      // Scores: 16 keys at a time.
      %products = affine.for %s = 0 to 4 iter_args(%f = %no_scores) -> (!scores) {
        %k_chunk_any = affine.apply affine_map<(s, b) -> (2 * s + b)>(%s, %bit_8)
        %k_chunk = arith.xori %k_chunk_any, %in_eight : index
        %k_d = arith.muli %k_chunk, %c8 : index
        %a = vector.extract %q[%s] : vector<4xi32> from !q_part
        %f3 = affine.for %jj = 0 to 4 iter_args(%f0 = %f) -> (!scores) {
          %r = affine.apply affine_map<(r, j) -> (r + 16 * j)>(%k_row, %jj)
          %b = nvgpu.ldmatrix %k[%half, %r, %k_d] {numTiles = 4 : i32, transpose = false} : !tiles -> vector<4x2x!factor>
          %f2 = affine.for %e = 0 to 2 iter_args(%f1 = %f0) -> (!scores) {
            %j = affine.apply affine_map<(j, e) -> (2 * j + e)>(%jj, %e)
            %e2 = affine.apply affine_map<(e) -> (2 * e)>(%e)
            %e3 = affine.apply affine_map<(e) -> (2 * e + 1)>(%e)
            %b0_two = vector.extract %b[%e2] : vector<2x!factor> from vector<4x2x!factor>
            %b1_two = vector.extract %b[%e3] : vector<2x!factor> from vector<4x2x!factor>
            %b0 = llvm.bitcast %b0_two : vector<2x!factor> to i32
            %b1 = llvm.bitcast %b1_two : vector<2x!factor> to i32
            %old = vector.extract %f1[%j] : vector<2x2xf32> from !scores
            %new = func.call @multiply(%a, %b0, %b1, %old) : (vector<4xi32>, i32, i32, vector<2x2xf32>) -> vector<2x2xf32>
            %p = vector.insert %new, %f1[%j] : vector<2x2xf32> into !scores
            affine.yield %p : !scores
          }
          affine.yield %f2 : !scores
        }
        affine.yield %f3 : !scores
      }

      %next0 = arith.addi %key0, %tile_keys : index
      %all_kept = arith.cmpi ule, %next0, %n_kept : index
      %scores = scf.if %all_kept -> (!scores) {
        %s = affine.for %j = 0 to 8 iter_args(%f = %products) -> (!scores) {
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
        %s = affine.for %j = 0 to 8 iter_args(%f = %products) -> (!scores) {
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
        %mine = affine.for %j = 0 to 8 iter_args(%most = %low) -> (f32) {
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
      %shift = affine.for %h = 0 to 2 iter_args(%f = %no_sum) -> (vector<2xf32>) {
        %max = vector.extract %new_maxima[%h] : f32 from vector<2xf32>
        %less = func.call @shift(%max) : (f32) -> f32
        %f1 = vector.insert %less, %f[%h] : f32 into vector<2xf32>
        affine.yield %f1 : vector<2xf32>
      }
      %scale = affine.for %h = 0 to 2 iter_args(%f = %no_sum) -> (vector<2xf32>) {
        %old = vector.extract %maxima[%h] : f32 from vector<2xf32>
        %less = vector.extract %shift[%h] : f32 from vector<2xf32>
        %e = func.call @exponential(%old, %less) : (f32, f32) -> f32
        %f1 = vector.insert %e, %f[%h] : f32 into vector<2xf32>
        affine.yield %f1 : vector<2xf32>
      }
      %exponentials = affine.for %j = 0 to 8 iter_args(%f = %no_scores) -> (!scores) {
        %f4 = affine.for %h = 0 to 2 iter_args(%f0 = %f) -> (!scores) {
          %less = vector.extract %shift[%h] : f32 from vector<2xf32>
          %f3 = affine.for %u = 0 to 2 iter_args(%f1 = %f0) -> (!scores) {
            %s = vector.extract %scores[%j, %h, %u] : f32 from !scores
            %e = func.call @exponential(%s, %less) : (f32, f32) -> f32
            %f2 = vector.insert %e, %f1[%j, %h, %u] : f32 into !scores
            affine.yield %f2 : !scores
          }
          affine.yield %f3 : !scores
        }
        affine.yield %f4 : !scores
      }
      %scaled_sums = arith.mulf %sums, %scale : vector<2xf32>
      %new_sums = affine.for %j = 0 to 8 iter_args(%f = %scaled_sums) -> (vector<2xf32>) {
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

      func.call @store(%v_staged, %v, %half, %copy_row, %to_d, %yes) : (!staged, !tiles, index, index, index, i1) -> ()
      // The values are there, and these keys are no longer read.
      nvvm.barrier id = %barrier number_of_threads = %half_threads
      %after0 = arith.addi %key0, %step_keys : index
      %k_staged = func.call @load(%k_from, %n, %after0, %copy_row, %d) : (!global, index, index, index, index) -> !staged

      // Values: 16 keys at a time.
      %new_out = affine.for %kk = 0 to 4 iter_args(%f = %scaled) -> (!sums) {
        %a_none = ub.poison : vector<4xi32>
        %a = affine.for %e = 0 to 2 iter_args(%a0 = %a_none) -> (vector<4xi32>) {
          %a3 = affine.for %h = 0 to 2 iter_args(%a1 = %a0) -> (vector<4xi32>) {
            %j = affine.apply affine_map<(k, e) -> (2 * k + e)>(%kk, %e)
            %x = vector.extract %exponentials[%j, %h] : vector<2xf32> from !scores
            %y = arith.truncf %x : vector<2xf32> to vector<2x!factor>
            %p = llvm.bitcast %y : vector<2x!factor> to i32
            %place = affine.apply affine_map<(h, e) -> (h + 2 * e)>(%h, %e)
            %a2 = vector.insert %p, %a1[%place] : i32 into vector<4xi32>
            affine.yield %a2 : vector<4xi32>
          }
          affine.yield %a3 : vector<4xi32>
        }
        %r = affine.apply affine_map<(r, k) -> (r + 16 * k)>(%v_row, %kk)
        %f3 = affine.for %jj = 0 to 4 iter_args(%f0 = %f) -> (!sums) {
          %v_chunk_any = affine.apply affine_map<(j, b) -> (2 * j + b)>(%jj, %bit_16)
          %v_chunk = arith.xori %v_chunk_any, %in_eight : index
          %v_d = arith.muli %v_chunk, %c8 : index
          %b = nvgpu.ldmatrix %v[%half, %r, %v_d] {numTiles = 4 : i32, transpose = true} : !tiles -> vector<4x2x!factor>
          %f2 = affine.for %e = 0 to 2 iter_args(%f1 = %f0) -> (!sums) {
            %j = affine.apply affine_map<(j, e) -> (2 * j + e)>(%jj, %e)
            %e2 = affine.apply affine_map<(e) -> (2 * e)>(%e)
            %e3 = affine.apply affine_map<(e) -> (2 * e + 1)>(%e)
            %b0_two = vector.extract %b[%e2] : vector<2x!factor> from vector<4x2x!factor>
            %b1_two = vector.extract %b[%e3] : vector<2x!factor> from vector<4x2x!factor>
            %b0 = llvm.bitcast %b0_two : vector<2x!factor> to i32
            %b1 = llvm.bitcast %b1_two : vector<2x!factor> to i32
            %old = vector.extract %f1[%j] : vector<2x2xf32> from !sums
            %new = func.call @multiply(%a, %b0, %b1, %old) : (vector<4xi32>, i32, i32, vector<2x2xf32>) -> vector<2x2xf32>
            %p = vector.insert %new, %f1[%j] : vector<2x2xf32> into !sums
            affine.yield %p : !sums
          }
          affine.yield %f2 : !sums
        }
        affine.yield %f3 : !sums
      }
      func.call @store(%k_staged, %k, %half, %copy_row, %to_d, %d_in) : (!staged, !tiles, index, index, index, i1) -> ()
      scf.yield %new_out, %new_maxima, %new_sums : !sums, vector<2xf32>, vector<2xf32>
    }

    // The second half of the keys goes through the memory of keys and values.
    gpu.barrier
    %sums = affine.for %h = 0 to 2 iter_args(%f = %no_sum) -> (vector<2xf32>) {
      %mine = vector.extract %res#2[%h] : f32 from vector<2xf32>
      %sum = func.call @row_sum(%mine) : (f32) -> f32
      %f1 = vector.insert %sum, %f[%h] : f32 into vector<2xf32>
      affine.yield %f1 : vector<2xf32>
    }
    %out = vector.shape_cast %res#0 : !sums to vector<8x4xf32>
    // A thread's 16 bytes of every other row of 16.
    %pair_row = arith.divui %half_tid, %c8 : index
    %pair_chunk = arith.remui %half_tid, %c8 : index
    %pair_d = arith.muli %pair_chunk, %c8 : index
    %is_second = arith.cmpi eq, %half, %c1 : index
    scf.if %is_second {
      affine.for %i = 0 to 8 {
        %hf = affine.apply affine_map<(i) -> (i floordiv 4)>(%i)
        %r = affine.apply affine_map<(r, i) -> (r + 16 * (i mod 4))>(%pair_row, %i)
        %x = vector.extract %out[%i] : vector<4xf32> from vector<8x4xf32>
        %bits = vector.bitcast %x : vector<4xf32> to vector<8x!factor>
        vector.store %bits, %k[%hf, %r, %pair_d] {alignment = 16 : i64} : !tiles, vector<8x!factor>
      }
      %max0 = vector.extract %res#1[0] : f32 from vector<2xf32>
      %max1 = vector.extract %res#1[1] : f32 from vector<2xf32>
      %sum0 = vector.extract %sums[0] : f32 from vector<2xf32>
      %sum1 = vector.extract %sums[1] : f32 from vector<2xf32>
      %both = vector.from_elements %max0, %max1, %sum0, %sum1 : vector<4xf32>
      %bits = vector.bitcast %both : vector<4xf32> to vector<8x!factor>
      vector.store %bits, %v[%c0, %pair_row, %pair_d] {alignment = 16 : i64} : !tiles, vector<8x!factor>
    }
    gpu.barrier
    %is_first = arith.cmpi eq, %half, %c0 : index
    scf.if %is_first {
      %both_bits = vector.load %v[%c0, %pair_row, %pair_d] {alignment = 16 : i64} : !tiles, vector<8x!factor>
      %both = vector.bitcast %both_bits : vector<8x!factor> to vector<4xf32>
      %theirs_none = arith.constant dense<0.0> : vector<8x4xf32>
      %theirs_flat = affine.for %i = 0 to 8 iter_args(%f = %theirs_none) -> (vector<8x4xf32>) {
        %hf = affine.apply affine_map<(i) -> (i floordiv 4)>(%i)
        %r = affine.apply affine_map<(r, i) -> (r + 16 * (i mod 4))>(%pair_row, %i)
        %bits = vector.load %k[%hf, %r, %pair_d] {alignment = 16 : i64} : !tiles, vector<8x!factor>
        %x = vector.bitcast %bits : vector<8x!factor> to vector<4xf32>
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
        %less = func.call @shift(%max) : (f32) -> f32
        %my_scale = func.call @exponential(%my_max, %less) : (f32, f32) -> f32
        %their_scale = func.call @exponential(%their_max, %less) : (f32, f32) -> f32
        %my_part = arith.mulf %my_sum, %my_scale : f32
        %their_part = arith.mulf %their_sum, %their_scale : f32
        %sum = arith.addf %my_part, %their_part : f32
        %zero_rows = arith.constant #zero_rows
        %least_sum = arith.constant 1.0e-30 : f32
        %some = arith.maximumf %sum, %least_sum : f32
        %divisor = arith.select %zero_rows, %some, %sum : f32
        %my_share = arith.divf %my_scale, %divisor : f32
        %their_share = arith.divf %their_scale, %divisor : f32
        %row = affine.apply affine_map<(o, r, h) -> (o + r + 8 * h)>(%row0, %my_row, %h)
        %row_in = arith.cmpi ult, %row, %m : index
        affine.for %j = 0 to 8 {
          %c = affine.apply affine_map<(t, j) -> (t + 8 * j)>(%t_2, %j)
          %c_in = arith.cmpi ult, %c, %depth : index
          %in = arith.andi %row_in, %c_in : i1
          scf.if %in {
            %x = vector.extract %res#0[%j, %h] : vector<2xf32> from !sums
            %y = vector.extract %theirs[%j, %h] : vector<2xf32> from !sums
            %my_two = vector.broadcast %my_share : f32 to vector<2xf32>
            %their_two = vector.broadcast %their_share : f32 to vector<2xf32>
            %x_scaled = arith.mulf %x, %my_two : vector<2xf32>
            %xy = math.fma %y, %their_two, %x_scaled : vector<2xf32>
            %z = func.call @result(%xy) : (vector<2xf32>) -> vector<2x!out_elem>
            vector.store %z, %O[%batch, %row, %c] {alignment = #out_bytes} : !out_view, vector<2x!out_elem>
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
  gpu.launch_func @attention_half_kernels::@attention_half blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%Q : !q_view, %K : !k_view, %V : !v_view, %O : !out_view, %X : !extra)
  return
}
}
