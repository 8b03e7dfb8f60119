func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %z = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %k = arith.constant -0.785398163 : f32
  %e = tensor.empty() : tensor<8xcomplex<f32>>
  %f = linalg.fill ins(%z : complex<f32>) outs(%e : tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(j)>, affine_map<(i,j)->(i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8xcomplex<f32>>) outs(%f : tensor<8xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.muli %i, %j : index
    %c = arith.index_cast %m : index to i32
    %g = arith.sitofp %c : i32 to f32
    %t = arith.mulf %g, %k : f32
    %zz = arith.constant 0.0 : f32
    %w = complex.create %zz, %t : complex<f32>
    %q = complex.exp %w : complex<f32>
    %s = complex.mul %q, %a : complex<f32>
    %u = complex.add %o, %s : complex<f32>
    linalg.yield %u : complex<f32>
  } -> tensor<8xcomplex<f32>>
  return %r : tensor<8xcomplex<f32>>
}
