// What templates/transpose_tf32.mlir makes of two matrices of 37 x 68, by Veltkamp's splitting: of 2^13 + 1 times a number the
// difference to itself leaves its first 11 bits, to nearest.
#in = affine_map<(b, n, k) -> (b, k, n)>
#out = affine_map<(b, n, k) -> (b, n, k)>
func.func @main(%b: tensor<2x37x68xf32>) -> tensor<2x68x40xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x68x37xf32>
  %t = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<2x37x68xf32>) outs(%empty : tensor<2x68x37xf32>) {
  ^bb0(%x: f32, %o: f32):
    %split = arith.constant 8193.0 : f32
    %large = arith.mulf %x, %split : f32
    %rest = arith.subf %large, %x : f32
    %first = arith.subf %large, %rest : f32
    linalg.yield %first : f32
  } -> tensor<2x68x37xf32>
  %p = tensor.pad %t low[0, 0, 0] high[0, 0, 3] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x68x37xf32> to tensor<2x68x40xf32>
  return %p : tensor<2x68x40xf32>
}
