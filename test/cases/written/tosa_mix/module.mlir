func.func @main(%x: tensor<4x5xf32>) -> (tensor<4x1xf32>, tensor<8x5xf32>, tensor<2x3xf32>, tensor<4x5xf32>, tensor<6x6xf32>) {
  %r = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %c = tosa.concat %x, %x {axis = 0 : i32} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %st = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %sz = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.slice %x, %st, %sz : (tensor<4x5xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x3xf32>
  %v = tosa.reverse %x {axis = 1 : i32} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %pd = tosa.const_shape {values = dense<[1, 1, 0, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %pv = "tosa.const"() <{values = dense<9.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %p = tosa.pad %x, %pd, %pv : (tensor<4x5xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<6x6xf32>
  return %r, %c, %s, %v, %p : tensor<4x1xf32>, tensor<8x5xf32>, tensor<2x3xf32>, tensor<4x5xf32>, tensor<6x6xf32>
}
