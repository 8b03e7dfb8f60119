module {
  func.func @gather(
      %table: tensor<100x64xf32> {tinymlir.name = "table"},
      %ids: tensor<16xi32> {tinymlir.name = "ids", tinymlir.range = [0, 100]}
  ) -> (tensor<16x64xf32> {tinymlir.name = "result"}) {
    %0 = tensor.empty() : tensor<16x64xf32>
    %8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<16xi32>) outs(%0 : tensor<16x64xf32>) {
    ^bb0(%1: i32, %2: f32):
      %3 = arith.index_cast %1 : i32 to index
      %4 = arith.constant 100 : index
      %5 = arith.cmpi ult, %3, %4 : index
      cf.assert %5, "gather: an index of 'ids' lies outside axis 0 of 'table', of size 100"
      %6 = linalg.index 1 : index
      %7 = tensor.extract %table[%3, %6] : tensor<100x64xf32>
      linalg.yield %7 : f32
    } -> tensor<16x64xf32>
    return %8 : tensor<16x64xf32>
  }
}
