// RUN: tinymlir-opt %s --tinymlir-gpu-outline | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline --tinymlir-lower-gpu=format=nvvm | FileCheck %s --check-prefix=LOWERED

// A function may have any name. Its kernels are found by their symbols, not by how those are printed: quoted, with escapes.
// CHECK:       gpu.module @kernels
// CHECK:       gpu.func @exp_4x8_f32
// CHECK-LABEL: func.func @"\C3\A9::\22<b>"
// CHECK:       gpu.launch_func {{.*}}@kernels::@exp_4x8_f32
// LOWERED:     gpu.launch_func {{.*}}@kernels::@exp_4x8_f32
func.func @"é::\22<b>"(%a: memref<4x8xf32>, %b: memref<4x8xf32>) {
  linalg.exp ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>)
  return
}
