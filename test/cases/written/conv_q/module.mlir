func.func @main(%x: tensor<1x6x6x2xi8>, %w: tensor<3x3x2x4xi8>) -> tensor<1x4x4x4xi32> {
  %z = arith.constant dense<0> : tensor<1x4x4x4xi32>
  %zx = arith.constant 3 : i32
  %zw = arith.constant -5 : i32
  %r = linalg.conv_2d_nhwc_hwcf_q ins(%x, %w, %zx, %zw : tensor<1x6x6x2xi8>, tensor<3x3x2x4xi8>, i32, i32) outs(%z : tensor<1x4x4x4xi32>) -> tensor<1x4x4x4xi32>
  return %r : tensor<1x4x4x4xi32>
}
