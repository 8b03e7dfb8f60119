// Of the three functions one has a product, between operations that have nothing to do with it.
func.func @innocent(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @guilty(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.add ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = math.tanh %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func @bystander(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
