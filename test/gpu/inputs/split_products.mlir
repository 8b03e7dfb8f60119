// Products whose K is split, with what comes after them, at sizes that fill tiles and that fill none.

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// Bias and residual behind the sum of the parts.
func.func @bias_32x768x768(%a: tensor<32x768xf32>, %b: tensor<768x768xf32>, %bias: tensor<768xf32>, %res: tensor<32x768xf32>) -> tensor<32x768xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x768xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x768xf32>) -> tensor<32x768xf32>
  %m = linalg.matmul ins(%a, %b : tensor<32x768xf32>, tensor<768x768xf32>) outs(%f : tensor<32x768xf32>) -> tensor<32x768xf32>
  %r = linalg.generic {indexing_maps = [#ij, #j, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%m, %bias, %res : tensor<32x768xf32>, tensor<768xf32>, tensor<32x768xf32>) outs(%e : tensor<32x768xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  } -> tensor<32x768xf32>
  return %r : tensor<32x768xf32>
}

func.func @sum_19x332x100(%a: tensor<19x332xf32>, %b: tensor<332x100xf32>) -> tensor<19x100xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<19x100xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<19x100xf32>) -> tensor<19x100xf32>
  %m = linalg.matmul ins(%a, %b : tensor<19x332xf32>, tensor<332x100xf32>) outs(%f : tensor<19x100xf32>) -> tensor<19x100xf32>
  return %m : tensor<19x100xf32>
}

// Added to what was there, in several tiles of rows, twice.
func.func @added_130x500x200(%a: tensor<130x500xf32>, %b: tensor<500x200xf32>, %c: tensor<130x200xf32>) -> tensor<130x200xf32> {
  %m = linalg.matmul ins(%a, %b : tensor<130x500xf32>, tensor<500x200xf32>) outs(%c : tensor<130x200xf32>) -> tensor<130x200xf32>
  %n = linalg.matmul ins(%a, %b : tensor<130x500xf32>, tensor<500x200xf32>) outs(%m : tensor<130x200xf32>) -> tensor<130x200xf32>
  return %n : tensor<130x200xf32>
}

// A batch of three.
func.func @batch_3x24x260x68(%a: tensor<3x24x260xf32>, %b: tensor<3x260x68xf32>) -> tensor<3x24x68xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x24x68xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x24x68xf32>) -> tensor<3x24x68xf32>
  %m = linalg.batch_matmul ins(%a, %b : tensor<3x24x260xf32>, tensor<3x260x68xf32>) outs(%f : tensor<3x24x68xf32>) -> tensor<3x24x68xf32>
  return %m : tensor<3x24x68xf32>
}

// Rows that are cut into heads, of which parts are copied to caches as well.
func.func @heads_20x768x384(%a: tensor<20x768xf32>, %b: tensor<768x384xf32>, %keys: tensor<4x64x32xf32> {tinymlir.writable}, %values: tensor<4x64x32xf32> {tinymlir.writable})
    -> (tensor<12x20x32xf32>, tensor<4x64x32xf32>, tensor<4x64x32xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x384xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<20x384xf32>) -> tensor<20x384xf32>
  %m = linalg.matmul ins(%a, %b : tensor<20x768xf32>, tensor<768x384xf32>) outs(%f : tensor<20x384xf32>) -> tensor<20x384xf32>
  %cut = tensor.expand_shape %m [[0], [1, 2]] output_shape [20, 12, 32] : tensor<20x384xf32> into tensor<20x12x32xf32>
  %e1 = tensor.empty() : tensor<12x20x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, h, d) -> (i, h, d)>, affine_map<(i, h, d) -> (h, i, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%cut : tensor<20x12x32xf32>) outs(%e1 : tensor<12x20x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.tanh %x : f32
    linalg.yield %s : f32
  } -> tensor<12x20x32xf32>
  %k = tensor.extract_slice %r[4, 0, 0] [4, 20, 32] [1, 1, 1] : tensor<12x20x32xf32> to tensor<4x20x32xf32>
  %v = tensor.extract_slice %r[8, 0, 0] [4, 20, 32] [1, 1, 1] : tensor<12x20x32xf32> to tensor<4x20x32xf32>
  %k1 = tensor.insert_slice %k into %keys[0, 8, 0] [4, 20, 32] [1, 1, 1] : tensor<4x20x32xf32> into tensor<4x64x32xf32>
  %v1 = tensor.insert_slice %v into %values[0, 0, 0] [4, 20, 32] [1, 1, 1] : tensor<4x20x32xf32> into tensor<4x64x32xf32>
  return %r, %k1, %v1 : tensor<12x20x32xf32>, tensor<4x64x32xf32>, tensor<4x64x32xf32>
}
