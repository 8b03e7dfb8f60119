func.func @main(%x: tensor<2x3x4x1xf32>, %y: tensor<3x3x5x1xf32>) -> tensor<2x3x4x5xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x4x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %r = linalg.mmt4d ins(%x, %y : tensor<2x3x4x1xf32>, tensor<3x3x5x1xf32>) outs(%f : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}
