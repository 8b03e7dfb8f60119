// RUN: tinymlir-opt %s --tinymlir-async-launches | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%m: memref<8xf32>) kernel {
      gpu.return
    }
  }

  // One chain, one wait at the end; an allocation in shared memory does not break the chain.
  // CHECK-LABEL: func.func @chain(
  // CHECK:         %[[T0:.*]] = gpu.wait async
  // CHECK-NEXT:    %[[T1:.*]] = gpu.launch_func async [%[[T0]]] @kernels::@k
  // CHECK-NEXT:    %[[S:.*]] = gpu.alloc host_shared () : memref<8xf32>
  // CHECK-NEXT:    %[[T2:.*]] = gpu.memcpy async [%[[T1]]] %[[S]], %arg0
  // CHECK-NEXT:    %[[D:.*]], %[[T3:.*]] = gpu.alloc async [%[[T2]]] () : memref<8xf32>
  // CHECK-NEXT:    %[[T4:.*]] = gpu.launch_func async [%[[T3]]] @kernels::@k {{.*}} args(%[[D]] : memref<8xf32>)
  // CHECK-NEXT:    %[[T5:.*]] = gpu.dealloc async [%[[T4]]] %[[D]]
  // CHECK-NEXT:    gpu.wait [%[[T5]]]
  // CHECK-NEXT:    return
  func.func @chain(%m: memref<8xf32>) -> memref<8xf32> {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    %s = gpu.alloc host_shared () : memref<8xf32>
    gpu.memcpy %s, %m : memref<8xf32>, memref<8xf32>
    %d = gpu.alloc () : memref<8xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%d : memref<8xf32>)
    gpu.dealloc %d : memref<8xf32>
    return %s : memref<8xf32>
  }

  // The host waits before it reads, and starts another chain after.
  // CHECK-LABEL: func.func @read(
  // CHECK:         %[[T:.*]] = gpu.launch_func async
  // CHECK-NEXT:    gpu.wait [%[[T]]]
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.wait async
  // CHECK-NEXT:    gpu.launch_func async
  // CHECK-NEXT:    gpu.wait [
  // CHECK-NEXT:    return
  func.func @read(%m: memref<8xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    %v = memref.load %m[%c0] : memref<8xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    return %v : f32
  }

  // Control flow and calls come after a wait; a loop's body waits at its end.
  // CHECK-LABEL: func.func @loop(
  // CHECK:         %[[T:.*]] = gpu.launch_func async
  // CHECK-NEXT:    gpu.wait [%[[T]]]
  // CHECK-NEXT:    scf.for
  // CHECK-NEXT:      gpu.wait async
  // CHECK-NEXT:      %[[U:.*]] = gpu.launch_func async
  // CHECK-NEXT:      gpu.wait [%[[U]]]
  // CHECK-NEXT:    }
  // CHECK-NOT:     gpu.wait
  // CHECK:         return
  func.func @loop(%m: memref<8xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    scf.for %i = %c0 to %n step %c1 {
      gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    }
    return
  }

  // What is asynchronous already is left as it is.
  // CHECK-LABEL: func.func @own(
  // CHECK:         %[[T:.*]] = gpu.wait async
  // CHECK-NEXT:    gpu.launch_func async [%[[T]]]
  // CHECK-NEXT:    gpu.wait
  func.func @own(%m: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %t = gpu.wait async
    %u = gpu.launch_func async [%t] @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    gpu.wait [%u]
    return
  }
}
