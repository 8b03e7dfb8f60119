func.func @main(%x: tensor<4x5xf32>) -> tensor<7x9xf32> {
  %e = tensor.empty() : tensor<7x9xf32>
  %sh = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} outs(%e : tensor<7x9xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ii = arith.index_cast %i : index to i64
    %jj = arith.index_cast %j : index to i64
    %fi = arith.sitofp %ii : i64 to f32
    %fj = arith.sitofp %jj : i64 to f32
    %a = arith.mulf %fi, %sh : f32
    %b = arith.mulf %fj, %sh : f32
    %af = math.floor %a : f32
    %bf = math.floor %b : f32
    %u = arith.subf %a, %af : f32
    %w = arith.subf %b, %bf : f32
    %ai = arith.fptosi %af : f32 to i64
    %bi = arith.fptosi %bf : f32 to i64
    %i0 = arith.index_cast %ai : i64 to index
    %j0 = arith.index_cast %bi : i64 to index
    %i1a = arith.addi %i0, %c1 : index
    %j1a = arith.addi %j0, %c1 : index
    %i1 = arith.minsi %i1a, %c3 : index
    %j1 = arith.minsi %j1a, %c4 : index
    %p = tensor.extract %x[%i0, %j0] : tensor<4x5xf32>
    %q = tensor.extract %x[%i0, %j1] : tensor<4x5xf32>
    %s = tensor.extract %x[%i1, %j0] : tensor<4x5xf32>
    %t = tensor.extract %x[%i1, %j1] : tensor<4x5xf32>
    %nw = arith.subf %one, %w : f32
    %nu = arith.subf %one, %u : f32
    %k0 = arith.mulf %p, %nw : f32
    %k1 = arith.mulf %q, %w : f32
    %k2 = arith.addf %k0, %k1 : f32
    %k3 = arith.mulf %k2, %nu : f32
    %l0 = arith.mulf %s, %nw : f32
    %l1 = arith.mulf %t, %w : f32
    %l2 = arith.addf %l0, %l1 : f32
    %l3 = arith.mulf %l2, %u : f32
    %y = arith.addf %k3, %l3 : f32
    linalg.yield %y : f32
  } -> tensor<7x9xf32>
  return %r : tensor<7x9xf32>
}
