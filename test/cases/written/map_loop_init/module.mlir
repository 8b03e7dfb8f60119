func.func @main(%n: index, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %f) -> (tensor<4xf32>) {
    %p = linalg.map { arith.subf } ins(%f, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
    %g = tensor.empty() : tensor<4xf32>
    %q = linalg.map { arith.subf } ins(%p, %b : tensor<4xf32>, tensor<4xf32>) outs(%g : tensor<4xf32>)
    %t = arith.addf %s, %q : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
