func.func @main(%v: tensor<2x5x3xf32>, %i: tensor<2x2xi32>) -> tensor<2x2x3xf32> {
  %r = tosa.gather %v, %i : (tensor<2x5x3xf32>, tensor<2x2xi32>) -> tensor<2x2x3xf32>
  return %r : tensor<2x2x3xf32>
}
