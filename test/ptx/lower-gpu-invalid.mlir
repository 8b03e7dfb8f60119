// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-lower-gpu -split-input-file -verify-diagnostics

// 48 KiB is what a block has of static workgroup memory.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op needs 65536 bytes of static workgroup memory: a block has 49152 (use smaller tiles)}}
  gpu.func @big() workgroup(%s : memref<128x128xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @no_lowering(%m: memref<8xf8E5M2>, %p: memref<8xf32>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %m[%i] : memref<8xf8E5M2>
    // expected-error @+1 {{'arith.extf' op has no lowering for a GPU (expand it, or compute it on the host)}}
    %b = arith.extf %v : f8E5M2 to f32
    memref.store %b, %p[%i] : memref<8xf32>
    gpu.return
  }
}

// -----

// The default chip is sm_80, which has asynchronous copies of the plain kind only.
gpu.module @kernels {
  gpu.func @newer(%barrier: memref<1xi64, #gpu.address_space<workgroup>>) kernel {
    nvvm.cp.async.commit.group
    // expected-error @+1 {{'nvvm.fence.mbarrier.init' op is an instruction of sm_90 or newer, and the target is sm_80 (give tinymlir-gpu-outline the same chip)}}
    nvvm.fence.mbarrier.init
    gpu.return
  }
}
