module {
  func.func @softmax(
      %x: tensor<64x256xf32> {tinymlir.name = "x"}
  ) -> (tensor<64x256xf32> {tinymlir.name = "result"}) {
    %0 = tensor.empty() : tensor<64xf32>
    %1 = arith.constant 0xFF800000 : f32
    %2 = linalg.fill ins(%1 : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
    %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x256xf32>) outs(%2 : tensor<64xf32>) {
    ^bb0(%3: f32, %4: f32):
      %5 = arith.maximumf %3, %4 : f32
      linalg.yield %5 : f32
    } -> tensor<64xf32>
    %7 = tensor.empty() : tensor<64x256xf32>
    %12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %6 : tensor<64x256xf32>, tensor<64xf32>) outs(%7 : tensor<64x256xf32>) {
    ^bb0(%8: f32, %9: f32, %10: f32):
      %11 = arith.subf %8, %9 : f32
      linalg.yield %11 : f32
    } -> tensor<64x256xf32>
    %13 = tensor.empty() : tensor<64x256xf32>
    %17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<64x256xf32>) outs(%13 : tensor<64x256xf32>) {
    ^bb0(%14: f32, %15: f32):
      %16 = math.exp %14 : f32
      linalg.yield %16 : f32
    } -> tensor<64x256xf32>
    %18 = tensor.empty() : tensor<64xf32>
    %19 = arith.constant 0.0 : f32
    %20 = linalg.fill ins(%19 : f32) outs(%18 : tensor<64xf32>) -> tensor<64xf32>
    %24 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%17 : tensor<64x256xf32>) outs(%20 : tensor<64xf32>) {
    ^bb0(%21: f32, %22: f32):
      %23 = arith.addf %21, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<64xf32>
    %25 = tensor.empty() : tensor<64x256xf32>
    %30 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%17, %24 : tensor<64x256xf32>, tensor<64xf32>) outs(%25 : tensor<64x256xf32>) {
    ^bb0(%26: f32, %27: f32, %28: f32):
      %29 = arith.divf %26, %27 : f32
      linalg.yield %29 : f32
    } -> tensor<64x256xf32>
    return %30 : tensor<64x256xf32>
  }
}
