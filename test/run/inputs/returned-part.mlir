// Two parts of what is computed are returned: copies, of which one is by vectors; too large to be joined with other kernels.
#map = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<60x1024xf32>) -> (tensor<20x1024xf32>, tensor<60x100xf32>, tensor<60x1024xf32>) {
  %empty = tensor.empty() : tensor<60x1024xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<60x1024xf32>) outs(%empty : tensor<60x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.mulf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<60x1024xf32>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<60x1024xf32>) outs(%empty : tensor<60x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<60x1024xf32>
  %rows = tensor.extract_slice %y[3, 0] [20, 1024] [1, 1] : tensor<60x1024xf32> to tensor<20x1024xf32>
  %columns = tensor.extract_slice %y[0, 4] [60, 100] [1, 1] : tensor<60x1024xf32> to tensor<60x100xf32>
  return %rows, %columns, %z : tensor<20x1024xf32>, tensor<60x100xf32>, tensor<60x1024xf32>
}
