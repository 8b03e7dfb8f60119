// RUN: tinymlir-opt %s --tinymlir-plan-memory | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-plan-memory -o /dev/null --remarks-filter=tinymlir 2>&1 | FileCheck %s --check-prefix=REMARK

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: memref<256xf32>, %b: memref<256xf32>) kernel {
      gpu.return
    }
  }
  func.func private @use(memref<256xf32>)

  // A chain of three kernels: the third buffer takes the place of the first, though all are freed at the end. A buffer that the
  // host shares stays.
  // REMARK: has 3 buffers of 3072 bytes in an arena of 2048; 2048 are alive at once
  // CHECK-LABEL: func.func @chain(
  // CHECK:         %[[ARENA:.*]] = gpu.alloc () : memref<2048xi8>
  // CHECK:         %[[P0:.*]] = arith.constant 0 : index
  // CHECK:         %[[A:.*]] = memref.view %[[ARENA]][%[[P0]]][] : memref<2048xi8> to memref<256xf32>
  // CHECK:         %[[P1:.*]] = arith.constant 1024 : index
  // CHECK:         %[[B:.*]] = memref.view %[[ARENA]][%[[P1]]][]
  // CHECK:         gpu.launch_func {{.*}} args(%[[A]] : memref<256xf32>, %[[B]] : memref<256xf32>)
  // CHECK:         %[[P2:.*]] = arith.constant 0 : index
  // CHECK:         %[[C:.*]] = memref.view %[[ARENA]][%[[P2]]][]
  // CHECK:         gpu.launch_func {{.*}} args(%[[B]] : memref<256xf32>, %[[C]] : memref<256xf32>)
  // CHECK:         gpu.alloc host_shared () : memref<256xf32>
  // CHECK-NOT:     gpu.dealloc %[[A]]
  // CHECK:         gpu.dealloc %[[ARENA]] : memref<2048xi8>
  // CHECK-NEXT:    return
  func.func @chain(%out: memref<256xf32>) {
    %c1 = arith.constant 1 : index
    %a = gpu.alloc () : memref<256xf32>
    %b = gpu.alloc () : memref<256xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<256xf32>, %b : memref<256xf32>)
    %c = gpu.alloc () : memref<256xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<256xf32>, %c : memref<256xf32>)
    %shared = gpu.alloc host_shared () : memref<256xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%c : memref<256xf32>, %out : memref<256xf32>)
    gpu.dealloc %a : memref<256xf32>
    gpu.dealloc %b : memref<256xf32>
    gpu.dealloc %c : memref<256xf32>
    gpu.dealloc %shared : memref<256xf32>
    return
  }

  // What a loop reads is alive until the loop's end, even if it is read at the loop's start only; a view keeps its buffer alive.
  // REMARK: has 3 buffers of 2304 bytes in an arena of 2304; 2304 are alive at once
  // CHECK-LABEL: func.func @loop(
  // CHECK:         memref.alloc() {alignment = 64 : i64} : memref<2304xi8>
  // CHECK-DAG:     memref.view {{.*}} to memref<256xf32>
  // CHECK-DAG:     memref.view {{.*}} to memref<64xf32>
  // CHECK:         memref.dealloc {{.*}} : memref<2304xi8>
  // CHECK-NEXT:    return
  func.func @loop(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %a = memref.alloc() : memref<256xf32>
    %v = memref.reinterpret_cast %a to offset: [0], sizes: [4], strides: [1] : memref<256xf32> to memref<4xf32>
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %v[%c0] : memref<4xf32>
      %b = memref.alloc() : memref<256xf32>
      memref.store %x, %b[%c0] : memref<256xf32>
      %c = memref.alloc() : memref<64xf32>
      memref.store %x, %c[%c0] : memref<64xf32>
      memref.store %x, %b[%c1] : memref<256xf32>
      memref.dealloc %b : memref<256xf32>
      memref.dealloc %c : memref<64xf32>
    }
    memref.dealloc %a : memref<256xf32>
    return
  }

  // What is handed on lives until it is freed; what is returned, dynamic, or each iteration's own stays.
  // REMARK: stays an allocation of its own: each iteration of a parallel loop has its own
  // REMARK: stays an allocation of its own: its size is dynamic
  // REMARK: stays an allocation of its own: it is not freed exactly once
  // REMARK: has 2 buffers of 2048 bytes in an arena of 2048; 2048 are alive at once
  // CHECK-LABEL: func.func @kept(
  // CHECK:         memref.alloc() {alignment = 64 : i64} : memref<2048xi8>
  // CHECK:         scf.parallel
  // CHECK-NEXT:      memref.alloc() : memref<8xf32>
  // CHECK:         memref.alloc(%{{.*}}) : memref<?xf32>
  // CHECK:         memref.alloc() : memref<256xf32>
  func.func @kept(%n: index, %choose: i1) -> memref<256xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %own = memref.alloc() : memref<8xf32>
      memref.store %zero, %own[%c0] : memref<8xf32>
      memref.dealloc %own : memref<8xf32>
      scf.reduce
    }
    %dynamic = memref.alloc(%n) : memref<?xf32>
    memref.dealloc %dynamic : memref<?xf32>
    %returned = memref.alloc() : memref<256xf32>
    %a = memref.alloc() : memref<256xf32>
    %either = arith.select %choose, %a, %returned : memref<256xf32>
    %b = memref.alloc() : memref<256xf32>
    func.call @use(%b) : (memref<256xf32>) -> ()
    func.call @use(%either) : (memref<256xf32>) -> ()
    memref.dealloc %a : memref<256xf32>
    memref.dealloc %b : memref<256xf32>
    return %returned : memref<256xf32>
  }

  func.func private @address(i64)
  // An address that is calculated with, as for BLAS, is followed to the call; the second buffer takes the first one's place.
  // REMARK: has 2 buffers of 2048 bytes in an arena of 1024; 1024 are alive at once
  // CHECK-LABEL: func.func @addresses(
  func.func @addresses() {
    %c4 = arith.constant 4 : index
    %a = memref.alloc() : memref<256xf32>
    %p = memref.extract_aligned_pointer_as_index %a : memref<256xf32> -> index
    %q = arith.addi %p, %c4 : index
    %i = arith.index_cast %q : index to i64
    func.call @address(%i) : (i64) -> ()
    %b = memref.alloc() : memref<256xf32>
    func.call @use(%b) : (memref<256xf32>) -> ()
    memref.dealloc %a : memref<256xf32>
    memref.dealloc %b : memref<256xf32>
    return
  }

  // A buffer of dynamic size is freed after its last use; one whose address goes elsewhere is not.
  // CHECK-LABEL: func.func @dynamic(
  // CHECK:         memref.store %{{.*}}, %[[A:.*]][
  // CHECK-NEXT:    memref.dealloc %{{.*}} : memref<?xf32>
  // CHECK:         return %{{.*}} : index
  func.func @dynamic(%n: index, %x: f32) -> index {
    %c0 = arith.constant 0 : index
    %a = memref.alloc(%n) : memref<?xf32>
    %v = memref.subview %a[0] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1]>>
    memref.store %x, %v[%c0] : memref<4xf32, strided<[1]>>
    %b = memref.alloc(%n) : memref<?xi8>
    %p = memref.extract_aligned_pointer_as_index %b : memref<?xi8> -> index
    memref.dealloc %a : memref<?xf32>
    memref.dealloc %b : memref<?xi8>
    return %p : index
  }
}
