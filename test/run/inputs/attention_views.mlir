// Attention of several sequences as exporters write it: of rank 4, with reshapes around the products, keys masked by the
// sequence's length, or causally by the numbers of rows and keys, with zeros or quotients of zeros for rows without keys.
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i, 0)>
#sequence = affine_map<(b, h, i, j) -> (b)>
#keys = affine_map<(b, h, i, j) -> (0, j)>
#rows = affine_map<(b, h, i, j) -> (i, 0)>
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>

func.func @many(%q: tensor<2x3x40x16xf32>, %k: tensor<2x3x70x16xf32>, %v: tensor<2x3x70x16xf32>) -> tensor<2x3x40x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %true = arith.constant true
  %lengths = arith.constant dense<[37, 0]> : tensor<2xi64>
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x40x16xf32> into tensor<6x40x16xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x3x70x16xf32> into tensor<6x70x16xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x3x70x16xf32> into tensor<6x70x16xf32>
  %pe = tensor.empty() : tensor<6x40x70xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%pe : tensor<6x40x70xf32>) -> tensor<6x40x70xf32>
  %p3 = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%qc, %kc : tensor<6x40x16xf32>, tensor<6x70x16xf32>) outs(%pf : tensor<6x40x70xf32>) -> tensor<6x40x70xf32>
  %p = tensor.expand_shape %p3 [[0, 1], [2], [3]] output_shape [2, 3, 40, 70] : tensor<6x40x70xf32> into tensor<2x3x40x70xf32>
  %se = tensor.empty() : tensor<2x3x40x70xf32>
  %s = linalg.generic {indexing_maps = [#id, #sequence, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %lengths : tensor<2x3x40x70xf32>, tensor<2xi64>) outs(%se : tensor<2x3x40x70xf32>) {
  ^bb0(%x: f32, %l: i64, %o: f32):
    %key = linalg.index 3 : index
    %at = arith.index_cast %key : index to i64
    %in = arith.cmpi slt, %at, %l : i64
    %mask = arith.select %in, %zero, %low : f32
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.addf %scaled, %mask : f32
    linalg.yield %score : f32
  } -> tensor<2x3x40x70xf32>
  %me = tensor.empty() : tensor<2x3x40x1xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<2x3x40x1xf32>) -> tensor<2x3x40x1xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<2x3x40x70xf32>) outs(%mf : tensor<2x3x40x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x3x40x1xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %max : tensor<2x3x40x70xf32>, tensor<2x3x40x1xf32>) outs(%se : tensor<2x3x40x70xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %power = math.exp %less : f32
    linalg.yield %power : f32
  } -> tensor<2x3x40x70xf32>
  %ze = linalg.fill ins(%zero : f32) outs(%me : tensor<2x3x40x1xf32>) -> tensor<2x3x40x1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e : tensor<2x3x40x70xf32>) outs(%ze : tensor<2x3x40x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x3x40x1xf32>
  %be = tensor.empty() : tensor<2x3x40x1xi1>
  %bf = linalg.fill ins(%true : i1) outs(%be : tensor<2x3x40x1xi1>) -> tensor<2x3x40x1xi1>
  %none = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<2x3x40x70xf32>) outs(%bf : tensor<2x3x40x1xi1>) {
  ^bb0(%x: f32, %o: i1):
    %is = arith.cmpf oeq, %x, %low : f32
    %all = arith.andi %is, %o : i1
    linalg.yield %all : i1
  } -> tensor<2x3x40x1xi1>
  %w = linalg.generic {indexing_maps = [#row, #id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%none, %e, %sum : tensor<2x3x40x1xi1>, tensor<2x3x40x70xf32>, tensor<2x3x40x1xf32>) outs(%se : tensor<2x3x40x70xf32>) {
  ^bb0(%c: i1, %x: f32, %y: f32, %o: f32):
    %div = arith.divf %x, %y : f32
    %z = arith.select %c, %zero, %div : f32
    linalg.yield %z : f32
  } -> tensor<2x3x40x70xf32>
  %wc = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<2x3x40x70xf32> into tensor<6x40x70xf32>
  %re = tensor.empty() : tensor<6x40x16xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<6x40x16xf32>) -> tensor<6x40x16xf32>
  %r = linalg.batch_matmul ins(%wc, %vc : tensor<6x40x70xf32>, tensor<6x70x16xf32>) outs(%rf : tensor<6x40x16xf32>) -> tensor<6x40x16xf32>
  %rx = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [2, 3, 40, 16] : tensor<6x40x16xf32> into tensor<2x3x40x16xf32>
  return %rx : tensor<2x3x40x16xf32>
}

func.func @few(%q: tensor<3x2x12x8xf32>, %k: tensor<3x2x20x8xf32>, %v: tensor<3x2x20x8xf32>) -> tensor<3x2x12x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %true = arith.constant true
  %lengths = arith.constant dense<[20, 0, 7]> : tensor<3xi64>
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<3x2x12x8xf32> into tensor<6x12x8xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<3x2x20x8xf32> into tensor<6x20x8xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<3x2x20x8xf32> into tensor<6x20x8xf32>
  %pe = tensor.empty() : tensor<6x12x20xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%pe : tensor<6x12x20xf32>) -> tensor<6x12x20xf32>
  %p3 = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%qc, %kc : tensor<6x12x8xf32>, tensor<6x20x8xf32>) outs(%pf : tensor<6x12x20xf32>) -> tensor<6x12x20xf32>
  %p = tensor.expand_shape %p3 [[0, 1], [2], [3]] output_shape [3, 2, 12, 20] : tensor<6x12x20xf32> into tensor<3x2x12x20xf32>
  %se = tensor.empty() : tensor<3x2x12x20xf32>
  %s = linalg.generic {indexing_maps = [#id, #sequence, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %lengths : tensor<3x2x12x20xf32>, tensor<3xi64>) outs(%se : tensor<3x2x12x20xf32>) {
  ^bb0(%x: f32, %l: i64, %o: f32):
    %key = linalg.index 3 : index
    %at = arith.index_cast %key : index to i64
    %in = arith.cmpi slt, %at, %l : i64
    %mask = arith.select %in, %zero, %low : f32
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.addf %scaled, %mask : f32
    linalg.yield %score : f32
  } -> tensor<3x2x12x20xf32>
  %me = tensor.empty() : tensor<3x2x12x1xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<3x2x12x1xf32>) -> tensor<3x2x12x1xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<3x2x12x20xf32>) outs(%mf : tensor<3x2x12x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<3x2x12x1xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %max : tensor<3x2x12x20xf32>, tensor<3x2x12x1xf32>) outs(%se : tensor<3x2x12x20xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %power = math.exp %less : f32
    linalg.yield %power : f32
  } -> tensor<3x2x12x20xf32>
  %ze = linalg.fill ins(%zero : f32) outs(%me : tensor<3x2x12x1xf32>) -> tensor<3x2x12x1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e : tensor<3x2x12x20xf32>) outs(%ze : tensor<3x2x12x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<3x2x12x1xf32>
  %be = tensor.empty() : tensor<3x2x12x1xi1>
  %bf = linalg.fill ins(%true : i1) outs(%be : tensor<3x2x12x1xi1>) -> tensor<3x2x12x1xi1>
  %none = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<3x2x12x20xf32>) outs(%bf : tensor<3x2x12x1xi1>) {
  ^bb0(%x: f32, %o: i1):
    %is = arith.cmpf oeq, %x, %low : f32
    %all = arith.andi %is, %o : i1
    linalg.yield %all : i1
  } -> tensor<3x2x12x1xi1>
  %w = linalg.generic {indexing_maps = [#row, #id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%none, %e, %sum : tensor<3x2x12x1xi1>, tensor<3x2x12x20xf32>, tensor<3x2x12x1xf32>) outs(%se : tensor<3x2x12x20xf32>) {
  ^bb0(%c: i1, %x: f32, %y: f32, %o: f32):
    %div = arith.divf %x, %y : f32
    %z = arith.select %c, %zero, %div : f32
    linalg.yield %z : f32
  } -> tensor<3x2x12x20xf32>
  %wc = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<3x2x12x20xf32> into tensor<6x12x20xf32>
  %re = tensor.empty() : tensor<6x12x8xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<6x12x8xf32>) -> tensor<6x12x8xf32>
  %r = linalg.batch_matmul ins(%wc, %vc : tensor<6x12x20xf32>, tensor<6x20x8xf32>) outs(%rf : tensor<6x12x8xf32>) -> tensor<6x12x8xf32>
  %rx = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [3, 2, 12, 8] : tensor<6x12x8xf32> into tensor<3x2x12x8xf32>
  return %rx : tensor<3x2x12x8xf32>
}

func.func @quotients(%q: tensor<2x2x40x16xf32>, %k: tensor<2x2x33x16xf32>, %v: tensor<2x2x33x16xf32>) -> tensor<2x2x40x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %true = arith.constant true
  %lengths = arith.constant dense<[33, 9]> : tensor<2xi64>
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x2x40x16xf32> into tensor<4x40x16xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x2x33x16xf32> into tensor<4x33x16xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x2x33x16xf32> into tensor<4x33x16xf32>
  %pe = tensor.empty() : tensor<4x40x33xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%pe : tensor<4x40x33xf32>) -> tensor<4x40x33xf32>
  %p3 = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%qc, %kc : tensor<4x40x16xf32>, tensor<4x33x16xf32>) outs(%pf : tensor<4x40x33xf32>) -> tensor<4x40x33xf32>
  %p = tensor.expand_shape %p3 [[0, 1], [2], [3]] output_shape [2, 2, 40, 33] : tensor<4x40x33xf32> into tensor<2x2x40x33xf32>
  %se = tensor.empty() : tensor<2x2x40x33xf32>
  %s = linalg.generic {indexing_maps = [#id, #sequence, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %lengths : tensor<2x2x40x33xf32>, tensor<2xi64>) outs(%se : tensor<2x2x40x33xf32>) {
  ^bb0(%x: f32, %l: i64, %o: f32):
    %key = linalg.index 3 : index
    %at = arith.index_cast %key : index to i64
    %in = arith.cmpi slt, %at, %l : i64
    %mask = arith.select %in, %zero, %low : f32
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.addf %scaled, %mask : f32
    linalg.yield %score : f32
  } -> tensor<2x2x40x33xf32>
  %me = tensor.empty() : tensor<2x2x40x1xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<2x2x40x1xf32>) -> tensor<2x2x40x1xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<2x2x40x33xf32>) outs(%mf : tensor<2x2x40x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x2x40x1xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %max : tensor<2x2x40x33xf32>, tensor<2x2x40x1xf32>) outs(%se : tensor<2x2x40x33xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %power = math.exp %less : f32
    linalg.yield %power : f32
  } -> tensor<2x2x40x33xf32>
  %ze = linalg.fill ins(%zero : f32) outs(%me : tensor<2x2x40x1xf32>) -> tensor<2x2x40x1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e : tensor<2x2x40x33xf32>) outs(%ze : tensor<2x2x40x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x2x40x1xf32>
  %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%e, %sum : tensor<2x2x40x33xf32>, tensor<2x2x40x1xf32>) outs(%se : tensor<2x2x40x33xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %div = arith.divf %x, %y : f32
    linalg.yield %div : f32
  } -> tensor<2x2x40x33xf32>
  %wc = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<2x2x40x33xf32> into tensor<4x40x33xf32>
  %re = tensor.empty() : tensor<4x40x16xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<4x40x16xf32>) -> tensor<4x40x16xf32>
  %r = linalg.batch_matmul ins(%wc, %vc : tensor<4x40x33xf32>, tensor<4x33x16xf32>) outs(%rf : tensor<4x40x16xf32>) -> tensor<4x40x16xf32>
  %rx = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [2, 2, 40, 16] : tensor<4x40x16xf32> into tensor<2x2x40x16xf32>
  return %rx : tensor<2x2x40x16xf32>
}

func.func @causal_added(%q: tensor<2x2x70x16xf32>, %k: tensor<2x2x70x16xf32>, %v: tensor<2x2x70x16xf32>) -> tensor<2x2x70x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %true = arith.constant true
  %c0 = arith.constant 0 : i64
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x2x70x16xf32> into tensor<4x70x16xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x2x70x16xf32> into tensor<4x70x16xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x2x70x16xf32> into tensor<4x70x16xf32>
  %pe = tensor.empty() : tensor<4x70x70xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%pe : tensor<4x70x70xf32>) -> tensor<4x70x70xf32>
  %p3 = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%qc, %kc : tensor<4x70x16xf32>, tensor<4x70x16xf32>) outs(%pf : tensor<4x70x70xf32>) -> tensor<4x70x70xf32>
  %p = tensor.expand_shape %p3 [[0, 1], [2], [3]] output_shape [2, 2, 70, 70] : tensor<4x70x70xf32> into tensor<2x2x70x70xf32>
  %se = tensor.empty() : tensor<2x2x70x70xf32>
  %ie = tensor.empty() : tensor<70xi64>
  %i = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%ie : tensor<70xi64>) {
  ^bb0(%o: i64):
    %at = linalg.index 0 : index
    %number = arith.index_cast %at : index to i64
    linalg.yield %number : i64
  } -> tensor<70xi64>
  %ik = tensor.expand_shape %i [[0, 1]] output_shape [1, 70] : tensor<70xi64> into tensor<1x70xi64>
  %ir = tensor.expand_shape %i [[0, 1]] output_shape [70, 1] : tensor<70xi64> into tensor<70x1xi64>
  %s = linalg.generic {indexing_maps = [#id, #keys, #rows, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %ik, %ir : tensor<2x2x70x70xf32>, tensor<1x70xi64>, tensor<70x1xi64>) outs(%se : tensor<2x2x70x70xf32>) {
  ^bb0(%x: f32, %k0: i64, %r0: i64, %o: f32):
    %ahead = arith.subi %k0, %r0 : i64
    %in = arith.cmpi sle, %ahead, %c0 : i64
    %mask = arith.select %in, %zero, %low : f32
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.addf %scaled, %mask : f32
    linalg.yield %score : f32
  } -> tensor<2x2x70x70xf32>
  %me = tensor.empty() : tensor<2x2x70x1xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<2x2x70x1xf32>) -> tensor<2x2x70x1xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<2x2x70x70xf32>) outs(%mf : tensor<2x2x70x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x2x70x1xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %max : tensor<2x2x70x70xf32>, tensor<2x2x70x1xf32>) outs(%se : tensor<2x2x70x70xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %power = math.exp %less : f32
    linalg.yield %power : f32
  } -> tensor<2x2x70x70xf32>
  %ze = linalg.fill ins(%zero : f32) outs(%me : tensor<2x2x70x1xf32>) -> tensor<2x2x70x1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e : tensor<2x2x70x70xf32>) outs(%ze : tensor<2x2x70x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<2x2x70x1xf32>
  %be = tensor.empty() : tensor<2x2x70x1xi1>
  %bf = linalg.fill ins(%true : i1) outs(%be : tensor<2x2x70x1xi1>) -> tensor<2x2x70x1xi1>
  %none = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<2x2x70x70xf32>) outs(%bf : tensor<2x2x70x1xi1>) {
  ^bb0(%x: f32, %o: i1):
    %is = arith.cmpf oeq, %x, %low : f32
    %all = arith.andi %is, %o : i1
    linalg.yield %all : i1
  } -> tensor<2x2x70x1xi1>
  %w = linalg.generic {indexing_maps = [#row, #id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%none, %e, %sum : tensor<2x2x70x1xi1>, tensor<2x2x70x70xf32>, tensor<2x2x70x1xf32>) outs(%se : tensor<2x2x70x70xf32>) {
  ^bb0(%c: i1, %x: f32, %y: f32, %o: f32):
    %div = arith.divf %x, %y : f32
    %z = arith.select %c, %zero, %div : f32
    linalg.yield %z : f32
  } -> tensor<2x2x70x70xf32>
  %wc = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<2x2x70x70xf32> into tensor<4x70x70xf32>
  %re = tensor.empty() : tensor<4x70x16xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<4x70x16xf32>) -> tensor<4x70x16xf32>
  %r = linalg.batch_matmul ins(%wc, %vc : tensor<4x70x70xf32>, tensor<4x70x16xf32>) outs(%rf : tensor<4x70x16xf32>) -> tensor<4x70x16xf32>
  %rx = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [2, 2, 70, 16] : tensor<4x70x16xf32> into tensor<2x2x70x16xf32>
  return %rx : tensor<2x2x70x16xf32>
}

func.func @causal_filled(%q: tensor<1x2x40x64xf32>, %k: tensor<1x2x40x64xf32>, %v: tensor<1x2x40x64xf32>) -> tensor<1x2x40x64xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %true = arith.constant true
  %c0 = arith.constant 0 : i64
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<1x2x40x64xf32> into tensor<2x40x64xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<1x2x40x64xf32> into tensor<2x40x64xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<1x2x40x64xf32> into tensor<2x40x64xf32>
  %pe = tensor.empty() : tensor<2x40x40xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%pe : tensor<2x40x40xf32>) -> tensor<2x40x40xf32>
  %p3 = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%qc, %kc : tensor<2x40x64xf32>, tensor<2x40x64xf32>) outs(%pf : tensor<2x40x40xf32>) -> tensor<2x40x40xf32>
  %p = tensor.expand_shape %p3 [[0, 1], [2], [3]] output_shape [1, 2, 40, 40] : tensor<2x40x40xf32> into tensor<1x2x40x40xf32>
  %se = tensor.empty() : tensor<1x2x40x40xf32>
  %ie = tensor.empty() : tensor<40xi64>
  %i = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%ie : tensor<40xi64>) {
  ^bb0(%o: i64):
    %at = linalg.index 0 : index
    %number = arith.index_cast %at : index to i64
    linalg.yield %number : i64
  } -> tensor<40xi64>
  %ik = tensor.expand_shape %i [[0, 1]] output_shape [1, 40] : tensor<40xi64> into tensor<1x40xi64>
  %ir = tensor.expand_shape %i [[0, 1]] output_shape [40, 1] : tensor<40xi64> into tensor<40x1xi64>
  %s = linalg.generic {indexing_maps = [#id, #keys, #rows, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %ik, %ir : tensor<1x2x40x40xf32>, tensor<1x40xi64>, tensor<40x1xi64>) outs(%se : tensor<1x2x40x40xf32>) {
  ^bb0(%x: f32, %k0: i64, %r0: i64, %o: f32):
    %ahead = arith.subi %k0, %r0 : i64
    %out = arith.cmpi sgt, %ahead, %c0 : i64
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.select %out, %low, %scaled : f32
    linalg.yield %score : f32
  } -> tensor<1x2x40x40xf32>
  %me = tensor.empty() : tensor<1x2x40x1xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<1x2x40x1xf32>) -> tensor<1x2x40x1xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<1x2x40x40xf32>) outs(%mf : tensor<1x2x40x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<1x2x40x1xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %max : tensor<1x2x40x40xf32>, tensor<1x2x40x1xf32>) outs(%se : tensor<1x2x40x40xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %less = arith.subf %x, %y : f32
    %power = math.exp %less : f32
    linalg.yield %power : f32
  } -> tensor<1x2x40x40xf32>
  %ze = linalg.fill ins(%zero : f32) outs(%me : tensor<1x2x40x1xf32>) -> tensor<1x2x40x1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e : tensor<1x2x40x40xf32>) outs(%ze : tensor<1x2x40x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<1x2x40x1xf32>
  %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%e, %sum : tensor<1x2x40x40xf32>, tensor<1x2x40x1xf32>) outs(%se : tensor<1x2x40x40xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %div = arith.divf %x, %y : f32
    linalg.yield %div : f32
  } -> tensor<1x2x40x40xf32>
  %wc = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<1x2x40x40xf32> into tensor<2x40x40xf32>
  %re = tensor.empty() : tensor<2x40x64xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
  %r = linalg.batch_matmul ins(%wc, %vc : tensor<2x40x40xf32>, tensor<2x40x64xf32>) outs(%rf : tensor<2x40x64xf32>) -> tensor<2x40x64xf32>
  %rx = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [1, 2, 40, 64] : tensor<2x40x64xf32> into tensor<1x2x40x64xf32>
  return %rx : tensor<1x2x40x64xf32>
}
