// RUN: tinymlir-opt %s | FileCheck %s
// C = epilogue(P[0] + P[1] + ... + C): adds the slabs that the splits of a product wrote, in their order, so that the
// result is the same from run to run. One thread an element of C; neighbouring threads have neighbouring columns.
//
// CHECK: gpu.func @split_reduce(
// CHECK: func.func private @reduce(

// Parameters: whether C is read, and what is done to a sum, in @epilogue. Slabs, rows and columns, and the columns of a group.
#accumulate = true
#slabs = 8 : index
#rows = 32 : index
#columns = 768 : index
#width = 768 : index
// Batch, slab, row, column.
!slabs = memref<?x?x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>
// Batch, row, group of columns, column within its group.
!out = memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>>
!view = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
#threads = 256 : index
// How many slabs are on their way together.
#at_once = 8 : index
!some = vector<8xf32>

module attributes {gpu.container_module} {
gpu.module @split_reduce_kernels {
  // What becomes of a sum; %x and %y are the elements of the extra operands at its row and column.
  func.func private @epilogue(%sum: f32, %x: f32, %y: f32) -> f32 {
    return %sum : f32
  }

  // What else is done with an element of C, by row, group of columns and place in that.
  // +functions
  func.func private @also(%value: f32, %row: index, %group: index, %place: index
      // +operands
      ) {
    // +also
    return
  }

  gpu.func @split_reduce(%P: !slabs, %C: !out, %X: !view, %Y: !view
      // +operands
      )
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = arith.constant #threads
    %zero = arith.constant 0.0 : f32
    %batches = memref.dim %P, %c0 : !slabs
    %splits = arith.constant #slabs
    %m = arith.constant #rows
    %n = arith.constant #columns
    %width = arith.constant #width
    %block = gpu.block_id x
    %thread = gpu.thread_id x
    %first = arith.muli %block, %t : index
    %i = arith.addi %first, %thread : index
    %q = arith.remui %i, %n : index
    %rows = arith.divui %i, %n : index
    %r = arith.remui %rows, %m : index
    %batch = arith.divui %rows, %m : index
    %in = arith.cmpi ult, %batch, %batches : index
    // On their way before the kernel waits for its predecessor, if they are constant.
    %x = scf.if %in -> (f32) {
      %v = memref.load %X[%batch, %r, %q] : !view
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %y = scf.if %in -> (f32) {
      %v = memref.load %Y[%batch, %r, %q] : !view
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %q_group = arith.divui %q, %width : index
    %q_place = arith.remui %q, %width : index
    scf.if %in {
      %last = arith.subi %splits, %c1 : index
      %at_once = arith.constant #at_once
      %sum = scf.for %s0 = %c0 to %splits step %at_once iter_args(%partial = %zero) -> (f32) {
        // Past the last slab that one again, which does not count.
        %none = ub.poison : !some
        %some = affine.for %u = 0 to %at_once iter_args(%f = %none) -> (!some) {
          %s_any = arith.addi %s0, %u : index
          %s = arith.minui %s_any, %last : index
          %v = memref.load %P[%batch, %s, %r, %q] : !slabs
          %f1 = vector.insert %v, %f[%u] : f32 into !some
          affine.yield %f1 : !some
        }
        %next = affine.for %u = 0 to %at_once iter_args(%sofar = %partial) -> (f32) {
          %s = arith.addi %s0, %u : index
          %s_in = arith.cmpi ult, %s, %splits : index
          %v = vector.extract %some[%u] : f32 from !some
          %t1 = arith.addf %sofar, %v : f32
          %t2 = arith.select %s_in, %t1, %sofar : f32
          affine.yield %t2 : f32
        }
        scf.yield %next : f32
      }
      %accumulate = arith.constant #accumulate
      %s = scf.if %accumulate -> (f32) {
        %old = memref.load %C[%batch, %r, %q_group, %q_place] : !out
        %added = arith.addf %sum, %old : f32
        scf.yield %added : f32
      } else {
        scf.yield %sum : f32
      }
      %e = func.call @epilogue(%s, %x, %y) : (f32, f32, f32) -> f32
      memref.store %e, %C[%batch, %r, %q_group, %q_place] : !out
      func.call @also(%e, %r, %q_group, %q_place
        // +names
        ) : (f32, index, index, index
        // +types
        ) -> ()
    }
    gpu.return
  }
}

func.func private @reduce(%P: !slabs, %C: !out, %X: !view, %Y: !view
    // +operands
    ) attributes {tinymlir.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant #threads
  %batches = memref.dim %P, %c0 : !slabs
  %m = arith.constant #rows
  %n = arith.constant #columns
  %area = arith.muli %m, %n : index
  %all = arith.muli %area, %batches : index
  %blocks = arith.ceildivui %all, %t : index
  gpu.launch_func @split_reduce_kernels::@split_reduce blocks in (%blocks, %c1, %c1) threads in (%t, %c1, %c1)
    args(%P : !slabs, %C : !out, %X : !view, %Y : !view
      // +operands
      )
  return
}
}
