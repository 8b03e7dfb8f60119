func.func @main(%x: tensor<6x19xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %z = arith.constant 0.0 : f32
  %l = arith.constant -1.0e30 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %g = linalg.fill ins(%l : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i)>, affine_map<(i,j)->(i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x19xf32>) outs(%g, %f : tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: f32, %m: f32, %s: f32):
    %n = arith.maximumf %m, %a : f32
    %d = arith.subf %m, %n : f32
    %k = math.exp %d : f32
    %o = arith.mulf %k, %s : f32
    %b = arith.subf %a, %n : f32
    %c = math.exp %b : f32
    %t = arith.addf %o, %c : f32
    linalg.yield %n, %t : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  return %s#0, %s#1 : tensor<6xf32>, tensor<6xf32>
}
