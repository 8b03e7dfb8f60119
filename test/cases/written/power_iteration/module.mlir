func.func @main(%m: tensor<6x6xf32>, %v: tensor<6xf32>) -> f32 {
  %z = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-6 : f32
  %big = arith.constant 1.0e9 : f32
  %zv = arith.constant dense<0.0> : tensor<6xf32>
  %zs = arith.constant dense<0.0> : tensor<f32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 2000 : index
  %r:4 = scf.while (%x = %v, %old = %big, %new = %z, %k = %c0) : (tensor<6xf32>, f32, f32, index) -> (tensor<6xf32>, f32, f32, index) {
    %d = arith.subf %old, %new : f32
    %a = math.absf %d : f32
    %t = arith.mulf %eps, %new : f32
    %c = arith.cmpf ogt, %a, %t : f32
    %f = arith.cmpi ult, %k, %most : index
    %g = arith.andi %c, %f : i1
    scf.condition(%g) %x, %old, %new, %k : tensor<6xf32>, f32, f32, index
  } do {
  ^bb0(%x: tensor<6xf32>, %old: f32, %new: f32, %k: index):
    %y = linalg.matvec ins(%m, %x : tensor<6x6xf32>, tensor<6xf32>) outs(%zv : tensor<6xf32>) -> tensor<6xf32>
    %n = linalg.dot ins(%y, %y : tensor<6xf32>, tensor<6xf32>) outs(%zs : tensor<f32>) -> tensor<f32>
    %s = tensor.extract %n[] : tensor<f32>
    %q = math.sqrt %s : f32
    %sp = tensor.splat %q : tensor<6xf32>
    %u = arith.divf %y, %sp : tensor<6xf32>
    %k1 = arith.addi %k, %c1 : index
    scf.yield %u, %new, %q, %k1 : tensor<6xf32>, f32, f32, index
  }
  return %r#2 : f32
}
