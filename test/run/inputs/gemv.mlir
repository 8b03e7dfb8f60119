#A = affine_map<(m, n, k) -> (m, k)>
#Bt = affine_map<(m, n, k) -> (n, k)>
#C = affine_map<(m, n, k) -> (m, n)>

func.func @columns(%x: tensor<1x?xf32>, %w: tensor<?x?xf32>, %y: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<1x?xf32>, tensor<?x?xf32>) outs(%y : tensor<1x?xf32>) -> tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}
func.func @rows(%x: tensor<1x?xf32>, %w: tensor<?x?xf32>, %y: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %0 = linalg.matmul indexing_maps = [#A, #Bt, #C] ins(%x, %w : tensor<1x?xf32>, tensor<?x?xf32>) outs(%y : tensor<1x?xf32>) -> tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}
func.func @columns_bf16(%x: tensor<1x?xf32>, %w: tensor<?x?xbf16>, %y: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<1x?xf32>, tensor<?x?xbf16>) outs(%y : tensor<1x?xf32>) -> tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}
func.func @rows_int8(%x: tensor<1x?xf32>, %w: tensor<?x?xi8>, %y: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %0 = linalg.matmul indexing_maps = [#A, #Bt, #C] ins(%x, %w : tensor<1x?xf32>, tensor<?x?xi8>) outs(%y : tensor<1x?xf32>) -> tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}
