// libdevice's integer power takes a 32-bit exponent: a wider one is narrowed, never passed as it is.
// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-lower-gpu=chip=sm_80 --mlir-print-ir-before=gpu-module-to-binary -o /dev/null 2>&1 | FileCheck %s
// CHECK-LABEL: llvm.func @power(
// CHECK-SAME:    %[[BASE:.*]]: f32, %[[WIDE:.*]]: i64,
// CHECK:         %[[EXPONENT:.*]] = llvm.trunc %{{.*}} : i64 to i32
// CHECK:         llvm.call @__nv_powif(%[[BASE]], %[[EXPONENT]]) : (f32, i32) -> f32
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @power(%x: f32, %n: i64, %out: memref<f32>) kernel {
      %r = math.fpowi %x, %n : f32, i64
      memref.store %r, %out[] : memref<f32>
      gpu.return
    }
  }
}
