func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %w = arith.constant dense_resource<w> : tensor<3xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %b = linalg.broadcast ins(%w : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %r = linalg.mul ins(%x, %b : tensor<4x3xf32>, tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
{-#
  dialect_resources: { builtin: { w: "0x040000000000803F0000004000004040" } }
#-}
