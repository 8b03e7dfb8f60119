// RUN: tinymlir-opt %s | FileCheck %s
// C = epilogue(A B + C) on the tensor cores of sm_90a: f16 or bf16 in memory, or f32 whose products are of tf32 (10 bits of
// mantissa, cut off); sums in f32. A: M x K, B: K x N or N x K (N x K alone for tf32), C: M x N, batched.
// Any M, N and K. Strides of A and B are multiples of 16 bytes, as are their addresses; two neighbouring columns of C, and
// of what the epilogue reads, are stored at once where #pairs.
// A block that has a multiprocessor to itself makes tiles of C one after another, another block makes one; tiles of a group
// of 8 rows of tiles follow one another, so that the blocks of a moment share operands in the L2 cache. Along K, slices of 128 bytes of A's and B's rows arrive in a ring by the tensor
// memory accelerator, in boxes of 64x128 bytes, swizzled; what lies outside of an operand reads as zero. One thread of the
// last warps asks for them. Each warpgroup before it multiplies 64 rows by all columns; a slot is free when every one of
// them has arrived at its `empty` barrier, full when its bytes have come. K may be split as in templates/matmul_f32.mlir.
// CHECK: gpu.func @matmul_wgmma(
// CHECK: func.func private @matmul(
// Parameters: element types; how B lies; the tile; whether C is read; whether its columns are grouped.
!elem = bf16
!out_elem = bf16
#type = #nvvm.wgmma_type<bf16>
#b_along_k = false
#b_layout = #nvvm.mma_layout<row>
// 16 bytes from one step of K to the next in B: 16 rows of 128 bytes where B is K x N, else 32 bytes.
#b_step = 128 : index
#shape = #nvvm.shape<m = 64, n = 256, k = 16>
#slice = 64 : index
#tile_rows = 128 : index
#tile_columns = 256 : index
#column_groups = 32 : index
#pair_groups = 16 : index
#boxes_b = 4 : index
#stages = 4 : index
#stage_bytes = 49152 : index
#shared_bytes = 197632 : i32
#consumers = 2 : index
#threads = 384 : index
#block = array<i32: 384, 1, 1>
#min_blocks = 1 : i32
#accumulate = true
#grouped = false
#group_width = 64 : index
#pairs = true
// Whether columns of 2 bytes are exchanged between two threads, so that each stores four neighbours.
#quads = false
// Bytes of two neighbouring elements of C and of what the epilogue reads.
#out_pair = 4 : i64
#out_quad = 8 : i64
!pair_bits = i32
#x_pair = 8 : i64
#y_pair = 8 : i64
// Whether the warps that ask for slices give registers to those that multiply: they must be a whole warpgroup.
#registers = true
!box = memref<1x64x64xbf16, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<1x64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
// What a thread holds of 64 rows: of columns 8 j + 2 (lane mod 4) + u and row 8 h + lane / 4 of its warp's 16 at 4 j + 2 h + u.
!sums = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
!sums_vector = vector<128xf32>
!out_vector = vector<128xbf16>
!view = memref<?x?x?xbf16, strided<[?, ?, 1], offset: ?>>
!x_elem = f32
!x_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!y_elem = f32
!y_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
// Batch (or slab), row, group of columns, column within its group.
!out = memref<?x?x?x?xbf16, strided<[?, ?, ?, 1], offset: ?>>
#one = 1 : index
#box_rows = 64 : index

module attributes {gpu.container_module} {
gpu.module @matmul_wgmma_kernels {
  // What becomes of a sum; %x and %y are the elements of the extra operands at its row and column.
  func.func private @epilogue(%sum: f32, %x: !x_elem, %y: !y_elem) -> !out_elem {
    %e = builtin.unrealized_conversion_cast %sum : f32 to !out_elem
    return %e : !out_elem
  }
  // What an element of C adds to a sum.
  func.func private @old(%c: !out_elem) -> f32 {
    %e = builtin.unrealized_conversion_cast %c : !out_elem to f32
    return %e : f32
  }

  // The place of a tile: its batch, slab, part of K, first row and first column.
  func.func private @place(%tile: index, %m_tiles: index, %n_tiles: index, %splits: index, %chunk: index, %k_all: index)
      -> (index, index, index, index, index, index) {
    %group_rows = arith.constant 8 : index
    %tile_rows = arith.constant #tile_rows
    %tile_columns = arith.constant #tile_columns
    %tiles = arith.muli %m_tiles, %n_tiles : index
    %slab = arith.divui %tile, %tiles : index
    %inside = arith.remui %tile, %tiles : index
    %batch = arith.divui %slab, %splits : index
    %split = arith.remui %slab, %splits : index
    %k_begin = arith.muli %split, %chunk : index
    %k_chunk_end = arith.addi %k_begin, %chunk : index
    %k_end = arith.minui %k_chunk_end, %k_all : index
    %group_tiles = arith.muli %n_tiles, %group_rows : index
    %group = arith.divui %inside, %group_tiles : index
    %in_group = arith.remui %inside, %group_tiles : index
    %first = arith.muli %group, %group_rows : index
    %left = arith.subi %m_tiles, %first : index
    %height = arith.minui %left, %group_rows : index
    %down = arith.remui %in_group, %height : index
    %by = arith.addi %first, %down : index
    %bx = arith.divui %in_group, %height : index
    %row0 = arith.muli %by, %tile_rows : index
    %col0 = arith.muli %bx, %tile_columns : index
    return %batch, %slab, %k_begin, %k_end, %row0, %col0 : index, index, index, index, index, index
  }

  // A matrix descriptor of a slot at this address: rows of 128 bytes swizzled in groups of 8 (1,024 bytes apart); the
  // columns of B past 64, where B is K x N, lie 8,192 bytes on.
  func.func private @matrix(%address: index) -> i64 {
    %c4 = arith.constant 4 : index
    %mask = arith.constant 0x3FFF : i64
    %layout = arith.constant 0x4000004002000000 : i64
    %sixteens = arith.shrui %address, %c4 : index
    %wide = arith.index_cast %sixteens : index to i64
    %low = arith.andi %wide, %mask : i64
    %d = arith.ori %low, %layout : i64
    return %d : i64
  }

  // A column's group and its place there.
  func.func private @column(%q: index) -> (index, index) {
    %c0 = arith.constant 0 : index
    %grouped = arith.constant #grouped
    %width = arith.constant #group_width
    %group = scf.if %grouped -> (index) {
      %g = arith.divui %q, %width : index
      scf.yield %g : index
    } else {
      scf.yield %c0 : index
    }
    %first = arith.muli %group, %width : index
    %place = arith.subi %q, %first : index
    return %group, %place : index, index
  }

  // Elements %at and the next of what is stored.
  func.func private @pair(%made: !out_vector, %at: index) -> vector<2x!out_elem> {
    %c1 = arith.constant 1 : index
    %next = arith.addi %at, %c1 : index
    %first = vector.extract %made[%at] : !out_elem from !out_vector
    %second = vector.extract %made[%next] : !out_elem from !out_vector
    %both = vector.from_elements %first, %second : vector<2x!out_elem>
    return %both : vector<2x!out_elem>
  }
  func.func private @pair_bits(%made: !out_vector, %at: index) -> !pair_bits {
    %both = func.call @pair(%made, %at) : (!out_vector, index) -> vector<2x!out_elem>
    %one = vector.bitcast %both : vector<2x!out_elem> to vector<1x!pair_bits>
    %bits = vector.extract %one[0] : !pair_bits from vector<1x!pair_bits>
    return %bits : !pair_bits
  }

  // Two neighbours of an extra operand from column %q on, or the last ones of the row. %p is the second's column.
  func.func private @x_pair(%X: !x_view, %batch: index, %r: index, %q: index, %p: index) -> vector<2x!x_elem> {
    %pairs = arith.constant #pairs
    %result = scf.if %pairs -> (vector<2x!x_elem>) {
      %both = vector.load %X[%batch, %r, %q] {alignment = #x_pair} : !x_view, vector<2x!x_elem>
      scf.yield %both : vector<2x!x_elem>
    } else {
      %first = memref.load %X[%batch, %r, %q] : !x_view
      %second = memref.load %X[%batch, %r, %p] : !x_view
      %both = vector.from_elements %first, %second : vector<2x!x_elem>
      scf.yield %both : vector<2x!x_elem>
    }
    return %result : vector<2x!x_elem>
  }
  func.func private @y_pair(%Y: !y_view, %batch: index, %r: index, %q: index, %p: index) -> vector<2x!y_elem> {
    %pairs = arith.constant #pairs
    %result = scf.if %pairs -> (vector<2x!y_elem>) {
      %both = vector.load %Y[%batch, %r, %q] {alignment = #y_pair} : !y_view, vector<2x!y_elem>
      scf.yield %both : vector<2x!y_elem>
    } else {
      %first = memref.load %Y[%batch, %r, %q] : !y_view
      %second = memref.load %Y[%batch, %r, %p] : !y_view
      %both = vector.from_elements %first, %second : vector<2x!y_elem>
      scf.yield %both : vector<2x!y_elem>
    }
    return %result : vector<2x!y_elem>
  }
  // The same of C.
  func.func private @old_pair(%C: !out, %slab: index, %r: index, %q: index, %p: index) -> vector<2x!out_elem> {
    %pairs = arith.constant #pairs
    %group, %place = func.call @column(%q) : (index) -> (index, index)
    %result = scf.if %pairs -> (vector<2x!out_elem>) {
      %both = vector.load %C[%slab, %r, %group, %place] {alignment = #out_pair} : !out, vector<2x!out_elem>
      scf.yield %both : vector<2x!out_elem>
    } else {
      %group_p, %place_p = func.call @column(%p) : (index) -> (index, index)
      %first = memref.load %C[%slab, %r, %group, %place] : !out
      %second = memref.load %C[%slab, %r, %group_p, %place_p] : !out
      %both = vector.from_elements %first, %second : vector<2x!out_elem>
      scf.yield %both : vector<2x!out_elem>
    }
    return %result : vector<2x!out_elem>
  }

  gpu.func @matmul_wgmma(%a_map_address: !llvm.ptr, %b_map_address: !llvm.ptr, %C: !out, %X: !x_view, %Y: !y_view,
      %batches: index, %m: index, %n: index, %k_all: index, %splits: index, %chunk: index)
      kernel attributes {known_block_size = #block, nvvm.minctasm = #min_blocks} {
    %a_map = builtin.unrealized_conversion_cast %a_map_address : !llvm.ptr to !map
    %b_map = builtin.unrealized_conversion_cast %b_map_address : !llvm.ptr to !map
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %box_bytes = arith.constant 8192 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %true = arith.constant true
    %slice = arith.constant #slice
    %tile_rows = arith.constant #tile_rows
    %tile_columns = arith.constant #tile_columns
    %boxes_b = arith.constant #boxes_b
    %stages = arith.constant #stages
    %stage_bytes = arith.constant #stage_bytes
    %consumers = arith.constant #consumers
    %b_along_k = arith.constant #b_along_k
    %registers = arith.constant #registers
    %m_tiles = arith.ceildivui %m, %tile_rows : index
    %n_tiles = arith.ceildivui %n, %tile_columns : index
    %tiles = arith.muli %m_tiles, %n_tiles : index
    %slabs = arith.muli %batches, %splits : index
    %all_tiles = arith.muli %tiles, %slabs : index
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x
    %tid = gpu.thread_id x
    %warpgroup = arith.divui %tid, %c128 : index
    %one = llvm.mlir.constant(1 : i32) : i32
    %spread = llvm.alloca %one x !sums : (i32) -> !llvm.ptr

    // The ring starts at a multiple of 1,024 bytes, which the swizzle wants.
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %shared_address = memref.extract_aligned_pointer_as_index %shared : memref<?xi8, #gpu.address_space<workgroup>> -> index
    %negative = arith.subi %c0, %shared_address : index
    %c1023 = arith.constant 1023 : index
    %ring = arith.andi %negative, %c1023 : index
    %full = nvgpu.mbarrier.create -> !barriers
    %empty = nvgpu.mbarrier.create -> !barriers
    %first_thread = arith.cmpi eq, %tid, %c0 : index
    scf.if %first_thread {
      scf.for %i = %c0 to %stages step %c1 {
        nvgpu.mbarrier.init %full[%i], %c1 : !barriers
        nvgpu.mbarrier.init %empty[%i], %consumers : !barriers
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier

    %producer = arith.cmpi eq, %warpgroup, %consumers : index
    scf.if %producer {
      scf.if %registers {
        nvvm.setmaxregister decrease 40
      }
      %producer_thread = arith.muli %consumers, %c128 : index
      %asks = arith.cmpi eq, %tid, %producer_thread : index
      scf.if %asks {
        %end:2 = scf.for %tile = %block to %all_tiles step %blocks iter_args(%slot0 = %c0, %phase0 = %true) -> (index, i1) {
          %batch, %slab, %k_begin, %k_end, %row0, %col0 = func.call @place(%tile, %m_tiles, %n_tiles, %splits, %chunk, %k_all)
              : (index, index, index, index, index, index) -> (index, index, index, index, index, index)
          %next:2 = scf.for %k0 = %k_begin to %k_end step %slice iter_args(%slot = %slot0, %phase = %phase0) -> (index, i1) {
            nvgpu.mbarrier.try_wait.parity %empty[%slot], %phase, %ticks : !barriers
            nvgpu.mbarrier.arrive.expect_tx %full[%slot], %stage_bytes : !barriers
            %slot_at = arith.muli %slot, %stage_bytes : index
            %a_at = arith.addi %slot_at, %ring : index
            scf.for %i = %c0 to %consumers step %c1 {
              %at = affine.apply affine_map<(a, i) -> (a + 8192 * i)>(%a_at, %i)
              %row = affine.apply affine_map<(r, i) -> (r + 64 * i)>(%row0, %i)
              %to = memref.view %shared[%at][] : memref<?xi8, #gpu.address_space<workgroup>> to !box
              nvgpu.tma.async.load %a_map[%k0, %row, %batch], %full[%slot] to %to : !map, !barriers -> !box
            }
            scf.for %i = %c0 to %boxes_b step %c1 {
              %at = affine.apply affine_map<(a, c, i) -> (a + 8192 * c + 8192 * i)>(%a_at, %consumers, %i)
              %col = affine.apply affine_map<(c, i) -> (c + 64 * i)>(%col0, %i)
              %to = memref.view %shared[%at][] : memref<?xi8, #gpu.address_space<workgroup>> to !box
              %x = arith.select %b_along_k, %k0, %col : index
              %y = arith.select %b_along_k, %col, %k0 : index
              nvgpu.tma.async.load %b_map[%x, %y, %batch], %full[%slot] to %to : !map, !barriers -> !box
            }
            %up = arith.addi %slot, %c1 : index
            %wraps = arith.cmpi eq, %up, %stages : index
            %slot_next = arith.select %wraps, %c0, %up : index
            %phase_next = arith.xori %phase, %wraps : i1
            scf.yield %slot_next, %phase_next : index, i1
          }
          scf.yield %next#0, %next#1 : index, i1
        }
      }
    } else {
      scf.if %registers {
        nvvm.setmaxregister increase 232
      }
      %in_warpgroup = arith.remui %tid, %c128 : index
      %leads = arith.cmpi eq, %in_warpgroup, %c0 : index
      %warp = arith.divui %in_warpgroup, %c32 : index
      %lane = arith.remui %tid, %c32 : index
      %lane_row = arith.divui %lane, %c4 : index
      %lane_col = arith.remui %lane, %c4 : index
      %a_at = arith.muli %warpgroup, %box_bytes : index
      %b_at = arith.muli %consumers, %box_bytes : index
      %my_row = affine.apply affine_map<(g, w, l) -> (64 * g + 16 * w + l)>(%warpgroup, %warp, %lane_row)
      %start = arith.addi %shared_address, %ring : index
      %zero = llvm.mlir.zero : !sums
      %end:2 = scf.for %tile = %block to %all_tiles step %blocks iter_args(%slot0 = %c0, %phase0 = %false) -> (index, i1) {
        %batch, %slab, %k_begin, %k_end, %row0, %col0 = func.call @place(%tile, %m_tiles, %n_tiles, %splits, %chunk, %k_all)
            : (index, index, index, index, index, index) -> (index, index, index, index, index, index)
        %res:4 = scf.for %k0 = %k_begin to %k_end step %slice
            iter_args(%acc = %zero, %slot = %slot0, %phase = %phase0, %before = %c0) -> (!sums, index, i1, index) {
          nvgpu.mbarrier.try_wait.parity %full[%slot], %phase, %ticks : !barriers
          %slot_at = arith.muli %slot, %stage_bytes : index
          %stage = arith.addi %slot_at, %start : index
          %a_stage = arith.addi %stage, %a_at : index
          %b_stage = arith.addi %stage, %b_at : index
          %a = func.call @matrix(%a_stage) : (index) -> i64
          %b = func.call @matrix(%b_stage) : (index) -> i64
          nvvm.wgmma.fence.aligned
          %sum = affine.for %u = 0 to 4 iter_args(%s = %acc) -> (!sums) {
            %a_step = affine.apply affine_map<(u) -> (2 * u)>(%u)
            %b_sixteens = arith.constant #b_step
            %b_step = arith.muli %u, %b_sixteens : index
            %a_wide = arith.index_cast %a_step : index to i64
            %b_wide = arith.index_cast %b_step : index to i64
            %au = arith.addi %a, %a_wide : i64
            %bu = arith.addi %b, %b_wide : i64
            %s1 = nvvm.wgmma.mma_async %au, %bu, %s, #shape, D[<f32>, <one>, <wrapped>], A[#type, <one>, <row>],
                B[#type, <one>, #b_layout] : !sums -> !sums
            affine.yield %s1 : !sums
          }
          nvvm.wgmma.commit.group.sync.aligned
          // All but the newest group are done: the slot before this one is free.
          nvvm.wgmma.wait.group.sync.aligned 1
          %later = arith.cmpi ne, %k0, %k_begin : index
          %frees = arith.andi %later, %leads : i1
          scf.if %frees {
            %t = nvgpu.mbarrier.arrive %empty[%before] : !barriers -> !nvgpu.mbarrier.token
          }
          %up = arith.addi %slot, %c1 : index
          %wraps = arith.cmpi eq, %up, %stages : index
          %slot_next = arith.select %wraps, %c0, %up : index
          %phase_next = arith.xori %phase, %wraps : i1
          scf.yield %sum, %slot_next, %phase_next, %slot : !sums, index, i1, index
        }
        nvvm.wgmma.wait.group.sync.aligned 0
        %summed = arith.cmpi ult, %k_begin, %k_end : index
        %frees = arith.andi %summed, %leads : i1
        scf.if %frees {
          %t = nvgpu.mbarrier.arrive %empty[%res#3] : !barriers -> !nvgpu.mbarrier.token
        }
        // The struct as a vector: memory that exists until LLVM sees it.
        llvm.store %res#0, %spread : !sums, !llvm.ptr
        %v = llvm.load %spread : !llvm.ptr -> !sums_vector
        // What is stored, before the first store: loads of what the epilogue reads then need not wait for any. What lies
        // outside of C is computed from the last elements inside.
        %accumulate = arith.constant #accumulate
        %pairs = arith.constant #pairs
        %last_row = arith.subi %m, %c1 : index
        %last_col = arith.subi %n, %c1 : index
        %past_pair = arith.subi %n, %c2 : index
        %last_q = arith.select %pairs, %past_pair, %last_col : index
        %column_groups = arith.constant #column_groups
        %pair_groups = arith.constant #pair_groups
        %none = ub.poison : !out_vector
        %made = affine.for %j = 0 to %column_groups iter_args(%d0 = %none) -> (!out_vector) {
          %q_any = affine.apply affine_map<(o, l, j) -> (o + 2 * l + 8 * j)>(%col0, %lane_col, %j)
          %q = arith.minui %q_any, %last_q : index
          %p_any = arith.addi %q_any, %c1 : index
          %p = arith.minui %p_any, %last_col : index
          %d1 = affine.for %h = 0 to 2 iter_args(%d2 = %d0) -> (!out_vector) {
            %r_any = affine.apply affine_map<(o, r, h) -> (o + r + 8 * h)>(%row0, %my_row, %h)
            %r = arith.minui %r_any, %last_row : index
            %old = scf.if %accumulate -> (vector<2x!out_elem>) {
              %o = func.call @old_pair(%C, %slab, %r, %q, %p) : (!out, index, index, index, index) -> vector<2x!out_elem>
              scf.yield %o : vector<2x!out_elem>
            } else {
              %o = ub.poison : vector<2x!out_elem>
              scf.yield %o : vector<2x!out_elem>
            }
            %x = func.call @x_pair(%X, %batch, %r, %q, %p) : (!x_view, index, index, index, index) -> vector<2x!x_elem>
            %y = func.call @y_pair(%Y, %batch, %r, %q, %p) : (!y_view, index, index, index, index) -> vector<2x!y_elem>
            %d3 = affine.for %u = 0 to 2 iter_args(%d4 = %d2) -> (!out_vector) {
              %at = affine.apply affine_map<(j, h, u) -> (4 * j + 2 * h + u)>(%j, %h, %u)
              %s = vector.extract %v[%at] : f32 from !sums_vector
              %total = scf.if %accumulate -> (f32) {
                %ou = vector.extract %old[%u] : !out_elem from vector<2x!out_elem>
                %of = func.call @old(%ou) : (!out_elem) -> f32
                %t = arith.addf %s, %of : f32
                scf.yield %t : f32
              } else {
                scf.yield %s : f32
              }
              %xu = vector.extract %x[%u] : !x_elem from vector<2x!x_elem>
              %yu = vector.extract %y[%u] : !y_elem from vector<2x!y_elem>
              %e = func.call @epilogue(%total, %xu, %yu) : (f32, !x_elem, !y_elem) -> !out_elem
              %d5 = vector.insert %e, %d4[%at] : !out_elem into !out_vector
              affine.yield %d5 : !out_vector
            }
            affine.yield %d3 : !out_vector
          }
          affine.yield %d1 : !out_vector
        }

        %quads = arith.constant #quads
        affine.for %h = 0 to 2 {
          %r = affine.apply affine_map<(o, r, h) -> (o + r + 8 * h)>(%row0, %my_row, %h)
          %r_in = arith.cmpi ult, %r, %m : index
          scf.if %quads {
            // Of two groups of 8 columns an even thread stores four columns of the first, an odd one of the second.
            %lane_odd = arith.remui %lane, %c2 : index
            %odd = arith.cmpi eq, %lane_odd, %c1 : index
            %lane_pair = arith.divui %lane_col, %c2 : index
            affine.for %i = 0 to %pair_groups {
              %at0 = affine.apply affine_map<(i, h) -> (8 * i + 2 * h)>(%i, %h)
              %at1 = affine.apply affine_map<(i, h) -> (8 * i + 2 * h + 4)>(%i, %h)
              %first = func.call @pair_bits(%made, %at0) : (!out_vector, index) -> !pair_bits
              %second = func.call @pair_bits(%made, %at1) : (!out_vector, index) -> !pair_bits
              %sent = arith.select %odd, %first, %second : !pair_bits
              %one_lane = arith.constant 1 : i32
              %all_lanes = arith.constant 32 : i32
              %got, %valid = gpu.shuffle xor %sent, %one_lane, %all_lanes : !pair_bits
              %left = arith.select %odd, %got, %first : !pair_bits
              %right = arith.select %odd, %second, %got : !pair_bits
              %both = vector.from_elements %left, %right : vector<2x!pair_bits>
              %four = vector.bitcast %both : vector<2x!pair_bits> to vector<4x!out_elem>
              %q = affine.apply affine_map<(o, p, d, i) -> (o + 4 * p + 8 * d + 16 * i)>(%col0, %lane_pair, %lane_odd, %i)
              %q_in = arith.cmpi ult, %q, %n : index
              %in = arith.andi %r_in, %q_in : i1
              scf.if %in {
                %group, %place = func.call @column(%q) : (index) -> (index, index)
                vector.store %four, %C[%slab, %r, %group, %place] {alignment = #out_quad} : !out, vector<4x!out_elem>
              }
            }
          } else {
            affine.for %j = 0 to %column_groups {
              %q0 = affine.apply affine_map<(o, l, j) -> (o + 2 * l + 8 * j)>(%col0, %lane_col, %j)
              %at0 = affine.apply affine_map<(j, h) -> (4 * j + 2 * h)>(%j, %h)
              scf.if %pairs {
                %q_in = arith.cmpi ult, %q0, %n : index
                %in = arith.andi %r_in, %q_in : i1
                scf.if %in {
                  %group, %place = func.call @column(%q0) : (index) -> (index, index)
                  %pair = func.call @pair(%made, %at0) : (!out_vector, index) -> vector<2x!out_elem>
                  vector.store %pair, %C[%slab, %r, %group, %place] {alignment = #out_pair} : !out, vector<2x!out_elem>
                }
              } else {
                affine.for %u = 0 to 2 {
                  %at = affine.apply affine_map<(a, u) -> (a + u)>(%at0, %u)
                  %qu = affine.apply affine_map<(q, u) -> (q + u)>(%q0, %u)
                  %q_in = arith.cmpi ult, %qu, %n : index
                  %in = arith.andi %r_in, %q_in : i1
                  scf.if %in {
                    %group, %place = func.call @column(%qu) : (index) -> (index, index)
                    %e = vector.extract %made[%at] : !out_elem from !out_vector
                    memref.store %e, %C[%slab, %r, %group, %place] : !out
                  }
                }
              }
            }
          }
        }
        scf.yield %res#1, %res#2 : index, i1
      }
    }
    gpu.return
  }
}

// Launches the kernel: `splits` splits of K, each of `chunk` elements, a multiple of 64; at most so many `blocks`.
func.func private @matmul(%A: !view, %B: !view, %C: !out, %X: !x_view, %Y: !y_view, %splits: index, %chunk: index, %blocks: index)
    attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %box_rows = arith.constant #box_rows
  %slice = arith.constant #slice
  %b_along_k = arith.constant #b_along_k
  %tile_rows = arith.constant #tile_rows
  %tile_columns = arith.constant #tile_columns
  %threads = arith.constant #threads
  %bytes = arith.constant #shared_bytes
  %batches = memref.dim %A, %c0 : !view
  %m = memref.dim %A, %c1 : !view
  %k = memref.dim %A, %c2 : !view
  %b1 = memref.dim %B, %c1 : !view
  %b2 = memref.dim %B, %c2 : !view
  %n = arith.select %b_along_k, %b1, %b2 : index
  %a_any = memref.cast %A : !view to memref<*x!elem>
  %b_any = memref.cast %B : !view to memref<*x!elem>
  %a_map = nvgpu.tma.create.descriptor %a_any box[%c1, %box_rows, %slice] : memref<*x!elem> -> !map
  %b_map = nvgpu.tma.create.descriptor %b_any box[%c1, %box_rows, %slice] : memref<*x!elem> -> !map
  %a_address = builtin.unrealized_conversion_cast %a_map : !map to !llvm.ptr
  %b_address = builtin.unrealized_conversion_cast %b_map : !map to !llvm.ptr
  %m_tiles = arith.ceildivui %m, %tile_rows : index
  %n_tiles = arith.ceildivui %n, %tile_columns : index
  %tiles = arith.muli %m_tiles, %n_tiles : index
  %slabs = arith.muli %batches, %splits : index
  %all_tiles = arith.muli %tiles, %slabs : index
  %grid = arith.minui %all_tiles, %blocks : index
  gpu.launch_func @matmul_wgmma_kernels::@matmul_wgmma blocks in (%grid, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes
    args(%a_address : !llvm.ptr, %b_address : !llvm.ptr, %C : !out, %X : !x_view, %Y : !y_view, %batches : index, %m : index,
         %n : index, %k : index, %splits : index, %chunk : index)
  return
}
}
