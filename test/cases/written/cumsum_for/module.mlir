func.func @main(%x: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<5x4xf32>
  %acc = arith.constant dense<0.0> : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%o = %e, %a = %acc) -> (tensor<5x4xf32>, tensor<4xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
    %n = arith.addf %a, %row : tensor<4xf32>
    %p = tensor.insert_slice %n into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<5x4xf32>
    scf.yield %p, %n : tensor<5x4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<5x4xf32>
}
