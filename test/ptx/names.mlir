// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-gpu-outline --tinymlir-lower-gpu | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline --tinymlir-lower-gpu=format=bin -o /dev/null

// Names that PTX has no identifiers for are changed, for kernels, what they call, and where they are launched.
// CHECK:     gpu.binary @own
// CHECK-DAG: .func {{.*}} twice_it
// CHECK-DAG: .visible .entry a_b_c(
// CHECK-DAG: .visible .entry k_1(
// CHECK:     gpu.launch_func {{.*}} @own::@a_b_c
// CHECK:     gpu.launch_func {{.*}} @own::@k_1
module attributes {gpu.container_module} {
  // The name of the module may hold a space, which ends the value of a pass's option.
  gpu.module @"my module" {
    gpu.func @in_it(%m: memref<8xf32>) kernel {
      gpu.return
    }
  }
  gpu.module @own {
    func.func @"twice-it"(%a: f32) -> f32 attributes {no_inline} {
      %b = arith.addf %a, %a : f32
      return %b : f32
    }
    gpu.func @"a-b.c"(%m: memref<8xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %m[%i] : memref<8xf32>
      %w = func.call @"twice-it"(%v) : (f32) -> f32
      memref.store %w, %m[%i] : memref<8xf32>
      gpu.return
    }
    gpu.func @"-1"(%m: memref<8xf32>) kernel {
      gpu.return
    }
  }
  func.func @main(%m: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @"my module"::@in_it blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    gpu.launch_func @own::@"a-b.c" blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    gpu.launch_func @own::@"-1" blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<8xf32>)
    return
  }
}
