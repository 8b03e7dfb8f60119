// Products of a few rows and a matrix, of every kind that tinymlir-vector-matmul takes.
func.func @rows2(%a: tensor<2x?xf32>, %b: tensor<?x?xf32>, %c: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2x?xf32>, tensor<?x?xf32>) outs(%c : tensor<2x?xf32>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}
func.func @rows5(%a: tensor<5x?xf32>, %b: tensor<?x?xf32>, %c: tensor<5x?xf32>) -> tensor<5x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<5x?xf32>, tensor<?x?xf32>) outs(%c : tensor<5x?xf32>) -> tensor<5x?xf32>
  return %r : tensor<5x?xf32>
}
func.func @rows8(%a: tensor<8x?xf32>, %b: tensor<?x?xf32>, %c: tensor<8x?xf32>) -> tensor<8x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<8x?xf32>, tensor<?x?xf32>) outs(%c : tensor<8x?xf32>) -> tensor<8x?xf32>
  return %r : tensor<8x?xf32>
}
func.func @rows13(%a: tensor<13x?xf32>, %b: tensor<?x?xf32>, %c: tensor<13x?xf32>) -> tensor<13x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<13x?xf32>, tensor<?x?xf32>) outs(%c : tensor<13x?xf32>) -> tensor<13x?xf32>
  return %r : tensor<13x?xf32>
}
func.func @rows33(%a: tensor<33x?xf32>, %b: tensor<?x?xf32>, %c: tensor<33x?xf32>) -> tensor<33x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<33x?xf32>, tensor<?x?xf32>) outs(%c : tensor<33x?xf32>) -> tensor<33x?xf32>
  return %r : tensor<33x?xf32>
}
func.func @rows128(%a: tensor<128x?xf32>, %b: tensor<?x?xf32>, %c: tensor<128x?xf32>) -> tensor<128x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x?xf32>, tensor<?x?xf32>) outs(%c : tensor<128x?xf32>) -> tensor<128x?xf32>
  return %r : tensor<128x?xf32>
}
func.func @even(%a: tensor<9x100xf32>, %b: tensor<100x192xf32>, %c: tensor<9x192xf32>) -> tensor<9x192xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<9x192xf32>) -> tensor<9x192xf32>
  %r = linalg.matmul ins(%a, %b : tensor<9x100xf32>, tensor<100x192xf32>) outs(%f : tensor<9x192xf32>) -> tensor<9x192xf32>
  return %r : tensor<9x192xf32>
}
func.func @filled(%a: tensor<7x?xf32>, %b: tensor<?x?xf32>, %c: tensor<7x?xf32>) -> tensor<7x?xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<7x?xf32>) -> tensor<7x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<7x?xf32>, tensor<?x?xf32>) outs(%f : tensor<7x?xf32>) -> tensor<7x?xf32>
  return %r : tensor<7x?xf32>
}
func.func @turned(%a: tensor<?x?xf32>, %b: tensor<6x?xf32>, %c: tensor<6x?xf32>) -> tensor<6x?xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n, m)>] ins(%a, %b : tensor<?x?xf32>, tensor<6x?xf32>) outs(%c : tensor<6x?xf32>) -> tensor<6x?xf32>
  return %r : tensor<6x?xf32>
}
func.func @bf16(%a: tensor<13x?xf32>, %b: tensor<?x?xbf16>, %c: tensor<13x?xf32>) -> tensor<13x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<13x?xf32>, tensor<?x?xbf16>) outs(%c : tensor<13x?xf32>) -> tensor<13x?xf32>
  return %r : tensor<13x?xf32>
}
func.func @int8(%a: tensor<6x?xf32>, %b: tensor<?x?xi8>, %c: tensor<6x?xf32>) -> tensor<6x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<6x?xf32>, tensor<?x?xi8>) outs(%c : tensor<6x?xf32>) -> tensor<6x?xf32>
  return %r : tensor<6x?xf32>
}
func.func @halves(%a: tensor<3x?xf16>, %b: tensor<?x?xf16>, %c: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<3x?xf16>, tensor<?x?xf16>) outs(%c : tensor<3x?xf32>) -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}
func.func @doubles(%a: tensor<11x?xf64>, %b: tensor<?x?xf64>, %c: tensor<11x?xf64>) -> tensor<11x?xf64> {
  %r = linalg.matmul ins(%a, %b : tensor<11x?xf64>, tensor<?x?xf64>) outs(%c : tensor<11x?xf64>) -> tensor<11x?xf64>
  return %r : tensor<11x?xf64>
}
func.func @rows301(%a: tensor<301x?xf32>, %b: tensor<?x?xf32>, %c: tensor<301x?xf32>) -> tensor<301x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<301x?xf32>, tensor<?x?xf32>) outs(%c : tensor<301x?xf32>) -> tensor<301x?xf32>
  return %r : tensor<301x?xf32>
}
