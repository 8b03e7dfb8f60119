func.func @main(%x: tensor<8xi8>, %y: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xf32>, tensor<8xi8>, tensor<8xi32>) {
  %divui = arith.divui %x, %y : tensor<8xi8>
  %remui = arith.remui %x, %y : tensor<8xi8>
  %minui = arith.minui %x, %y : tensor<8xi8>
  %maxui = arith.maxui %x, %y : tensor<8xi8>
  %ceildivui = arith.ceildivui %x, %y : tensor<8xi8>
  %u = arith.cmpi ult, %x, %y : tensor<8xi8>
  %f = arith.uitofp %x : tensor<8xi8> to tensor<8xf32>
  %b = arith.fptoui %f : tensor<8xf32> to tensor<8xi8>
  %w = arith.extui %x : tensor<8xi8> to tensor<8xi32>
  return %divui, %remui, %minui, %maxui, %ceildivui, %u, %f, %b, %w : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xf32>, tensor<8xi8>, tensor<8xi32>
}
