func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %x) -> (tensor<16xf32>) {
    %d = arith.shli %c1, %k : index
    %n = arith.subi %c16, %d : index
    %lo = tensor.extract_slice %a[0] [%n] [1] : tensor<16xf32> to tensor<?xf32>
    %hi = tensor.extract_slice %a[%d] [%n] [1] : tensor<16xf32> to tensor<?xf32>
    %s = arith.addf %lo, %hi : tensor<?xf32>
    %b = tensor.insert_slice %s into %a[%d] [%n] [1] : tensor<?xf32> into tensor<16xf32>
    scf.yield %b : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}
