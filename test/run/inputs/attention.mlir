// Causal attention at sizes that fill no tile, of several types, and the same in f64 of the same arguments.
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>

// Of f32.
func.func @of_f32(%q: tensor<2x100x60xf32>, %k: tensor<2x140x60xf32>, %v: tensor<2x140x60xf32>) -> tensor<2x100x60xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %all = tensor.empty() : tensor<2x100x140xf32>
  %rows = tensor.empty() : tensor<2x100xf32>
  %products_0 = linalg.fill ins(%zero : f32) outs(%all : tensor<2x100x140xf32>) -> tensor<2x100x140xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xf32>, tensor<2x140x60xf32>) outs(%products_0 : tensor<2x100x140xf32>) -> tensor<2x100x140xf32>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %o: f32):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %keeps = arith.cmpi ule, %key, %row : index
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.select %keeps, %scaled, %low : f32
    linalg.yield %score : f32
  } -> tensor<2x100x140xf32>
  %max_0 = linalg.fill ins(%low : f32) outs(%rows : tensor<2x100xf32>) -> tensor<2x100xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xf32>) outs(%max_0 : tensor<2x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x100xf32>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xf32>, tensor<2x100xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %e = math.exp %less : f32
    linalg.yield %e : f32
  } -> tensor<2x100x140xf32>
  %sum_0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<2x100xf32>) -> tensor<2x100xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xf32>) outs(%sum_0 : tensor<2x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x100xf32>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xf32>, tensor<2x100xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %share = arith.divf %x, %y : f32
    linalg.yield %share : f32
  } -> tensor<2x100x140xf32>
  %heads = tensor.empty() : tensor<2x100x60xf32>
  %result_0 = linalg.fill ins(%zero : f32) outs(%heads : tensor<2x100x60xf32>) -> tensor<2x100x60xf32>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xf32>, tensor<2x140x60xf32>) outs(%result_0 : tensor<2x100x60xf32>) -> tensor<2x100x60xf32>
  return %result : tensor<2x100x60xf32>
}
// The same in f64.
func.func @of_f32_exactly(%q_in: tensor<2x100x60xf32>, %k_in: tensor<2x140x60xf32>, %v_in: tensor<2x140x60xf32>) -> tensor<2x100x60xf32> {
  %q = arith.extf %q_in : tensor<2x100x60xf32> to tensor<2x100x60xf64>
  %k = arith.extf %k_in : tensor<2x140x60xf32> to tensor<2x140x60xf64>
  %v = arith.extf %v_in : tensor<2x140x60xf32> to tensor<2x140x60xf64>
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %scale = arith.constant 0.125 : f64
  %all = tensor.empty() : tensor<2x100x140xf64>
  %rows = tensor.empty() : tensor<2x100xf64>
  %products_0 = linalg.fill ins(%zero : f64) outs(%all : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xf64>, tensor<2x140x60xf64>) outs(%products_0 : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %o: f64):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %keeps = arith.cmpi ule, %key, %row : index
    %scaled = arith.mulf %x, %scale : f64
    %score = arith.select %keeps, %scaled, %low : f64
    linalg.yield %score : f64
  } -> tensor<2x100x140xf64>
  %max_0 = linalg.fill ins(%low : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xf64>) outs(%max_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.maximumf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %less = arith.subf %x, %y : f64
    %e = math.exp %less : f64
    linalg.yield %e : f64
  } -> tensor<2x100x140xf64>
  %sum_0 = linalg.fill ins(%zero : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xf64>) outs(%sum_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.addf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %share = arith.divf %x, %y : f64
    linalg.yield %share : f64
  } -> tensor<2x100x140xf64>
  %heads = tensor.empty() : tensor<2x100x60xf64>
  %result_0 = linalg.fill ins(%zero : f64) outs(%heads : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xf64>, tensor<2x140x60xf64>) outs(%result_0 : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %r = arith.truncf %result : tensor<2x100x60xf64> to tensor<2x100x60xf32>
  return %r : tensor<2x100x60xf32>
}
// All of it bf16.
func.func @of_bf16(%q: tensor<2x100x60xbf16>, %k: tensor<2x140x60xbf16>, %v: tensor<2x140x60xbf16>) -> tensor<2x100x60xbf16> {
  %zero = arith.constant 0.0 : bf16
  %low = arith.constant 0xFF80 : bf16
  %scale = arith.constant 0.125 : bf16
  %all = tensor.empty() : tensor<2x100x140xbf16>
  %rows = tensor.empty() : tensor<2x100xbf16>
  %products_0 = linalg.fill ins(%zero : bf16) outs(%all : tensor<2x100x140xbf16>) -> tensor<2x100x140xbf16>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xbf16>, tensor<2x140x60xbf16>) outs(%products_0 : tensor<2x100x140xbf16>) -> tensor<2x100x140xbf16>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xbf16>) outs(%all : tensor<2x100x140xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %keeps = arith.cmpi ule, %key, %row : index
    %scaled = arith.mulf %x, %scale : bf16
    %score = arith.select %keeps, %scaled, %low : bf16
    linalg.yield %score : bf16
  } -> tensor<2x100x140xbf16>
  %max_0 = linalg.fill ins(%low : bf16) outs(%rows : tensor<2x100xbf16>) -> tensor<2x100xbf16>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xbf16>) outs(%max_0 : tensor<2x100xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %y = arith.maximumf %x, %o : bf16
    linalg.yield %y : bf16
  } -> tensor<2x100xbf16>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xbf16>, tensor<2x100xbf16>) outs(%all : tensor<2x100x140xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %o: bf16):
    %less = arith.subf %x, %y : bf16
    %e = math.exp %less : bf16
    linalg.yield %e : bf16
  } -> tensor<2x100x140xbf16>
  %sum_0 = linalg.fill ins(%zero : bf16) outs(%rows : tensor<2x100xbf16>) -> tensor<2x100xbf16>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xbf16>) outs(%sum_0 : tensor<2x100xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %y = arith.addf %x, %o : bf16
    linalg.yield %y : bf16
  } -> tensor<2x100xbf16>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xbf16>, tensor<2x100xbf16>) outs(%all : tensor<2x100x140xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %o: bf16):
    %share = arith.divf %x, %y : bf16
    linalg.yield %share : bf16
  } -> tensor<2x100x140xbf16>
  %heads = tensor.empty() : tensor<2x100x60xbf16>
  %result_0 = linalg.fill ins(%zero : bf16) outs(%heads : tensor<2x100x60xbf16>) -> tensor<2x100x60xbf16>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xbf16>, tensor<2x140x60xbf16>) outs(%result_0 : tensor<2x100x60xbf16>) -> tensor<2x100x60xbf16>
  return %result : tensor<2x100x60xbf16>
}
// The same in f64.
func.func @of_bf16_exactly(%q_in: tensor<2x100x60xbf16>, %k_in: tensor<2x140x60xbf16>, %v_in: tensor<2x140x60xbf16>) -> tensor<2x100x60xbf16> {
  %q = arith.extf %q_in : tensor<2x100x60xbf16> to tensor<2x100x60xf64>
  %k = arith.extf %k_in : tensor<2x140x60xbf16> to tensor<2x140x60xf64>
  %v = arith.extf %v_in : tensor<2x140x60xbf16> to tensor<2x140x60xf64>
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %scale = arith.constant 0.125 : f64
  %all = tensor.empty() : tensor<2x100x140xf64>
  %rows = tensor.empty() : tensor<2x100xf64>
  %products_0 = linalg.fill ins(%zero : f64) outs(%all : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xf64>, tensor<2x140x60xf64>) outs(%products_0 : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %o: f64):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %keeps = arith.cmpi ule, %key, %row : index
    %scaled = arith.mulf %x, %scale : f64
    %score = arith.select %keeps, %scaled, %low : f64
    linalg.yield %score : f64
  } -> tensor<2x100x140xf64>
  %max_0 = linalg.fill ins(%low : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xf64>) outs(%max_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.maximumf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %less = arith.subf %x, %y : f64
    %e = math.exp %less : f64
    linalg.yield %e : f64
  } -> tensor<2x100x140xf64>
  %sum_0 = linalg.fill ins(%zero : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xf64>) outs(%sum_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.addf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %share = arith.divf %x, %y : f64
    linalg.yield %share : f64
  } -> tensor<2x100x140xf64>
  %heads = tensor.empty() : tensor<2x100x60xf64>
  %result_0 = linalg.fill ins(%zero : f64) outs(%heads : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xf64>, tensor<2x140x60xf64>) outs(%result_0 : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %r = arith.truncf %result : tensor<2x100x60xf64> to tensor<2x100x60xbf16>
  return %r : tensor<2x100x60xbf16>
}
// Of f16 with scores and weights in f32, which are rounded once.
func.func @of_f16(%q: tensor<2x100x60xf16>, %k: tensor<2x140x60xf16>, %v: tensor<2x140x60xf16>) -> tensor<2x100x60xf16> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %all = tensor.empty() : tensor<2x100x140xf32>
  %rows = tensor.empty() : tensor<2x100xf32>
  %products_0 = linalg.fill ins(%zero : f32) outs(%all : tensor<2x100x140xf32>) -> tensor<2x100x140xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xf16>, tensor<2x140x60xf16>) outs(%products_0 : tensor<2x100x140xf32>) -> tensor<2x100x140xf32>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %o: f32):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %keeps = arith.cmpi ule, %key, %row : index
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.select %keeps, %scaled, %low : f32
    linalg.yield %score : f32
  } -> tensor<2x100x140xf32>
  %max_0 = linalg.fill ins(%low : f32) outs(%rows : tensor<2x100xf32>) -> tensor<2x100xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xf32>) outs(%max_0 : tensor<2x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x100xf32>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xf32>, tensor<2x100xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %e = math.exp %less : f32
    linalg.yield %e : f32
  } -> tensor<2x100x140xf32>
  %sum_0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<2x100xf32>) -> tensor<2x100xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xf32>) outs(%sum_0 : tensor<2x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x100xf32>
  %narrow = tensor.empty() : tensor<2x100x140xf16>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xf32>, tensor<2x100xf32>) outs(%narrow : tensor<2x100x140xf16>) {
  ^bb0(%x: f32, %y: f32, %o: f16):
    %share = arith.divf %x, %y : f32
    %rounded = arith.truncf %share : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<2x100x140xf16>
  %heads = tensor.empty() : tensor<2x100x60xf16>
  %result_0 = linalg.fill ins(%none : f16) outs(%heads : tensor<2x100x60xf16>) -> tensor<2x100x60xf16>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xf16>, tensor<2x140x60xf16>) outs(%result_0 : tensor<2x100x60xf16>) -> tensor<2x100x60xf16>
  return %result : tensor<2x100x60xf16>
}
// The same in f64.
func.func @of_f16_exactly(%q_in: tensor<2x100x60xf16>, %k_in: tensor<2x140x60xf16>, %v_in: tensor<2x140x60xf16>) -> tensor<2x100x60xf16> {
  %q = arith.extf %q_in : tensor<2x100x60xf16> to tensor<2x100x60xf64>
  %k = arith.extf %k_in : tensor<2x140x60xf16> to tensor<2x140x60xf64>
  %v = arith.extf %v_in : tensor<2x140x60xf16> to tensor<2x140x60xf64>
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %scale = arith.constant 0.125 : f64
  %all = tensor.empty() : tensor<2x100x140xf64>
  %rows = tensor.empty() : tensor<2x100xf64>
  %products_0 = linalg.fill ins(%zero : f64) outs(%all : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xf64>, tensor<2x140x60xf64>) outs(%products_0 : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %o: f64):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %keeps = arith.cmpi ule, %key, %row : index
    %scaled = arith.mulf %x, %scale : f64
    %score = arith.select %keeps, %scaled, %low : f64
    linalg.yield %score : f64
  } -> tensor<2x100x140xf64>
  %max_0 = linalg.fill ins(%low : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xf64>) outs(%max_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.maximumf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %less = arith.subf %x, %y : f64
    %e = math.exp %less : f64
    linalg.yield %e : f64
  } -> tensor<2x100x140xf64>
  %sum_0 = linalg.fill ins(%zero : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xf64>) outs(%sum_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.addf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %share = arith.divf %x, %y : f64
    linalg.yield %share : f64
  } -> tensor<2x100x140xf64>
  %heads = tensor.empty() : tensor<2x100x60xf64>
  %result_0 = linalg.fill ins(%zero : f64) outs(%heads : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xf64>, tensor<2x140x60xf64>) outs(%result_0 : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %r = arith.truncf %result : tensor<2x100x60xf64> to tensor<2x100x60xf16>
  return %r : tensor<2x100x60xf16>
}
// Larger scores, to which a mask is added: the first keys do not count, and the first rows have none, so that all count the same.
func.func @of_masked_f32(%q: tensor<2x100x60xf32>, %k: tensor<2x140x60xf32>, %v: tensor<2x140x60xf32>) -> tensor<2x100x60xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 4.0 : f32
  %all = tensor.empty() : tensor<2x100x140xf32>
  %rows = tensor.empty() : tensor<2x100xf32>
  %products_0 = linalg.fill ins(%zero : f32) outs(%all : tensor<2x100x140xf32>) -> tensor<2x100x140xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xf32>, tensor<2x140x60xf32>) outs(%products_0 : tensor<2x100x140xf32>) -> tensor<2x100x140xf32>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %o: f32):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %first_row = arith.constant 20 : index
    %first_key = arith.constant 40 : index
    %keeps_row = arith.cmpi uge, %row, %first_row : index
    %keeps_key = arith.cmpi uge, %key, %first_key : index
    %keeps = arith.andi %keeps_row, %keeps_key : i1
    %scaled = arith.mulf %x, %scale : f32
    %nothing = arith.constant 0.0 : f32
    %lowest = arith.constant -3.40282347E+38 : f32
    %mask = arith.select %keeps, %nothing, %lowest : f32
    %score = arith.addf %scaled, %mask : f32
    linalg.yield %score : f32
  } -> tensor<2x100x140xf32>
  %max_0 = linalg.fill ins(%low : f32) outs(%rows : tensor<2x100xf32>) -> tensor<2x100xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xf32>) outs(%max_0 : tensor<2x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x100xf32>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xf32>, tensor<2x100xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %e = math.exp %less : f32
    linalg.yield %e : f32
  } -> tensor<2x100x140xf32>
  %sum_0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<2x100xf32>) -> tensor<2x100xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xf32>) outs(%sum_0 : tensor<2x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x100xf32>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xf32>, tensor<2x100xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %share = arith.divf %x, %y : f32
    linalg.yield %share : f32
  } -> tensor<2x100x140xf32>
  %heads = tensor.empty() : tensor<2x100x60xf32>
  %result_0 = linalg.fill ins(%zero : f32) outs(%heads : tensor<2x100x60xf32>) -> tensor<2x100x60xf32>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xf32>, tensor<2x140x60xf32>) outs(%result_0 : tensor<2x100x60xf32>) -> tensor<2x100x60xf32>
  return %result : tensor<2x100x60xf32>
}
// The same in f64.
func.func @of_masked_f32_exactly(%q_in: tensor<2x100x60xf32>, %k_in: tensor<2x140x60xf32>, %v_in: tensor<2x140x60xf32>) -> tensor<2x100x60xf32> {
  %q = arith.extf %q_in : tensor<2x100x60xf32> to tensor<2x100x60xf64>
  %k = arith.extf %k_in : tensor<2x140x60xf32> to tensor<2x140x60xf64>
  %v = arith.extf %v_in : tensor<2x140x60xf32> to tensor<2x140x60xf64>
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %scale = arith.constant 4.0 : f64
  %all = tensor.empty() : tensor<2x100x140xf64>
  %rows = tensor.empty() : tensor<2x100xf64>
  %products_0 = linalg.fill ins(%zero : f64) outs(%all : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xf64>, tensor<2x140x60xf64>) outs(%products_0 : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %o: f64):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %first_row = arith.constant 20 : index
    %first_key = arith.constant 40 : index
    %keeps_row = arith.cmpi uge, %row, %first_row : index
    %keeps_key = arith.cmpi uge, %key, %first_key : index
    %keeps = arith.andi %keeps_row, %keeps_key : i1
    %scaled = arith.mulf %x, %scale : f64
    %nothing = arith.constant 0.0 : f64
    %lowest = arith.constant -3.40282347E+38 : f64
    %mask = arith.select %keeps, %nothing, %lowest : f64
    %score = arith.addf %scaled, %mask : f64
    linalg.yield %score : f64
  } -> tensor<2x100x140xf64>
  %max_0 = linalg.fill ins(%low : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xf64>) outs(%max_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.maximumf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %less = arith.subf %x, %y : f64
    %e = math.exp %less : f64
    linalg.yield %e : f64
  } -> tensor<2x100x140xf64>
  %sum_0 = linalg.fill ins(%zero : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xf64>) outs(%sum_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.addf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %share = arith.divf %x, %y : f64
    linalg.yield %share : f64
  } -> tensor<2x100x140xf64>
  %heads = tensor.empty() : tensor<2x100x60xf64>
  %result_0 = linalg.fill ins(%zero : f64) outs(%heads : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xf64>, tensor<2x140x60xf64>) outs(%result_0 : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %r = arith.truncf %result : tensor<2x100x60xf64> to tensor<2x100x60xf32>
  return %r : tensor<2x100x60xf32>
}
// The same of f16.
func.func @of_masked_f16(%q: tensor<2x100x60xf16>, %k: tensor<2x140x60xf16>, %v: tensor<2x140x60xf16>) -> tensor<2x100x60xf16> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 4.0 : f32
  %all = tensor.empty() : tensor<2x100x140xf32>
  %rows = tensor.empty() : tensor<2x100xf32>
  %products_0 = linalg.fill ins(%zero : f32) outs(%all : tensor<2x100x140xf32>) -> tensor<2x100x140xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xf16>, tensor<2x140x60xf16>) outs(%products_0 : tensor<2x100x140xf32>) -> tensor<2x100x140xf32>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %o: f32):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %first_row = arith.constant 20 : index
    %first_key = arith.constant 40 : index
    %keeps_row = arith.cmpi uge, %row, %first_row : index
    %keeps_key = arith.cmpi uge, %key, %first_key : index
    %keeps = arith.andi %keeps_row, %keeps_key : i1
    %scaled = arith.mulf %x, %scale : f32
    %nothing = arith.constant 0.0 : f32
    %lowest = arith.constant -3.40282347E+38 : f32
    %mask = arith.select %keeps, %nothing, %lowest : f32
    %score = arith.addf %scaled, %mask : f32
    linalg.yield %score : f32
  } -> tensor<2x100x140xf32>
  %max_0 = linalg.fill ins(%low : f32) outs(%rows : tensor<2x100xf32>) -> tensor<2x100xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xf32>) outs(%max_0 : tensor<2x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x100xf32>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xf32>, tensor<2x100xf32>) outs(%all : tensor<2x100x140xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %e = math.exp %less : f32
    linalg.yield %e : f32
  } -> tensor<2x100x140xf32>
  %sum_0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<2x100xf32>) -> tensor<2x100xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xf32>) outs(%sum_0 : tensor<2x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x100xf32>
  %narrow = tensor.empty() : tensor<2x100x140xf16>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xf32>, tensor<2x100xf32>) outs(%narrow : tensor<2x100x140xf16>) {
  ^bb0(%x: f32, %y: f32, %o: f16):
    %share = arith.divf %x, %y : f32
    %rounded = arith.truncf %share : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<2x100x140xf16>
  %heads = tensor.empty() : tensor<2x100x60xf16>
  %result_0 = linalg.fill ins(%none : f16) outs(%heads : tensor<2x100x60xf16>) -> tensor<2x100x60xf16>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xf16>, tensor<2x140x60xf16>) outs(%result_0 : tensor<2x100x60xf16>) -> tensor<2x100x60xf16>
  return %result : tensor<2x100x60xf16>
}
// The same in f64.
func.func @of_masked_f16_exactly(%q_in: tensor<2x100x60xf16>, %k_in: tensor<2x140x60xf16>, %v_in: tensor<2x140x60xf16>) -> tensor<2x100x60xf16> {
  %q = arith.extf %q_in : tensor<2x100x60xf16> to tensor<2x100x60xf64>
  %k = arith.extf %k_in : tensor<2x140x60xf16> to tensor<2x140x60xf64>
  %v = arith.extf %v_in : tensor<2x140x60xf16> to tensor<2x140x60xf64>
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %scale = arith.constant 4.0 : f64
  %all = tensor.empty() : tensor<2x100x140xf64>
  %rows = tensor.empty() : tensor<2x100xf64>
  %products_0 = linalg.fill ins(%zero : f64) outs(%all : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x100x60xf64>, tensor<2x140x60xf64>) outs(%products_0 : tensor<2x100x140xf64>) -> tensor<2x100x140xf64>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x100x140xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %o: f64):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %first_row = arith.constant 20 : index
    %first_key = arith.constant 40 : index
    %keeps_row = arith.cmpi uge, %row, %first_row : index
    %keeps_key = arith.cmpi uge, %key, %first_key : index
    %keeps = arith.andi %keeps_row, %keeps_key : i1
    %scaled = arith.mulf %x, %scale : f64
    %nothing = arith.constant 0.0 : f64
    %lowest = arith.constant -3.40282347E+38 : f64
    %mask = arith.select %keeps, %nothing, %lowest : f64
    %score = arith.addf %scaled, %mask : f64
    linalg.yield %score : f64
  } -> tensor<2x100x140xf64>
  %max_0 = linalg.fill ins(%low : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x100x140xf64>) outs(%max_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.maximumf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %less = arith.subf %x, %y : f64
    %e = math.exp %less : f64
    linalg.yield %e : f64
  } -> tensor<2x100x140xf64>
  %sum_0 = linalg.fill ins(%zero : f64) outs(%rows : tensor<2x100xf64>) -> tensor<2x100xf64>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x100x140xf64>) outs(%sum_0 : tensor<2x100xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.addf %x, %o : f64
    linalg.yield %y : f64
  } -> tensor<2x100xf64>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x100x140xf64>, tensor<2x100xf64>) outs(%all : tensor<2x100x140xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %share = arith.divf %x, %y : f64
    linalg.yield %share : f64
  } -> tensor<2x100x140xf64>
  %heads = tensor.empty() : tensor<2x100x60xf64>
  %result_0 = linalg.fill ins(%zero : f64) outs(%heads : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x100x140xf64>, tensor<2x140x60xf64>) outs(%result_0 : tensor<2x100x60xf64>) -> tensor<2x100x60xf64>
  %r = arith.truncf %result : tensor<2x100x60xf64> to tensor<2x100x60xf16>
  return %r : tensor<2x100x60xf16>
}

// Rows past the last key, which see all keys.
func.func @of_few_keys(%q: tensor<2x130x60xf32>, %k: tensor<2x20x60xf32>, %v: tensor<2x20x60xf32>) -> tensor<2x130x60xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %all = tensor.empty() : tensor<2x130x20xf32>
  %rows = tensor.empty() : tensor<2x130xf32>
  %products_0 = linalg.fill ins(%zero : f32) outs(%all : tensor<2x130x20xf32>) -> tensor<2x130x20xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x130x60xf32>, tensor<2x20x60xf32>) outs(%products_0 : tensor<2x130x20xf32>) -> tensor<2x130x20xf32>
  %scores = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<2x130x20xf32>) outs(%all : tensor<2x130x20xf32>) {
  ^bb0(%x: f32, %o: f32):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %keeps = arith.cmpi ule, %key, %row : index
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.select %keeps, %scaled, %low : f32
    linalg.yield %score : f32
  } -> tensor<2x130x20xf32>
  %max_0 = linalg.fill ins(%low : f32) outs(%rows : tensor<2x130xf32>) -> tensor<2x130xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<2x130x20xf32>) outs(%max_0 : tensor<2x130xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x130xf32>
  %exponentials = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<2x130x20xf32>, tensor<2x130xf32>) outs(%all : tensor<2x130x20xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %e = math.exp %less : f32
    linalg.yield %e : f32
  } -> tensor<2x130x20xf32>
  %sum_0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<2x130xf32>) -> tensor<2x130xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exponentials : tensor<2x130x20xf32>) outs(%sum_0 : tensor<2x130xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x130xf32>
  %weights = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exponentials, %sum : tensor<2x130x20xf32>, tensor<2x130xf32>) outs(%all : tensor<2x130x20xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %share = arith.divf %x, %y : f32
    linalg.yield %share : f32
  } -> tensor<2x130x20xf32>
  %heads = tensor.empty() : tensor<2x130x60xf32>
  %result_0 = linalg.fill ins(%zero : f32) outs(%heads : tensor<2x130x60xf32>) -> tensor<2x130x60xf32>
  %result = linalg.batch_matmul ins(%weights, %v : tensor<2x130x20xf32>, tensor<2x20x60xf32>) outs(%result_0 : tensor<2x130x60xf32>) -> tensor<2x130x60xf32>
  return %result : tensor<2x130x60xf32>
}
