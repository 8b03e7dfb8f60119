// RUN: tinymlir-opt %s | FileCheck %s
// O = softmax(score(Q K^T)) V in strict fp32 for at most 32 keys, sm_80 or newer. Q: M x D, K and V: N x D, O: M x D, batched;
// any M, N at most 32. D is at most 64; D, the strides and the offsets are multiples of 4 elements, and the buffers are
// aligned to 16 bytes. Sums are in a fixed order.
//
// Bound by how long a block takes, not by what the chip can do: a warp makes one row, a block of 256 threads eight, so that a
// prompt of 32 tokens has four blocks a head. Keys and values lie in workgroup memory, values still on their way while
// scores are made. A lane makes the score of its key from the whole row, the warp shares maximum and sum by shuffles, and a
// lane sums two columns of the values. Rows of keys are padded from 64 to 68 elements, which spreads them over the banks.
//
// CHECK: gpu.func @attention_keys32_f32(
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
!q_tile = memref<8x64xf32, #gpu.address_space<workgroup>>
!k_tile = memref<32x68xf32, #gpu.address_space<workgroup>>
!v_tile = memref<32x64xf32, #gpu.address_space<workgroup>>
!p_tile = memref<8x32xf32, #gpu.address_space<workgroup>>
#tile_rows = 8 : index
#tile_keys = 32 : index
#tile_depth = 64 : index
#pitch = 68 : index
#threads = 256 : index

module attributes {gpu.container_module} {
gpu.module @attention_keys32_f32_kernels {
  // The score of a row and a key from the product of the two: scaling and masking. Keys past the last one come too.
  func.func private @score(%product: f32, %batch: index, %row: index, %key: index, %X: !extra) -> f32 {
    return %product : f32
  }
  // The sum, and the maximum, over a warp.
  func.func private @warp_sum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %far = arith.constant 16 : i32
    %all = affine.for %round = 0 to 5 iter_args(%u = %v) -> (f32) {
      %nearer = arith.index_cast %round : index to i32
      %distance = arith.shrui %far, %nearer : i32
      %other, %ok = gpu.shuffle xor %u, %distance, %width : f32
      %both = arith.addf %u, %other : f32
      affine.yield %both : f32
    }
    return %all : f32
  }
  func.func private @warp_maximum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %far = arith.constant 16 : i32
    %all = affine.for %round = 0 to 5 iter_args(%u = %v) -> (f32) {
      %nearer = arith.index_cast %round : index to i32
      %distance = arith.shrui %far, %nearer : i32
      %other, %ok = gpu.shuffle xor %u, %distance, %width : f32
      %both = arith.maximumf %u, %other : f32
      affine.yield %both : f32
    }
    return %all : f32
  }

  gpu.func @attention_keys32_f32(%Q: !view, %K: !view, %V: !view, %O: !view, %X: !extra)
      workgroup(%q: !q_tile {llvm.align = 16 : i64}, %k: !k_tile {llvm.align = 16 : i64},
                %v: !v_tile {llvm.align = 16 : i64}, %p: !p_tile {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %tile_rows = arith.constant #tile_rows
    %all_lanes = arith.constant -1 : i32
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %two_zeros = arith.constant dense<0.0> : vector<2xf32>
    %m = memref.dim %Q, %c1 : !view
    %n = memref.dim %K, %c1 : !view
    %depth = memref.dim %Q, %c2 : !view
    %block = gpu.block_id x
    %row_tiles = arith.ceildivui %m, %tile_rows : index
    %batch = arith.divui %block, %row_tiles : index
    %tile = arith.remui %block, %row_tiles : index
    %row0 = arith.muli %tile, %tile_rows : index
    %row_end = arith.addi %row0, %tile_rows : index
    %causal = arith.constant #causal
    %n_causal = arith.minui %n, %row_end : index
    %n_read = arith.select %causal, %n_causal, %n : index
    %q_all = memref.memory_space_cast %Q : !view to !global_batch
    %k_all = memref.memory_space_cast %K : !view to !global_batch
    %v_all = memref.memory_space_cast %V : !view to !global_batch
    %q_from = memref.subview %q_all[%batch, 0, 0] [1, %m, %depth] [1, 1, 1] : !global_batch to !global
    %k_from = memref.subview %k_all[%batch, 0, 0] [1, %n, %depth] [1, 1, 1] : !global_batch to !global
    %v_from = memref.subview %v_all[%batch, 0, 0] [1, %n, %depth] [1, 1, 1] : !global_batch to !global

    // Copying: thread t takes four elements at column 4 (t mod 16) of rows t / 16 + 16 i; past the last row or column nothing
    // is read and zero is written.
    %tid = gpu.thread_id x upper_bound 256
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %copy_row = arith.divui %tid, %c16 : index
    %chunk = arith.remui %tid, %c16 : index
    %to_d = arith.muli %chunk, %c4 : index
    %d_in = arith.cmpi ult, %to_d, %depth : index
    %count = arith.select %d_in, %c4, %c0 : index
    %last_d = arith.subi %depth, %c4 : index
    %d = arith.minui %to_d, %last_d : index
    %last_row = arith.subi %m, %c1 : index
    %last_key = arith.subi %n, %c1 : index

    // An empty, oldest group: only its token is wanted, which the wait takes.
    %token = nvgpu.device_async_create_group {tinymlir.all}
    %copies_q = arith.cmpi ult, %copy_row, %tile_rows : index
    scf.if %copies_q {
      %g_any = arith.addi %row0, %copy_row : index
      %g = arith.minui %g_any, %last_row : index
      %t = nvgpu.device_async_copy %q_from[%g, %d], %q[%copy_row, %to_d], 4, %count {bypassL1} : !global to !q_tile
    }
    affine.for %i = 0 to 2 {
      %r = affine.apply affine_map<(r, i) -> (r + 16 * i)>(%copy_row, %i)
      %g = arith.minui %r, %last_key : index
      %in = arith.cmpi ult, %r, %n_read : index
      %there = arith.select %in, %count, %c0 : index
      %t = nvgpu.device_async_copy %k_from[%g, %d], %k[%r, %to_d], 4, %there {bypassL1} : !global to !k_tile
    }
    %keys = nvgpu.device_async_create_group {tinymlir.all}
    affine.for %i = 0 to 2 {
      %r = affine.apply affine_map<(r, i) -> (r + 16 * i)>(%copy_row, %i)
      %g = arith.minui %r, %last_key : index
      %in = arith.cmpi ult, %r, %n_read : index
      %there = arith.select %in, %count, %c0 : index
      %t = nvgpu.device_async_copy %v_from[%g, %d], %v[%r, %to_d], 4, %there {bypassL1} : !global to !v_tile
    }
    %values = nvgpu.device_async_create_group {tinymlir.all}
    nvgpu.device_async_wait %token {numGroups = 1 : i32}
    gpu.barrier

    // The score of the warp's row and the lane's key.
    %products = affine.for %dd = 0 to 64 step 4 iter_args(%sum = %zeros) -> (vector<4xf32>) {
      %q_part = vector.load %q[%warp, %dd] {alignment = 16 : i64} : !q_tile, vector<4xf32>
      %k_part = vector.load %k[%lane, %dd] {alignment = 16 : i64} : !k_tile, vector<4xf32>
      %next = vector.fma %q_part, %k_part, %sum : vector<4xf32>
      affine.yield %next : vector<4xf32>
    }
    %product = vector.reduction <add>, %products : vector<4xf32> into f32
    %row = arith.addi %row0, %warp : index
    %scored = func.call @score(%product, %batch, %row, %lane, %X) : (f32, index, index, index, !extra) -> f32
    %is_key = arith.cmpi ult, %lane, %n_read : index
    %score = arith.select %is_key, %scored, %low : f32
    %maximum = func.call @warp_maximum(%score) : (f32) -> f32
    // Of a row without a score the exponentials are zero.
    %none = arith.cmpf oeq, %maximum, %low : f32
    %shift = arith.select %none, %zero, %maximum : f32
    %less = arith.subf %score, %shift : f32
    %weight = math.exp %less : f32
    %sum = func.call @warp_sum(%weight) : (f32) -> f32
    memref.store %weight, %p[%warp, %lane] : !p_tile

    // Values are there, and the warp's exponentials.
    nvgpu.device_async_wait %token {numGroups = 0 : i32}
    gpu.barrier
    %column = arith.muli %lane, %c2 : index
    %out = affine.for %kk = 0 to 32 step 4 iter_args(%acc = %two_zeros) -> (vector<2xf32>) {
      %weights = vector.load %p[%warp, %kk] {alignment = 16 : i64} : !p_tile, vector<4xf32>
      %acc4 = affine.for %u = 0 to 4 iter_args(%a = %acc) -> (vector<2xf32>) {
        %key = affine.apply affine_map<(k, u) -> (k + u)>(%kk, %u)
        %w = vector.extract %weights[%u] : f32 from vector<4xf32>
        %w2 = vector.broadcast %w : f32 to vector<2xf32>
        %x = vector.load %v[%key, %column] {alignment = 8 : i64} : !v_tile, vector<2xf32>
        %a1 = vector.fma %w2, %x, %a : vector<2xf32>
        affine.yield %a1 : vector<2xf32>
      }
      affine.yield %acc4 : vector<2xf32>
    }
    %zero_rows = arith.constant #zero_rows
    %least_sum = arith.constant 1.0e-30 : f32
    %some = arith.maximumf %sum, %least_sum : f32
    %divisor = arith.select %zero_rows, %some, %sum : f32
    %sum2 = vector.broadcast %divisor : f32 to vector<2xf32>
    %mean = arith.divf %out, %sum2 : vector<2xf32>
    %row_in = arith.cmpi ult, %row, %m : index
    %column_in = arith.cmpi ult, %column, %depth : index
    %in = arith.andi %row_in, %column_in : i1
    scf.if %in {
      vector.store %mean, %O[%batch, %row, %column] {alignment = 8 : i64} : !view, vector<2xf32>
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
  gpu.launch_func @attention_keys32_f32_kernels::@attention_keys32_f32 blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%Q : !view, %K : !view, %V : !view, %O : !view, %X : !extra)
  return
}
}
