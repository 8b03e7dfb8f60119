// The first failure on the card ends the program: the call, the error's name, the kernel; exit status 1, and nothing after it.
// REQUIRES: cuda
// RUN: %fails tinymlir-runner %s --gpu -e too_tall > %t 2>&1 && FileCheck %s --check-prefix=TALL < %t
// RUN: %fails tinymlir-runner %s --gpu -e too_large --arg 0=1099511627776 > %t 2>&1 && FileCheck %s --check-prefix=LARGE < %t
// RUN: %fails tinymlir-runner %s --gpu -e too_large --arg 0=4611686018427387904 > %t 2>&1 && FileCheck %s --check-prefix=HUGE < %t
// RUN: %fails tinymlir-runner %s --gpu -e wild > %t 2>&1 && FileCheck %s --check-prefix=WILD < %t
// RUN: %fails tinymlir-runner %s --gpu -e check --arg 0=9 > %t 2>&1 && FileCheck %s --check-prefix=ASSERT < %t
// RUN: tinymlir-runner %s --gpu -e check --arg 0=2 | FileCheck %s --check-prefix=PASSES

func.func private @printNewline()
func.func private @printI64(i64)

// Grids have at most 65,535 blocks in y.
// TALL-NOT: 7777
// TALL: error: cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (kernel @{{.*}}, grid 1x70000x1, block 32x1x1)
// TALL-NOT: 7777
func.func @too_tall() {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c70000 = arith.constant 70000 : index
  %m = gpu.alloc host_shared () : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c70000, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %m[%tx] : memref<32xf32>
    gpu.terminator
  }
  %after = arith.constant 7777 : i64
  call @printI64(%after) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

// 4 TiB: refused before managed memory is taken that the card does not have.
// LARGE-NOT: 7777
// LARGE: error: cuMemAllocManaged: CUDA_ERROR_OUT_OF_MEMORY (4398046511104 bytes: the card had
// LARGE-NOT: 7777
// The size in bytes overflows.
// HUGE-NOT: 7777
// HUGE: error:
// HUGE-NOT: 7777
func.func @too_large(%n: index) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %after = arith.constant 7777 : i64
  func.call @printI64(%after) : (i64) -> ()
  return %r : tensor<?xf32>
}

// A store past the buffer surfaces at the wait, which names the kernel.
// WILD-NOT: 7777
// WILD: error: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (kernel @
// WILD-NOT: 7777
func.func @wild() {
  %c1 = arith.constant 1 : index
  %far = arith.constant 1099511627776 : index
  %m = gpu.alloc host_shared () : memref<32xf32>
  %d = memref.cast %m : memref<32xf32> to memref<?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %d[%far] : memref<?xf32>
    gpu.terminator
  }
  %after = arith.constant 7777 : i64
  call @printI64(%after) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

// A failed assertion of a kernel is a message with its place and the compared values.
// ASSERT-NOT: 7777
// ASSERT: error: {{.*}}faults.mlir:[[#@LINE+10]]:5: index is out of bounds: 9 of 4
// ASSERT-NOT: 7777
// PASSES: 7777
func.func @check(%n: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %ok = arith.cmpi ult, %n, %c4 : index
    cf.assert %ok, "index is out of bounds: {0} of {1}"
    gpu.terminator
  }
  %after = arith.constant 7777 : i64
  call @printI64(%after) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
