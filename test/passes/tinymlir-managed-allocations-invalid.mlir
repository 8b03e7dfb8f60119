// RUN: tinymlir-opt %s --tinymlir-managed-allocations -split-input-file -verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%m: memref<4xf32>) kernel {
      gpu.return
    }
  }
  memref.global "private" @state : memref<4xf32> = dense<0.0>
  func.func @mutable() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'memref.get_global' op cannot be read by a kernel: @state is not constant (pass it as an argument)}}
    %m = memref.get_global @state : memref<4xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<4xf32>)
    return
  }
}

// -----

func.func @layout() {
  // expected-error @+1 {{'memref.alloc' op cannot be shared with a device: its layout is not the identity (copy it to one that is)}}
  %m = memref.alloc() : memref<4x4xf32, strided<[1, 4]>>
  memref.dealloc %m : memref<4x4xf32, strided<[1, 4]>>
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%m: memref<2x1xf32, strided<[?, ?], offset: ?>>) kernel {
      gpu.return
    }
  }
  memref.global "private" constant @table : memref<2x1xf32, strided<[?, ?], offset: ?>> = dense<1.0>
  func.func @constant() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'memref.get_global' op cannot be shared with a device: its layout is not the identity (copy it to one that is)}}
    %m = memref.get_global @table : memref<2x1xf32, strided<[?, ?], offset: ?>>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<2x1xf32, strided<[?, ?], offset: ?>>)
    return
  }
}

// -----

func.func @space(%n: index) {
  // expected-error @below {{'memref.alloc' op is in memory space 1 : i64, which host code has not (leave the space out)}}
  %m = memref.alloc(%n) : memref<?xf32, 1>
  memref.dealloc %m : memref<?xf32, 1>
  return
}
