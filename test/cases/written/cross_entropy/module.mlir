func.func @main(%x: tensor<4x6xf32>, %t: tensor<4xi64>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ig = arith.constant -100 : i64
  %i0 = arith.constant 0 : i64
  %l = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%l : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x6xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %g = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i)>, affine_map<(i,j)->(i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<4x6xf32>, tensor<4xf32>) outs(%g : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = math.exp %d : f32
    %u = arith.addf %q, %o : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  %zs = arith.constant dense<0.0> : tensor<f32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->(i)>, affine_map<(i)->(i)>, affine_map<(i)->()>, affine_map<(i)->()>], iterator_types = ["reduction"]} ins(%t, %m, %s : tensor<4xi64>, tensor<4xf32>, tensor<4xf32>) outs(%zs, %zs : tensor<f32>, tensor<f32>) {
  ^bb0(%a: i64, %b: f32, %c: f32, %o: f32, %u: f32):
    %i = linalg.index 0 : index
    %k = arith.cmpi ne, %a, %ig : i64
    %w = arith.select %k, %a, %i0 : i64
    %j = arith.index_cast %w : i64 to index
    %v = tensor.extract %x[%i, %j] : tensor<4x6xf32>
    %lg = math.log %c : f32
    %d = arith.subf %v, %b : f32
    %n = arith.subf %lg, %d : f32
    %y = arith.select %k, %n, %z : f32
    %h = arith.select %k, %one, %z : f32
    %p = arith.addf %o, %y : f32
    %q = arith.addf %u, %h : f32
    linalg.yield %p, %q : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  %y = arith.divf %r#0, %r#1 : tensor<f32>
  return %y : tensor<f32>
}
