func.func @main(%x: tensor<3x5xi1>) -> (tensor<3xi1>, tensor<3xi1>) {
  %t = arith.constant dense<true> : tensor<3xi1>
  %f = arith.constant dense<false> : tensor<3xi1>
  %a = linalg.reduce {arith.ori} ins(%x : tensor<3x5xi1>) outs(%f : tensor<3xi1>) dimensions = [1]
  %b = linalg.reduce {arith.andi} ins(%x : tensor<3x5xi1>) outs(%t : tensor<3xi1>) dimensions = [1]
  return %a, %b : tensor<3xi1>, tensor<3xi1>
}
