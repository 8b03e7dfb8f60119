// A layer of a network: gelu(x w + b), with the approximation by tanh.
func.func @layer(%x: tensor<4x8xf32> {tinymlir.name = "x"}, %w: tensor<8x16xf32> {tinymlir.name = "w"},
                 %b: tensor<16xf32> {tinymlir.name = "b"}) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %product = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  %bias = linalg.broadcast ins(%b : tensor<16xf32>) outs(%empty : tensor<4x16xf32>) dimensions = [0]
  %sum = arith.addf %product, %bias : tensor<4x16xf32>
  %half = arith.constant dense<0.5> : tensor<4x16xf32>
  %one = arith.constant dense<1.0> : tensor<4x16xf32>
  %k = arith.constant dense<0.044715> : tensor<4x16xf32>
  %r = arith.constant dense<0.7978846> : tensor<4x16xf32>
  %square = arith.mulf %sum, %sum : tensor<4x16xf32>
  %cube = arith.mulf %square, %sum : tensor<4x16xf32>
  %scaled = arith.mulf %cube, %k : tensor<4x16xf32>
  %inner = arith.addf %sum, %scaled : tensor<4x16xf32>
  %arg = arith.mulf %inner, %r : tensor<4x16xf32>
  %tanh = math.tanh %arg : tensor<4x16xf32>
  %plus = arith.addf %tanh, %one : tensor<4x16xf32>
  %scale = arith.mulf %plus, %half : tensor<4x16xf32>
  %y = arith.mulf %sum, %scale : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
