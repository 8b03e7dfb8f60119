func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %two = arith.constant dense<2.0> : tensor<6xf32>
  %one = arith.constant dense<1.0> : tensor<6xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %x) -> (tensor<6xf32>) {
    %v = tensor.extract %y[%i] : tensor<6xf32>
    %c = arith.cmpf ogt, %v, %z : f32
    %n = scf.if %c -> (tensor<6xf32>) {
      %a = arith.mulf %y, %two : tensor<6xf32>
      scf.yield %a : tensor<6xf32>
    } else {
      %a = arith.subf %y, %one : tensor<6xf32>
      scf.yield %a : tensor<6xf32>
    }
    scf.yield %n : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}
