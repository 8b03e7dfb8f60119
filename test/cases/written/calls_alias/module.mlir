func.func private @both(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  return %x, %t : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func @printf(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a:2 = call @both(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %s = arith.addf %a#0, %a#1 : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>) {
  %c = arith.constant dense<[7.0, 8.0]> : tensor<2xf32>
  %p = call @printf(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p, %x, %c : tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>
}
