// RUN: tinymlir-opt %s --tinymlir-device-math | FileCheck %s
// RUN: %if ptxas %{ tinymlir-opt %s --tinymlir-lower-gpu=chip=sm_90 | FileCheck %s --check-prefix=PTX %}

// Both sides are computed and one is chosen; -0 stays -0, since the sign goes on last.
// CHECK-LABEL: gpu.func @tanh(
// CHECK-NOT:     math.tanh
// CHECK:         math.exp {{.*}} fastmath<afn>
// CHECK:         arith.select
// CHECK:         math.copysign
// PTX:           ex2.approx
// PTX-NOT:       bra
// PTX:           copysign
gpu.module @kernels {
  gpu.func @tanh(%x: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<64xf32>
    %r = math.tanh %v : f32
    memref.store %r, %x[%t] : memref<64xf32>
    gpu.return
  }
}

// The host's are another pass's.
// CHECK-LABEL: func.func @host(
// CHECK:         math.tanh
func.func @host(%x: f32) -> f32 {
  %r = math.tanh %x : f32
  return %r : f32
}
