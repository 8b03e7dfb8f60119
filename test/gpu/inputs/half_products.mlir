// Products of f16 and bf16 that are summed up in f32, at sizes that fill no tile: K x N (kn) and N x K (nt), results of f32 and of the
// operands' type, with what joins a product's store; and products of f32 whose factors may be rounded.
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#both = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

func.func @bf16_kn_129x200x328(%a: tensor<129x200xbf16>, %b: tensor<200x328xbf16>) -> tensor<129x328xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<129x328xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<129x328xf32>) -> tensor<129x328xf32>
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<129x200xbf16>, tensor<200x328xbf16>) outs(%c : tensor<129x328xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<129x328xf32>
  return %r : tensor<129x328xf32>
}

func.func @bf16_nt_65x200x257(%a: tensor<65x200xbf16>, %b: tensor<257x200xbf16>) -> tensor<65x257xbf16> {
  %zero = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<65x257xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%empty : tensor<65x257xbf16>) -> tensor<65x257xbf16>
  %r = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<65x200xbf16>, tensor<257x200xbf16>) outs(%c : tensor<65x257xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %o: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %o, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<65x257xbf16>
  return %r : tensor<65x257xbf16>
}

func.func @f16_nt_257x104x130(%a: tensor<257x104xf16>, %b: tensor<130x104xf16>) -> tensor<257x130xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<257x130xf16>
  %c = linalg.fill ins(%zero : f16) outs(%empty : tensor<257x130xf16>) -> tensor<257x130xf16>
  %r = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<257x104xf16>, tensor<130x104xf16>) outs(%c : tensor<257x130xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %o, %p : f16
    linalg.yield %s : f16
  } -> tensor<257x130xf16>
  return %r : tensor<257x130xf16>
}

func.func @bf16_nt_5x264x136(%a: tensor<5x264xbf16>, %b: tensor<136x264xbf16>) -> tensor<5x136xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x136xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x136xf32>) -> tensor<5x136xf32>
  %r = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<5x264xbf16>, tensor<136x264xbf16>) outs(%c : tensor<5x136xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<5x136xf32>
  return %r : tensor<5x136xf32>
}
// A small grid: K is split.
func.func @f16_kn_64x1032x72(%a: tensor<64x1032xf16>, %b: tensor<1032x72xf16>) -> tensor<64x72xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x72xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x72xf32>) -> tensor<64x72xf32>
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x1032xf16>, tensor<1032x72xf16>) outs(%c : tensor<64x72xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x72xf32>
  return %r : tensor<64x72xf32>
}

func.func @f32_kn_65x200x264(%a: tensor<65x200xf32>, %b: tensor<200x264xf32>) -> tensor<65x264xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<65x264xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<65x264xf32>) -> tensor<65x264xf32>
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<65x200xf32>, tensor<200x264xf32>) outs(%c : tensor<65x264xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<65x264xf32>
  return %r : tensor<65x264xf32>
}

func.func @f32_nt_65x200x257(%a: tensor<65x200xf32>, %b: tensor<257x200xf32>) -> tensor<65x257xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<65x257xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<65x257xf32>) -> tensor<65x257xf32>
  %r = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<65x200xf32>, tensor<257x200xf32>) outs(%c : tensor<65x257xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<65x257xf32>
  return %r : tensor<65x257xf32>
}

// Bias, activation and rounding: rows of the result are whole groups of four.
func.func @bf16_kn_130x136x200_bias(%a: tensor<130x136xbf16>, %b: tensor<136x200xbf16>, %bias: tensor<200xf32>) -> tensor<130x200xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<130x200xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<130x200xf32>) -> tensor<130x200xf32>
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<130x136xbf16>, tensor<136x200xbf16>) outs(%c : tensor<130x200xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<130x200xf32>
  %to = tensor.empty() : tensor<130x200xbf16>
  %e = linalg.generic {indexing_maps = [#both, #column, #both], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<130x200xf32>, tensor<200xf32>) outs(%to : tensor<130x200xbf16>) {
  ^bb0(%x: f32, %y: f32, %o: bf16):
    %s = arith.addf %x, %y : f32
    %h = math.tanh %s : f32
    %t = arith.truncf %h : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<130x200xbf16>
  return %e : tensor<130x200xbf16>
}

// Bias and a residual of f16; rows of the result are no groups of four.
func.func @f16_nt_100x72x262_residual(%a: tensor<100x72xf16>, %b: tensor<262x72xf16>, %bias: tensor<262xf32>, %before: tensor<100x262xf16>) -> tensor<100x262xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<100x262xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<100x262xf32>) -> tensor<100x262xf32>
  %r = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<100x72xf16>, tensor<262x72xf16>) outs(%c : tensor<100x262xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<100x262xf32>
  %e = linalg.generic {indexing_maps = [#both, #column, #both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias, %before : tensor<100x262xf32>, tensor<262xf32>, tensor<100x262xf16>) outs(%empty : tensor<100x262xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f16, %o: f32):
    %s = arith.addf %x, %y : f32
    %ze = arith.extf %z : f16 to f32
    %t = arith.addf %s, %ze : f32
    linalg.yield %t : f32
  } -> tensor<100x262xf32>
  return %e : tensor<100x262xf32>
}

// Added to what is there.
func.func @bf16_kn_70x88x144_sum(%a: tensor<70x88xbf16>, %b: tensor<88x144xbf16>, %c: tensor<70x144xbf16>) -> tensor<70x144xbf16> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<70x88xbf16>, tensor<88x144xbf16>) outs(%c : tensor<70x144xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %o: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %o, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<70x144xbf16>
  return %r : tensor<70x144xbf16>
}

func.func @f16_kn_2x65x72x40(%a: tensor<2x65x72xf16>, %b: tensor<2x72x40xf16>) -> tensor<2x65x40xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<2x65x40xf16>
  %c = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x65x40xf16>) -> tensor<2x65x40xf16>
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x65x72xf16>, tensor<2x72x40xf16>) outs(%c : tensor<2x65x40xf16>) -> tensor<2x65x40xf16>
  return %r : tensor<2x65x40xf16>
}

// Parts of larger matrices: K and N are no whole chunks of 16 bytes, rows begin at multiples of them.
func.func @bf16_kn_67x101x77_parts(%a_all: memref<67x120xbf16>, %b_all: memref<104x88xbf16>) -> memref<67x77xf32> {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<67x77xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<67x77xf32>)
  %a = memref.subview %a_all[0, 8] [67, 101] [1, 1] : memref<67x120xbf16> to memref<67x101xbf16, strided<[120, 1], offset: 8>>
  %b = memref.subview %b_all[2, 8] [101, 77] [1, 1] : memref<104x88xbf16> to memref<101x77xbf16, strided<[88, 1], offset: 184>>
  linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<67x101xbf16, strided<[120, 1], offset: 8>>, memref<101x77xbf16, strided<[88, 1], offset: 184>>) outs(%c : memref<67x77xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return %c : memref<67x77xf32>
}

// Parts of larger matrices: K and N are no whole chunks of 16 bytes, rows begin at multiples of them.
func.func @bf16_nt_67x101x77_parts(%a_all: memref<67x120xbf16>, %b_all: memref<80x112xbf16>) -> memref<67x77xf32> {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<67x77xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<67x77xf32>)
  %a = memref.subview %a_all[0, 8] [67, 101] [1, 1] : memref<67x120xbf16> to memref<67x101xbf16, strided<[120, 1], offset: 8>>
  %b = memref.subview %b_all[2, 8] [77, 101] [1, 1] : memref<80x112xbf16> to memref<77x101xbf16, strided<[112, 1], offset: 232>>
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<67x101xbf16, strided<[120, 1], offset: 8>>, memref<77x101xbf16, strided<[112, 1], offset: 232>>) outs(%c : memref<67x77xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return %c : memref<67x77xf32>
}
