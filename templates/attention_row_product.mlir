// RUN: tinymlir-opt %s | FileCheck %s
// W_b = (softmax(score(Q_b K_b^T)) V_b) B_b for one row a batch in strict fp32: the heads of a decoding step, each multiplied by its
// rows of a projection. The sum of W over the batches is the product of all heads' rows with B. Q: 1 x D, K and V: N x D,
// B_b: D x M, the rows b D to b D + D - 1 of B, W_b: M elements. D is at most 64; D, the strides and the offsets are
// multiples of 4 elements, and the buffers are aligned to 16 bytes (B to four of its elements). Keys that @keep leaves out
// are not read. Elements of B may be narrower than f32: @widen makes f32 of them, in registers. From sm_90 on.
//
// A cluster of 8 blocks takes a batch, and key k is block k mod 8's: a group of 16 lanes a key, 4 elements a lane, several keys
// at once, in as many turns as there are. Each block sends its maximum, its sum and its part of the row to all eight through
// distributed workgroup memory; each joins the parts, in their order, and multiplies the row by its eighth of B's columns,
// which it asked for first: B may be on its way before the kernel's predecessor ends, if it is constant. Everything is added in
// a fixed order, so that results are the same from run to run. With #atomic they are not: W_b is then one row for all batches, zero
// before, to which each adds; the first one also what @epilogue adds to its sum, of the elements of E0, E1 and E2. With #early the
// keys and values of the first turn are read before anything is waited for, all but the row that @written names: the only one that
// kernels before this one may write. That one is read behind the wait.
//
// CHECK: gpu.func @attention_row_product(
// CHECK: func.func private @attention(

// Parameters: an operand that @score and @keep may read.
!extra = memref<f32>
!q_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!k_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!v_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!parts = memref<?x?xf32, strided<[?, 1], offset: ?>>
#depth = 64 : index
#atomic = false
// Whether keys are read before the kernel's predecessor ends: where what keeps them is constant.
#early = false
// The threads of a block, its warps, and its groups of 16 lanes.
#threads = 384 : index
#block_size = array<i32: 384, 1, 1>
#warps = 12 : index
#groups = 24 : index
!warp_scalars = memref<12xf32, #gpu.address_space<workgroup>>
!warp_rows = memref<12x64xf32, #gpu.address_space<workgroup>>
// How many keys a group takes at once, how often, and which: turn, place in the turn, group, block.
#at_once = 6 : index
#turns = 1 : index
#key_of = affine_map<(t, i, g, r) -> (((t * 6 + i) * 24 + g) * 8 + r)>
!some_rows = vector<6x4xf32>
!some = vector<6xf32>
// The columns of a block, the threads that read a row of them, how many rows they read together, and each of them.
#columns = 96 : index
#fours = 24 : index
#b_groups = 16 : index
#b_each = 4 : index
!partial = memref<16x96xf32, #gpu.address_space<workgroup>>
// B, what four elements of it are in memory, and all that a thread reads of it.
!b_view = memref<?x?xf32, strided<[?, 1], offset: ?>>
!b_global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!b_part = vector<4xf32>
#b_align = 16 : i64
!b_rows = vector<4x4xf32>

!view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!parts_global = memref<?x?xf32, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!block_scalars = memref<8xf32, #gpu.address_space<workgroup>>
!block_rows = memref<8x64xf32, #gpu.address_space<workgroup>>
!beside = memref<?xf32, strided<[?], offset: ?>>
!row = memref<64xf32, #gpu.address_space<workgroup>>
#most_depth = 64 : index
#cluster = 8 : index

module attributes {gpu.container_module} {
gpu.module @attention_row_product_kernels {
  // The score of a key from the product of row and key: scaling and masking.
  func.func private @score(%product: f32, %batch: index, %row: index, %key: index, %X: !extra) -> f32 {
    return %product : f32
  }
  // Whether a key may have a score other than minus infinity.
  func.func private @keep(%batch: index, %row: index, %key: index, %X: !extra) -> i1 {
    %true = arith.constant true
    return %true : i1
  }
  // Four elements of B in f32.
  func.func private @widen(%v: !b_part) -> vector<4xf32> {
    %e = builtin.unrealized_conversion_cast %v : !b_part to vector<4xf32>
    return %e : vector<4xf32>
  }
  // What is added for all batches once.
  func.func private @epilogue(%sum: f32, %x: f32, %y: f32, %z: f32) -> f32 {
    return %sum : f32
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
  // The keys of a turn from K or V: one that does not count is read as the first one.
  func.func private @load(%from: !view, %batch: index, %turn: index, %group: index, %rank: index, %n: index, %d: index, %X: !extra) -> !some_rows {
    %c0 = arith.constant 0 : index
    %at_once = arith.constant #at_once
    %none = ub.poison : !some_rows
    %rows = affine.for %i = 0 to %at_once iter_args(%f = %none) -> (!some_rows) {
      %key = affine.apply #key_of(%turn, %i, %group, %rank)
      %in = arith.cmpi ult, %key, %n : index
      %safe = arith.select %in, %key, %c0 : index
      %kept = func.call @keep(%batch, %c0, %safe, %X) : (index, index, index, !extra) -> i1
      %place = arith.select %kept, %safe, %c0 : index
      %x = vector.load %from[%batch, %place, %d] {alignment = 16 : i64} : !view, vector<4xf32>
      %f1 = vector.insert %x, %f[%i] : vector<4xf32> into !some_rows
      affine.yield %f1 : !some_rows
    }
    return %rows : !some_rows
  }
  // The row of K and V that kernels before this one may write.
  func.func private @written(%X: !extra) -> index {
    %c0 = arith.constant 0 : index
    return %c0 : index
  }
  // Whether a key of the first turn counts and is not the one that may be written.
  func.func private @stays(%batch: index, %i: index, %group: index, %rank: index, %n: index, %late: index, %X: !extra) -> i1 {
    %c0 = arith.constant 0 : index
    %key = affine.apply #key_of(%c0, %i, %group, %rank)
    %in = arith.cmpi ult, %key, %n : index
    %safe = arith.select %in, %key, %c0 : index
    %kept = func.call @keep(%batch, %c0, %safe, %X) : (index, index, index, !extra) -> i1
    %counts = arith.andi %in, %kept : i1
    %other = arith.cmpi ne, %key, %late : index
    %stays = arith.andi %counts, %other : i1
    return %stays : i1
  }
  // Those keys of the first turn, before the wait, and zeros for the others.
  func.func private @load_early(%from: !view, %batch: index, %group: index, %rank: index, %n: index, %d: index, %late: index, %X: !extra) -> !some_rows {
    %c0 = arith.constant 0 : index
    %at_once = arith.constant #at_once
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %none = ub.poison : !some_rows
    %rows = affine.for %i = 0 to %at_once iter_args(%f = %none) -> (!some_rows) {
      %stays = func.call @stays(%batch, %i, %group, %rank, %n, %late, %X) : (index, index, index, index, index, index, !extra) -> i1
      %key = affine.apply #key_of(%c0, %i, %group, %rank)
      %x = scf.if %stays -> (vector<4xf32>) {
        %there = vector.load %from[%batch, %key, %d] {alignment = 16 : i64, tinymlir.unwritten} : !view, vector<4xf32>
        scf.yield %there : vector<4xf32>
      } else {
        scf.yield %zeros : vector<4xf32>
      }
      %f1 = vector.insert %x, %f[%i] : vector<4xf32> into !some_rows
      affine.yield %f1 : !some_rows
    }
    return %rows : !some_rows
  }
  // Whether a group's keys of the first turn contain one.
  func.func private @has(%key: index, %group: index, %rank: index) -> i1 {
    %cluster = arith.constant #cluster
    %groups = arith.constant #groups
    %at_once = arith.constant #at_once
    %of_rank = arith.remui %key, %cluster : index
    %is_rank = arith.cmpi eq, %of_rank, %rank : index
    %place = arith.divui %key, %cluster : index
    %of_group = arith.remui %place, %groups : index
    %is_group = arith.cmpi eq, %of_group, %group : index
    %number = arith.divui %place, %groups : index
    %is_first = arith.cmpi ult, %number, %at_once : index
    %is_place = arith.andi %is_rank, %is_group : i1
    %has = arith.andi %is_place, %is_first : i1
    return %has : i1
  }
  // The same place in the workgroup memory of another block of the cluster, `element` elements on.
  func.func private @there(%address: index, %rank: index, %element: index) -> !llvm.ptr<7> {
    %bits = arith.index_cast %address : index to i64
    %here = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
    %block = arith.index_cast %rank : index to i32
    %there = nvvm.mapa %here, %block : !llvm.ptr<3> -> !llvm.ptr<7>
    %at = arith.index_cast %element : index to i64
    %place = llvm.getelementptr %there[%at] : (!llvm.ptr<7>, i64) -> !llvm.ptr<7>, f32
    return %place : !llvm.ptr<7>
  }

  gpu.func @attention_row_product(%Q: !q_view, %K: !k_view, %V: !v_view, %B: !b_view, %W: !parts, %X: !extra,
                                   %E0: !beside, %E1: !beside, %E2: !beside)
      workgroup(%maxima: !warp_scalars {llvm.align = 16 : i64}, %sums: !warp_scalars {llvm.align = 16 : i64},
                %rows: !warp_rows {llvm.align = 16 : i64}, %all_maxima: !block_scalars {llvm.align = 16 : i64},
                %all_sums: !block_scalars {llvm.align = 16 : i64}, %all_rows: !block_rows {llvm.align = 16 : i64},
                %row: !row {llvm.align = 16 : i64}, %partial: !partial {llvm.align = 16 : i64})
      kernel attributes {known_block_size = #block_size} {
    // The blocks of the cluster are there before anything is sent to them.
    nvvm.cluster.arrive.relaxed {aligned}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %cluster = arith.constant #cluster
    %warps = arith.constant #warps
    %at_once = arith.constant #at_once
    %turns = arith.constant #turns
    %depth = arith.constant #depth
    %columns = arith.constant #columns
    %fours = arith.constant #fours
    %b_groups = arith.constant #b_groups
    %b_each = arith.constant #b_each
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %full_width = arith.constant 32 : i32
    %half = arith.constant 16 : i32
    %all_lanes = arith.constant -1 : i32
    %block = gpu.block_id x
    %batch = arith.divui %block, %cluster : index
    %rank = arith.remui %block, %cluster : index
    %tid = gpu.thread_id x
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %group = arith.divui %tid, %c16 : index
    %group_lane = arith.remui %tid, %c16 : index

    // The block's columns of B: threads past the last group of rows read what it reads.
    %b = memref.memory_space_cast %B : !b_view to !b_global
    %four = arith.remui %tid, %fours : index
    %b_group_any = arith.divui %tid, %fours : index
    %b_last = arith.subi %b_groups, %c1 : index
    %b_group = arith.minui %b_group_any, %b_last : index
    %b_works = arith.cmpi ult, %b_group_any, %b_groups : index
    %b_row0 = arith.muli %batch, %depth : index
    %column0 = arith.muli %rank, %columns : index
    %four_column = arith.muli %four, %c4 : index
    %b_column = arith.addi %column0, %four_column : index
    %b_none = ub.poison : !b_rows
    %b_rows = affine.for %u = 0 to %b_each iter_args(%f = %b_none) -> (!b_rows) {
      %past = arith.muli %u, %b_groups : index
      %r = arith.addi %past, %b_group : index
      %b_row = arith.addi %b_row0, %r : index
      %v = vector.load %b[%b_row, %b_column] {alignment = #b_align} : !b_global, !b_part
      %f1 = vector.insert %v, %f[%u] : !b_part into !b_rows
      affine.yield %f1 : !b_rows
    }
    // Keeps these loads in flight together and in front: without it they sink to their uses.
    nvvm.bar.warp.sync %all_lanes : i32
    %keys = memref.cast %K : !k_view to !view
    %values = memref.cast %V : !v_view to !view
    %n = memref.dim %K, %c1 : !k_view
    %d_any = arith.muli %group_lane, %c4 : index
    %last_d = arith.subi %depth, %c4 : index
    %d = arith.minui %d_any, %last_d : index
    %early = arith.constant #early
    %last_key = arith.subi %n, %c1 : index
    %written = func.call @written(%X) : (!extra) -> index
    %late = arith.minui %written, %last_key : index
    %before:2 = scf.if %early -> (!some_rows, !some_rows) {
      %k_rows = func.call @load_early(%keys, %batch, %group, %rank, %n, %d, %late, %X) : (!view, index, index, index, index, index, index, !extra) -> !some_rows
      %v_rows = func.call @load_early(%values, %batch, %group, %rank, %n, %d, %late, %X) : (!view, index, index, index, index, index, index, !extra) -> !some_rows
      nvvm.bar.warp.sync %all_lanes : i32
      scf.yield %k_rows, %v_rows : !some_rows, !some_rows
    } else {
      %none = ub.poison : !some_rows
      scf.yield %none, %none : !some_rows, !some_rows
    }
    nvvm.cluster.wait {aligned}

    // A lane's elements of the row so far, and its warp's maximum and its group's sum.
    %d_in = arith.cmpi ult, %d_any, %depth : index
    // What is added once for all batches is on its way early, too.
    %column = arith.addi %column0, %tid : index
    %has_column = arith.cmpi ult, %tid, %columns : index
    %is_first = arith.cmpi eq, %batch, %c0 : index
    %atomic = arith.constant #atomic
    %adds_once = arith.andi %atomic, %is_first : i1
    %reads = arith.andi %adds_once, %has_column : i1
    %beside:3 = scf.if %reads -> (f32, f32, f32) {
      %x = memref.load %E0[%column] : !beside
      %y = memref.load %E1[%column] : !beside
      %z = memref.load %E2[%column] : !beside
      scf.yield %x, %y, %z : f32, f32, f32
    } else {
      scf.yield %zero, %zero, %zero : f32, f32, f32
    }
    // Behind the wait what another kernel writes: the row, and the key that may be written, with which its group begins.
    %late_rows:3 = scf.if %early -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) {
      %q = vector.load %Q[%batch, %c0, %d] {alignment = 16 : i64} : !q_view, vector<4xf32>
      %k = vector.load %keys[%batch, %late, %d] {alignment = 16 : i64} : !view, vector<4xf32>
      %v = vector.load %values[%batch, %late, %d] {alignment = 16 : i64} : !view, vector<4xf32>
      nvvm.bar.warp.sync %all_lanes : i32
      scf.yield %q, %k, %v : vector<4xf32>, vector<4xf32>, vector<4xf32>
    } else {
      scf.yield %zeros, %zeros, %zeros : vector<4xf32>, vector<4xf32>, vector<4xf32>
    }
    %begin:3 = scf.if %early -> (f32, f32, vector<4xf32>) {
      %q = arith.select %d_in, %late_rows#0, %zeros : vector<4xf32>
      %p = arith.mulf %q, %late_rows#1 : vector<4xf32>
      %mine = vector.reduction <add>, %p : vector<4xf32> into f32
      %product = func.call @key_sum(%mine) : (f32) -> f32
      %has = func.call @has(%late, %group, %rank) : (index, index, index) -> i1
      %kept = func.call @keep(%batch, %c0, %late, %X) : (index, index, index, !extra) -> i1
      %counts = arith.andi %has, %kept : i1
      %s_any = func.call @score(%product, %batch, %c0, %late, %X) : (f32, index, index, index, !extra) -> f32
      %s = arith.select %counts, %s_any, %low : f32
      %one = arith.constant 1.0 : f32
      %l = arith.select %counts, %one, %zero : f32
      %o = arith.select %counts, %late_rows#2, %zeros : vector<4xf32>
      scf.yield %s, %l, %o : f32, f32, vector<4xf32>
    } else {
      scf.yield %low, %zero, %zeros : f32, f32, vector<4xf32>
    }
    %own:3 = scf.for %turn = %c0 to %turns step %c1 iter_args(%m = %begin#0, %l = %begin#1, %o = %begin#2) -> (f32, f32, vector<4xf32>) {
      %first_turn = arith.cmpi eq, %turn, %c0 : index
      %is_there = arith.andi %early, %first_turn : i1
      %turn_rows:2 = scf.if %is_there -> (!some_rows, !some_rows) {
        scf.yield %before#0, %before#1 : !some_rows, !some_rows
      } else {
        %k_rows = func.call @load(%keys, %batch, %turn, %group, %rank, %n, %d, %X) : (!view, index, index, index, index, index, index, !extra) -> !some_rows
        %v_rows = func.call @load(%values, %batch, %turn, %group, %rank, %n, %d, %X) : (!view, index, index, index, index, index, index, !extra) -> !some_rows
        scf.yield %k_rows, %v_rows : !some_rows, !some_rows
      }
      %q_any = scf.if %early -> (vector<4xf32>) {
        scf.yield %late_rows#0 : vector<4xf32>
      } else {
        %v = vector.load %Q[%batch, %c0, %d] {alignment = 16 : i64} : !q_view, vector<4xf32>
        nvvm.bar.warp.sync %all_lanes : i32
        scf.yield %v : vector<4xf32>
      }
      %q = arith.select %d_in, %q_any, %zeros : vector<4xf32>
      %done_not = arith.constant false
      %no_scores = ub.poison : !some
      %scores = affine.for %i = 0 to %at_once iter_args(%f = %no_scores) -> (!some) {
        %key = affine.apply #key_of(%turn, %i, %group, %rank)
        %in = arith.cmpi ult, %key, %n : index
        %safe = arith.select %in, %key, %c0 : index
        %k = vector.extract %turn_rows#0[%i] : vector<4xf32> from !some_rows
        %p = arith.mulf %q, %k : vector<4xf32>
        %mine = vector.reduction <add>, %p : vector<4xf32> into f32
        %product = func.call @key_sum(%mine) : (f32) -> f32
        %kept = func.call @keep(%batch, %c0, %safe, %X) : (index, index, index, !extra) -> i1
        %s_any = func.call @score(%product, %batch, %c0, %safe, %X) : (f32, index, index, index, !extra) -> f32
        %counts_any = arith.andi %in, %kept : i1
        %is_late = arith.cmpi eq, %key, %late : index
        %done = arith.andi %is_there, %is_late : i1
        %counts = arith.select %done, %done_not, %counts_any : i1
        %s = arith.select %counts, %s_any, %low : f32
        %f1 = vector.insert %s, %f[%i] : f32 into !some
        affine.yield %f1 : !some
      }
      %turn_scores = vector.reduction <maximumf>, %scores : !some into f32
      %group_maximum = arith.maximumf %m, %turn_scores : f32
      %other_maximum, %ok0 = gpu.shuffle xor %group_maximum, %half, %full_width : f32
      %m1 = arith.maximumf %group_maximum, %other_maximum : f32
      %e_old = func.call @weight(%m, %m1) : (f32, f32) -> f32
      %l_old = arith.mulf %l, %e_old : f32
      %e_old4 = vector.broadcast %e_old : f32 to vector<4xf32>
      %o_old = arith.mulf %o, %e_old4 : vector<4xf32>
      %new:2 = affine.for %i = 0 to %at_once iter_args(%sum = %l_old, %part = %o_old) -> (f32, vector<4xf32>) {
        %s = vector.extract %scores[%i] : f32 from !some
        %e = func.call @weight(%s, %m1) : (f32, f32) -> f32
        %sum1 = arith.addf %sum, %e : f32
        %x = vector.extract %turn_rows#1[%i] : vector<4xf32> from !some_rows
        %e4 = vector.broadcast %e : f32 to vector<4xf32>
        %part1 = vector.fma %e4, %x, %part : vector<4xf32>
        affine.yield %sum1, %part1 : f32, vector<4xf32>
      }
      scf.yield %m1, %new#0, %new#1 : f32, f32, vector<4xf32>
    }

    // The warp: its two groups share a maximum.
    %other_sum, %ok1 = gpu.shuffle xor %own#1, %half, %full_width : f32
    %warp_sum = arith.addf %own#1, %other_sum : f32
    %lane_first = arith.cmpi eq, %lane, %c0 : index
    scf.if %lane_first {
      memref.store %own#0, %maxima[%warp] : !warp_scalars
      memref.store %warp_sum, %sums[%warp] : !warp_scalars
    }
    %lane_writes = arith.cmpi ult, %lane, %c16 : index
    affine.for %u = 0 to 4 {
      %x = vector.extract %own#2[%u] : f32 from vector<4xf32>
      %other, %ok2 = gpu.shuffle xor %x, %half, %full_width : f32
      %y = arith.addf %x, %other : f32
      %place = arith.addi %d_any, %u : index
      scf.if %lane_writes {
        memref.store %y, %rows[%warp, %place] : !warp_rows
      }
    }
    gpu.barrier

    // The block: a thread an element of the row, which it sends to the whole cluster; eight send the maximum and the sum.
    %most_depth = arith.constant #most_depth
    %has_place = arith.cmpi ult, %tid, %most_depth : index
    %has_element = arith.cmpi ult, %tid, %depth : index
    %maxima_at = memref.extract_aligned_pointer_as_index %all_maxima : !block_scalars -> index
    %sums_at = memref.extract_aligned_pointer_as_index %all_sums : !block_scalars -> index
    %rows_at = memref.extract_aligned_pointer_as_index %all_rows : !block_rows -> index
    scf.if %has_place {
      %maximum = affine.for %w = 0 to %warps iter_args(%m = %low) -> (f32) {
        %x = memref.load %maxima[%w] : !warp_scalars
        %m1 = arith.maximumf %m, %x : f32
        affine.yield %m1 : f32
      }
      %total:2 = affine.for %w = 0 to %warps iter_args(%sum = %zero, %part = %zero) -> (f32, f32) {
        %m = memref.load %maxima[%w] : !warp_scalars
        %e = func.call @weight(%m, %maximum) : (f32, f32) -> f32
        %s = memref.load %sums[%w] : !warp_scalars
        %sum1 = math.fma %e, %s, %sum : f32
        %x = memref.load %rows[%w, %tid] : !warp_rows
        %part1 = math.fma %e, %x, %part : f32
        affine.yield %sum1, %part1 : f32, f32
      }
      %start = arith.muli %rank, %most_depth : index
      %element = arith.addi %start, %tid : index
      scf.if %has_element {
        affine.for %r = 0 to %cluster {
          %there = func.call @there(%rows_at, %r, %element) : (index, index, index) -> !llvm.ptr<7>
          llvm.store %total#1, %there : f32, !llvm.ptr<7>
        }
      }
      %is_block = arith.cmpi ult, %tid, %cluster : index
      scf.if %is_block {
        %maximum_there = func.call @there(%maxima_at, %tid, %rank) : (index, index, index) -> !llvm.ptr<7>
        llvm.store %maximum, %maximum_there : f32, !llvm.ptr<7>
        %sum_there = func.call @there(%sums_at, %tid, %rank) : (index, index, index) -> !llvm.ptr<7>
        llvm.store %total#0, %sum_there : f32, !llvm.ptr<7>
      }
    }
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}

    // The cluster: every block has the whole row, in workgroup memory.
    scf.if %has_element {
      %maximum = affine.for %r = 0 to %cluster iter_args(%m = %low) -> (f32) {
        %x = memref.load %all_maxima[%r] : !block_scalars
        %m1 = arith.maximumf %m, %x : f32
        affine.yield %m1 : f32
      }
      %total:2 = affine.for %r = 0 to %cluster iter_args(%sum = %zero, %part = %zero) -> (f32, f32) {
        %m = memref.load %all_maxima[%r] : !block_scalars
        %e = func.call @weight(%m, %maximum) : (f32, f32) -> f32
        %s = memref.load %all_sums[%r] : !block_scalars
        %sum1 = math.fma %e, %s, %sum : f32
        %x = memref.load %all_rows[%r, %tid] : !block_rows
        %part1 = math.fma %e, %x, %part : f32
        affine.yield %sum1, %part1 : f32, f32
      }
      %y = arith.divf %total#1, %total#0 : f32
      memref.store %y, %row[%tid] : !row
    }
    gpu.barrier

    // The product: a thread four columns of its rows of B, then a thread a column.
    %products = affine.for %u = 0 to %b_each iter_args(%f = %zeros) -> (vector<4xf32>) {
      %past = arith.muli %u, %b_groups : index
      %r = arith.addi %past, %b_group : index
      %x = memref.load %row[%r] : !row
      %x4 = vector.broadcast %x : f32 to vector<4xf32>
      %v = vector.extract %b_rows[%u] : !b_part from !b_rows
      %wide = func.call @widen(%v) : (!b_part) -> vector<4xf32>
      %f1 = vector.fma %x4, %wide, %f : vector<4xf32>
      affine.yield %f1 : vector<4xf32>
    }
    scf.if %b_works {
      vector.store %products, %partial[%b_group, %four_column] {alignment = 16 : i64} : !partial, vector<4xf32>
    }
    gpu.barrier
    %w = memref.memory_space_cast %W : !parts to !parts_global
    scf.if %has_column {
      %sum = affine.for %g = 0 to %b_groups iter_args(%t = %zero) -> (f32) {
        %v = memref.load %partial[%g, %tid] : !partial
        %t1 = arith.addf %t, %v : f32
        affine.yield %t1 : f32
      }
      scf.if %atomic {
        %adds = scf.if %is_first -> (f32) {
          %all = func.call @epilogue(%sum, %beside#0, %beside#1, %beside#2) : (f32, f32, f32, f32) -> f32
          scf.yield %all : f32
        } else {
          scf.yield %sum : f32
        }
        %old = memref.atomic_rmw addf %adds, %w[%batch, %column] : (f32, !parts_global) -> f32
      } else {
        memref.store %sum, %w[%batch, %column] : !parts_global
      }
    }
    gpu.return
  }
}

func.func private @attention(%Q: !q_view, %K: !k_view, %V: !v_view, %B: !b_view, %W: !parts, %X: !extra,
                             %E0: !beside, %E1: !beside, %E2: !beside) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant #threads
  %cluster = arith.constant #cluster
  %batches = memref.dim %K, %c0 : !k_view
  %blocks = arith.muli %cluster, %batches : index
  gpu.launch_func @attention_row_product_kernels::@attention_row_product clusters in (%cluster, %c1, %c1)
    blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%Q : !q_view, %K : !k_view, %V : !v_view, %B : !b_view, %W : !parts, %X : !extra,
         %E0 : !beside, %E1 : !beside, %E2 : !beside)
  return
}
}
