// An operation's name misspelt.
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  linalg.matmull ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>)
  return %a : tensor<4x4xf32>
}
