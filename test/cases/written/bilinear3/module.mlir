func.func @main(%a: tensor<3x4xf32>, %w: tensor<2x4x5xf32>, %c: tensor<3x5xf32>) -> tensor<3x2xf32> {
  %z = arith.constant dense<0.0> : tensor<3x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b,o,i,j)->(b,i)>, affine_map<(b,o,i,j)->(o,i,j)>, affine_map<(b,o,i,j)->(b,j)>, affine_map<(b,o,i,j)->(b,o)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %w, %c : tensor<3x4xf32>, tensor<2x4x5xf32>, tensor<3x5xf32>) outs(%z : tensor<3x2xf32>) {
  ^bb0(%x: f32, %y: f32, %v: f32, %o: f32):
    %t = arith.mulf %x, %y : f32
    %u = arith.mulf %t, %v : f32
    %s = arith.addf %o, %u : f32
    linalg.yield %s : f32
  } -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
