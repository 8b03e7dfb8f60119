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

// -----

// Other chips than those from sm_90 on have no clusters: neither a launch nor a kernel may ask for them.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @plain() kernel {
      gpu.return
    }
  }
  func.func @clusters() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'gpu.launch_func' op has clusters, which chips from sm_90 on have, and the target is sm_80 (give one of those, as chip=sm_90)}}
    gpu.launch_func @kernels::@plain clusters in (%c1, %c1, %c1) blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{'llvm.func' op has clusters, which chips from sm_90 on have, and the target is sm_80 (give one of those, as chip=sm_90)}}
  gpu.func @compiled() kernel attributes {known_cluster_size = array<i32: 2, 1, 1>} {
    gpu.return
  }
}
