// (first + second) * second
func.func @main(%a: tensor<4xf32> {tinymlir.name = "first"}, %b: tensor<4xf32> {tinymlir.name = "second"}) -> tensor<4xf32> {
  %sum = arith.addf %a, %b : tensor<4xf32>
  %product = arith.mulf %sum, %b : tensor<4xf32>
  return %product : tensor<4xf32>
}
