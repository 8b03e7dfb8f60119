func.func @main(%x: tensor<49xf32>, %y: tensor<49xf32>) -> (tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>) {
  %oeq = arith.cmpf oeq, %x, %y : tensor<49xf32>
  %ogt = arith.cmpf ogt, %x, %y : tensor<49xf32>
  %oge = arith.cmpf oge, %x, %y : tensor<49xf32>
  %olt = arith.cmpf olt, %x, %y : tensor<49xf32>
  %ole = arith.cmpf ole, %x, %y : tensor<49xf32>
  %one = arith.cmpf one, %x, %y : tensor<49xf32>
  %ord = arith.cmpf ord, %x, %y : tensor<49xf32>
  %ueq = arith.cmpf ueq, %x, %y : tensor<49xf32>
  %ugt = arith.cmpf ugt, %x, %y : tensor<49xf32>
  %uge = arith.cmpf uge, %x, %y : tensor<49xf32>
  %ult = arith.cmpf ult, %x, %y : tensor<49xf32>
  %ule = arith.cmpf ule, %x, %y : tensor<49xf32>
  %une = arith.cmpf une, %x, %y : tensor<49xf32>
  %uno = arith.cmpf uno, %x, %y : tensor<49xf32>
  return %oeq, %ogt, %oge, %olt, %ole, %one, %ord, %ueq, %ugt, %uge, %ult, %ule, %une, %uno : tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>, tensor<49xi1>
}
