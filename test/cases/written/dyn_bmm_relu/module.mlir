#id = affine_map<(i,j,k)->(i,j,k)>
func.func @main(%x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %y, %c2 : tensor<?x?x?xf32>
  %e = tensor.empty(%b, %m, %n) : tensor<?x?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %r = linalg.batch_matmul ins(%x, %y : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%f : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel","parallel","parallel"]} ins(%r : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %a, %z : f32
    linalg.yield %v : f32
  } -> tensor<?x?x?xf32>
  return %q : tensor<?x?x?xf32>
}
