func.func @main(%x: tensor<2x3xf32>) -> (tensor<f32>, f32) {
  %z = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<2x3xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
  %e = tensor.empty() : tensor<f32>
  %n = linalg.negf ins(%s : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  %v = tensor.extract %s[] : tensor<f32>
  return %n, %v : tensor<f32>, f32
}
