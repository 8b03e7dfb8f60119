// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" --tinymlir-lower-gpu=chip=sm_90 | %python %root/test/inputs/ptxas.py sm_90 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90 precision=tf32" --tinymlir-lower-gpu=chip=sm_90 | %python %root/test/inputs/ptxas.py sm_90 | FileCheck %s --check-prefix=TF32
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_80 precision=tf32" --tinymlir-lower-gpu=chip=sm_80 | %python %root/test/inputs/ptxas.py sm_80 | FileCheck %s --check-prefix=TF32-OLD
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_80" --tinymlir-lower-gpu=chip=sm_80 | %python %root/test/inputs/ptxas.py sm_80 | FileCheck %s --check-prefix=SM80
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_75" --tinymlir-lower-gpu=chip=sm_75 | %python %root/test/inputs/ptxas.py sm_75 | FileCheck %s --check-prefix=SM75

// Three blocks of a register-tiled product fit on a multiprocessor: 168 registers a thread at most, none spilled, with and
// without an epilogue; rows of sums need far fewer. Chips before sm_80 have the kernels for few rows.
// CHECK-DAG: matmul_tiled_64x128_f32: {{1[0-6][0-9]}} registers, 0 bytes spilled
// CHECK-DAG: matmul_tiled_64x128_f32_epilogue: {{1[0-6][0-9]}} registers, 0 bytes spilled
// CHECK-DAG: matmul_tiled_64x128_f32_tail: {{1[0-6][0-9]}} registers, 0 bytes spilled
// CHECK-DAG: matmul_tiled_64x128_nt_f32: {{1[0-6][0-9]}} registers, 0 bytes spilled
// CHECK-DAG: matmul_tiled_32x128_f32: {{1?[0-9]?[0-9]}} registers, 0 bytes spilled
// CHECK-DAG: matmul_tiled_32x128_nt_f32: {{1?[0-9]?[0-9]}} registers, 0 bytes spilled
// CHECK-DAG: matmul_skinny_f32_1: {{[1-6]?[0-9]}} registers, 0 bytes spilled
// CHECK-DAG: matmul_skinny_nt_f32_8: {{[12]?[0-9]?[0-9]}} registers, 0 bytes spilled
// TF32-DAG: matmul_tf32_128x128{{(_epilogue)?}}: {{2[0-5][0-9]}} registers, 0 bytes spilled
// TF32-DAG: matmul_tf32_128x128_nt: {{2[0-5][0-9]}} registers, 0 bytes spilled
// TF32-OLD-DAG: matmul_tf32_128x128{{(_epilogue)?}}: {{2[0-5][0-9]}} registers, 0 bytes spilled
// Four blocks of a tile of 48 rows fit: 128 registers.
// SM80-DAG: matmul_tiled_48x128_f32: {{1[0-2][0-9]}} registers, 0 bytes spilled
// SM75-DAG: matmul_skinny_f32_1: {{[1-6]?[0-9]}} registers, 0 bytes spilled
// SM75-DAG: matmul_2d_f32
func.func @main(%a: tensor<1024x768xf32>, %b: tensor<768x3072xf32>, %bias: tensor<3072xf32>, %d: tensor<3072x768xf32>,
                %one: tensor<1x768xf32>, %wte: tensor<50257x768xf32>, %eight: tensor<8x768xf32>, %some: tensor<32x768xf32>)
    -> (tensor<32x3072xf32>, tensor<32x50257xf32>, tensor<1024x768xf32>, tensor<1x3072xf32>, tensor<8x50257xf32>, tensor<1024x50257xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1024x3072xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1024x3072xf32>) -> tensor<1024x3072xf32>
  %m0 = linalg.matmul ins(%a, %b : tensor<1024x768xf32>, tensor<768x3072xf32>) outs(%f0 : tensor<1024x3072xf32>) -> tensor<1024x3072xf32>
  %biased = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                            iterator_types = ["parallel", "parallel"]}
      ins(%m0, %bias : tensor<1024x3072xf32>, tensor<3072xf32>) outs(%e0 : tensor<1024x3072xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<1024x3072xf32>
  %e1 = tensor.empty() : tensor<1024x768xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %m1 = linalg.matmul ins(%biased, %d : tensor<1024x3072xf32>, tensor<3072x768xf32>) outs(%f1 : tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %e2 = tensor.empty() : tensor<1x3072xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x3072xf32>) -> tensor<1x3072xf32>
  %m2 = linalg.matmul ins(%one, %b : tensor<1x768xf32>, tensor<768x3072xf32>) outs(%f2 : tensor<1x3072xf32>) -> tensor<1x3072xf32>
  %e3 = tensor.empty() : tensor<8x50257xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x50257xf32>) -> tensor<8x50257xf32>
  %m3 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%eight, %wte : tensor<8x768xf32>, tensor<50257x768xf32>) outs(%f3 : tensor<8x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x50257xf32>
  %e4 = tensor.empty() : tensor<1024x50257xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<1024x50257xf32>) -> tensor<1024x50257xf32>
  %m4 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %wte : tensor<1024x768xf32>, tensor<50257x768xf32>) outs(%f4 : tensor<1024x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<1024x50257xf32>
  %e5 = tensor.empty() : tensor<32x3072xf32>
  %f5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<32x3072xf32>) -> tensor<32x3072xf32>
  %m5 = linalg.matmul ins(%some, %b : tensor<32x768xf32>, tensor<768x3072xf32>) outs(%f5 : tensor<32x3072xf32>) -> tensor<32x3072xf32>
  %e6 = tensor.empty() : tensor<32x50257xf32>
  %f6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<32x50257xf32>) -> tensor<32x50257xf32>
  %m6 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%some, %wte : tensor<32x768xf32>, tensor<50257x768xf32>) outs(%f6 : tensor<32x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x50257xf32>
  return %m5, %m6, %m1, %m2, %m3, %m4 : tensor<32x3072xf32>, tensor<32x50257xf32>, tensor<1024x768xf32>, tensor<1x3072xf32>, tensor<8x50257xf32>, tensor<1024x50257xf32>
}

func.func @large(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %m : tensor<4096x4096xf32>
}
