func.func @main(%x: tensor<1x2x3x8x7xf32>, %w: tensor<2x4x3x3x2xf32>) -> tensor<1x2x4x3x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x4x3x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x4x3x4xf32>) -> tensor<1x2x4x3x4xf32>
  %r = linalg.conv_2d_ngchw_gfchw {strides = dense<[2, 1]> : vector<2xi64>, dilations = dense<[1, 3]> : vector<2xi64>} ins(%x, %w : tensor<1x2x3x8x7xf32>, tensor<2x4x3x3x2xf32>) outs(%f : tensor<1x2x4x3x4xf32>) -> tensor<1x2x4x3x4xf32>
  return %r : tensor<1x2x4x3x4xf32>
}
