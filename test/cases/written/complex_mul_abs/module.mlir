func.func @main(%x: tensor<3x4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>> {
  %e = tensor.empty() : tensor<3x4xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%x : tensor<3x4xcomplex<f32>>) outs(%e : tensor<3x4xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    %c = complex.conj %a : complex<f32>
    %m = complex.mul %a, %a : complex<f32>
    %s = complex.add %m, %c : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<3x4xcomplex<f32>>
  return %r : tensor<3x4xcomplex<f32>>
}
