func.func @main(%x: tensor<5x3x4xf32>, %wx: tensor<4x6xf32>, %wh: tensor<6x6xf32>) -> (tensor<5x3x6xf32>, tensor<3x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant dense<0.0> : tensor<3x6xf32>
  %e = tensor.empty() : tensor<5x3x6xf32>
  %r:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%o = %e, %h = %z) -> (tensor<5x3x6xf32>, tensor<3x6xf32>) {
    %s = tensor.extract_slice %x[%t, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<5x3x4xf32> to tensor<3x4xf32>
    %a = linalg.matmul ins(%s, %wx : tensor<3x4xf32>, tensor<4x6xf32>) outs(%z : tensor<3x6xf32>) -> tensor<3x6xf32>
    %b = linalg.matmul ins(%h, %wh : tensor<3x6xf32>, tensor<6x6xf32>) outs(%a : tensor<3x6xf32>) -> tensor<3x6xf32>
    %n = math.tanh %b : tensor<3x6xf32>
    %u = tensor.insert_slice %n into %o[%t, 0, 0] [1, 3, 6] [1, 1, 1] : tensor<3x6xf32> into tensor<5x3x6xf32>
    scf.yield %u, %n : tensor<5x3x6xf32>, tensor<3x6xf32>
  }
  return %r#0, %r#1 : tensor<5x3x6xf32>, tensor<3x6xf32>
}
