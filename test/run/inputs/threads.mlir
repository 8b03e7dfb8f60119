// Elementwise work, a reduction of rows, and one with bounds that are no constants.
func.func @main(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    %1 = math.tanh %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  %r = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce ins(%y : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    }
  %t0 = tensor.empty() : tensor<f32>
  %t1 = linalg.fill ins(%z : f32) outs(%t0 : tensor<f32>) -> tensor<f32>
  %t = linalg.reduce ins(%s : tensor<?xf32>) outs(%t1 : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    }
  return %y, %s, %t : tensor<?x?xf32>, tensor<?xf32>, tensor<f32>
}
