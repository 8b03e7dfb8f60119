func.func @main(%a: tensor<0x8xf32>, %b: tensor<8x4xf32>) -> tensor<0x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<0x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<0x4xf32>) -> tensor<0x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<0x8xf32>, tensor<8x4xf32>) outs(%f : tensor<0x4xf32>) -> tensor<0x4xf32>
  return %r : tensor<0x4xf32>
}
