func.func @main(%a: tensor<4x6xi8>, %b: tensor<6x5xi8>) -> tensor<4x5xi32> {
  %c0 = arith.constant 0 : i32
  %za = arith.constant 3 : i32
  %zb = arith.constant -2 : i32
  %e = tensor.empty() : tensor<4x5xi32>
  %f = linalg.fill ins(%c0 : i32) outs(%e : tensor<4x5xi32>) -> tensor<4x5xi32>
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<4x6xi8>, tensor<6x5xi8>, i32, i32) outs(%f : tensor<4x5xi32>) -> tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}
