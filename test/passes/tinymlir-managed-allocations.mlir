// RUN: tinymlir-opt %s --tinymlir-managed-allocations | FileCheck %s --check-prefixes=CHECK,MANAGED
// RUN: tinymlir-opt %s --tinymlir-managed-allocations=memory=device | FileCheck %s --check-prefixes=CHECK,DEVICE

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%m: memref<?xf32>) kernel {
      gpu.return
    }
  }
  memref.global "private" constant @weights : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  func.func private @elsewhere() -> memref<4xf32>

  // A buffer that only kernels touch is in device memory when that is asked for. Sizes move over as operands.
  // CHECK-LABEL: func.func @kernels_only(
  // CHECK-SAME:  %[[N:.*]]: index
  // MANAGED:       %[[M:.*]] = gpu.alloc host_shared (%[[N]]) : memref<?xf32>
  // DEVICE:        %[[M:.*]] = gpu.alloc (%[[N]]) : memref<?xf32>
  // CHECK:         gpu.launch_func
  // CHECK:         gpu.dealloc %[[M]] : memref<?xf32>
  // CHECK-NOT:     memref.alloc
  func.func @kernels_only(%n: index) {
    %c1 = arith.constant 1 : index
    %m = memref.alloc(%n) : memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<?xf32>)
    memref.dealloc %m : memref<?xf32>
    return
  }

  // What the host reads, through a view too, is shared.
  // CHECK-LABEL: func.func @host_reads(
  // CHECK:         gpu.alloc host_shared ()
  func.func @host_reads() -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.alloc() : memref<8xf32>
    %d = memref.cast %m : memref<8xf32> to memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%d : memref<?xf32>)
    %v = memref.load %d[%c0] : memref<?xf32>
    memref.dealloc %m : memref<8xf32>
    return %v : f32
  }

  // A constant that a kernel reads is copied once, at the function's entry, and freed at its end.
  // CHECK-LABEL: func.func @constant(
  // CHECK:         %[[G:.*]] = memref.get_global @weights
  // MANAGED:       %[[M:.*]] = gpu.alloc host_shared () : memref<4xf32>
  // DEVICE:        %[[M:.*]] = gpu.alloc () : memref<4xf32>
  // CHECK:         gpu.memcpy %[[M]], %[[G]]
  // CHECK:         scf.for
  // CHECK-NOT:       memref.get_global
  // CHECK:         gpu.dealloc %[[M]]
  // CHECK-NEXT:    return
  func.func @constant(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %g = memref.get_global @weights : memref<4xf32>
      %d = memref.cast %g : memref<4xf32> to memref<?xf32>
      gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%d : memref<?xf32>)
    }
    return
  }

  // A constant that the host alone reads stays where it is.
  // CHECK-LABEL: func.func @host_constant(
  // CHECK-NOT:     gpu.alloc
  // CHECK:         return
  func.func @host_constant(%i: index) -> f32 {
    %g = memref.get_global @weights : memref<4xf32>
    %v = memref.load %g[%i] : memref<4xf32>
    return %v : f32
  }

  // A stack buffer that a kernel reads lives as long as its scope.
  // CHECK-LABEL: func.func @stack(
  // CHECK:         %[[M:.*]] = gpu.alloc host_shared () : memref<4xf32>
  // CHECK:         gpu.dealloc %[[M]]
  // CHECK-NEXT:    return
  func.func @stack() {
    %c1 = arith.constant 1 : index
    %m = memref.alloca() : memref<4xf32>
    %d = memref.cast %m : memref<4xf32> to memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%d : memref<?xf32>)
    return
  }

  // A caller may place in device memory what only kernels touch.
  // DEVICE-LABEL: func.func @arguments(%{{.*}}: memref<4xf32> {tinymlir.host}, %{{.*}}: memref<?xf32>, %{{.*}}: index)
  func.func @arguments(%read: memref<4xf32>, %kernels: memref<?xf32>, %i: index) -> f32 {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%kernels : memref<?xf32>)
    %v = memref.load %read[%i] : memref<4xf32>
    return %v : f32
  }

  // What a function elsewhere allocated is not freed as ours.
  // CHECK-LABEL: func.func @foreign(
  // CHECK:         memref.dealloc
  func.func @foreign() {
    %m = call @elsewhere() : () -> memref<4xf32>
    memref.dealloc %m : memref<4xf32>
    return
  }
}
