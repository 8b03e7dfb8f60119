func.func @main(%x: tensor<3x16xbf16>, %w: tensor<16xbf16>) -> tensor<3x16xbf16> {
  %z = arith.constant dense<0.0> : tensor<3xf32>
  %n = arith.constant 16.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %s = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x16xbf16>) outs(%z : tensor<3xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %f = arith.extf %a : bf16 to f32
    %q = arith.mulf %f, %f : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  %e = tensor.empty() : tensor<3x16xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i)>, affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %w : tensor<3x16xbf16>, tensor<3xf32>, tensor<16xbf16>) outs(%e : tensor<3x16xbf16>) {
  ^bb0(%a: bf16, %b: f32, %c: bf16, %o: bf16):
    %f = arith.extf %a : bf16 to f32
    %g = arith.extf %c : bf16 to f32
    %m = arith.divf %b, %n : f32
    %k = arith.addf %m, %eps : f32
    %v = math.rsqrt %k : f32
    %h = arith.mulf %f, %v : f32
    %l = arith.mulf %h, %g : f32
    %t = arith.truncf %l : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<3x16xbf16>
  return %r : tensor<3x16xbf16>
}
