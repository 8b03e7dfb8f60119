module {
  func.func @gelu(
      %x: tensor<64x256xf32> {tinymlir.name = "x"}
  ) -> (tensor<64x256xf32> {tinymlir.name = "result"}) {
    %0 = tensor.empty() : tensor<64x256xf32>
    %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x256xf32>) outs(%0 : tensor<64x256xf32>) {
    ^bb0(%1: f32, %2: f32):
      %3 = arith.constant 0.5 : f32
      %4 = arith.mulf %3, %1 : f32
      linalg.yield %4 : f32
    } -> tensor<64x256xf32>
    %6 = tensor.empty() : tensor<64x256xf32>
    %11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<64x256xf32>, tensor<64x256xf32>) outs(%6 : tensor<64x256xf32>) {
    ^bb0(%7: f32, %8: f32, %9: f32):
      %10 = arith.mulf %7, %8 : f32
      linalg.yield %10 : f32
    } -> tensor<64x256xf32>
    %12 = tensor.empty() : tensor<64x256xf32>
    %17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%11, %x : tensor<64x256xf32>, tensor<64x256xf32>) outs(%12 : tensor<64x256xf32>) {
    ^bb0(%13: f32, %14: f32, %15: f32):
      %16 = arith.mulf %13, %14 : f32
      linalg.yield %16 : f32
    } -> tensor<64x256xf32>
    %18 = tensor.empty() : tensor<64x256xf32>
    %23 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<64x256xf32>) outs(%18 : tensor<64x256xf32>) {
    ^bb0(%19: f32, %20: f32):
      %21 = arith.constant 0.044715 : f32
      %22 = arith.mulf %21, %19 : f32
      linalg.yield %22 : f32
    } -> tensor<64x256xf32>
    %24 = tensor.empty() : tensor<64x256xf32>
    %29 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %23 : tensor<64x256xf32>, tensor<64x256xf32>) outs(%24 : tensor<64x256xf32>) {
    ^bb0(%25: f32, %26: f32, %27: f32):
      %28 = arith.addf %25, %26 : f32
      linalg.yield %28 : f32
    } -> tensor<64x256xf32>
    %30 = tensor.empty() : tensor<64x256xf32>
    %35 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%29 : tensor<64x256xf32>) outs(%30 : tensor<64x256xf32>) {
    ^bb0(%31: f32, %32: f32):
      %33 = arith.constant 0.7978845608028654 : f32
      %34 = arith.mulf %33, %31 : f32
      linalg.yield %34 : f32
    } -> tensor<64x256xf32>
    %36 = tensor.empty() : tensor<64x256xf32>
    %40 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<64x256xf32>) outs(%36 : tensor<64x256xf32>) {
    ^bb0(%37: f32, %38: f32):
      %39 = math.tanh %37 : f32
      linalg.yield %39 : f32
    } -> tensor<64x256xf32>
    %41 = tensor.empty() : tensor<64x256xf32>
    %46 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%40 : tensor<64x256xf32>) outs(%41 : tensor<64x256xf32>) {
    ^bb0(%42: f32, %43: f32):
      %44 = arith.constant 1.0 : f32
      %45 = arith.addf %44, %42 : f32
      linalg.yield %45 : f32
    } -> tensor<64x256xf32>
    %47 = tensor.empty() : tensor<64x256xf32>
    %52 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5, %46 : tensor<64x256xf32>, tensor<64x256xf32>) outs(%47 : tensor<64x256xf32>) {
    ^bb0(%48: f32, %49: f32, %50: f32):
      %51 = arith.mulf %48, %49 : f32
      linalg.yield %51 : f32
    } -> tensor<64x256xf32>
    return %52 : tensor<64x256xf32>
  }
}
