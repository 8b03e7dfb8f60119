// The last turn of a large grid, K of its last rows in parts: the same sums as elsewhere, with bias and residual in both stores.
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" --remarks-filter=tinymlir 2>&1 | FileCheck %s
// CHECK: becomes matmul_tiled_48x128_f32 (templates/matmul_f32.mlir): 1270x1024x3456, tile 48x128, K of the last {{[0-9]+}} rows in {{[2-4]}} parts, with the fill before and 'linalg.generic' after it in its store
// DEFINE: %{arguments} = --arg 0=random:1 --arg 1=random:2 --arg 2=random:3 --arg 3=random:4
// RUN: tinymlir-runner %s %{arguments} -o 0=%t.npy
// RUN: tinymlir-runner %s --gpu --schedule fast --chip sm_90 --emulate %{arguments} --expect 0=%t.npy --rtol 1e-5 --atol 3e-4
// RUN: tinymlir-runner %s --gpu --schedule fast --chip sm_90 --emulate=reverse %{arguments} --expect 0=%t.npy --rtol 1e-5 --atol 3e-4
func.func @tail(%a: tensor<1270x1024xf32>, %b: tensor<1024x3456xf32>, %bias: tensor<3456xf32>, %r: tensor<1270x3456xf32>) -> tensor<1270x3456xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1270x3456xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1270x3456xf32>) -> tensor<1270x3456xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1270x1024xf32>, tensor<1024x3456xf32>) outs(%f : tensor<1270x3456xf32>) -> tensor<1270x3456xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias, %r : tensor<1270x3456xf32>, tensor<3456xf32>, tensor<1270x3456xf32>) outs(%e : tensor<1270x3456xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %t = math.absf %s : f32
    %u = arith.addf %t, %z : f32
    linalg.yield %u : f32
  } -> tensor<1270x3456xf32>
  return %g : tensor<1270x3456xf32>
}
