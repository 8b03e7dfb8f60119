#map = affine_map<(d0) -> (4, 10 - d0)>
#map1 = affine_map<(d0) -> (4, 9 - d0)>
func.func @main(%a: tensor<10x7xf32>, %b: tensor<7x9xf32>) -> tensor<10x9xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10x9xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<10x9xf32>) -> tensor<10x9xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (10, 9) step (4, 4) shared_outs(%o = %f) -> (tensor<10x9xf32>) {
    %m = affine.min #map(%i)
    %n = affine.min #map1(%j)
    %p = tensor.extract_slice %a[%i, 0] [%m, 7] [1, 1] : tensor<10x7xf32> to tensor<?x7xf32>
    %q = tensor.extract_slice %b[0, %j] [7, %n] [1, 1] : tensor<7x9xf32> to tensor<7x?xf32>
    %s = tensor.extract_slice %o[%i, %j] [%m, %n] [1, 1] : tensor<10x9xf32> to tensor<?x?xf32>
    %t = linalg.matmul ins(%p, %q : tensor<?x7xf32>, tensor<7x?xf32>) outs(%s : tensor<?x?xf32>) -> tensor<?x?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, %j] [%m, %n] [1, 1] : tensor<?x?xf32> into tensor<10x9xf32>
    }
  }
  return %r : tensor<10x9xf32>
}
