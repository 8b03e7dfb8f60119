func.func @main(%x: tensor<2x3x9xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %r = linalg.conv_1d_ncw_fcw {strides = dense<2> : vector<1xi64>, dilations = dense<1> : vector<1xi64>} ins(%x, %w : tensor<2x3x9xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}
