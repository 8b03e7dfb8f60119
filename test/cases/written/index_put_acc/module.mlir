func.func @main(%x: tensor<5x3xf32>, %i: tensor<6xi64>, %v: tensor<6x3xf32>) -> tensor<5x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %k = %c0 to %c6 step %c1 iter_args(%a = %x) -> (tensor<5x3xf32>) {
    %t = tensor.extract %i[%k] : tensor<6xi64>
    %p = arith.index_cast %t : i64 to index
    %b = scf.for %j = %c0 to %c3 step %c1 iter_args(%c = %a) -> (tensor<5x3xf32>) {
      %o = tensor.extract %c[%p, %j] : tensor<5x3xf32>
      %n = tensor.extract %v[%k, %j] : tensor<6x3xf32>
      %s = arith.addf %o, %n : f32
      %d = tensor.insert %s into %c[%p, %j] : tensor<5x3xf32>
      scf.yield %d : tensor<5x3xf32>
    }
    scf.yield %b : tensor<5x3xf32>
  }
  return %r : tensor<5x3xf32>
}
