func.func @main(%x: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %c6 = arith.constant 6 : index
  %e = tensor.empty() : tensor<3x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} outs(%e : tensor<3x7xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %c6, %j : index
    %v = tensor.extract %x[%i, %k] : tensor<3x7xf32>
    linalg.yield %v : f32
  } -> tensor<3x7xf32>
  return %r : tensor<3x7xf32>
}
{-#
  dialect_resources: { builtin: { unused: "0x040000000000803F" } }
#-}
