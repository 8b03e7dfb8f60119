func.func @main(%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x3x2xf32>, %b: tensor<3xf32>) -> (tensor<1x4x4x3xf32>, tensor<1x4x4xi32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x2xf32>, tensor<3x3x3x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x3xf32>
  %p = tosa.max_pool2d %c {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
  %a = tosa.argmax %p {axis = 3 : i32} : (tensor<1x4x4x3xf32>) -> tensor<1x4x4xi32>
  return %p, %a : tensor<1x4x4x3xf32>, tensor<1x4x4xi32>
}
