// A product with a matrix that is stored transposed.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @product(%a: tensor<70x96xf32>, %b: tensor<200x96xf32>) -> tensor<70x200xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<70x200xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<70x200xf32>) -> tensor<70x200xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<70x96xf32>, tensor<200x96xf32>) outs(%zeros : tensor<70x200xf32>) -> tensor<70x200xf32>
  return %r : tensor<70x200xf32>
}
