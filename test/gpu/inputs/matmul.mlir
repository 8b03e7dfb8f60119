module {
  func.func @matmul(
      %a: tensor<64x96xf32> {tinymlir.name = "a"},
      %b: tensor<96x80xf32> {tinymlir.name = "b"}
  ) -> (tensor<64x80xf32> {tinymlir.name = "result"}) {
    %0 = tensor.empty() : tensor<64x80xf32>
    %1 = arith.constant 0.0 : f32
    %2 = linalg.fill ins(%1 : f32) outs(%0 : tensor<64x80xf32>) -> tensor<64x80xf32>
    %3 = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x80xf32>) outs(%2 : tensor<64x80xf32>) -> tensor<64x80xf32>
    return %3 : tensor<64x80xf32>
  }
}
