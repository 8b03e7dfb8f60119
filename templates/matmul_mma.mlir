// RUN: tinymlir-opt %s | FileCheck %s
// C = epilogue(A B + C) on tensor cores by mma.sync, sm_80 or newer: f16 or bf16 in memory, sums in f32. A: M x K, B: K x N or
// N x K, C: M x N, batched.
// Any M, N and K. Strides of A and B are multiples of 16 bytes, as are their addresses; two neighbouring columns of C, and
// of what the epilogue reads, are accessed at once where #pairs.
//
// A block makes one tile of C, a warp a part of it as products of 16x8 a step of 16 along K; tiles of a group of 8 rows of tiles
// follow one another, so that the blocks of a moment share operands in the L2 cache. Slices of A and B along K arrive in a ring of
// slots by asynchronous copies of 16 bytes; all slots but the one that is multiplied are on their way. B lies there in boxes of 64
// columns of the product, of each of which a warp multiplies its part. The chunks of 16 bytes of a row are exchanged by the row's
// number, so that eight rows that are read at once lie in different banks. The factors of the next step, also across slices, are
// loaded before those of this one are multiplied. K may be split as in templates/matmul_f32.mlir.
//
// CHECK: gpu.func @matmul_mma(
// CHECK: func.func private @matmul(

// Parameters: element types; two factors as an instruction takes them (i32, or vector<2xf16>); how B lies; the tile; whether C is
// read; whether its columns are grouped.
!elem = bf16
!out_elem = bf16
!pair = i32
#type = #nvvm.mma_type<bf16>
#b_along_k = false
#b_transpose = true
#tile_rows = 128 : index
#tile_columns = 256 : index
#slice = 32 : index
#stages = 4 : index
#stages_left = 2 : i32
// Steps of a slice before its last.
#first_steps = 1 : index
// A warp's part: warps side by side down the tile, rows, groups of 16 rows; columns of a box, and groups of 16 of them.
#warps_down = 2 : index
#warp_rows = 64 : index
#row_groups = 4 : index
#boxes = 4 : index
#box_part = 16 : index
#part_pairs = 1 : index
#part_groups = 2 : index
#column_groups = 8 : index
#column_pairs = 4 : index
#threads = 256 : index
#block = array<i32: 256, 1, 1>
#min_blocks = 1 : i32
// Chunks of 16 bytes of a row of A and of B in the ring, rows that all threads copy at once, and how often; of B a box.
#a_chunks = 4 : index
#a_step = 64 : index
#a_copies = 2 : index
#box = 64 : index
#b_chunks = 8 : index
#b_step = 32 : index
#b_copies = 1 : index
// How the number of a row along K exchanges its chunks: bits of it, from this one on.
#swizzle_from = 1 : index
#swizzle_mask = 3 : index
#b_at = 32768 : index
#shared_bytes = 98304 : i32
// Whether K, and N where B is K x N, are whole chunks.
#whole = true
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
!a_ring = memref<4x128x32xbf16, #gpu.address_space<workgroup>>
// Slot, box, row, place.
!b_ring = memref<4x4x32x64xbf16, #gpu.address_space<workgroup>>
!a_part = vector<4x4xi32>
!b_loads = vector<4x4xi32>
!b_part = vector<8x2xi32>
!sums = vector<4x8x2x2xf32>
!row_sums = vector<8x2xf32>
!row_out = vector<8x2xbf16>
!out_part = vector<2x8x2xbf16>
!row_x = vector<8x2xf32>
!row_y = vector<8x2xf32>
// The strides of what a thread accesses are part of a kernel: addresses are cheap then.
!a_view = memref<?x?x?xbf16, strided<[?, ?, 1], offset: ?>>
!a_batch = memref<?x?x?xbf16, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
!a_matrix = memref<?x?xbf16, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!b_view = memref<?x?x?xbf16, strided<[?, ?, 1], offset: ?>>
!b_batch = memref<?x?x?xbf16, strided<[?, ?, 1], offset: ?>, #gpu.address_space<global>>
!b_matrix = memref<?x?xbf16, strided<[?, 1], offset: ?>, #gpu.address_space<global>>
!x_elem = f32
!x_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!y_elem = f32
!y_view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
// Batch (or slab), row, group of columns, column within its group.
!out = memref<?x?x?x?xbf16, strided<[?, ?, ?, 1], offset: ?>>

module attributes {gpu.container_module} {
gpu.module @matmul_mma_kernels {
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

  // How many elements of the chunk at column %col are copied: those before column %columns.
  func.func private @present(%col: index, %columns: index) -> index {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %whole = arith.constant #whole
    %left = arith.subi %columns, %col : index
    %left_0 = arith.maxsi %left, %c0 : index
    %some = arith.minsi %left_0, %c8 : index
    %in = arith.cmpi slt, %col, %columns : index
    %all = arith.select %in, %c8, %c0 : index
    %count = arith.select %whole, %all, %some : index
    return %count : index
  }
  // Copies a tile of A from row %row0 and column %col0 on to a slot; what lies past %rows and %columns is zero there.
  func.func private @copy_a(%from: !a_matrix, %rows: index, %columns: index, %row0: index, %col0: index, %to: !a_ring, %slot: index, %tid: index) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %chunks = arith.constant #a_chunks
    %step = arith.constant #a_step
    %copies = arith.constant #a_copies
    %swizzle_from = arith.constant #swizzle_from
    %swizzle_mask = arith.constant #swizzle_mask
    %chunk = arith.remui %tid, %chunks : index
    %row = arith.divui %tid, %chunks : index
    %col = affine.apply affine_map<(o, c) -> (o + 8 * c)>(%col0, %chunk)
    %count = func.call @present(%col, %columns) : (index, index) -> index
    %by_any = arith.shrui %row, %swizzle_from : index
    %by = arith.andi %by_any, %swizzle_mask : index
    %place = arith.xori %chunk, %by : index
    %place_at = arith.muli %place, %c8 : index
    affine.for %i = 0 to %copies {
      %down = arith.muli %i, %step : index
      %r = arith.addi %row, %down : index
      %g = arith.addi %row0, %r : index
      %in = arith.cmpi slt, %g, %rows : index
      %n = arith.select %in, %count, %c0 : index
      %t = nvgpu.device_async_copy %from[%g, %col], %to[%slot, %r, %place_at], 8, %n {bypassL1} : !a_matrix to !a_ring
    }
    return
  }
  // The same for B, where a box of the product's 64 columns has 64 rows, or columns. Rows along N are exchanged by the last three
  // bits of their number.
  func.func private @copy_b(%from: !b_matrix, %n: index, %k: index, %n0: index, %k0: index, %to: !b_ring, %slot: index, %tid: index) {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %along_k = arith.constant #b_along_k
    %boxes = arith.constant #boxes
    %chunks = arith.constant #b_chunks
    %step = arith.constant #b_step
    %copies = arith.constant #b_copies
    %k_from = arith.constant #swizzle_from
    %k_mask = arith.constant #swizzle_mask
    %swizzle_from = arith.select %along_k, %k_from, %c0 : index
    %swizzle_mask = arith.select %along_k, %k_mask, %c7 : index
    %rows = arith.select %along_k, %n, %k : index
    %columns = arith.select %along_k, %k, %n : index
    %chunk = arith.remui %tid, %chunks : index
    %row = arith.divui %tid, %chunks : index
    %by_any = arith.shrui %row, %swizzle_from : index
    %by = arith.andi %by_any, %swizzle_mask : index
    %place = arith.xori %chunk, %by : index
    %place_at = arith.muli %place, %c8 : index
    affine.for %i = 0 to %boxes {
      %n_box = affine.apply affine_map<(n, i) -> (n + 64 * i)>(%n0, %i)
      %row0 = arith.select %along_k, %n_box, %k0 : index
      %col0 = arith.select %along_k, %k0, %n_box : index
      %col = affine.apply affine_map<(o, c) -> (o + 8 * c)>(%col0, %chunk)
      %count = func.call @present(%col, %columns) : (index, index) -> index
      affine.for %j = 0 to %copies {
        %down = arith.muli %j, %step : index
        %r = arith.addi %row, %down : index
        %g = arith.addi %row0, %r : index
        %in = arith.cmpi slt, %g, %rows : index
        %some = arith.select %in, %count, %c0 : index
        %t = nvgpu.device_async_copy %from[%g, %col], %to[%slot, %i, %r, %place_at], 8, %some {bypassL1} : !b_matrix to !b_ring
      }
    }
    return
  }
  // The slice of K from %k0 on, of both.
  func.func private @copy(%a: !a_matrix, %b: !b_matrix, %m: index, %n: index, %k: index, %row0: index, %col0: index, %k0: index,
      %a_ring: !a_ring, %b_ring: !b_ring, %slot: index, %tid: index) {
    func.call @copy_a(%a, %m, %k, %row0, %k0, %a_ring, %slot, %tid) : (!a_matrix, index, index, index, index, !a_ring, index, index) -> ()
    func.call @copy_b(%b, %n, %k, %col0, %k0, %b_ring, %slot, %tid) : (!b_matrix, index, index, index, index, !b_ring, index, index) -> ()
    return
  }

  // A warp's factors of A and of B for step %kk of a slot. Lane l gives the address of a row of 8 elements of one of four
  // matrices, of which the first two are an instruction's rows, or columns, and its 16 of K.
  func.func private @factors(%a_ring: !a_ring, %b_ring: !b_ring, %slot: index, %kk: index, %lane: index, %a_row0: index, %part0: index)
      -> (!a_part, !b_part) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %along_k = arith.constant #b_along_k
    %row_groups = arith.constant #row_groups
    %boxes = arith.constant #boxes
    %part_pairs = arith.constant #part_pairs
    %swizzle_from = arith.constant #swizzle_from
    %swizzle_mask = arith.constant #swizzle_mask
    %in_16 = arith.remui %lane, %c16 : index
    %bit_16 = arith.divui %lane, %c16 : index
    %in_8 = arith.remui %lane, %c8 : index
    %eights = arith.divui %lane, %c8 : index
    %bit_8 = arith.remui %eights, %c2 : index
    %by_any = arith.shrui %in_8, %swizzle_from : index
    %by = arith.andi %by_any, %swizzle_mask : index

    %a_chunk_any = affine.apply affine_map<(k, b) -> (2 * k + b)>(%kk, %bit_16)
    %a_chunk = arith.xori %a_chunk_any, %by : index
    %a_k = arith.muli %a_chunk, %c8 : index
    %a_row = arith.addi %a_row0, %in_16 : index
    %a_none = ub.poison : !a_part
    %a_part = affine.for %i = 0 to %row_groups iter_args(%f = %a_none) -> (!a_part) {
      %r = affine.apply affine_map<(r, i) -> (r + 16 * i)>(%a_row, %i)
      %v = nvgpu.ldmatrix %a_ring[%slot, %r, %a_k] {numTiles = 4 : i32, transpose = false} : !a_ring -> vector<4x2x!elem>
      %bits = vector.bitcast %v : vector<4x2x!elem> to vector<4x1xi32>
      %four = vector.shape_cast %bits : vector<4x1xi32> to vector<4xi32>
      %f1 = vector.insert %four, %f[%i] : vector<4xi32> into !a_part
      affine.yield %f1 : !a_part
    }

    // N x K: rows are columns of the product. K x N: the matrices are transposed on their way.
    %k_row0 = affine.apply affine_map<(c, r, b) -> (c + r + 8 * b)>(%part0, %in_8, %bit_16)
    %k_chunk_any = affine.apply affine_map<(k, b) -> (2 * k + b)>(%kk, %bit_8)
    %k_chunk = arith.xori %k_chunk_any, %by : index
    %n_row = affine.apply affine_map<(k, r) -> (16 * k + r)>(%kk, %in_16)
    %part_chunk = arith.divui %part0, %c8 : index
    %b_none = ub.poison : !b_loads
    %b_loads = affine.for %i = 0 to %boxes iter_args(%f = %b_none) -> (!b_loads) {
      %f2 = affine.for %j = 0 to %part_pairs iter_args(%f0 = %f) -> (!b_loads) {
        %k_row = affine.apply affine_map<(r, j) -> (r + 16 * j)>(%k_row0, %j)
        %n_chunk_any = affine.apply affine_map<(c, j, b) -> (c + 2 * j + b)>(%part_chunk, %j, %bit_16)
        %n_chunk = arith.xori %n_chunk_any, %in_8 : index
        %row = arith.select %along_k, %k_row, %n_row : index
        %chunk = arith.select %along_k, %k_chunk, %n_chunk : index
        %at = arith.muli %chunk, %c8 : index
        %v = nvgpu.ldmatrix %b_ring[%slot, %i, %row, %at] {numTiles = 4 : i32, transpose = #b_transpose} : !b_ring -> vector<4x2x!elem>
        %bits = vector.bitcast %v : vector<4x2x!elem> to vector<4x1xi32>
        %four = vector.shape_cast %bits : vector<4x1xi32> to vector<4xi32>
        %first_pair = arith.muli %i, %part_pairs : index
        %pair = arith.addi %first_pair, %j : index
        %f1 = vector.insert %four, %f0[%pair] : vector<4xi32> into !b_loads
        affine.yield %f1 : !b_loads
      }
      affine.yield %f2 : !b_loads
    }
    %b_part = vector.shape_cast %b_loads : !b_loads to !b_part
    return %a_part, %b_part : !a_part, !b_part
  }

  // A product of 16x16 by 16x8 factors added to a sum. Of it lane 4 g + t holds rows g and g + 8, columns 2 t and 2 t + 1.
  func.func private @multiply(%a: vector<4xi32>, %b: vector<2xi32>, %sum: vector<2x2xf32>) -> vector<2x2xf32> {
    %a0_bits = vector.extract %a[0] : i32 from vector<4xi32>
    %a1_bits = vector.extract %a[1] : i32 from vector<4xi32>
    %a2_bits = vector.extract %a[2] : i32 from vector<4xi32>
    %a3_bits = vector.extract %a[3] : i32 from vector<4xi32>
    %b0_bits = vector.extract %b[0] : i32 from vector<2xi32>
    %b1_bits = vector.extract %b[1] : i32 from vector<2xi32>
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
  func.func private @step(%a: !a_part, %b: !b_part, %sums: !sums) -> !sums {
    %row_groups = arith.constant #row_groups
    %column_groups = arith.constant #column_groups
    %all = affine.for %i = 0 to %row_groups iter_args(%s = %sums) -> (!sums) {
      %x = vector.extract %a[%i] : vector<4xi32> from !a_part
      %row = affine.for %j = 0 to %column_groups iter_args(%t = %s) -> (!sums) {
        %y = vector.extract %b[%j] : vector<2xi32> from !b_part
        %old = vector.extract %t[%i, %j] : vector<2x2xf32> from !sums
        %new = func.call @multiply(%x, %y, %old) : (vector<4xi32>, vector<2xi32>, vector<2x2xf32>) -> vector<2x2xf32>
        %t1 = vector.insert %new, %t[%i, %j] : vector<2x2xf32> into !sums
        affine.yield %t1 : !sums
      }
      affine.yield %row : !sums
    }
    return %all : !sums
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

  // The first of the two columns of group %j, counted from a lane's first column of its first box.
  func.func private @group_column(%j: index) -> index {
    %c2 = arith.constant 2 : index
    %part_groups = arith.constant #part_groups
    %i = arith.divui %j, %part_groups : index
    %u = arith.remui %j, %part_groups : index
    %q = affine.apply affine_map<(i, u) -> (64 * i + 8 * u)>(%i, %u)
    return %q : index
  }

  // What a lane's sums of one row, two columns of every eight from %q0 on, become. All that is read is read before the first of it
  // is used; past the last row and column it is that of the last again.
  func.func private @values(%sums: !row_sums, %C: !out, %X: !x_view, %Y: !y_view, %batch: index, %slab: index, %r: index, %q0: index,
      %n: index) -> !row_out {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %accumulate = arith.constant #accumulate
    %pairs = arith.constant #pairs
    %column_groups = arith.constant #column_groups
    %last = arith.subi %n, %c1 : index
    %last_pair = arith.subi %n, %c2 : index
    %none_old = ub.poison : !row_out
    %none_x = ub.poison : !row_x
    %none_y = ub.poison : !row_y
    %old, %x, %y = affine.for %j = 0 to %column_groups iter_args(%os = %none_old, %xs = %none_x, %ys = %none_y) -> (!row_out, !row_x, !row_y) {
      %q_group0 = func.call @group_column(%j) : (index) -> index
      %q_any = arith.addi %q0, %q_group0 : index
      %o2, %x2, %y2 = scf.if %pairs -> (vector<2x!out_elem>, vector<2x!x_elem>, vector<2x!y_elem>) {
        %q = arith.minui %q_any, %last_pair : index
        %o = scf.if %accumulate -> (vector<2x!out_elem>) {
          %group, %place = func.call @column(%q) : (index) -> (index, index)
          %o_pair = vector.load %C[%slab, %r, %group, %place] {alignment = #out_pair} : !out, vector<2x!out_elem>
          scf.yield %o_pair : vector<2x!out_elem>
        } else {
          %o_none = ub.poison : vector<2x!out_elem>
          scf.yield %o_none : vector<2x!out_elem>
        }
        %x_pair = vector.load %X[%batch, %r, %q] {alignment = #x_pair} : !x_view, vector<2x!x_elem>
        %y_pair = vector.load %Y[%batch, %r, %q] {alignment = #y_pair} : !y_view, vector<2x!y_elem>
        scf.yield %o, %x_pair, %y_pair : vector<2x!out_elem>, vector<2x!x_elem>, vector<2x!y_elem>
      } else {
        %q_next = arith.addi %q_any, %c1 : index
        %q = arith.minui %q_any, %last : index
        %p = arith.minui %q_next, %last : index
        %o = scf.if %accumulate -> (vector<2x!out_elem>) {
          %q_group, %q_place = func.call @column(%q) : (index) -> (index, index)
          %p_group, %p_place = func.call @column(%p) : (index) -> (index, index)
          %o_q = memref.load %C[%slab, %r, %q_group, %q_place] : !out
          %o_p = memref.load %C[%slab, %r, %p_group, %p_place] : !out
          %o_both = vector.from_elements %o_q, %o_p : vector<2x!out_elem>
          scf.yield %o_both : vector<2x!out_elem>
        } else {
          %o_none = ub.poison : vector<2x!out_elem>
          scf.yield %o_none : vector<2x!out_elem>
        }
        %x_q = memref.load %X[%batch, %r, %q] : !x_view
        %x_p = memref.load %X[%batch, %r, %p] : !x_view
        %y_q = memref.load %Y[%batch, %r, %q] : !y_view
        %y_p = memref.load %Y[%batch, %r, %p] : !y_view
        %x_both = vector.from_elements %x_q, %x_p : vector<2x!x_elem>
        %y_both = vector.from_elements %y_q, %y_p : vector<2x!y_elem>
        scf.yield %o, %x_both, %y_both : vector<2x!out_elem>, vector<2x!x_elem>, vector<2x!y_elem>
      }
      %o1 = vector.insert %o2, %os[%j] : vector<2x!out_elem> into !row_out
      %x1 = vector.insert %x2, %xs[%j] : vector<2x!x_elem> into !row_x
      %y1 = vector.insert %y2, %ys[%j] : vector<2x!y_elem> into !row_y
      affine.yield %o1, %x1, %y1 : !row_out, !row_x, !row_y
    }
    %none = ub.poison : !row_out
    %done = affine.for %j = 0 to %column_groups iter_args(%f = %none) -> (!row_out) {
      %both = affine.for %u = 0 to 2 iter_args(%d = %f) -> (!row_out) {
        %s = vector.extract %sums[%j, %u] : f32 from !row_sums
        %total = scf.if %accumulate -> (f32) {
          %ou = vector.extract %old[%j, %u] : !out_elem from !row_out
          %of = func.call @old(%ou) : (!out_elem) -> f32
          %t = arith.addf %s, %of : f32
          scf.yield %t : f32
        } else {
          scf.yield %s : f32
        }
        %xu = vector.extract %x[%j, %u] : !x_elem from !row_x
        %yu = vector.extract %y[%j, %u] : !y_elem from !row_y
        %e = func.call @epilogue(%total, %xu, %yu) : (f32, !x_elem, !y_elem) -> !out_elem
        %d1 = vector.insert %e, %d[%j, %u] : !out_elem into !row_out
        affine.yield %d1 : !row_out
      }
      affine.yield %both : !row_out
    }
    return %done : !row_out
  }

  gpu.func @matmul_mma(%A: !a_view, %B: !b_view, %C: !out, %X: !x_view, %Y: !y_view, %splits: index, %chunk: index)
      kernel attributes {known_block_size = #block, nvvm.minctasm = #min_blocks} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %tile_rows = arith.constant #tile_rows
    %tile_columns = arith.constant #tile_columns
    %slice = arith.constant #slice
    %stages = arith.constant #stages
    %first_steps = arith.constant #first_steps
    %warps_down = arith.constant #warps_down
    %warp_rows = arith.constant #warp_rows
    %box_part = arith.constant #box_part
    %b_at = arith.constant #b_at
    %along_k = arith.constant #b_along_k
    %batches = memref.dim %A, %c0 : !a_view
    %m = memref.dim %A, %c1 : !a_view
    %k_all = memref.dim %A, %c2 : !a_view
    %b1 = memref.dim %B, %c1 : !b_view
    %b2 = memref.dim %B, %c2 : !b_view
    %n = arith.select %along_k, %b1, %b2 : index
    %m_tiles = arith.ceildivui %m, %tile_rows : index
    %n_tiles = arith.ceildivui %n, %tile_columns : index
    %tile = gpu.block_id x
    %batch, %slab, %k_begin, %k_end, %row0, %col0 = func.call @place(%tile, %m_tiles, %n_tiles, %splits, %chunk, %k_all)
        : (index, index, index, index, index, index) -> (index, index, index, index, index, index)
    %a_all = memref.memory_space_cast %A : !a_view to !a_batch
    %b_all = memref.memory_space_cast %B : !b_view to !b_batch
    %a = memref.subview %a_all[%batch, 0, 0] [1, %m, %k_all] [1, 1, 1] : !a_batch to !a_matrix
    %b = memref.subview %b_all[%batch, 0, 0] [1, %b1, %b2] [1, 1, 1] : !b_batch to !b_matrix
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %a_ring = memref.view %shared[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to !a_ring
    %b_ring = memref.view %shared[%b_at][] : memref<?xi8, #gpu.address_space<workgroup>> to !b_ring

    %tid = gpu.thread_id x
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %warp_down = arith.remui %warp, %warps_down : index
    %warp_across = arith.divui %warp, %warps_down : index
    %a_row0 = arith.muli %warp_down, %warp_rows : index
    %part0 = arith.muli %warp_across, %box_part : index

    // An empty, oldest group: only its token is wanted, which the wait takes. (Without an attribute the printed form does
    // not parse.)
    %token = nvgpu.device_async_create_group {tinymlir.all}
    %last_slot = arith.subi %stages, %c1 : index
    affine.for %slot = 0 to %last_slot {
      %ahead = arith.muli %slot, %slice : index
      %k0 = arith.addi %k_begin, %ahead : index
      func.call @copy(%a, %b, %m, %n, %k_end, %row0, %col0, %k0, %a_ring, %b_ring, %slot, %tid)
          : (!a_matrix, !b_matrix, index, index, index, index, index, index, !a_ring, !b_ring, index, index) -> ()
      %group = nvgpu.device_async_create_group {tinymlir.all}
    }
    nvgpu.device_async_wait %token {numGroups = #stages_left}
    gpu.barrier
    %a_first, %b_first = func.call @factors(%a_ring, %b_ring, %c0, %c0, %lane, %a_row0, %part0)
        : (!a_ring, !b_ring, index, index, index, index, index) -> (!a_part, !b_part)
    %zero = arith.constant dense<0.0> : !sums
    %ahead = arith.muli %last_slot, %slice : index
    %res:5 = scf.for %k_now = %k_begin to %k_end step %slice
        iter_args(%acc = %zero, %a_now = %a_first, %b_now = %b_first, %reading = %c0, %writing = %last_slot)
        -> (!sums, !a_part, !b_part, index, index) {
      %k0 = arith.addi %k_now, %ahead : index
      %part:3 = affine.for %kk = 0 to %first_steps iter_args(%s = %acc, %a_k = %a_now, %b_k = %b_now) -> (!sums, !a_part, !b_part) {
        %kk_next = affine.apply affine_map<(k) -> (k + 1)>(%kk)
        %a_next, %b_next = func.call @factors(%a_ring, %b_ring, %reading, %kk_next, %lane, %a_row0, %part0)
            : (!a_ring, !b_ring, index, index, index, index, index) -> (!a_part, !b_part)
        %is_first = arith.cmpi eq, %kk, %c0 : index
        scf.if %is_first {
          // No thread reads slot %writing any more: the last factors of it were loaded before the barrier.
          func.call @copy(%a, %b, %m, %n, %k_end, %row0, %col0, %k0, %a_ring, %b_ring, %writing, %tid)
              : (!a_matrix, !b_matrix, index, index, index, index, index, index, !a_ring, !b_ring, index, index) -> ()
          %group = nvgpu.device_async_create_group {tinymlir.all}
        }
        %s1 = func.call @step(%a_k, %b_k, %s) : (!a_part, !b_part, !sums) -> !sums
        affine.yield %s1, %a_next, %b_next : !sums, !a_part, !b_part
      }
      // The next slice is here, for all threads.
      nvgpu.device_async_wait %token {numGroups = #stages_left}
      gpu.barrier
      %up = arith.addi %reading, %c1 : index
      %wraps = arith.cmpi eq, %up, %stages : index
      %next = arith.select %wraps, %c0, %up : index
      %a_next, %b_next = func.call @factors(%a_ring, %b_ring, %next, %c0, %lane, %a_row0, %part0)
          : (!a_ring, !b_ring, index, index, index, index, index) -> (!a_part, !b_part)
      %sum = func.call @step(%part#1, %part#2, %part#0) : (!a_part, !b_part, !sums) -> !sums
      scf.yield %sum, %a_next, %b_next, %next, %reading : !sums, !a_part, !b_part, index, index
    }

    %pairs = arith.constant #pairs
    %quads = arith.constant #quads
    %row_groups = arith.constant #row_groups
    %column_groups = arith.constant #column_groups
    %column_pairs = arith.constant #column_pairs
    %last_row = arith.subi %m, %c1 : index
    %lane_row = arith.divui %lane, %c4 : index
    %lane_col = arith.remui %lane, %c4 : index
    %lane_pair = arith.divui %lane_col, %c2 : index
    %lane_odd = arith.remui %lane, %c2 : index
    %odd = arith.cmpi eq, %lane_odd, %c1 : index
    %col_warp = arith.addi %col0, %part0 : index
    %my_row = affine.apply affine_map<(o, w, l) -> (o + w + l)>(%row0, %a_row0, %lane_row)
    %my_col = affine.apply affine_map<(o, l) -> (o + 2 * l)>(%col_warp, %lane_col)
    // Sixteen rows at a time: all that is stored of them before the first store, so that loads of what the epilogue reads need
    // not wait for any. Of all rows at once it would be more than registers hold.
    affine.for %i = 0 to %row_groups {
      %none_part = ub.poison : !out_part
      %made = affine.for %h = 0 to 2 iter_args(%d = %none_part) -> (!out_part) {
        %r_any = affine.apply affine_map<(r, i, h) -> (r + 16 * i + 8 * h)>(%my_row, %i, %h)
        %r = arith.minui %r_any, %last_row : index
        %none = ub.poison : !row_sums
        %sums = affine.for %j = 0 to %column_groups iter_args(%f = %none) -> (!row_sums) {
          %s = vector.extract %res#0[%i, %j, %h] : vector<2xf32> from !sums
          %f1 = vector.insert %s, %f[%j] : vector<2xf32> into !row_sums
          affine.yield %f1 : !row_sums
        }
        %row = func.call @values(%sums, %C, %X, %Y, %batch, %slab, %r, %my_col, %n)
            : (!row_sums, !out, !x_view, !y_view, index, index, index, index, index) -> !row_out
        %d1 = vector.insert %row, %d[%h] : !row_out into !out_part
        affine.yield %d1 : !out_part
      }
      affine.for %h = 0 to 2 {
        %r = affine.apply affine_map<(r, i, h) -> (r + 16 * i + 8 * h)>(%my_row, %i, %h)
        %r_in = arith.cmpi ult, %r, %m : index
        %done = vector.extract %made[%h] : !row_out from !out_part
        scf.if %quads {
          // Of two groups of 8 columns an even thread stores four columns of the first, an odd one of the second.
          affine.for %j = 0 to %column_pairs {
            %j0 = affine.apply affine_map<(j) -> (2 * j)>(%j)
            %j1 = affine.apply affine_map<(j) -> (2 * j + 1)>(%j)
            %first = vector.extract %done[%j0] : vector<2x!out_elem> from !row_out
            %second = vector.extract %done[%j1] : vector<2x!out_elem> from !row_out
            %first_bits = vector.bitcast %first : vector<2x!out_elem> to vector<1x!pair_bits>
            %second_bits = vector.bitcast %second : vector<2x!out_elem> to vector<1x!pair_bits>
            %f = vector.extract %first_bits[0] : !pair_bits from vector<1x!pair_bits>
            %g = vector.extract %second_bits[0] : !pair_bits from vector<1x!pair_bits>
            %sent = arith.select %odd, %f, %g : !pair_bits
            %one_lane = arith.constant 1 : i32
            %all_lanes = arith.constant 32 : i32
            %got, %valid = gpu.shuffle xor %sent, %one_lane, %all_lanes : !pair_bits
            %left = arith.select %odd, %got, %f : !pair_bits
            %right = arith.select %odd, %g, %got : !pair_bits
            %both = vector.from_elements %left, %right : vector<2x!pair_bits>
            %four = vector.bitcast %both : vector<2x!pair_bits> to vector<4x!out_elem>
            %q_group0 = func.call @group_column(%j0) : (index) -> index
            %q = affine.apply affine_map<(o, p, d, j) -> (o + 4 * p + 8 * d + j)>(%col_warp, %lane_pair, %lane_odd, %q_group0)
            %q_in = arith.cmpi ult, %q, %n : index
            %in = arith.andi %r_in, %q_in : i1
            scf.if %in {
              %group, %place = func.call @column(%q) : (index) -> (index, index)
              vector.store %four, %C[%slab, %r, %group, %place] {alignment = #out_quad} : !out, vector<4x!out_elem>
            }
          }
        } else {
          affine.for %j = 0 to %column_groups {
            %q_group0 = func.call @group_column(%j) : (index) -> index
            %q = arith.addi %my_col, %q_group0 : index
            scf.if %pairs {
              %two = vector.extract %done[%j] : vector<2x!out_elem> from !row_out
              %q_in = arith.cmpi ult, %q, %n : index
              %in = arith.andi %r_in, %q_in : i1
              scf.if %in {
                %group, %place = func.call @column(%q) : (index) -> (index, index)
                vector.store %two, %C[%slab, %r, %group, %place] {alignment = #out_pair} : !out, vector<2x!out_elem>
              }
            } else {
              affine.for %u = 0 to 2 {
                %one = vector.extract %done[%j, %u] : !out_elem from !row_out
                %p = affine.apply affine_map<(q, u) -> (q + u)>(%q, %u)
                %p_in = arith.cmpi ult, %p, %n : index
                %in = arith.andi %r_in, %p_in : i1
                scf.if %in {
                  %group, %place = func.call @column(%p) : (index) -> (index, index)
                  memref.store %one, %C[%slab, %r, %group, %place] : !out
                }
              }
            }
          }
        }
      }
    }
    gpu.return
  }
}

// Launches the kernel: `splits` splits of K, each of `chunk` elements, a multiple of 64.
func.func private @matmul(%A: !a_view, %B: !b_view, %C: !out, %X: !x_view, %Y: !y_view, %splits: index, %chunk: index)
    attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b_along_k = arith.constant #b_along_k
  %tile_rows = arith.constant #tile_rows
  %tile_columns = arith.constant #tile_columns
  %threads = arith.constant #threads
  %bytes = arith.constant #shared_bytes
  %batches = memref.dim %A, %c0 : !a_view
  %m = memref.dim %A, %c1 : !a_view
  %b1 = memref.dim %B, %c1 : !b_view
  %b2 = memref.dim %B, %c2 : !b_view
  %n = arith.select %b_along_k, %b1, %b2 : index
  %m_tiles = arith.ceildivui %m, %tile_rows : index
  %n_tiles = arith.ceildivui %n, %tile_columns : index
  %tiles = arith.muli %m_tiles, %n_tiles : index
  %slabs = arith.muli %batches, %splits : index
  %blocks = arith.muli %tiles, %slabs : index
  gpu.launch_func @matmul_mma_kernels::@matmul_mma blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes
    args(%A : !a_view, %B : !b_view, %C : !out, %X : !x_view, %Y : !y_view, %splits : index, %chunk : index)
  return
}
}
