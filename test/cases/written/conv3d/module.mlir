func.func @main(%x: tensor<2x3x5x6x7xf32>, %w: tensor<4x3x2x3x2xf32>) -> tensor<2x4x4x4x6xf32> {
  %z = arith.constant dense<0.0> : tensor<2x4x4x4x6xf32>
  %r = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%x, %w : tensor<2x3x5x6x7xf32>, tensor<4x3x2x3x2xf32>) outs(%z : tensor<2x4x4x4x6xf32>) -> tensor<2x4x4x4x6xf32>
  return %r : tensor<2x4x4x4x6xf32>
}
