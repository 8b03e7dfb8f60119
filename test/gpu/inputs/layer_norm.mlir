module {
  func.func @layer_norm(
      %x: tensor<64x256xf32> {tinymlir.name = "x"},
      %layer_norm.gain: tensor<256xf32> {tinymlir.name = "layer_norm.gain"},
      %layer_norm.bias: tensor<256xf32> {tinymlir.name = "layer_norm.bias"}
  ) -> (tensor<64x256xf32> {tinymlir.name = "result"}) {
    %0 = tensor.empty() : tensor<64xf32>
    %1 = arith.constant 0.0 : f32
    %2 = linalg.fill ins(%1 : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
    %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x256xf32>) outs(%2 : tensor<64xf32>) {
    ^bb0(%3: f32, %4: f32):
      %5 = arith.addf %3, %4 : f32
      linalg.yield %5 : f32
    } -> tensor<64xf32>
    %7 = tensor.empty() : tensor<64xf32>
    %12 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%6 : tensor<64xf32>) outs(%7 : tensor<64xf32>) {
    ^bb0(%8: f32, %9: f32):
      %10 = arith.constant 256.0 : f32
      %11 = arith.divf %8, %10 : f32
      linalg.yield %11 : f32
    } -> tensor<64xf32>
    %13 = tensor.empty() : tensor<64x256xf32>
    %18 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %12 : tensor<64x256xf32>, tensor<64xf32>) outs(%13 : tensor<64x256xf32>) {
    ^bb0(%14: f32, %15: f32, %16: f32):
      %17 = arith.subf %14, %15 : f32
      linalg.yield %17 : f32
    } -> tensor<64x256xf32>
    %19 = tensor.empty() : tensor<64x256xf32>
    %24 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%18, %18 : tensor<64x256xf32>, tensor<64x256xf32>) outs(%19 : tensor<64x256xf32>) {
    ^bb0(%20: f32, %21: f32, %22: f32):
      %23 = arith.mulf %20, %21 : f32
      linalg.yield %23 : f32
    } -> tensor<64x256xf32>
    %25 = tensor.empty() : tensor<64xf32>
    %26 = arith.constant 0.0 : f32
    %27 = linalg.fill ins(%26 : f32) outs(%25 : tensor<64xf32>) -> tensor<64xf32>
    %31 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%24 : tensor<64x256xf32>) outs(%27 : tensor<64xf32>) {
    ^bb0(%28: f32, %29: f32):
      %30 = arith.addf %28, %29 : f32
      linalg.yield %30 : f32
    } -> tensor<64xf32>
    %32 = tensor.empty() : tensor<64xf32>
    %37 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%31 : tensor<64xf32>) outs(%32 : tensor<64xf32>) {
    ^bb0(%33: f32, %34: f32):
      %35 = arith.constant 256.0 : f32
      %36 = arith.divf %33, %35 : f32
      linalg.yield %36 : f32
    } -> tensor<64xf32>
    %38 = tensor.empty() : tensor<64xf32>
    %43 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%37 : tensor<64xf32>) outs(%38 : tensor<64xf32>) {
    ^bb0(%39: f32, %40: f32):
      %41 = arith.constant 1.0e-5 : f32
      %42 = arith.addf %39, %41 : f32
      linalg.yield %42 : f32
    } -> tensor<64xf32>
    %44 = tensor.empty() : tensor<64xf32>
    %48 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%43 : tensor<64xf32>) outs(%44 : tensor<64xf32>) {
    ^bb0(%45: f32, %46: f32):
      %47 = math.sqrt %45 : f32
      linalg.yield %47 : f32
    } -> tensor<64xf32>
    %49 = tensor.empty() : tensor<64x256xf32>
    %54 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%18, %48 : tensor<64x256xf32>, tensor<64xf32>) outs(%49 : tensor<64x256xf32>) {
    ^bb0(%50: f32, %51: f32, %52: f32):
      %53 = arith.divf %50, %51 : f32
      linalg.yield %53 : f32
    } -> tensor<64x256xf32>
    %55 = tensor.empty() : tensor<64x256xf32>
    %60 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%54, %layer_norm.gain : tensor<64x256xf32>, tensor<256xf32>) outs(%55 : tensor<64x256xf32>) {
    ^bb0(%56: f32, %57: f32, %58: f32):
      %59 = arith.mulf %56, %57 : f32
      linalg.yield %59 : f32
    } -> tensor<64x256xf32>
    %61 = tensor.empty() : tensor<64x256xf32>
    %66 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%60, %layer_norm.bias : tensor<64x256xf32>, tensor<256xf32>) outs(%61 : tensor<64x256xf32>) {
    ^bb0(%62: f32, %63: f32, %64: f32):
      %65 = arith.addf %62, %63 : f32
      linalg.yield %65 : f32
    } -> tensor<64x256xf32>
    return %66 : tensor<64x256xf32>
  }
}
