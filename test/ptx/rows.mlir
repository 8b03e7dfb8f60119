// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-gpu-outline=schedule=fast --tinymlir-lower-gpu=chip=sm_80 | %python %root/test/inputs/ptxas.py sm_80 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_75" --tinymlir-lower-gpu=chip=sm_75 | %python %root/test/inputs/ptxas.py sm_75 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" --tinymlir-lower-gpu=chip=sm_90 | %python %root/test/inputs/ptxas.py sm_90 | FileCheck %s

// A softmax over rows of any length is one kernel, whose rows fit in registers up to the limit.
// CHECK-DAG: rows_maxnum_add_16384x4096_f32: {{[0-9]+}} registers, 0 bytes spilled
// CHECK-DAG: rows_maxnum_add_10x33_f32: {{[0-9]+}} registers, 0 bytes spilled
// CHECK-DAG: rows_maxnum_add_4x16384_f32: {{[0-9]+}} registers, 0 bytes spilled
func.func @wide(%x: tensor<16384x4096xf32>, %y: tensor<10x33xf32>, %z: tensor<4x16384xf32>)
    -> (tensor<16384x4096xf32>, tensor<10x33xf32>, tensor<4x16384xf32>) {
  %e0 = tensor.empty() : tensor<16384x4096xf32>
  %r0 = linalg.softmax dimension(1) ins(%x : tensor<16384x4096xf32>) outs(%e0 : tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %e1 = tensor.empty() : tensor<10x33xf32>
  %r1 = linalg.softmax dimension(1) ins(%y : tensor<10x33xf32>) outs(%e1 : tensor<10x33xf32>) -> tensor<10x33xf32>
  %e2 = tensor.empty() : tensor<4x16384xf32>
  %r2 = linalg.softmax dimension(1) ins(%z : tensor<4x16384xf32>) outs(%e2 : tensor<4x16384xf32>) -> tensor<4x16384xf32>
  return %r0, %r1, %r2 : tensor<16384x4096xf32>, tensor<10x33xf32>, tensor<4x16384xf32>
}
