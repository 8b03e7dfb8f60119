func.func @main(%x: tensor<2x4xi8>) -> tensor<2x4xf32> {
  %s = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%x : tensor<2x4xi8>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: i8, %o: f32):
    %u = arith.uitofp %a : i8 to f32
    %m = arith.mulf %u, %s : f32
    linalg.yield %m : f32
  } -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
