// RUN: tinymlir-opt %s | FileCheck %s
// How a block reduces one value a thread: what tinymlir-row-kernels builds kernels of, here with the sum of each row.
// The order is fixed: shuffles within a warp, then the warps in turn through workgroup memory, in every thread.
//
// CHECK: func.func private @reduce(
// CHECK: gpu.func @row_sum(

// Parameters: the reduction itself is @combine.
// The warps that share a row, a power of two of them, and the block's. With several rows a block a warp is known by its number in the block.
#warps = 8 : index
#block_warps = 8 : index
#several_rows = false
!slots = memref<8xf32, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {
gpu.module @row_reduce_kernels {
  func.func private @combine(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    return %c : f32
  }

  // All threads of a block call it, each reduction of a kernel with slots of its own.
  func.func private @reduce(%v: f32, %slots: !slots, %warp: index, %lane: index) -> f32 {
    %width = arith.constant 32 : i32
    %c16 = arith.constant 16 : i32
    %c8 = arith.constant 8 : i32
    %c4 = arith.constant 4 : i32
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %p0, %ok0 = gpu.shuffle xor %v, %c16, %width : f32
    %v0 = func.call @combine(%v, %p0) : (f32, f32) -> f32
    %p1, %ok1 = gpu.shuffle xor %v0, %c8, %width : f32
    %v1 = func.call @combine(%v0, %p1) : (f32, f32) -> f32
    %p2, %ok2 = gpu.shuffle xor %v1, %c4, %width : f32
    %v2 = func.call @combine(%v1, %p2) : (f32, f32) -> f32
    %p3, %ok3 = gpu.shuffle xor %v2, %c2, %width : f32
    %v3 = func.call @combine(%v2, %p3) : (f32, f32) -> f32
    %p4, %ok4 = gpu.shuffle xor %v3, %c1, %width : f32
    %v4 = func.call @combine(%v3, %p4) : (f32, f32) -> f32
    %warps = arith.constant #warps
    %first = arith.constant 0 : index
    %one = arith.constant 1 : index
    %several = arith.cmpi ugt, %warps, %one : index
    %all = scf.if %several -> (f32) {
      %is_first = arith.cmpi eq, %lane, %first : index
      scf.if %is_first {
        memref.store %v4, %slots[%warp] : !slots
      }
      gpu.barrier
      %several_rows = arith.constant #several_rows
      %place = arith.remui %warp, %warps : index
      %own = arith.subi %warp, %place : index
      %from = arith.select %several_rows, %own, %first : index
      %w0 = memref.load %slots[%from] : !slots
      %sum = affine.for %w = 1 to %warps iter_args(%s = %w0) -> (f32) {
        %at = arith.addi %from, %w : index
        %x = memref.load %slots[%at] : !slots
        %t = func.call @combine(%s, %x) : (f32, f32) -> f32
        affine.yield %t : f32
      }
      scf.yield %sum : f32
    } else {
      scf.yield %v4 : f32
    }
    return %all : f32
  }

  // One block of 256 threads a row.
  gpu.func @row_sum(%x: memref<?x?xf32>, %sums: memref<?xf32>) workgroup(%slots: !slots {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %x, %c1 : memref<?x?xf32>
    %row = gpu.block_id x
    %t = gpu.thread_id x
    %warp = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %partial = scf.for %i = %t to %n step %c256 iter_args(%s = %zero) -> (f32) {
      %v = memref.load %x[%row, %i] : memref<?x?xf32>
      %next = func.call @combine(%s, %v) : (f32, f32) -> f32
      scf.yield %next : f32
    }
    %sum = func.call @reduce(%partial, %slots, %warp, %lane) : (f32, !slots, index, index) -> f32
    %is_first = arith.cmpi eq, %t, %c0 : index
    scf.if %is_first {
      memref.store %sum, %sums[%row] : memref<?xf32>
    }
    gpu.return
  }
}
}
