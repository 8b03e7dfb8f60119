func.func private @double(%u: tensor<*xf32>) -> tensor<*xf32> {
  %x = tensor.cast %u : tensor<*xf32> to tensor<?x4xf32>
  %y = arith.addf %x, %x : tensor<?x4xf32>
  %r = tensor.cast %y : tensor<?x4xf32> to tensor<*xf32>
  return %r : tensor<*xf32>
}
func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %u = tensor.cast %x : tensor<3x4xf32> to tensor<*xf32>
  %v = call @double(%u) : (tensor<*xf32>) -> tensor<*xf32>
  %r = tensor.cast %v : tensor<*xf32> to tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
