func.func @main(%x: tensor<5x6xf16>) -> tensor<5x6xf16> {
  %e = tensor.empty() : tensor<5x6xf16>
  %r = linalg.softmax dimension(1) ins(%x : tensor<5x6xf16>) outs(%e : tensor<5x6xf16>) -> tensor<5x6xf16>
  return %r : tensor<5x6xf16>
}
