func.func @main(%x: tensor<13xf32>, %y: tensor<7xf32>) -> tensor<7x13xi32> {
  %e = tensor.empty() : tensor<7x13xi32>
  %z = arith.constant 0.0 : f32
  %four = arith.constant 4.0 : f32
  %two = arith.constant 2.0 : f32
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i30 = arith.constant 30 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(j)>, affine_map<(i,j)->(i)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<13xf32>, tensor<7xf32>) outs(%e : tensor<7x13xi32>) {
  ^bb0(%cx: f32, %cy: f32, %o: i32):
    %w:3 = scf.while (%a = %z, %b = %z, %n = %i0) : (f32, f32, i32) -> (f32, f32, i32) {
      %aa = arith.mulf %a, %a : f32
      %bb = arith.mulf %b, %b : f32
      %s = arith.addf %aa, %bb : f32
      %in = arith.cmpf ole, %s, %four : f32
      %more = arith.cmpi slt, %n, %i30 : i32
      %go = arith.andi %in, %more : i1
      scf.condition(%go) %a, %b, %n : f32, f32, i32
    } do {
    ^bb0(%a: f32, %b: f32, %n: i32):
      %aa = arith.mulf %a, %a : f32
      %bb = arith.mulf %b, %b : f32
      %d = arith.subf %aa, %bb : f32
      %na = arith.addf %d, %cx : f32
      %ab = arith.mulf %a, %b : f32
      %t = arith.mulf %two, %ab : f32
      %nb = arith.addf %t, %cy : f32
      %m = arith.addi %n, %i1 : i32
      scf.yield %na, %nb, %m : f32, f32, i32
    }
    linalg.yield %w#2 : i32
  } -> tensor<7x13xi32>
  return %r : tensor<7x13xi32>
}
