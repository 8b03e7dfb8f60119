// Products of f32 by matrices of narrower elements, at sizes that fill neither a tile, nor the last block of columns, nor the last
// step along the sum: by few rows, by a tile of rows and by more, along columns (kn) and along the sum (nt).

func.func @bf16_kn_1x768x100_bias(%a: tensor<1x768xf32>, %b: tensor<768x100xbf16>, %bias: tensor<100xf32>) -> tensor<1x100xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x100xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x100xf32>) -> tensor<1x100xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1x768xf32>, tensor<768x100xbf16>) outs(%c : tensor<1x100xf32>) -> tensor<1x100xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<1x100xf32>, tensor<100xf32>) outs(%empty : tensor<1x100xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<1x100xf32>
  return %e : tensor<1x100xf32>
}

func.func @bf16_kn_1x200x36(%a: tensor<1x200xf32>, %b: tensor<200x36xbf16>) -> tensor<1x36xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x36xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x36xf32>) -> tensor<1x36xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1x200xf32>, tensor<200x36xbf16>) outs(%c : tensor<1x36xf32>) -> tensor<1x36xf32>
  return %p : tensor<1x36xf32>
}

func.func @bf16_kn_1x3072x20(%a: tensor<1x3072xf32>, %b: tensor<3072x20xbf16>) -> tensor<1x20xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x20xf32>) -> tensor<1x20xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1x3072xf32>, tensor<3072x20xbf16>) outs(%c : tensor<1x20xf32>) -> tensor<1x20xf32>
  return %p : tensor<1x20xf32>
}

func.func @bf16_kn_1x1025x68_bias(%a: tensor<1x1025xf32>, %b: tensor<1025x68xbf16>, %bias: tensor<68xf32>) -> tensor<1x68xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x68xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x68xf32>) -> tensor<1x68xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1x1025xf32>, tensor<1025x68xbf16>) outs(%c : tensor<1x68xf32>) -> tensor<1x68xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<1x68xf32>, tensor<68xf32>) outs(%empty : tensor<1x68xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<1x68xf32>
  return %e : tensor<1x68xf32>
}

func.func @bf16_kn_5x772x36(%a: tensor<5x772xf32>, %b: tensor<772x36xbf16>) -> tensor<5x36xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x36xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x36xf32>) -> tensor<5x36xf32>
  %p = linalg.matmul ins(%a, %b : tensor<5x772xf32>, tensor<772x36xbf16>) outs(%c : tensor<5x36xf32>) -> tensor<5x36xf32>
  return %p : tensor<5x36xf32>
}

func.func @bf16_kn_8x1700x20_bias(%a: tensor<8x1700xf32>, %b: tensor<1700x20xbf16>, %bias: tensor<20xf32>) -> tensor<8x20xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x20xf32>) -> tensor<8x20xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x1700xf32>, tensor<1700x20xbf16>) outs(%c : tensor<8x20xf32>) -> tensor<8x20xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<8x20xf32>, tensor<20xf32>) outs(%empty : tensor<8x20xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x20xf32>
  return %e : tensor<8x20xf32>
}

func.func @bf16_nt_1x520x33(%a: tensor<1x520xf32>, %b: tensor<33x520xbf16>) -> tensor<1x33xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x33xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x33xf32>) -> tensor<1x33xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<1x520xf32>, tensor<33x520xbf16>) outs(%c : tensor<1x33xf32>) -> tensor<1x33xf32>
  return %p : tensor<1x33xf32>
}

func.func @bf16_nt_4x776x50(%a: tensor<4x776xf32>, %b: tensor<50x776xbf16>) -> tensor<4x50xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x50xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x50xf32>) -> tensor<4x50xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<4x776xf32>, tensor<50x776xbf16>) outs(%c : tensor<4x50xf32>) -> tensor<4x50xf32>
  return %p : tensor<4x50xf32>
}

func.func @bf16_nt_8x264x9_bias(%a: tensor<8x264xf32>, %b: tensor<9x264xbf16>, %bias: tensor<9xf32>) -> tensor<8x9xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x9xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x9xf32>) -> tensor<8x9xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<8x264xf32>, tensor<9x264xbf16>) outs(%c : tensor<8x9xf32>) -> tensor<8x9xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<8x9xf32>, tensor<9xf32>) outs(%empty : tensor<8x9xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x9xf32>
  return %e : tensor<8x9xf32>
}

func.func @bf16_kn_20x200x144_bias(%a: tensor<20x200xf32>, %b: tensor<200x144xbf16>, %bias: tensor<144xf32>) -> tensor<20x144xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<20x144xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<20x144xf32>) -> tensor<20x144xf32>
  %p = linalg.matmul ins(%a, %b : tensor<20x200xf32>, tensor<200x144xbf16>) outs(%c : tensor<20x144xf32>) -> tensor<20x144xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<20x144xf32>, tensor<144xf32>) outs(%empty : tensor<20x144xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<20x144xf32>
  return %e : tensor<20x144xf32>
}

func.func @bf16_nt_32x528x70(%a: tensor<32x528xf32>, %b: tensor<70x528xbf16>) -> tensor<32x70xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x70xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x70xf32>) -> tensor<32x70xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<32x528xf32>, tensor<70x528xbf16>) outs(%c : tensor<32x70xf32>) -> tensor<32x70xf32>
  return %p : tensor<32x70xf32>
}

func.func @bf16_kn_65x200x272(%a: tensor<65x200xf32>, %b: tensor<200x272xbf16>) -> tensor<65x272xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<65x272xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<65x272xf32>) -> tensor<65x272xf32>
  %p = linalg.matmul ins(%a, %b : tensor<65x200xf32>, tensor<200x272xbf16>) outs(%c : tensor<65x272xf32>) -> tensor<65x272xf32>
  return %p : tensor<65x272xf32>
}

func.func @bf16_nt_129x112x257_bias(%a: tensor<129x112xf32>, %b: tensor<257x112xbf16>, %bias: tensor<257xf32>) -> tensor<129x257xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<129x257xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<129x257xf32>) -> tensor<129x257xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<129x112xf32>, tensor<257x112xbf16>) outs(%c : tensor<129x257xf32>) -> tensor<129x257xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<129x257xf32>, tensor<257xf32>) outs(%empty : tensor<129x257xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<129x257xf32>
  return %e : tensor<129x257xf32>
}

func.func @i8_kn_1x200x36(%a: tensor<1x200xf32>, %b: tensor<200x36xi8> {tinymlir.range = [-128, 128]}) -> tensor<1x36xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x36xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x36xf32>) -> tensor<1x36xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1x200xf32>, tensor<200x36xi8>) outs(%c : tensor<1x36xf32>) -> tensor<1x36xf32>
  return %p : tensor<1x36xf32>
}

// With a factor for each output, as weights of i8 have, a bias and a residual.
func.func @i8_kn_1x1025x68_bias(%a: tensor<1x1025xf32>, %b: tensor<1025x68xi8> {tinymlir.range = [-128, 128]}, %scale: tensor<68xf32>, %bias: tensor<68xf32>, %residual: tensor<1x68xf32>) -> tensor<1x68xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x68xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x68xf32>) -> tensor<1x68xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1x1025xf32>, tensor<1025x68xi8>) outs(%c : tensor<1x68xf32>) -> tensor<1x68xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %scale, %bias, %residual : tensor<1x68xf32>, tensor<68xf32>, tensor<68xf32>, tensor<1x68xf32>) outs(%empty : tensor<1x68xf32>) {
  ^bb0(%x: f32, %f: f32, %y: f32, %r: f32, %o: f32):
    %q = arith.mulf %x, %f : f32
    %s = arith.addf %q, %y : f32
    %t = arith.addf %s, %r : f32
    linalg.yield %t : f32
  } -> tensor<1x68xf32>
  return %e : tensor<1x68xf32>
}

func.func @i8_nt_4x776x50(%a: tensor<4x776xf32>, %b: tensor<50x776xi8> {tinymlir.range = [-128, 128]}) -> tensor<4x50xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x50xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x50xf32>) -> tensor<4x50xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<4x776xf32>, tensor<50x776xi8>) outs(%c : tensor<4x50xf32>) -> tensor<4x50xf32>
  return %p : tensor<4x50xf32>
}

func.func @i8_kn_20x200x144_bias(%a: tensor<20x200xf32>, %b: tensor<200x144xi8> {tinymlir.range = [-128, 128]}, %bias: tensor<144xf32>) -> tensor<20x144xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<20x144xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<20x144xf32>) -> tensor<20x144xf32>
  %p = linalg.matmul ins(%a, %b : tensor<20x200xf32>, tensor<200x144xi8>) outs(%c : tensor<20x144xf32>) -> tensor<20x144xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<20x144xf32>, tensor<144xf32>) outs(%empty : tensor<20x144xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<20x144xf32>
  return %e : tensor<20x144xf32>
}

func.func @i8_nt_129x112x257_bias(%a: tensor<129x112xf32>, %b: tensor<257x112xi8> {tinymlir.range = [-128, 128]}, %bias: tensor<257xf32>) -> tensor<129x257xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<129x257xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<129x257xf32>) -> tensor<129x257xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<129x112xf32>, tensor<257x112xi8>) outs(%c : tensor<129x257xf32>) -> tensor<129x257xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<129x257xf32>, tensor<257xf32>) outs(%empty : tensor<129x257xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<129x257xf32>
  return %e : tensor<129x257xf32>
}

func.func @f16_kn_1x200x36(%a: tensor<1x200xf32>, %b: tensor<200x36xf16>) -> tensor<1x36xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x36xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x36xf32>) -> tensor<1x36xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1x200xf32>, tensor<200x36xf16>) outs(%c : tensor<1x36xf32>) -> tensor<1x36xf32>
  return %p : tensor<1x36xf32>
}

func.func @f16_nt_1x520x33(%a: tensor<1x520xf32>, %b: tensor<33x520xf16>) -> tensor<1x33xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x33xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x33xf32>) -> tensor<1x33xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<1x520xf32>, tensor<33x520xf16>) outs(%c : tensor<1x33xf32>) -> tensor<1x33xf32>
  return %p : tensor<1x33xf32>
}

func.func @f16_kn_65x200x272(%a: tensor<65x200xf32>, %b: tensor<200x272xf16>) -> tensor<65x272xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<65x272xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<65x272xf32>) -> tensor<65x272xf32>
  %p = linalg.matmul ins(%a, %b : tensor<65x200xf32>, tensor<200x272xf16>) outs(%c : tensor<65x272xf32>) -> tensor<65x272xf32>
  return %p : tensor<65x272xf32>
}
