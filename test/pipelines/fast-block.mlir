// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" | FileCheck %s

// A block with RMS norm, rotary embedding, grouped-query attention (8 heads over 2 groups of keys) and SwiGLU gets the same
// templates as any other: no product is left to the simple kernels, the norm is one kernel, the attention of all heads of
// a group is one kernel, and the residuals and the gate's product are epilogues.
// CHECK-LABEL: func.func @block
// CHECK-NOT: @matmul_2d
// CHECK-NOT: @matmul_batched
// CHECK: gpu.launch_func {{.*}} @kernels::@rows_add_64x512_f32
// CHECK-COUNT-3: gpu.launch_func {{.*}} @kernels::@matmul_tiled_{{48|64}}x128_f32
// CHECK: gpu.launch_func {{.*}} @kernels::@attention_f32
// CHECK: gpu.launch_func {{.*}} @kernels::@matmul_tiled_{{48|64}}x128_f32
// CHECK: gpu.launch_func {{.*}} @kernels::@split_sum_f32_epilogue
// CHECK: gpu.launch_func {{.*}} @kernels::@matmul_tiled_{{48|64}}x128_f32
// CHECK: gpu.launch_func {{.*}} @kernels::@matmul_tiled_{{48|64}}x128_f32
// CHECK: gpu.launch_func {{.*}} @kernels::@split_sum_f32_epilogue_0
// CHECK: gpu.launch_func {{.*}} @kernels::@matmul_tiled_{{48|64}}x128_f32
// CHECK: gpu.launch_func {{.*}} @kernels::@split_sum_f32_epilogue
// CHECK-NOT: gpu.launch_func
func.func @block(%x: tensor<64x512xf32>, %norm: tensor<512xf32>, %wq: tensor<512x512xf32>, %wk: tensor<512x128xf32>, %wv: tensor<512x128xf32>, %wo: tensor<512x512xf32>,
                 %cos: tensor<64x32xf32>, %sin: tensor<64x32xf32>, %gate: tensor<512x1408xf32>, %up: tensor<512x1408xf32>, %down: tensor<1408x512xf32>) -> tensor<64x512xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %n = arith.constant 512.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %scale = arith.constant 0.125 : f32
  %one = arith.constant 1.0 : f32
  %e512 = tensor.empty() : tensor<64x512xf32>
  %e64 = tensor.empty() : tensor<64xf32>
  %f64 = linalg.fill ins(%zero : f32) outs(%e64 : tensor<64xf32>) -> tensor<64xf32>
  %sq = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x512xf32>) outs(%f64 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %sq, %norm : tensor<64x512xf32>, tensor<64xf32>, tensor<512xf32>) outs(%e512 : tensor<64x512xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    linalg.yield %4 : f32
  } -> tensor<64x512xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%e512 : tensor<64x512xf32>) -> tensor<64x512xf32>
  %q = linalg.matmul ins(%h, %wq : tensor<64x512xf32>, tensor<512x512xf32>) outs(%fq : tensor<64x512xf32>) -> tensor<64x512xf32>
  %e128 = tensor.empty() : tensor<64x128xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%e128 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %k = linalg.matmul ins(%h, %wk : tensor<64x512xf32>, tensor<512x128xf32>) outs(%fk : tensor<64x128xf32>) -> tensor<64x128xf32>
  %v = linalg.matmul ins(%h, %wv : tensor<64x512xf32>, tensor<512x128xf32>) outs(%fk : tensor<64x128xf32>) -> tensor<64x128xf32>
  %q4 = tensor.expand_shape %q [[0], [1, 2, 3, 4]] output_shape [64, 2, 4, 2, 32] : tensor<64x512xf32> into tensor<64x2x4x2x32xf32>
  %k3 = tensor.expand_shape %k [[0], [1, 2, 3]] output_shape [64, 2, 2, 32] : tensor<64x128xf32> into tensor<64x2x2x32xf32>
  %v3 = tensor.expand_shape %v [[0], [1, 2]] output_shape [64, 2, 64] : tensor<64x128xf32> into tensor<64x2x64xf32>
  // Rotary embedding: halves (a, b) to (a cos - b sin, b cos + a sin), heads first.
  %qa = tensor.extract_slice %q4[0, 0, 0, 0, 0] [64, 2, 4, 1, 32] [1, 1, 1, 1, 1] : tensor<64x2x4x2x32xf32> to tensor<64x2x4x32xf32>
  %qb = tensor.extract_slice %q4[0, 0, 0, 1, 0] [64, 2, 4, 1, 32] [1, 1, 1, 1, 1] : tensor<64x2x4x2x32xf32> to tensor<64x2x4x32xf32>
  %eqr = tensor.empty() : tensor<2x4x64x2x32xf32>
  %qr = linalg.generic {indexing_maps = [affine_map<(g, h, t, p, d) -> (t, g, h, d)>, affine_map<(g, h, t, p, d) -> (t, g, h, d)>, affine_map<(g, h, t, p, d) -> (t, d)>, affine_map<(g, h, t, p, d) -> (t, d)>, affine_map<(g, h, t, p, d) -> (g, h, t, p, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%qa, %qb, %cos, %sin : tensor<64x2x4x32xf32>, tensor<64x2x4x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) outs(%eqr : tensor<2x4x64x2x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %o: f32):
    %p = linalg.index 3 : index
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %p, %c0 : index
    %ac = arith.mulf %a, %c : f32
    %bs = arith.mulf %b, %s : f32
    %bc = arith.mulf %b, %c : f32
    %as = arith.mulf %a, %s : f32
    %r0 = arith.subf %ac, %bs : f32
    %r1 = arith.addf %bc, %as : f32
    %r = arith.select %first, %r0, %r1 : f32
    linalg.yield %r : f32
  } -> tensor<2x4x64x2x32xf32>
  %ka = tensor.extract_slice %k3[0, 0, 0, 0] [64, 2, 1, 32] [1, 1, 1, 1] : tensor<64x2x2x32xf32> to tensor<64x2x32xf32>
  %kb = tensor.extract_slice %k3[0, 0, 1, 0] [64, 2, 1, 32] [1, 1, 1, 1] : tensor<64x2x2x32xf32> to tensor<64x2x32xf32>
  %ekr = tensor.empty() : tensor<2x64x2x32xf32>
  %kr = linalg.generic {indexing_maps = [affine_map<(g, t, p, d) -> (t, g, d)>, affine_map<(g, t, p, d) -> (t, g, d)>, affine_map<(g, t, p, d) -> (t, d)>, affine_map<(g, t, p, d) -> (t, d)>, affine_map<(g, t, p, d) -> (g, t, p, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%ka, %kb, %cos, %sin : tensor<64x2x32xf32>, tensor<64x2x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) outs(%ekr : tensor<2x64x2x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %o: f32):
    %p = linalg.index 2 : index
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %p, %c0 : index
    %ac = arith.mulf %a, %c : f32
    %bs = arith.mulf %b, %s : f32
    %bc = arith.mulf %b, %c : f32
    %as = arith.mulf %a, %s : f32
    %r0 = arith.subf %ac, %bs : f32
    %r1 = arith.addf %bc, %as : f32
    %r = arith.select %first, %r0, %r1 : f32
    linalg.yield %r : f32
  } -> tensor<2x64x2x32xf32>
  // The four heads of a group stand under one another: rows of one product with the group's keys.
  %qg = tensor.collapse_shape %qr [[0], [1, 2], [3, 4]] : tensor<2x4x64x2x32xf32> into tensor<2x256x64xf32>
  %kg = tensor.collapse_shape %kr [[0], [1], [2, 3]] : tensor<2x64x2x32xf32> into tensor<2x64x64xf32>
  %es = tensor.empty() : tensor<2x256x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %scores = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, j, k)>, affine_map<(b, i, j, k) -> (b, i, j)>] ins(%qg, %kg : tensor<2x256x64xf32>, tensor<2x64x64xf32>) outs(%fs : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores : tensor<2x256x64xf32>) outs(%es : tensor<2x256x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c64 = arith.constant 64 : index
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %t = arith.remui %row, %c64 : index
    %keep = arith.cmpi ule, %key, %t : index
    %s = arith.mulf %a, %scale : f32
    %r = arith.select %keep, %s, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x256x64xf32>
  %weights = linalg.softmax dimension(2) ins(%masked : tensor<2x256x64xf32>) outs(%es : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %ev = tensor.empty() : tensor<2x64x64xf32>
  %vg = linalg.transpose ins(%v3 : tensor<64x2x64xf32>) outs(%ev : tensor<2x64x64xf32>) permutation = [1, 0, 2]
  %ctx = linalg.batch_matmul ins(%weights, %vg : tensor<2x256x64xf32>, tensor<2x64x64xf32>) outs(%fs : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %ctx4 = tensor.expand_shape %ctx [[0], [1, 2], [3]] output_shape [2, 4, 64, 64] : tensor<2x256x64xf32> into tensor<2x4x64x64xf32>
  %et = tensor.empty() : tensor<64x2x4x64xf32>
  %ctxt = linalg.transpose ins(%ctx4 : tensor<2x4x64x64xf32>) outs(%et : tensor<64x2x4x64xf32>) permutation = [2, 0, 1, 3]
  %ctx2 = tensor.collapse_shape %ctxt [[0], [1, 2, 3]] : tensor<64x2x4x64xf32> into tensor<64x512xf32>
  %o = linalg.matmul ins(%ctx2, %wo : tensor<64x512xf32>, tensor<512x512xf32>) outs(%fq : tensor<64x512xf32>) -> tensor<64x512xf32>
  %x1 = linalg.add ins(%x, %o : tensor<64x512xf32>, tensor<64x512xf32>) outs(%e512 : tensor<64x512xf32>) -> tensor<64x512xf32>
  // SwiGLU.
  %eg = tensor.empty() : tensor<64x1408xf32>
  %fg = linalg.fill ins(%zero : f32) outs(%eg : tensor<64x1408xf32>) -> tensor<64x1408xf32>
  %g = linalg.matmul ins(%x1, %gate : tensor<64x512xf32>, tensor<512x1408xf32>) outs(%fg : tensor<64x1408xf32>) -> tensor<64x1408xf32>
  %u = linalg.matmul ins(%x1, %up : tensor<64x512xf32>, tensor<512x1408xf32>) outs(%fg : tensor<64x1408xf32>) -> tensor<64x1408xf32>
  %act = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<64x1408xf32>, tensor<64x1408xf32>) outs(%eg : tensor<64x1408xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %b : f32
    linalg.yield %4 : f32
  } -> tensor<64x1408xf32>
  %d = linalg.matmul ins(%act, %down : tensor<64x1408xf32>, tensor<1408x512xf32>) outs(%fq : tensor<64x512xf32>) -> tensor<64x512xf32>
  %y = linalg.add ins(%x1, %d : tensor<64x512xf32>, tensor<64x512xf32>) outs(%e512 : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}
