// REQUIRES: cuda, sm_90
// RUN: rm -rf %t && mkdir %t

// Products on tensor cores beside the CPU's, at sizes that no tile divides: of bf16 by rounding of the sum alone, of f32 within
// the error of the precision that was asked for (1e-3 and 4e-3 of the largest term; terms here are below 20, sums of 200).
// RUN: tinymlir-runner %s -e halves -o 0=%t/halves.npy
// RUN: tinymlir-runner %s -e halves --gpu --schedule fast --expect 0=%t/halves.npy --rtol 1e-4 --atol 2e-4
// RUN: tinymlir-runner %s -e halves --gpu --schedule fast --memory device --expect 0=%t/halves.npy --rtol 1e-4 --atol 2e-4
// RUN: tinymlir-runner %s -e odd -o 0=%t/odd.npy
// RUN: tinymlir-runner %s -e odd --gpu --schedule fast --precision tf32 --expect 0=%t/odd.npy --rtol 5e-3 --atol 8e-2
// RUN: tinymlir-runner %s -e odd --gpu --schedule fast --precision bf16 --expect 0=%t/odd.npy --rtol 2e-2 --atol 4e-1
// RUN: %fails tinymlir-runner %s -e odd --gpu --schedule fast --precision bf16 --expect 0=%t/odd.npy --rtol 1e-6 --atol 1e-6
// RUN: tinymlir-runner %s -e odd --gpu --schedule fast --expect 0=%t/odd.npy --rtol 1e-4 --atol 1e-4

// A product by a matrix that lies K x N: of tf32 it is transposed first. With the sum that C holds, and twice in one function.
// RUN: tinymlir-runner %s -e plain -o 0=%t/plain.npy
// RUN: tinymlir-runner %s -e plain --gpu --schedule fast --precision tf32 --emit outlined | FileCheck %s
// RUN: tinymlir-runner %s -e plain --gpu --schedule fast --precision tf32 --expect 0=%t/plain.npy --rtol 5e-3 --atol 8e-2
// RUN: tinymlir-runner %s -e plain --gpu --schedule fast --precision tf32 --memory device --expect 0=%t/plain.npy --rtol 5e-3 --atol 8e-2
// CHECK-COUNT-2: gpu.launch_func{{.*}}@transpose_tf32

// K is split, and its parts are summed up by the kernel of the norm that follows.
// RUN: tinymlir-runner %s -e joined -o 0=%t/sum.npy -o 1=%t/norm.npy
// RUN: tinymlir-runner %s -e joined --gpu --schedule fast --emit outlined | FileCheck %s --check-prefix=JOINED
// RUN: tinymlir-runner %s -e joined --gpu --schedule fast --expect 0=%t/sum.npy --expect 1=%t/norm.npy --rtol 1e-4 --atol 2e-3
// RUN: tinymlir-runner %s -e joined --gpu --schedule fast --memory device --expect 0=%t/sum.npy --expect 1=%t/norm.npy --rtol 1e-4 --atol 2e-3
// JOINED-LABEL: func.func @joined(
// JOINED: gpu.launch_func{{.*}}@matmul_wgmma_bf16
// JOINED: gpu.launch_func{{.*}}@rows_add_200x264_f32
// JOINED-NOT: gpu.launch_func

#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>

func.func @halves(%a: tensor<129x200xbf16>, %b: tensor<200x328xbf16>) -> tensor<129x328xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<129x328xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<129x328xf32>) -> tensor<129x328xf32>
  %p = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<129x200xbf16>, tensor<200x328xbf16>) outs(%c : tensor<129x328xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %m = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<129x328xf32>
  return %p : tensor<129x328xf32>
}

func.func @odd(%a: tensor<65x200xf32>, %b: tensor<257x200xf32>) -> tensor<65x257xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<65x257xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<65x257xf32>) -> tensor<65x257xf32>
  %p = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<65x200xf32>, tensor<257x200xf32>) outs(%c : tensor<65x257xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<65x257xf32>
  return %p : tensor<65x257xf32>
}

func.func @plain(%a: tensor<2000x516xf32>, %b: tensor<516x1028xf32>, %d: tensor<516x1028xf32>) -> tensor<2000x1028xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2000x1028xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<2000x1028xf32>) -> tensor<2000x1028xf32>
  %p = linalg.matmul ins(%a, %b : tensor<2000x516xf32>, tensor<516x1028xf32>) outs(%c : tensor<2000x1028xf32>) -> tensor<2000x1028xf32>
  %q = linalg.matmul ins(%a, %d : tensor<2000x516xf32>, tensor<516x1028xf32>) outs(%p : tensor<2000x1028xf32>) -> tensor<2000x1028xf32>
  return %q : tensor<2000x1028xf32>
}

#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#both = affine_map<(i, j) -> (i, j)>
func.func @joined(%a: tensor<200x4096xbf16>, %b: tensor<4096x264xbf16>, %bias: tensor<264xf32>, %x: tensor<200x264xf32>)
    -> (tensor<200x264xf32>, tensor<200x264xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<200x264xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<200x264xf32>) -> tensor<200x264xf32>
  %p = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<200x4096xbf16>, tensor<4096x264xbf16>) outs(%c : tensor<200x264xf32>) {
  ^bb0(%u: bf16, %v: bf16, %o: f32):
    %ue = arith.extf %u : bf16 to f32
    %ve = arith.extf %v : bf16 to f32
    %m = arith.mulf %ue, %ve : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<200x264xf32>
  %sum = linalg.generic {indexing_maps = [#both, #j, #both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias, %x : tensor<200x264xf32>, tensor<264xf32>, tensor<200x264xf32>) outs(%empty : tensor<200x264xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  } -> tensor<200x264xf32>
  %e = tensor.empty() : tensor<200xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200xf32>) -> tensor<200xf32>
  %squares = linalg.generic {indexing_maps = [#both, #i], iterator_types = ["parallel", "reduction"]}
      ins(%sum : tensor<200x264xf32>) outs(%f : tensor<200xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.mulf %u, %u : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<200xf32>
  %norm = linalg.generic {indexing_maps = [#both, #i, #both], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %squares : tensor<200x264xf32>, tensor<200xf32>) outs(%empty : tensor<200x264xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %r = math.sqrt %v : f32
    %d = arith.divf %u, %r : f32
    linalg.yield %d : f32
  } -> tensor<200x264xf32>
  return %sum, %norm : tensor<200x264xf32>, tensor<200x264xf32>
}
