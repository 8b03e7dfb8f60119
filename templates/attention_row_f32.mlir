// RUN: tinymlir-opt %s | FileCheck %s
// O = softmax(score(Q K^T)) V for one row a batch in strict fp32: a decoding step. Q: 1 x D, K and V: N x D, O: 1 x D,
// batched, at most 4,096 batches. D is at most 64; D, the strides and the offsets are multiples of 4 elements, and the
// buffers are aligned to 16 bytes. Keys that @keep leaves out are not read.
//
// A block of 256 threads takes 128 keys of a batch: a group of 16 lanes a key, 4 elements a lane, 8 keys in turn, all of
// them on their way at once. Its first warp leaves its maximum, its sum and its part of the row in W (batch, block, D + 2), and in the
// block that comes last adds the parts of a batch in their order, eight at once, so that the result is the same from run to run; a
// counter of the batch tells which block that is, and is zero again afterwards. Launches must not overlap.
//
// CHECK: gpu.func @attention_row_f32(
// CHECK: func.func private @attention(

// Parameters: an operand that @score and @keep may read.
!extra = memref<f32>
!view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!parts = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>

!counters = memref<4096xi32, #gpu.address_space<global>>
!warp_scalars = memref<8xf32, #gpu.address_space<workgroup>>
!warp_rows = memref<8x64xf32, #gpu.address_space<workgroup>>
#most_batches = 4096 : index
#warps = 8 : index
#most_depth = 64 : index
#keys = 128 : index
#threads = 256 : index

module attributes {gpu.container_module} {
gpu.module @attention_row_f32_kernels {
  memref.global "private" @finished : !counters = dense<0>

  // The score of a key from the product of row and key: scaling and masking.
  func.func private @score(%product: f32, %batch: index, %row: index, %key: index, %X: !extra) -> f32 {
    return %product : f32
  }
  // Whether a key may have a score other than minus infinity.
  func.func private @keep(%batch: index, %row: index, %key: index, %X: !extra) -> i1 {
    %true = arith.constant true
    return %true : i1
  }
  // The sum over the 16 lanes of a key, in each of them.
  func.func private @key_sum(%v: f32) -> f32 {
    %width = arith.constant 32 : i32
    %c8 = arith.constant 8 : i32
    %c4 = arith.constant 4 : i32
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %p0, %ok0 = gpu.shuffle xor %v, %c8, %width : f32
    %v0 = arith.addf %v, %p0 : f32
    %p1, %ok1 = gpu.shuffle xor %v0, %c4, %width : f32
    %v1 = arith.addf %v0, %p1 : f32
    %p2, %ok2 = gpu.shuffle xor %v1, %c2, %width : f32
    %v2 = arith.addf %v1, %p2 : f32
    %p3, %ok3 = gpu.shuffle xor %v2, %c1, %width : f32
    %v3 = arith.addf %v2, %p3 : f32
    return %v3 : f32
  }
  // The exponential of the difference to a maximum; of nothing to nothing it is zero.
  func.func private @weight(%value: f32, %maximum: f32) -> f32 {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %none = arith.cmpf oeq, %maximum, %low : f32
    %shift = arith.select %none, %zero, %maximum : f32
    %d = arith.subf %value, %shift : f32
    %e = math.exp %d : f32
    return %e : f32
  }

  gpu.func @attention_row_f32(%Q: !view, %K: !view, %V: !view, %O: !view, %W: !parts, %X: !extra)
      workgroup(%maxima: !warp_scalars {llvm.align = 16 : i64}, %sums: !warp_scalars {llvm.align = 16 : i64},
                %rows: !warp_rows {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %warps = arith.constant #warps
    %keys = arith.constant #keys
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %none = arith.constant dense<0.0> : vector<8x4xf32>
    %full_width = arith.constant 32 : i32
    %half = arith.constant 16 : i32
    %all_lanes = arith.constant -1 : i32
    %n = memref.dim %K, %c1 : !view
    %depth = memref.dim %K, %c2 : !view
    %parts = arith.ceildivui %n, %keys : index
    %block = gpu.block_id x
    %batch = arith.divui %block, %parts : index
    %part = arith.remui %block, %parts : index
    %tid = gpu.thread_id x upper_bound 256
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %group = arith.divui %tid, %c16 : index
    %group_lane = arith.remui %tid, %c16 : index
    %d_any = arith.muli %group_lane, %c4 : index
    %d_in = arith.cmpi ult, %d_any, %depth : index
    %last_d = arith.subi %depth, %c4 : index
    %d = arith.minui %d_any, %last_d : index
    %key0 = arith.muli %part, %keys : index

    // Keys key0 + group + 16 i. One that does not count is read as the first one, and weighs nothing.
    %k_rows = affine.for %i = 0 to 8 iter_args(%f = %none) -> (vector<8x4xf32>) {
      %key = affine.apply affine_map<(o, g, i) -> (o + g + 16 * i)>(%key0, %group, %i)
      %in = arith.cmpi ult, %key, %n : index
      %safe = arith.select %in, %key, %c0 : index
      %kept = func.call @keep(%batch, %c0, %safe, %X) : (index, index, index, !extra) -> i1
      %place = arith.select %kept, %safe, %c0 : index
      %x = vector.load %K[%batch, %place, %d] {alignment = 16 : i64} : !view, vector<4xf32>
      %f1 = vector.insert %x, %f[%i] : vector<4xf32> into vector<8x4xf32>
      affine.yield %f1 : vector<8x4xf32>
    }
    %v_rows = affine.for %i = 0 to 8 iter_args(%f = %none) -> (vector<8x4xf32>) {
      %key = affine.apply affine_map<(o, g, i) -> (o + g + 16 * i)>(%key0, %group, %i)
      %in = arith.cmpi ult, %key, %n : index
      %safe = arith.select %in, %key, %c0 : index
      %kept = func.call @keep(%batch, %c0, %safe, %X) : (index, index, index, !extra) -> i1
      %place = arith.select %kept, %safe, %c0 : index
      %x = vector.load %V[%batch, %place, %d] {alignment = 16 : i64} : !view, vector<4xf32>
      %f1 = vector.insert %x, %f[%i] : vector<4xf32> into vector<8x4xf32>
      affine.yield %f1 : vector<8x4xf32>
    }
    // Keeps the loads in flight together.
    nvvm.bar.warp.sync %all_lanes : i32
    %q_any = vector.load %Q[%batch, %c0, %d] {alignment = 16 : i64} : !view, vector<4xf32>
    %q = arith.select %d_in, %q_any, %zeros : vector<4xf32>
    %no_scores = arith.constant dense<0xFF800000> : vector<8xf32>
    %scores = affine.for %i = 0 to 8 iter_args(%f = %no_scores) -> (vector<8xf32>) {
      %key = affine.apply affine_map<(o, g, i) -> (o + g + 16 * i)>(%key0, %group, %i)
      %in = arith.cmpi ult, %key, %n : index
      %safe = arith.select %in, %key, %c0 : index
      %k = vector.extract %k_rows[%i] : vector<4xf32> from vector<8x4xf32>
      %p = arith.mulf %q, %k : vector<4xf32>
      %mine = vector.reduction <add>, %p : vector<4xf32> into f32
      %product = func.call @key_sum(%mine) : (f32) -> f32
      %kept = func.call @keep(%batch, %c0, %safe, %X) : (index, index, index, !extra) -> i1
      %s_any = func.call @score(%product, %batch, %c0, %safe, %X) : (f32, index, index, index, !extra) -> f32
      %counts = arith.andi %in, %kept : i1
      %s = arith.select %counts, %s_any, %low : f32
      %f1 = vector.insert %s, %f[%i] : f32 into vector<8xf32>
      affine.yield %f1 : vector<8xf32>
    }

    // The warp: its two groups share a maximum.
    %group_maximum = vector.reduction <maximumf>, %scores : vector<8xf32> into f32
    %other_maximum, %ok0 = gpu.shuffle xor %group_maximum, %half, %full_width : f32
    %maximum = arith.maximumf %group_maximum, %other_maximum : f32
    %out:2 = affine.for %i = 0 to 8 iter_args(%sum = %zero, %row = %zeros) -> (f32, vector<4xf32>) {
      %s = vector.extract %scores[%i] : f32 from vector<8xf32>
      %e = func.call @weight(%s, %maximum) : (f32, f32) -> f32
      %sum1 = arith.addf %sum, %e : f32
      %x = vector.extract %v_rows[%i] : vector<4xf32> from vector<8x4xf32>
      %e4 = vector.broadcast %e : f32 to vector<4xf32>
      %row1 = vector.fma %e4, %x, %row : vector<4xf32>
      affine.yield %sum1, %row1 : f32, vector<4xf32>
    }
    %other_sum, %ok1 = gpu.shuffle xor %out#0, %half, %full_width : f32
    %warp_sum = arith.addf %out#0, %other_sum : f32
    %lane_first = arith.cmpi eq, %lane, %c0 : index
    scf.if %lane_first {
      memref.store %maximum, %maxima[%warp] : !warp_scalars
      memref.store %warp_sum, %sums[%warp] : !warp_scalars
    }
    %lane_writes = arith.cmpi ult, %lane, %c16 : index
    affine.for %u = 0 to 4 {
      %x = vector.extract %out#1[%u] : f32 from vector<4xf32>
      %other, %ok2 = gpu.shuffle xor %x, %half, %full_width : f32
      %y = arith.addf %x, %other : f32
      %place = arith.addi %d_any, %u : index
      scf.if %lane_writes {
        memref.store %y, %rows[%warp, %place] : !warp_rows
      }
    }
    gpu.barrier

    // The block: the first warp makes its part, two elements a lane.
    %is_first_warp = arith.cmpi eq, %warp, %c0 : index
    scf.if %is_first_warp {
      %no_pair = arith.constant dense<0.0> : vector<2xf32>
      %pair_any = arith.muli %lane, %c2 : index
      %pair_in = arith.cmpi ult, %pair_any, %depth : index
      %last_pair = arith.subi %depth, %c2 : index
      %pair = arith.minui %pair_any, %last_pair : index
      %block_maximum = affine.for %w = 0 to %warps iter_args(%m = %low) -> (f32) {
        %x = memref.load %maxima[%w] : !warp_scalars
        %m1 = arith.maximumf %m, %x : f32
        affine.yield %m1 : f32
      }
      %total:2 = affine.for %w = 0 to %warps iter_args(%sum = %zero, %row = %no_pair) -> (f32, vector<2xf32>) {
        %m = memref.load %maxima[%w] : !warp_scalars
        %e = func.call @weight(%m, %block_maximum) : (f32, f32) -> f32
        %s = memref.load %sums[%w] : !warp_scalars
        %sum1 = math.fma %e, %s, %sum : f32
        %x = vector.load %rows[%w, %pair] {alignment = 8 : i64} : !warp_rows, vector<2xf32>
        %e2 = vector.broadcast %e : f32 to vector<2xf32>
        %row1 = vector.fma %e2, %x, %row : vector<2xf32>
        affine.yield %sum1, %row1 : f32, vector<2xf32>
      }
      scf.if %pair_in {
        vector.store %total#1, %W[%batch, %part, %pair] {alignment = 8 : i64} : !parts, vector<2xf32>
      }
      scf.if %lane_first {
        %both = vector.from_elements %block_maximum, %total#0 : vector<2xf32>
        vector.store %both, %W[%batch, %part, %depth] {alignment = 8 : i64} : !parts, vector<2xf32>
      }
      // What this block wrote is there before it counts itself.
      llvm.fence syncscope("device") acq_rel
      nvvm.bar.warp.sync %all_lanes : i32
      %one = arith.constant 1 : i32
      %no = arith.constant 0 : i32
      %counters = memref.get_global @finished : !counters
      %before_first = scf.if %lane_first -> (i32) {
        %x = memref.atomic_rmw addi %one, %counters[%batch] : (i32, !counters) -> i32
        scf.yield %x : i32
      } else {
        scf.yield %no : i32
      }
      %before, %ok3 = gpu.shuffle idx %before_first, %no, %full_width : i32
      llvm.fence syncscope("device") acq_rel
      %before_index = arith.index_cast %before : i32 to index
      %after = arith.addi %before_index, %c1 : index
      %combines = arith.cmpi eq, %after, %parts : index
      scf.if %combines {
        scf.if %lane_first {
          memref.store %no, %counters[%batch] : !counters
        }
        // Eight parts at once, so that their loads are on their way together.
        %eight = arith.constant 8 : index
        %last_part = arith.subi %parts, %c1 : index
        %all:3 = scf.for %p0 = %c0 to %parts step %eight
            iter_args(%m = %low, %sum = %zero, %row = %no_pair) -> (f32, f32, vector<2xf32>) {
          %none_of = arith.constant dense<0.0> : vector<8x2xf32>
          %loaded:2 = affine.for %i = 0 to 8 iter_args(%f = %none_of, %h = %none_of) -> (vector<8x2xf32>, vector<8x2xf32>) {
            %p_any = affine.apply affine_map<(p, i) -> (p + i)>(%p0, %i)
            %p = arith.minui %p_any, %last_part : index
            %x = vector.load %W[%batch, %p, %depth] {alignment = 8 : i64} : !parts, vector<2xf32>
            %y = vector.load %W[%batch, %p, %pair] {alignment = 8 : i64} : !parts, vector<2xf32>
            %f1 = vector.insert %x, %f[%i] : vector<2xf32> into vector<8x2xf32>
            %h1 = vector.insert %y, %h[%i] : vector<2xf32> into vector<8x2xf32>
            affine.yield %f1, %h1 : vector<8x2xf32>, vector<8x2xf32>
          }
          %m_new = affine.for %i = 0 to 8 iter_args(%f = %m) -> (f32) {
            %x = vector.extract %loaded#0[%i, 0] : f32 from vector<8x2xf32>
            %f1 = arith.maximumf %f, %x : f32
            affine.yield %f1 : f32
          }
          %e_old = func.call @weight(%m, %m_new) : (f32, f32) -> f32
          %sum_old = arith.mulf %sum, %e_old : f32
          %e_old2 = vector.broadcast %e_old : f32 to vector<2xf32>
          %row_old = arith.mulf %row, %e_old2 : vector<2xf32>
          %new:2 = affine.for %i = 0 to 8 iter_args(%f = %sum_old, %h = %row_old) -> (f32, vector<2xf32>) {
            %p = affine.apply affine_map<(p, i) -> (p + i)>(%p0, %i)
            %in = arith.cmpi ult, %p, %parts : index
            %x = vector.extract %loaded#0[%i, 0] : f32 from vector<8x2xf32>
            %s = vector.extract %loaded#0[%i, 1] : f32 from vector<8x2xf32>
            %e_any = func.call @weight(%x, %m_new) : (f32, f32) -> f32
            %e = arith.select %in, %e_any, %zero : f32
            %f1 = math.fma %e, %s, %f : f32
            %e2 = vector.broadcast %e : f32 to vector<2xf32>
            %y = vector.extract %loaded#1[%i] : vector<2xf32> from vector<8x2xf32>
            %h1 = vector.fma %e2, %y, %h : vector<2xf32>
            affine.yield %f1, %h1 : f32, vector<2xf32>
          }
          scf.yield %m_new, %new#0, %new#1 : f32, f32, vector<2xf32>
        }
        scf.if %pair_in {
          %sum2 = vector.broadcast %all#1 : f32 to vector<2xf32>
          %y = arith.divf %all#2, %sum2 : vector<2xf32>
          vector.store %y, %O[%batch, %c0, %pair] {alignment = 8 : i64} : !view, vector<2xf32>
        }
      }
    }
    gpu.return
  }
}

func.func private @attention(%Q: !view, %K: !view, %V: !view, %O: !view, %W: !parts, %X: !extra)
    attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant #threads
  %keys = arith.constant #keys
  %batches = memref.dim %K, %c0 : !view
  %n = memref.dim %K, %c1 : !view
  %parts = arith.ceildivui %n, %keys : index
  %blocks = arith.muli %parts, %batches : index
  gpu.launch_func @attention_row_f32_kernels::@attention_row_f32 blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%Q : !view, %K : !view, %V : !view, %O : !view, %W : !parts, %X : !extra)
  return
}
}
