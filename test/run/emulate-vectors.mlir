// Reductions of vectors in a kernel that a person wrote: along one dimension, and of everything.
// RUN: tinymlir-runner %s --gpu --emulate --arg 0=iota --arg 1=1 --arg 2=0 | FileCheck %s
// CHECK:      [ 29. 93. 157. 221.]
// CHECK:      [31.]
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: memref<4x8xf32>, %y: memref<4xf32>, %z: memref<1xf32>) kernel {
      %c0 = arith.constant 0 : index
      %f = arith.constant 0.0 : f32
      %v = vector.transfer_read %x[%c0, %c0], %f {in_bounds = [true, true]} : memref<4x8xf32>, vector<4x8xf32>
      %a = vector.transfer_read %y[%c0], %f {in_bounds = [true]} : memref<4xf32>, vector<4xf32>
      %r = vector.multi_reduction <add>, %v, %a [1] : vector<4x8xf32> to vector<4xf32>
      vector.transfer_write %r, %y[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32>
      %s = vector.multi_reduction <maximumf>, %v, %f [0, 1] : vector<4x8xf32> to f32
      memref.store %s, %z[%c0] : memref<1xf32>
      gpu.return
    }
  }
  func.func @main(%x: memref<4x8xf32>, %y: memref<4xf32> {tinymlir.writable}, %z: memref<1xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4x8xf32>, %y : memref<4xf32>, %z: memref<1xf32>)
    return
  }
}
