// RUN: tinymlir-opt %s | FileCheck %s
// T[n, k] = B[k, n] for a batch of matrices of f32, each element rounded to tf32: 10 bits of mantissa, to nearest, ties away
// from zero. B: K x N with N a multiple of 4 and rows at multiples of 16 bytes. T: N x K', where K' is K rounded up to a
// multiple of 4; what lies past K is 0. For products on tensor cores that read neighbours along K alone.
//
// A block of 256 threads turns a tile of 32 rows and 64 columns of B in workgroup memory. Both sides take 16 bytes a thread,
// 128 in a row; rows there are 65 elements apart, so that neither side meets a bank twice.
//
// CHECK: gpu.func @transpose_tf32(
// CHECK: func.func private @transpose(

!view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!tile = memref<32x65xf32, #gpu.address_space<workgroup>>
#tile_depth = 32 : index
#tile_columns = 64 : index
#pitch = 65 : index
#threads = 256 : index

module attributes {gpu.container_module} {
gpu.module @transpose_tf32_kernels {
  gpu.func @transpose_tf32(%B: !view, %T: !view) workgroup(%tile: !tile {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %half = arith.constant 0x1000 : i32
    %kept = arith.constant 0xFFFFE000 : i32
    %depth = arith.constant #tile_depth
    %columns = arith.constant #tile_columns
    %k = memref.dim %B, %c1 : !view
    %n = memref.dim %B, %c2 : !view
    %k_padded = memref.dim %T, %c2 : !view

    // The block's place: columns fastest, then rows, then batches.
    %block = gpu.block_id x
    %n_tiles = arith.ceildivui %n, %columns : index
    %k_tiles = arith.ceildivui %k, %depth : index
    %bx = arith.remui %block, %n_tiles : index
    %block_rows = arith.divui %block, %n_tiles : index
    %by = arith.remui %block_rows, %k_tiles : index
    %batch = arith.divui %block_rows, %k_tiles : index
    %n0 = arith.muli %bx, %columns : index
    %k0 = arith.muli %by, %depth : index

    // Eight lanes of a warp follow one another along a row of either matrix, four such rows a warp.
    %tid = gpu.thread_id x upper_bound 256
    %warp = arith.divui %tid, %c32 : index
    %warp_column = arith.remui %warp, %c2 : index
    %warp_row = arith.divui %warp, %c2 : index
    %lane = arith.remui %tid, %c32 : index
    %along = arith.remui %lane, %c8 : index
    %across = arith.divui %lane, %c8 : index

    %from_n = affine.apply affine_map<(w, l) -> (32 * w + 4 * l)>(%warp_column, %along)
    %b_n = arith.addi %n0, %from_n : index
    %n_in = arith.cmpi ult, %b_n, %n : index
    affine.for %i = 0 to 2 {
      %from_k = affine.apply affine_map<(w, l, i) -> (4 * w + l + 16 * i)>(%warp_row, %across, %i)
      %b_k = arith.addi %k0, %from_k : index
      %k_in = arith.cmpi ult, %b_k, %k : index
      %in = arith.andi %k_in, %n_in : i1
      %four = scf.if %in -> (vector<4xf32>) {
        %v = vector.load %B[%batch, %b_k, %b_n] {alignment = 16 : i64} : !view, vector<4xf32>
        scf.yield %v : vector<4xf32>
      } else {
        %zero = arith.constant dense<0.0> : vector<4xf32>
        scf.yield %zero : vector<4xf32>
      }
      affine.for %j = 0 to 4 {
        %x = vector.extract %four[%j] : f32 from vector<4xf32>
        // To tf32: half a unit of its last place is added to the magnitude before the rest is cut off.
        %bits = arith.bitcast %x : f32 to i32
        %up = arith.addi %bits, %half : i32
        %cut = arith.andi %up, %kept : i32
        %round = arith.bitcast %cut : i32 to f32
        %nan = arith.cmpf uno, %x, %x : f32
        %r = arith.select %nan, %x, %round : f32
        %to_n = affine.apply affine_map<(n, j) -> (n + j)>(%from_n, %j)
        memref.store %r, %tile[%from_k, %to_n] : !tile
      }
    }
    gpu.barrier

    %to_k = arith.muli %along, %c4 : index
    %t_k = arith.addi %k0, %to_k : index
    %t_k_in = arith.cmpi ult, %t_k, %k_padded : index
    affine.for %i = 0 to 2 {
      %to_n = affine.apply affine_map<(w, l, i) -> (4 * w + l + 32 * i)>(%warp, %across, %i)
      %t_n = arith.addi %n0, %to_n : index
      %t_n_in = arith.cmpi ult, %t_n, %n : index
      %in = arith.andi %t_k_in, %t_n_in : i1
      scf.if %in {
        %none = ub.poison : vector<4xf32>
        %four = affine.for %j = 0 to 4 iter_args(%part = %none) -> (vector<4xf32>) {
          %row = affine.apply affine_map<(k, j) -> (k + j)>(%to_k, %j)
          %x = memref.load %tile[%row, %to_n] : !tile
          %next = vector.insert %x, %part[%j] : f32 into vector<4xf32>
          affine.yield %next : vector<4xf32>
        }
        vector.store %four, %T[%batch, %t_n, %t_k] {alignment = 16 : i64} : !view, vector<4xf32>
      }
    }
    gpu.return
  }
}

func.func private @transpose(%B: !view, %T: !view) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %depth = arith.constant #tile_depth
  %columns = arith.constant #tile_columns
  %threads = arith.constant #threads
  %batches = memref.dim %B, %c0 : !view
  %k = memref.dim %B, %c1 : !view
  %n = memref.dim %B, %c2 : !view
  %n_tiles = arith.ceildivui %n, %columns : index
  %k_tiles = arith.ceildivui %k, %depth : index
  %tiles = arith.muli %n_tiles, %k_tiles : index
  %blocks = arith.muli %tiles, %batches : index
  gpu.launch_func @transpose_tf32_kernels::@transpose_tf32 blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
    args(%B : !view, %T : !view)
  return
}
}
