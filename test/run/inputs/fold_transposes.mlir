// Each function twice: as it is, and with its transpositions returned as well, so that they are copied.
#id4 = affine_map<(a, b, c, d) -> (a, b, c, d)>

func.func @linear(%x: tensor<32x64xf32>, %w: tensor<128x64xf32>, %c: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %r : tensor<32x128xf32>
}

func.func @linear_copied(%x: tensor<32x64xf32>, %w: tensor<128x64xf32>, %c: tensor<32x128xf32>) -> (tensor<32x128xf32>, tensor<64x128xf32>) {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %r, %t : tensor<32x128xf32>, tensor<64x128xf32>
}

func.func @vecmat(%x: tensor<64xf32>, %w: tensor<128x64xf32>, %c: tensor<128xf32>) -> tensor<128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %r = linalg.vecmat ins(%x, %t : tensor<64xf32>, tensor<64x128xf32>) outs(%c : tensor<128xf32>) -> tensor<128xf32>
  return %r : tensor<128xf32>
}

func.func @vecmat_copied(%x: tensor<64xf32>, %w: tensor<128x64xf32>, %c: tensor<128xf32>) -> (tensor<128xf32>, tensor<64x128xf32>) {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %r = linalg.vecmat ins(%x, %t : tensor<64xf32>, tensor<64x128xf32>) outs(%c : tensor<128xf32>) -> tensor<128xf32>
  return %r, %t : tensor<128xf32>, tensor<64x128xf32>
}

func.func @heads(%q: tensor<1x16x4x8xf32>, %k: tensor<1x16x4x8xf32>, %v: tensor<1x16x4x8xf32>) -> tensor<1x16x4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x16x8xf32>
  %ek = tensor.empty() : tensor<1x4x8x16xf32>
  %qt = linalg.transpose ins(%q : tensor<1x16x4x8xf32>) outs(%e : tensor<1x4x16x8xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<1x16x4x8xf32>) outs(%ek : tensor<1x4x8x16xf32>) permutation = [0, 2, 3, 1]
  %vt = linalg.transpose ins(%v : tensor<1x16x4x8xf32>) outs(%e : tensor<1x4x16x8xf32>) permutation = [0, 2, 1, 3]
  %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<1x4x16x8xf32> into tensor<4x16x8xf32>
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<1x4x8x16xf32> into tensor<4x8x16xf32>
  %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<1x4x16x8xf32> into tensor<4x16x8xf32>
  %es = tensor.empty() : tensor<4x16x16xf32>
  %fs = linalg.fill ins(%z : f32) outs(%es : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %s = linalg.batch_matmul ins(%qc, %kc : tensor<4x16x8xf32>, tensor<4x8x16xf32>) outs(%fs : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %er = tensor.empty() : tensor<4x16x8xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %r = linalg.batch_matmul ins(%s, %vc : tensor<4x16x16xf32>, tensor<4x16x8xf32>) outs(%fr : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %rx = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [1, 4, 16, 8] : tensor<4x16x8xf32> into tensor<1x4x16x8xf32>
  %eo = tensor.empty() : tensor<1x16x4x8xf32>
  %o = linalg.transpose ins(%rx : tensor<1x4x16x8xf32>) outs(%eo : tensor<1x16x4x8xf32>) permutation = [0, 2, 1, 3]
  return %o : tensor<1x16x4x8xf32>
}

func.func @heads_copied(%q: tensor<1x16x4x8xf32>, %k: tensor<1x16x4x8xf32>, %v: tensor<1x16x4x8xf32>) -> (tensor<1x16x4x8xf32>, tensor<1x4x16x8xf32>, tensor<1x4x8x16xf32>, tensor<1x4x16x8xf32>, tensor<1x16x4x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x16x8xf32>
  %ek = tensor.empty() : tensor<1x4x8x16xf32>
  %qt = linalg.transpose ins(%q : tensor<1x16x4x8xf32>) outs(%e : tensor<1x4x16x8xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<1x16x4x8xf32>) outs(%ek : tensor<1x4x8x16xf32>) permutation = [0, 2, 3, 1]
  %vt = linalg.transpose ins(%v : tensor<1x16x4x8xf32>) outs(%e : tensor<1x4x16x8xf32>) permutation = [0, 2, 1, 3]
  %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<1x4x16x8xf32> into tensor<4x16x8xf32>
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<1x4x8x16xf32> into tensor<4x8x16xf32>
  %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<1x4x16x8xf32> into tensor<4x16x8xf32>
  %es = tensor.empty() : tensor<4x16x16xf32>
  %fs = linalg.fill ins(%z : f32) outs(%es : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %s = linalg.batch_matmul ins(%qc, %kc : tensor<4x16x8xf32>, tensor<4x8x16xf32>) outs(%fs : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %er = tensor.empty() : tensor<4x16x8xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %r = linalg.batch_matmul ins(%s, %vc : tensor<4x16x16xf32>, tensor<4x16x8xf32>) outs(%fr : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %rx = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [1, 4, 16, 8] : tensor<4x16x8xf32> into tensor<1x4x16x8xf32>
  %eo = tensor.empty() : tensor<1x16x4x8xf32>
  %o = linalg.transpose ins(%rx : tensor<1x4x16x8xf32>) outs(%eo : tensor<1x16x4x8xf32>) permutation = [0, 2, 1, 3]
  return %o, %qt, %kt, %vt, %o : tensor<1x16x4x8xf32>, tensor<1x4x16x8xf32>, tensor<1x4x8x16xf32>, tensor<1x4x16x8xf32>, tensor<1x16x4x8xf32>
}

func.func @sequences(%q: tensor<8x16x8xf32>, %k: tensor<2x16x4x8xf32>, %s: tensor<8x16x16xf32>) -> tensor<8x16x16xf32> {
  %ek = tensor.empty() : tensor<2x4x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<2x16x4x8xf32>) outs(%ek : tensor<2x4x8x16xf32>) permutation = [0, 2, 3, 1]
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x4x8x16xf32> into tensor<8x8x16xf32>
  %r = linalg.batch_matmul ins(%q, %kc : tensor<8x16x8xf32>, tensor<8x8x16xf32>) outs(%s : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  return %r : tensor<8x16x16xf32>
}

func.func @sequences_copied(%q: tensor<8x16x8xf32>, %k: tensor<2x16x4x8xf32>, %s: tensor<8x16x16xf32>) -> (tensor<8x16x16xf32>, tensor<2x4x8x16xf32>) {
  %ek = tensor.empty() : tensor<2x4x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<2x16x4x8xf32>) outs(%ek : tensor<2x4x8x16xf32>) permutation = [0, 2, 3, 1]
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x4x8x16xf32> into tensor<8x8x16xf32>
  %r = linalg.batch_matmul ins(%q, %kc : tensor<8x16x8xf32>, tensor<8x8x16xf32>) outs(%s : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  return %r, %kt : tensor<8x16x16xf32>, tensor<2x4x8x16xf32>
}

func.func @scaled(%q: tensor<8x16x8xf32>, %k: tensor<2x4x16x8xf32>, %s: tensor<8x16x16xf32>) -> tensor<8x16x16xf32> {
  %half = arith.constant 0.5 : f32
  %ek = tensor.empty() : tensor<2x4x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<2x4x16x8xf32>) outs(%ek : tensor<2x4x8x16xf32>) permutation = [0, 1, 3, 2]
  %ks = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%kt : tensor<2x4x8x16xf32>) outs(%ek : tensor<2x4x8x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.mulf %v, %half : f32
    linalg.yield %m : f32
  } -> tensor<2x4x8x16xf32>
  %kc = tensor.collapse_shape %ks [[0, 1], [2], [3]] : tensor<2x4x8x16xf32> into tensor<8x8x16xf32>
  %r = linalg.batch_matmul ins(%q, %kc : tensor<8x16x8xf32>, tensor<8x8x16xf32>) outs(%s : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  return %r : tensor<8x16x16xf32>
}

func.func @scaled_copied(%q: tensor<8x16x8xf32>, %k: tensor<2x4x16x8xf32>, %s: tensor<8x16x16xf32>) -> (tensor<8x16x16xf32>, tensor<2x4x8x16xf32>) {
  %half = arith.constant 0.5 : f32
  %ek = tensor.empty() : tensor<2x4x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<2x4x16x8xf32>) outs(%ek : tensor<2x4x8x16xf32>) permutation = [0, 1, 3, 2]
  %ks = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%kt : tensor<2x4x8x16xf32>) outs(%ek : tensor<2x4x8x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.mulf %v, %half : f32
    linalg.yield %m : f32
  } -> tensor<2x4x8x16xf32>
  %kc = tensor.collapse_shape %ks [[0, 1], [2], [3]] : tensor<2x4x8x16xf32> into tensor<8x8x16xf32>
  %r = linalg.batch_matmul ins(%q, %kc : tensor<8x16x8xf32>, tensor<8x8x16xf32>) outs(%s : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  return %r, %kt : tensor<8x16x16xf32>, tensor<2x4x8x16xf32>
}

func.func @repeated(%x: tensor<2x16x64xf32>, %w: tensor<128x64xf32>, %c: tensor<2x16x128xf32>) -> tensor<2x16x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %eb = tensor.empty() : tensor<2x64x128xf32>
  %b = linalg.broadcast ins(%t : tensor<64x128xf32>) outs(%eb : tensor<2x64x128xf32>) dimensions = [0]
  %r = linalg.batch_matmul ins(%x, %b : tensor<2x16x64xf32>, tensor<2x64x128xf32>) outs(%c : tensor<2x16x128xf32>) -> tensor<2x16x128xf32>
  return %r : tensor<2x16x128xf32>
}

func.func @repeated_copied(%x: tensor<2x16x64xf32>, %w: tensor<128x64xf32>, %c: tensor<2x16x128xf32>) -> (tensor<2x16x128xf32>, tensor<64x128xf32>) {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %eb = tensor.empty() : tensor<2x64x128xf32>
  %b = linalg.broadcast ins(%t : tensor<64x128xf32>) outs(%eb : tensor<2x64x128xf32>) dimensions = [0]
  %r = linalg.batch_matmul ins(%x, %b : tensor<2x16x64xf32>, tensor<2x64x128xf32>) outs(%c : tensor<2x16x128xf32>) -> tensor<2x16x128xf32>
  return %r, %t : tensor<2x16x128xf32>, tensor<64x128xf32>
}
