// RUN: tinymlir-opt %s --tinymlir-merge-kernels | FileCheck %s

// Equal kernels become one; one that differs gets another name; a template's kernel takes its template's name; a module
// with a target of its own stays, and so does one whose kernels are in the LLVM dialect.
// CHECK:       gpu.module @kernels {
// CHECK:         gpu.func @exp_8_f32(
// CHECK:         gpu.func @exp_8_f32_0(
// CHECK:         gpu.func @matmul_2d_f32(
// CHECK:       gpu.module @lowered
// CHECK:       gpu.module @own
// CHECK-LABEL: func.func @main(
// CHECK:         gpu.launch_func @kernels::@exp_8_f32 blocks
// CHECK:         gpu.launch_func @kernels::@exp_8_f32 blocks
// CHECK:         gpu.launch_func @kernels::@exp_8_f32_0 blocks
// CHECK:         gpu.launch_func @kernels::@matmul_2d_f32 blocks
// CHECK:         gpu.launch_func @lowered::@nothing blocks
// CHECK:         gpu.launch_func @own::@own blocks
// CHECK-NOT:   tinymlir.kernel
module attributes {gpu.container_module} {
  gpu.module @main_kernel {
    gpu.func @main_kernel(%m: memref<8xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %m[%i] : memref<8xf32>
      %e = math.exp %v : f32
      memref.store %e, %m[%i] : memref<8xf32>
      gpu.return
    }
  }
  gpu.module @main_kernel_0 {
    gpu.func @main_kernel(%m: memref<8xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %m[%i] : memref<8xf32>
      %e = math.exp %v : f32
      memref.store %e, %m[%i] : memref<8xf32>
      gpu.return
    }
  }
  gpu.module @main_kernel_1 {
    gpu.func @main_kernel(%m: memref<8xf32>) kernel {
      %i = gpu.thread_id y
      %v = memref.load %m[%i] : memref<8xf32>
      %e = math.exp %v : f32
      memref.store %e, %m[%i] : memref<8xf32>
      gpu.return
    }
  }
  gpu.module @matmul_2d_f32_kernel {
    gpu.func @matmul_2d_f32_kernel(%m: memref<8xf32>) kernel {
      gpu.return
    }
  }
  gpu.module @lowered {
    llvm.func @nothing() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  gpu.module @own [#nvvm.target<chip = "sm_80">] {
    gpu.func @own(%m: memref<8xf32>) kernel {
      gpu.return
    }
  }
  func.func private @matmul_2d_f32(%m: memref<8xf32>) attributes {tinymlir.kernel = "matmul_2d_f32"} {
    %c1 = arith.constant 1 : index
    gpu.launch_func @matmul_2d_f32_kernel::@matmul_2d_f32_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    return
  }
  func.func @main(%m: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @main_kernel::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    gpu.launch_func @main_kernel_0::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    gpu.launch_func @main_kernel_1::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    call @matmul_2d_f32(%m) : (memref<8xf32>) -> ()
    gpu.launch_func @lowered::@nothing blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @own::@own blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    return
  }
}
