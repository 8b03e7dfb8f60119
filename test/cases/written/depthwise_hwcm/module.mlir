func.func @main(%x: tensor<2x6x6x3xf32>, %w: tensor<3x3x3x2xf32>) -> tensor<2x4x4x3x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4x3x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4x4x3x2xf32>) -> tensor<2x4x4x3x2xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwcm {strides = dense<1> : vector<2xi64>, dilations = dense<1> : vector<2xi64>} ins(%x, %w : tensor<2x6x6x3xf32>, tensor<3x3x3x2xf32>) outs(%f : tensor<2x4x4x3x2xf32>) -> tensor<2x4x4x3x2xf32>
  return %r : tensor<2x4x4x3x2xf32>
}
