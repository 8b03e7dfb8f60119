func.func @main(%x: tensor<3x4xcomplex<f32>>, %y: tensor<4x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>> {
  %z = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<3x3xcomplex<f32>>
  %f = linalg.fill ins(%z : complex<f32>) outs(%e : tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  %r = linalg.matmul ins(%x, %y : tensor<3x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>) outs(%f : tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  return %r : tensor<3x3xcomplex<f32>>
}
