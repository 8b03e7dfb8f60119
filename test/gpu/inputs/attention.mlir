module {
  func.func @attention(
      %q: tensor<4x32x16xf32> {tinymlir.name = "q"},
      %k: tensor<4x32x16xf32> {tinymlir.name = "k"},
      %v: tensor<4x32x16xf32> {tinymlir.name = "v"}
  ) -> (tensor<32x64xf32> {tinymlir.name = "result"}) {
    %0 = tensor.empty() : tensor<4x32x32xf32>
    %1 = arith.constant 0.0 : f32
    %2 = linalg.fill ins(%1 : f32) outs(%0 : tensor<4x32x32xf32>) -> tensor<4x32x32xf32>
    %3 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] ins(%q, %k : tensor<4x32x16xf32>, tensor<4x32x16xf32>) outs(%2 : tensor<4x32x32xf32>) -> tensor<4x32x32xf32>
    %4 = tensor.empty() : tensor<4x32x32xf32>
    %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<4x32x32xf32>) outs(%4 : tensor<4x32x32xf32>) {
    ^bb0(%5: f32, %6: f32):
      %7 = arith.constant 0.25 : f32
      %8 = arith.mulf %5, %7 : f32
      linalg.yield %8 : f32
    } -> tensor<4x32x32xf32>
    %10 = tensor.empty() : tensor<4x32x32xf32>
    %18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<4x32x32xf32>) outs(%10 : tensor<4x32x32xf32>) {
    ^bb0(%11: f32, %12: f32):
      %13 = linalg.index 1 : index
      %14 = linalg.index 2 : index
      %15 = arith.cmpi ule, %14, %13 : index
      %16 = arith.constant 0xFF800000 : f32
      %17 = arith.select %15, %11, %16 : f32
      linalg.yield %17 : f32
    } -> tensor<4x32x32xf32>
    %19 = tensor.empty() : tensor<4x32xf32>
    %20 = arith.constant 0xFF800000 : f32
    %21 = linalg.fill ins(%20 : f32) outs(%19 : tensor<4x32xf32>) -> tensor<4x32xf32>
    %25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%18 : tensor<4x32x32xf32>) outs(%21 : tensor<4x32xf32>) {
    ^bb0(%22: f32, %23: f32):
      %24 = arith.maximumf %22, %23 : f32
      linalg.yield %24 : f32
    } -> tensor<4x32xf32>
    %26 = tensor.empty() : tensor<4x32x32xf32>
    %31 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %25 : tensor<4x32x32xf32>, tensor<4x32xf32>) outs(%26 : tensor<4x32x32xf32>) {
    ^bb0(%27: f32, %28: f32, %29: f32):
      %30 = arith.subf %27, %28 : f32
      linalg.yield %30 : f32
    } -> tensor<4x32x32xf32>
    %32 = tensor.empty() : tensor<4x32x32xf32>
    %36 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31 : tensor<4x32x32xf32>) outs(%32 : tensor<4x32x32xf32>) {
    ^bb0(%33: f32, %34: f32):
      %35 = math.exp %33 : f32
      linalg.yield %35 : f32
    } -> tensor<4x32x32xf32>
    %37 = tensor.empty() : tensor<4x32x16xf32>
    %38 = arith.constant 0.0 : f32
    %39 = linalg.fill ins(%38 : f32) outs(%37 : tensor<4x32x16xf32>) -> tensor<4x32x16xf32>
    %40 = linalg.batch_matmul ins(%36, %v : tensor<4x32x32xf32>, tensor<4x32x16xf32>) outs(%39 : tensor<4x32x16xf32>) -> tensor<4x32x16xf32>
    %41 = tensor.empty() : tensor<4x32xf32>
    %42 = arith.constant 0.0 : f32
    %43 = linalg.fill ins(%42 : f32) outs(%41 : tensor<4x32xf32>) -> tensor<4x32xf32>
    %47 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%36 : tensor<4x32x32xf32>) outs(%43 : tensor<4x32xf32>) {
    ^bb0(%44: f32, %45: f32):
      %46 = arith.addf %44, %45 : f32
      linalg.yield %46 : f32
    } -> tensor<4x32xf32>
    %48 = tensor.empty() : tensor<4x32x16xf32>
    %53 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %47 : tensor<4x32x16xf32>, tensor<4x32xf32>) outs(%48 : tensor<4x32x16xf32>) {
    ^bb0(%49: f32, %50: f32, %51: f32):
      %52 = arith.divf %49, %50 : f32
      linalg.yield %52 : f32
    } -> tensor<4x32x16xf32>
    %54 = tensor.empty() : tensor<32x4x16xf32>
    %57 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53 : tensor<4x32x16xf32>) outs(%54 : tensor<32x4x16xf32>) {
    ^bb0(%55: f32, %56: f32):
      linalg.yield %55 : f32
    } -> tensor<32x4x16xf32>
    %58 = tensor.collapse_shape %57 [[0], [1, 2]] : tensor<32x4x16xf32> into tensor<32x64xf32>
    return %58 : tensor<32x64xf32>
  }
}
