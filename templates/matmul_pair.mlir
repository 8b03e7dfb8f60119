// RUN: tinymlir-opt %s | FileCheck %s
// C += epilogue(between(A B) D) for one row in strict f32; A: K, B: K x M, D: M x N, C: N. The sums are added to C by
// atomic operations, in any order: C is zero before. Elements of B and D may be narrower than f32: @widen makes f32 of them.
//
// Bound by reading B and D once. A block owns some of the M units between the two products: their columns of B and their rows
// of D. It finishes its units (sums over all of K, @between) and adds what they contribute to all of C; the first block adds
// what @epilogue adds to the sum. Every piece of 16 bytes of B and D is asked for once, before anything that another kernel
// makes is waited for: to registers, or those of D to the L2 cache, from where they come when B's are multiplied.
//
// CHECK: gpu.func @matmul_pair(
// CHECK: func.func private @matmul(

// Parameters: the units of a block, the threads that add up a unit's sums, and their product.
#units = 24 : index
#lanes = 16 : index
#rounds = 4 : index
#threads = 384 : index
#block = array<i32: 384, 1, 1>
// The registers that a thread may have.
#registers = 144 : i32
// K and N.
#depth = 768 : index
#columns = 768 : index
// The elements in 16 bytes of B and D, and in pieces: a row of a block's columns of B, a row of D.
#elements = 4 : index
#unit_pieces = 6 : index
#row_pieces = 192 : index
!elem = f32
!piece = vector<4xf32>
!wide = vector<4xf32>
#align = 16 : i64
// The groups of threads that each read a row of the block's columns at once, the rows that each takes, and whether K is a
// multiple.
#groups = 64 : index
#row_of = affine_map<(k, u) -> (k + 64 * u)>
#takes = 12 : index
#exact = true
!b_rows = vector<12x4xf32>
// A row of D is read by the threads of one of so many groups, piece by piece and again so often; the rows that a group
// takes, and whether it takes rows that there are.
#row_groups = 2 : index
#unit_of = affine_map<(r, i) -> (r + 2 * i)>
#sweeps = 1 : index
#sweep_of = affine_map<(c, s) -> (c + 384 * s)>
#takes_units = 12 : index
#exact_units = true
!d_rows = vector<1x12x4xf32>
!d_sums = vector<1x4xf32>
// The columns of C that a thread adds to.
#takes_columns = 2 : index
!mine = vector<2xf32>
// Whether D is only brought to the L2 cache at first: lines of 128 bytes in a row of D, of so many elements, and how many of
// the block's a thread asks for.
#prefetches = false
#row_lines = 24 : index
#line_elements = 32 : index
#bytes = 4 : index
#takes_lines = 2 : index
#line_of = affine_map<(t, i) -> (t + 384 * i)>
// Workgroup memory: the sums of B's groups, a row apart, of which a thread adds up so many, and then those of D's groups.
#pitch = 25 : index
#adds = 4 : index
#scratch = 1600 : index
!scratch = memref<1600xf32, #gpu.address_space<workgroup>>
!units = memref<24xf32, #gpu.address_space<workgroup>>
// Whether A is made by @prologue, in workgroup memory.
#staged = false
#stage_rows = 1 : index
#stage_depth = 1 : index
!stage = memref<1x1xf32, #gpu.address_space<workgroup>>
#warps = 12 : index
!slots = memref<12xf32, #gpu.address_space<workgroup>>
!a_view = memref<?xf32, strided<[1], offset: ?>>
!b_view = memref<?x?xf32, strided<[3072, 1], offset: ?>>
!d_view = memref<?x?xf32, strided<[768, 1], offset: ?>>
!b_global = memref<?x?xf32, strided<[3072, 1], offset: ?>, #gpu.address_space<global>>
!d_global = memref<?x?xf32, strided<[768, 1], offset: ?>, #gpu.address_space<global>>
!out = memref<?xf32, strided<[1], offset: ?>>
!out_global = memref<?xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
!extra = memref<?xf32, strided<[?], offset: ?>>

module attributes {gpu.container_module} {
gpu.module @matmul_pair_kernels {
  // What becomes of a unit's sum between the products, with the elements of the extra operands there.
  func.func private @between(%sum: f32, %x: f32, %y: f32, %z: f32) -> f32 {
    return %sum : f32
  }
  // What becomes of a sum of C: something is added to it, once.
  func.func private @epilogue(%sum: f32, %x: f32, %y: f32, %z: f32) -> f32 {
    return %sum : f32
  }

  // A piece in f32.
  func.func private @widen(%v: !piece) -> !wide {
    %e = builtin.unrealized_conversion_cast %v : !piece to !wide
    return %e : !wide
  }

  // Rows %group, %group + #groups, ... of B at the thread's columns; past the last row that one again.
  func.func private @load_b(%b: !b_global, %group: index, %col: index) -> !b_rows {
    %takes = arith.constant #takes
    %exact = arith.constant #exact
    %depth = arith.constant #depth
    %c1 = arith.constant 1 : index
    %last = arith.subi %depth, %c1 : index
    %none = ub.poison : !b_rows
    %rows = affine.for %u = 0 to %takes iter_args(%f = %none) -> (!b_rows) {
      %r_any = affine.apply #row_of(%group, %u)
      %r_safe = arith.minui %r_any, %last : index
      %r = arith.select %exact, %r_any, %r_safe : index
      %v = vector.load %b[%r, %col] {alignment = #align} : !b_global, !piece
      %f1 = vector.insert %v, %f[%u] : !piece into !b_rows
      affine.yield %f1 : !b_rows
    }
    return %rows : !b_rows
  }

  // Adds up the products of those rows with A.
  func.func private @multiply_b(%A: !a_view, %stage: !stage, %group: index, %b_rows: !b_rows) -> !wide {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : !wide
    %takes = arith.constant #takes
    %exact = arith.constant #exact
    %staged = arith.constant #staged
    %depth = arith.constant #depth
    %last = arith.subi %depth, %c1 : index
    %sums = affine.for %u = 0 to %takes iter_args(%s = %zeros) -> (!wide) {
      %r_any = affine.apply #row_of(%group, %u)
      %inside = arith.cmpi ult, %r_any, %depth : index
      %r_safe = arith.minui %r_any, %last : index
      %in = arith.ori %exact, %inside : i1
      %r = arith.select %exact, %r_any, %r_safe : index
      %piece = vector.extract %b_rows[%u] : !piece from !b_rows
      %b_any = func.call @widen(%piece) : (!piece) -> !wide
      %b = arith.select %in, %b_any, %zeros : !wide
      %a_any = scf.if %staged -> (f32) {
        %v = memref.load %stage[%c0, %r] : !stage
        scf.yield %v : f32
      } else {
        %v = memref.load %A[%r] : !a_view
        scf.yield %v : f32
      }
      %a = arith.select %in, %a_any, %zero : f32
      %a_all = vector.broadcast %a : f32 to !wide
      %next = vector.fma %a_all, %b, %s : !wide
      affine.yield %next : !wide
    }
    return %sums : !wide
  }

  // The block's rows %group, %group + #row_groups, ... of D at the thread's pieces; what is not there is something that is.
  func.func private @load_d(%d: !d_global, %unit0: index, %group: index, %piece: index) -> !d_rows {
    %c1 = arith.constant 1 : index
    %units = arith.constant #units
    %takes = arith.constant #takes_units
    %exact = arith.constant #exact_units
    %sweeps = arith.constant #sweeps
    %pieces = arith.constant #row_pieces
    %elements = arith.constant #elements
    %last_unit = arith.subi %units, %c1 : index
    %last_piece = arith.subi %pieces, %c1 : index
    %none = ub.poison : !d_rows
    %rows = affine.for %s = 0 to %sweeps iter_args(%all = %none) -> (!d_rows) {
      %p_any = affine.apply #sweep_of(%piece, %s)
      %p_safe = arith.minui %p_any, %last_piece : index
      %p = arith.select %exact, %p_any, %p_safe : index
      %col = arith.muli %p, %elements : index
      %some = affine.for %i = 0 to %takes iter_args(%f = %all) -> (!d_rows) {
        %u_any = affine.apply #unit_of(%group, %i)
        %u_safe = arith.minui %u_any, %last_unit : index
        %u = arith.select %exact, %u_any, %u_safe : index
        %row = arith.addi %unit0, %u : index
        %v = vector.load %d[%row, %col] {alignment = #align} : !d_global, !piece
        %f1 = vector.insert %v, %f[%s, %i] : !piece into !d_rows
        affine.yield %f1 : !d_rows
      }
      affine.yield %some : !d_rows
    }
    return %rows : !d_rows
  }

  // Asks for the lines of the block's rows of D.
  func.func private @prefetch_d(%d: !d_global, %unit0: index, %tid: index) {
    %c0 = arith.constant 0 : index
    %units = arith.constant #units
    %takes = arith.constant #takes_lines
    %lines = arith.constant #row_lines
    %line_elements = arith.constant #line_elements
    %bytes = arith.constant #bytes
    %all = arith.muli %units, %lines : index
    %base, %offset, %size:2, %stride:2 = memref.extract_strided_metadata %d : !d_global -> memref<!elem, #gpu.address_space<global>>, index, index, index, index, index
    %first = memref.extract_aligned_pointer_as_index %d : !d_global -> index
    affine.for %i = 0 to %takes {
      %line = affine.apply #line_of(%tid, %i)
      %in = arith.cmpi ult, %line, %all : index
      scf.if %in {
        %unit = arith.divui %line, %lines : index
        %place = arith.remui %line, %lines : index
        %row = arith.addi %unit0, %unit : index
        %row_at = arith.muli %row, %stride#0 : index
        %col = arith.muli %place, %line_elements : index
        %row_place = arith.addi %row_at, %col : index
        %element = arith.addi %offset, %row_place : index
        %byte = arith.muli %element, %bytes : index
        %address = arith.addi %first, %byte : index
        %integer = arith.index_cast %address : index to i64
        %pointer = llvm.inttoptr %integer : i64 to !llvm.ptr<1>
        nvvm.prefetch level = L2, %pointer : !llvm.ptr<1>
      }
    }
    return
  }

  // Adds up the products of those rows with the block's units.
  func.func private @multiply_d(%unit_values: !units, %group: index, %d_rows: !d_rows) -> !d_sums {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : !wide
    %none = arith.constant dense<0.0> : !d_sums
    %units = arith.constant #units
    %takes = arith.constant #takes_units
    %exact = arith.constant #exact_units
    %sweeps = arith.constant #sweeps
    %last_unit = arith.subi %units, %c1 : index
    %sums = affine.for %s = 0 to %sweeps iter_args(%all = %none) -> (!d_sums) {
      %sum = affine.for %i = 0 to %takes iter_args(%t = %zeros) -> (!wide) {
        %u_any = affine.apply #unit_of(%group, %i)
        %inside = arith.cmpi ult, %u_any, %units : index
        %u_safe = arith.minui %u_any, %last_unit : index
        %in = arith.ori %exact, %inside : i1
        %u = arith.select %exact, %u_any, %u_safe : index
        %piece = vector.extract %d_rows[%s, %i] : !piece from !d_rows
        %d_any = func.call @widen(%piece) : (!piece) -> !wide
        %d = arith.select %in, %d_any, %zeros : !wide
        %h_any = memref.load %unit_values[%u] : !units
        %h = arith.select %in, %h_any, %zero : f32
        %h_all = vector.broadcast %h : f32 to !wide
        %next = vector.fma %h_all, %d, %t : !wide
        affine.yield %next : !wide
      }
      %all1 = vector.insert %sum, %all[%s] : !wide into !d_sums
      affine.yield %all1 : !d_sums
    }
    return %sums : !d_sums
  }

  // An element of an extra operand for each of the thread's columns of C, in the first block.
  func.func private @beside(%x: !extra, %tid: index, %is_first: i1) -> !mine {
    %zeros = arith.constant dense<0.0> : !mine
    %takes = arith.constant #takes_columns
    %columns = arith.constant #columns
    %mine = affine.for %j = 0 to %takes iter_args(%f = %zeros) -> (!mine) {
      %col = affine.apply #sweep_of(%tid, %j)
      %inside = arith.cmpi ult, %col, %columns : index
      %in = arith.andi %inside, %is_first : i1
      %f1 = scf.if %in -> (!mine) {
        %v = memref.load %x[%col] : !extra
        %g = vector.insert %v, %f[%j] : f32 into !mine
        scf.yield %g : !mine
      } else {
        scf.yield %f : !mine
      }
      affine.yield %f1 : !mine
    }
    return %mine : !mine
  }

  // Makes A in workgroup memory, such as a normalised row; all threads of the block do.
  // +functions
  func.func private @prologue(%stage: !stage, %slots0: !slots, %slots1: !slots, %row: index, %thread: index, %warp: index, %lane: index
      // +operands
      ) {
    // +prologue
    return
  }

  gpu.func @matmul_pair(%A: !a_view, %B: !b_view, %D: !d_view, %C: !out, %BX: !extra, %BY: !extra, %BZ: !extra,
                        %X: !extra, %Y: !extra, %Z: !extra
      // +operands
      )
      workgroup(%scratch: !scratch {llvm.align = 16 : i64}, %unit_values: !units {llvm.align = 16 : i64},
                %stage: !stage {llvm.align = 16 : i64}, %slots0: !slots {llvm.align = 16 : i64},
                %slots1: !slots {llvm.align = 16 : i64})
      kernel attributes {known_block_size = #block, nvvm.maxnreg = #registers} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %units = arith.constant #units
    %lanes = arith.constant #lanes
    %elements = arith.constant #elements
    %unit_pieces = arith.constant #unit_pieces
    %row_pieces = arith.constant #row_pieces
    %row_groups = arith.constant #row_groups
    %columns = arith.constant #columns
    %pitch = arith.constant #pitch
    %staged = arith.constant #staged
    %all_lanes = arith.constant -1 : i32
    %zero = arith.constant 0.0 : f32
    %block = gpu.block_id x
    %unit0 = arith.muli %block, %units : index
    %tid = gpu.thread_id x
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %is_first = arith.cmpi eq, %block, %c0 : index
    %b = memref.memory_space_cast %B : !b_view to !b_global
    %d = memref.memory_space_cast %D : !d_view to !d_global

    // All of the block's columns of B are on their way before the kernel's predecessor ends, if B is constant.
    %piece = arith.remui %tid, %unit_pieces : index
    %group = arith.divui %tid, %unit_pieces : index
    %piece_unit = arith.muli %piece, %elements : index
    %col = arith.addi %unit0, %piece_unit : index
    %b_rows = func.call @load_b(%b, %group, %col) : (!b_global, index, index) -> !b_rows
    %d_piece = arith.remui %tid, %row_pieces : index
    %d_group = arith.divui %tid, %row_pieces : index
    // Of D they are, or are on the way to the L2 cache.
    %prefetches = arith.constant #prefetches
    %d_early = scf.if %prefetches -> (!d_rows) {
      func.call @prefetch_d(%d, %unit0, %tid) : (!d_global, index, index) -> ()
      %none = ub.poison : !d_rows
      scf.yield %none : !d_rows
    } else {
      %rows = func.call @load_d(%d, %unit0, %d_group, %d_piece) : (!d_global, index, index, index) -> !d_rows
      scf.yield %rows : !d_rows
    }
    // Keeps these loads in flight together and in front: without it they sink to their uses.
    nvvm.bar.warp.sync %all_lanes : i32
    // What comes between the products reads at a unit, which so many threads add up.
    %unit = arith.divui %tid, %lanes : index
    %part = arith.remui %tid, %lanes : index
    %own_unit = arith.addi %unit0, %unit : index
    %bx = memref.load %BX[%own_unit] : !extra
    %by = memref.load %BY[%own_unit] : !extra
    %bz = memref.load %BZ[%own_unit] : !extra
    scf.if %staged {
      func.call @prologue(%stage, %slots0, %slots1, %c0, %tid, %warp, %lane
        // +names
        ) : (!stage, !slots, !slots, index, index, index, index
        // +types
        ) -> ()
      gpu.barrier
    }
    %xs = func.call @beside(%X, %tid, %is_first) : (!extra, index, i1) -> !mine
    %ys = func.call @beside(%Y, %tid, %is_first) : (!extra, index, i1) -> !mine
    %zs = func.call @beside(%Z, %tid, %is_first) : (!extra, index, i1) -> !mine
    %partial = func.call @multiply_b(%A, %stage, %group, %b_rows) : (!a_view, !stage, index, !b_rows) -> !wide
    %d_rows = scf.if %prefetches -> (!d_rows) {
      %rows = func.call @load_d(%d, %unit0, %d_group, %d_piece) : (!d_global, index, index, index) -> !d_rows
      scf.yield %rows : !d_rows
    } else {
      scf.yield %d_early : !d_rows
    }
    nvvm.bar.warp.sync %all_lanes : i32

    // The groups meet in workgroup memory; neighbouring threads add up a unit's sums.
    %partial_row = arith.muli %group, %pitch : index
    %partial_place = arith.addi %partial_row, %piece_unit : index
    affine.for %e = 0 to %elements {
      %v = vector.extract %partial[%e] : f32 from !wide
      %to = arith.addi %partial_place, %e : index
      memref.store %v, %scratch[%to] : !scratch
    }
    gpu.barrier
    %adds = arith.constant #adds
    %own_sum = affine.for %j = 0 to %adds iter_args(%t = %zero) -> (f32) {
      %step = arith.muli %j, %lanes : index
      %g = arith.addi %part, %step : index
      %row = arith.muli %g, %pitch : index
      %at = arith.addi %row, %unit : index
      %v = memref.load %scratch[%at] : !scratch
      %t1 = arith.addf %t, %v : f32
      affine.yield %t1 : f32
    }
    %width = arith.constant 32 : i32
    %half = arith.shrui %lanes, %c1 : index
    %half_lanes = arith.index_cast %half : index to i32
    %rounds = arith.constant #rounds
    %unit_sum = affine.for %round = 0 to %rounds iter_args(%v = %own_sum) -> (f32) {
      %nearer = arith.index_cast %round : index to i32
      %distance = arith.shrui %half_lanes, %nearer : i32
      %other, %ok = gpu.shuffle xor %v, %distance, %width : f32
      %both = arith.addf %v, %other : f32
      affine.yield %both : f32
    }
    %value = func.call @between(%unit_sum, %bx, %by, %bz) : (f32, f32, f32, f32) -> f32
    %stores = arith.cmpi eq, %part, %c0 : index
    scf.if %stores {
      memref.store %value, %unit_values[%unit] : !units
    }
    gpu.barrier

    // What the units contribute: the groups' sums meet in the same workgroup memory, which nothing reads any more.
    %sums = func.call @multiply_d(%unit_values, %d_group, %d_rows) : (!units, index, !d_rows) -> !d_sums
    %sweeps = arith.constant #sweeps
    %in_group = arith.cmpi ult, %d_group, %row_groups : index
    %group_row = arith.muli %d_group, %columns : index
    affine.for %s = 0 to %sweeps {
      %p = affine.apply #sweep_of(%d_piece, %s)
      %in_row = arith.cmpi ult, %p, %row_pieces : index
      %in = arith.andi %in_group, %in_row : i1
      scf.if %in {
        %first_col = arith.muli %p, %elements : index
        %to = arith.addi %group_row, %first_col : index
        %v = vector.extract %sums[%s] : !wide from !d_sums
        vector.store %v, %scratch[%to] {alignment = 16 : i64} : !scratch, !wide
      }
    }
    gpu.barrier
    // Neighbouring threads add to neighbouring columns of C.
    %takes_columns = arith.constant #takes_columns
    %c = memref.memory_space_cast %C : !out to !out_global
    affine.for %j = 0 to %takes_columns {
      %out_col = affine.apply #sweep_of(%tid, %j)
      %in = arith.cmpi ult, %out_col, %columns : index
      scf.if %in {
        %sum = affine.for %g = 0 to %row_groups iter_args(%t = %zero) -> (f32) {
          %row = arith.muli %g, %columns : index
          %at = arith.addi %row, %out_col : index
          %v = memref.load %scratch[%at] : !scratch
          %t1 = arith.addf %t, %v : f32
          affine.yield %t1 : f32
        }
        %x = vector.extract %xs[%j] : f32 from !mine
        %y = vector.extract %ys[%j] : f32 from !mine
        %z = vector.extract %zs[%j] : f32 from !mine
        %with = func.call @epilogue(%sum, %x, %y, %z) : (f32, f32, f32, f32) -> f32
        %adds_to = arith.select %is_first, %with, %sum : f32
        %old = memref.atomic_rmw addf %adds_to, %c[%out_col] : (f32, !out_global) -> f32
      }
    }
    gpu.return
  }
}

func.func private @matmul(%A: !a_view, %B: !b_view, %D: !d_view, %C: !out, %BX: !extra, %BY: !extra, %BZ: !extra,
                          %X: !extra, %Y: !extra, %Z: !extra
    // +operands
    ) attributes {tinymlir.kernel} {
  %c1 = arith.constant 1 : index
  %units = arith.constant #units
  %t = arith.constant #threads
  %all_units = memref.dim %B, %c1 : !b_view
  %blocks = arith.divui %all_units, %units : index
  gpu.launch_func @matmul_pair_kernels::@matmul_pair blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%A : !a_view, %B : !b_view, %D : !d_view, %C : !out, %BX : !extra, %BY : !extra, %BZ : !extra, %X : !extra,
         %Y : !extra, %Z : !extra
      // +operands
      )
  return
}
}
