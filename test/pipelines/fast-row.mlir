// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" | FileCheck %s

// One token through RMS norm and SwiGLU is three kernels: both products of the normalised row compute the norm for themselves,
// the second one multiplies by the gate in its store, and the third one adds the residual.
// CHECK-LABEL: func.func @feedforward
// CHECK:         gpu.launch_func {{.*}}@matmul_skinny_f32_1_prologue{{ }}
// CHECK:         gpu.launch_func {{.*}}@matmul_skinny_f32_1_prologue_epilogue{{ }}
// CHECK:         gpu.launch_func {{.*}}@matmul_skinny_f32_1_epilogue{{ }}
// CHECK-NOT:     gpu.launch_func
func.func @feedforward(%x: tensor<1x512xf32>, %gain: tensor<512xf32>, %gate: tensor<512x1408xf32>, %up: tensor<512x1408xf32>, %down: tensor<1408x512xf32>) -> tensor<1x512xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = arith.constant 512.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<1x512xf32>
  %e1 = tensor.empty() : tensor<1xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1xf32>) -> tensor<1xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x512xf32>) outs(%f1 : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain : tensor<1x512xf32>, tensor<1xf32>, tensor<512xf32>) outs(%e : tensor<1x512xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    linalg.yield %4 : f32
  } -> tensor<1x512xf32>
  %eg = tensor.empty() : tensor<1x1408xf32>
  %fg = linalg.fill ins(%zero : f32) outs(%eg : tensor<1x1408xf32>) -> tensor<1x1408xf32>
  %g = linalg.matmul ins(%h, %gate : tensor<1x512xf32>, tensor<512x1408xf32>) outs(%fg : tensor<1x1408xf32>) -> tensor<1x1408xf32>
  %u = linalg.matmul ins(%h, %up : tensor<1x512xf32>, tensor<512x1408xf32>) outs(%fg : tensor<1x1408xf32>) -> tensor<1x1408xf32>
  %act = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<1x1408xf32>, tensor<1x1408xf32>) outs(%eg : tensor<1x1408xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %b : f32
    linalg.yield %4 : f32
  } -> tensor<1x1408xf32>
  %fd = linalg.fill ins(%zero : f32) outs(%e : tensor<1x512xf32>) -> tensor<1x512xf32>
  %d = linalg.matmul ins(%act, %down : tensor<1x1408xf32>, tensor<1408x512xf32>) outs(%fd : tensor<1x512xf32>) -> tensor<1x512xf32>
  %y = linalg.add ins(%x, %d : tensor<1x512xf32>, tensor<1x512xf32>) outs(%e : tensor<1x512xf32>) -> tensor<1x512xf32>
  return %y : tensor<1x512xf32>
}
