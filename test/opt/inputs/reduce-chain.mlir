// A chain of operations of one type with a product within, a function that is called, and another result.
func.func private @called(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.exp %a : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @chain(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %unused: tensor<9xi32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = math.exp %a : tensor<4x4xf32>
  %1 = arith.addf %0, %b : tensor<4x4xf32>
  %2 = func.call @called(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = math.tanh %2 : tensor<4x4xf32>
  %4 = tensor.empty() : tensor<4x4xf32>
  %5 = linalg.matmul ins(%3, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%4 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = arith.addf %5, %0 : tensor<4x4xf32>
  %7 = math.tanh %6 : tensor<4x4xf32>
  %8 = tensor.empty() : tensor<4xf32>
  %9 = linalg.fill ins(%zero : f32) outs(%8 : tensor<4xf32>) -> tensor<4xf32>
  %10 = linalg.reduce ins(%7 : tensor<4x4xf32>) outs(%9 : tensor<4xf32>) dimensions = [1] (%x: f32, %y: f32) {
    %sum = arith.addf %x, %y : f32
    linalg.yield %sum : f32
  }
  return %7, %3, %10 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}
