// RUN: tinymlir-opt %s --tinymlir-emulate-gpu --split-input-file | FileCheck %s

// A launch stores the arguments and calls the emulator with what loads them and calls the kernel; the thread asks the runtime
// which one it is, and a math function is the host's.
// CHECK-LABEL: llvm.func internal @exp(
// CHECK-SAME:    sym_visibility = "private"
// CHECK:         %[[THREAD:.*]] = llvm.call @tinymlirEmulatedThread()
// CHECK:         %[[ID:.*]] = llvm.getelementptr %[[THREAD]][0]
// CHECK:         llvm.load %[[ID]] invariant : !llvm.ptr -> i32
// CHECK:         llvm.call @expf(
// CHECK-LABEL: llvm.func @main(
// CHECK:         %[[SLOTS:.*]] = llvm.alloca
// CHECK:         llvm.store %{{.*}}, %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:         %[[ENTRY:.*]] = llvm.mlir.addressof @exp_entry : !llvm.ptr
// CHECK:         llvm.call @tinymlirEmulatedLaunch(%[[ENTRY]], {{.*}}, %[[SLOTS]])
// CHECK-LABEL: llvm.func internal @exp_entry(%{{.*}}: !llvm.ptr)
// CHECK:         llvm.call @exp(
// CHECK-NOT:   gpu.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @__nv_expf(f32) -> f32
    llvm.func @exp(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %i = nvvm.read.ptx.sreg.tid.x : i32
      %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %e = llvm.call @__nv_expf(%v) : (f32) -> f32
      llvm.store %e, %p : f32, !llvm.ptr
      llvm.return
    }
  }
  llvm.func @main(%x: !llvm.ptr) {
    %one = llvm.mlir.constant(1 : i64) : i64
    %many = llvm.mlir.constant(32 : i64) : i64
    gpu.launch_func @kernels::@exp blocks in (%one, %one, %one) threads in (%many, %one, %one) : i64 args(%x : !llvm.ptr)
    llvm.return
  }
}

// -----

// Globals in shared memory lie one behind the other in what the block has, each access to it is checked, and a barrier is a call. A
// kernel gives way to a function of the host of the same name.
// CHECK-LABEL: llvm.func internal @shared_0()
// CHECK:         %[[THREAD:.*]] = llvm.call @tinymlirEmulatedThread()
// CHECK:         llvm.getelementptr %[[THREAD]][128]
// CHECK:         %[[SECOND:.*]] = llvm.getelementptr %{{.*}}[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK:         llvm.call @tinymlir_check_shared(%[[THREAD]],
// CHECK:         llvm.store %{{.*}}, %[[SECOND]]
// CHECK:         llvm.call @tinymlirEmulatedBarrier(%[[THREAD]],
// CHECK-LABEL: llvm.func @shared()
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(96 : i64) : i64
// CHECK:         llvm.call @tinymlirEmulatedLaunch({{.*}}, %[[BYTES]],
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<12 x f32>
    llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<8 x f32>
    llvm.func @shared() attributes {gpu.kernel, nvvm.kernel} {
      %one = llvm.mlir.constant(1.0 : f32) : f32
      %a = llvm.mlir.addressof @a : !llvm.ptr<3>
      %b = llvm.mlir.addressof @b : !llvm.ptr<3>
      llvm.store %one, %a : f32, !llvm.ptr<3>
      llvm.store %one, %b : f32, !llvm.ptr<3>
      nvvm.barrier0
      llvm.return
    }
  }
  llvm.func @shared() {
    %one = llvm.mlir.constant(1 : i64) : i64
    gpu.launch_func @kernels::@shared blocks in (%one, %one, %one) threads in (%one, %one, %one) : i64
    llvm.return
  }
}

// -----

// The sizes of clusters come behind those of grid and block: zeros where there are none, then those that the kernel is compiled for.
// What another block of the cluster has is asked of the runtime, and every access to it checked.
// CHECK-LABEL: llvm.func internal @cluster()
// CHECK:         %[[THREAD:.*]] = llvm.call @tinymlirEmulatedThread()
// CHECK:         %[[ID:.*]] = llvm.getelementptr %[[THREAD]][26]
// CHECK:         %[[RANK:.*]] = llvm.load %[[ID]] invariant : !llvm.ptr -> i32
// CHECK:         llvm.call @tinymlirEmulatedClusterArrive(%[[THREAD]])
// CHECK:         llvm.call @tinymlirEmulatedClusterWait(%[[THREAD]])
// CHECK:         %[[MAPPED:.*]] = llvm.call @tinymlirEmulatedMap(%[[THREAD]], %{{.*}}, %[[RANK]])
// CHECK:         %[[REMOTE:.*]] = llvm.addrspacecast %[[MAPPED]] : !llvm.ptr to !llvm.ptr<7>
// CHECK:         llvm.call @tinymlirEmulatedRemoteAccess(%[[THREAD]],
// CHECK:         llvm.store %[[RANK]], %[[REMOTE]] : i32, !llvm.ptr<7>
// CHECK-LABEL: llvm.func @clusters(
// CHECK:         %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:         %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[OWN:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         llvm.call @tinymlirEmulatedLaunch(%{{[^,]*}}, %{{[^,]*}}, %[[TWO]], %[[ONE]], %[[ONE]], %[[ONE]], %[[ONE]], %[[ONE]], %[[TWO]], %[[ONE]], %[[ONE]], %[[OWN]],
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<4 x i32>
    llvm.func @cluster() attributes {gpu.kernel, nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %a = llvm.mlir.addressof @a : !llvm.ptr<3>
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %r = nvvm.mapa %a, %rank : !llvm.ptr<3> -> !llvm.ptr<7>
      llvm.store %rank, %r : i32, !llvm.ptr<7>
      llvm.return
    }
  }
  llvm.func @clusters() {
    %one = llvm.mlir.constant(1 : i64) : i64
    %two = llvm.mlir.constant(2 : i64) : i64
    gpu.launch_func @kernels::@cluster clusters in (%two, %one, %one) blocks in (%two, %one, %one) threads in (%one, %one, %one) : i64
    llvm.return
  }
}
