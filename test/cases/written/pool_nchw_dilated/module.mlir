func.func @main(%x: tensor<1x2x7x7xf32>) -> tensor<1x2x3x3xf32> {
  %z = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x2x3x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %r = linalg.pooling_nchw_max {strides = dense<1> : vector<2xi64>, dilations = dense<2> : vector<2xi64>} ins(%x, %w : tensor<1x2x7x7xf32>, tensor<3x3xf32>) outs(%f : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %r : tensor<1x2x3x3xf32>
}
