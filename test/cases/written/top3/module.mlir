func.func @main(%x: tensor<12xf32>) -> (tensor<3xf32>, tensor<3xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %l = arith.constant 0xFF800000 : f32
  %z = arith.constant 0 : i64
  %ev = tensor.empty() : tensor<3xf32>
  %ei = tensor.empty() : tensor<3xi64>
  %r:3 = scf.for %k = %c0 to %c3 step %c1 iter_args(%v = %ev, %i = %ei, %w = %x) -> (tensor<3xf32>, tensor<3xi64>, tensor<12xf32>) {
    %mv = arith.constant dense<0xFF800000> : tensor<f32>
    %mi = arith.constant dense<0> : tensor<i64>
    %m:2 = linalg.generic {indexing_maps = [affine_map<(j)->(j)>, affine_map<(j)->()>, affine_map<(j)->()>], iterator_types = ["reduction"]} ins(%w : tensor<12xf32>) outs(%mv, %mi : tensor<f32>, tensor<i64>) {
  ^bb0(%a: f32, %b: f32, %d: i64):
      %ix = linalg.index 0 : index
      %iy = arith.index_cast %ix : index to i64
      %c = arith.cmpf ogt, %a, %b : f32
      %s = arith.select %c, %a, %b : f32
      %t = arith.select %c, %iy, %d : i64
      linalg.yield %s, %t : f32, i64
  } -> (tensor<f32>, tensor<i64>)
    %bv = tensor.extract %m#0[] : tensor<f32>
    %bi = tensor.extract %m#1[] : tensor<i64>
    %at = arith.index_cast %bi : i64 to index
    %nv = tensor.insert %bv into %v[%k] : tensor<3xf32>
    %ni = tensor.insert %bi into %i[%k] : tensor<3xi64>
    %nw = tensor.insert %l into %w[%at] : tensor<12xf32>
    scf.yield %nv, %ni, %nw : tensor<3xf32>, tensor<3xi64>, tensor<12xf32>
  }
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xi64>
}
