// Attention of one row a head, the product of all heads' rows with a matrix, a residual, an RMS norm and the two products behind it: from
// sm_90 on the attention and its product are one kernel, and the product behind the norm adds up what the heads leave.
#all = affine_map<(b, i, j) -> (b, i, j)>
#first = affine_map<(b, i, j) -> (0)>
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

func.func @gpt2_12x1024x64(%q: tensor<12x1x64xf32>, %k: tensor<12x1024x64xf32>, %v: tensor<12x1024x64xf32>, %position: tensor<1xi32> {tinymlir.range = [0, 1024]}, %w: tensor<768x768xf32>, %bias: tensor<768xf32>, %x: tensor<1x768xf32>, %gain: tensor<768xf32>, %up: tensor<768x96xf32>, %down: tensor<96x768xf32>) -> tensor<1x768xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.375 : f32
  %es = tensor.empty() : tensor<12x1x1024xf32>
  %eh = tensor.empty() : tensor<12x1x64xf32>
  %er = tensor.empty() : tensor<1x768xf32>
  %e1 = tensor.empty() : tensor<1xf32>
  %eu = tensor.empty() : tensor<1x96xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<12x1x1024xf32>) -> tensor<12x1x1024xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<12x1x64xf32>, tensor<12x1024x64xf32>) outs(%fs : tensor<12x1x1024xf32>) -> tensor<12x1x1024xf32>
  %scores = linalg.generic {indexing_maps = [#all, #first, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products, %position : tensor<12x1x1024xf32>, tensor<1xi32>) outs(%es : tensor<12x1x1024xf32>) {
  ^bb0(%a: f32, %p: i32, %o: f32):
    %0 = linalg.index 2 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.cmpi sle, %1, %p : i32
    %3 = arith.mulf %a, %scale : f32
    %4 = arith.select %2, %3, %low : f32
    linalg.yield %4 : f32
  } -> tensor<12x1x1024xf32>
  %weights = linalg.softmax dimension(2) ins(%scores : tensor<12x1x1024xf32>) outs(%es : tensor<12x1x1024xf32>) -> tensor<12x1x1024xf32>
  %fh = linalg.fill ins(%zero : f32) outs(%eh : tensor<12x1x64xf32>) -> tensor<12x1x64xf32>
  %heads = linalg.batch_matmul ins(%weights, %v : tensor<12x1x1024xf32>, tensor<12x1024x64xf32>) outs(%fh : tensor<12x1x64xf32>) -> tensor<12x1x64xf32>
  %joined = tensor.collapse_shape %heads [[0, 1, 2]] : tensor<12x1x64xf32> into tensor<768xf32>
  %row = tensor.expand_shape %joined [[0, 1]] output_shape [1, 768] : tensor<768xf32> into tensor<1x768xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1x768xf32>) -> tensor<1x768xf32>
  %out = linalg.matmul ins(%row, %w : tensor<1x768xf32>, tensor<768x768xf32>) outs(%fr : tensor<1x768xf32>) -> tensor<1x768xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%out, %bias, %x : tensor<1x768xf32>, tensor<768xf32>, tensor<1x768xf32>) outs(%er : tensor<1x768xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x768xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1xf32>) -> tensor<1xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<1x768xf32>) outs(%f1 : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %squares, %gain : tensor<1x768xf32>, tensor<1xf32>, tensor<768xf32>) outs(%er : tensor<1x768xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %o: f32):
    %n = arith.constant 768.0 : f32
    %0 = arith.divf %s, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %2, %g : f32
    linalg.yield %3 : f32
  } -> tensor<1x768xf32>
  %fu = linalg.fill ins(%zero : f32) outs(%eu : tensor<1x96xf32>) -> tensor<1x96xf32>
  %h = linalg.matmul ins(%normal, %up : tensor<1x768xf32>, tensor<768x96xf32>) outs(%fu : tensor<1x96xf32>) -> tensor<1x96xf32>
  %act = linalg.tanh ins(%h : tensor<1x96xf32>) outs(%eu : tensor<1x96xf32>) -> tensor<1x96xf32>
  %d = linalg.matmul ins(%act, %down : tensor<1x96xf32>, tensor<96x768xf32>) outs(%fr : tensor<1x768xf32>) -> tensor<1x768xf32>
  %z = linalg.add ins(%y, %d : tensor<1x768xf32>, tensor<1x768xf32>) outs(%er : tensor<1x768xf32>) -> tensor<1x768xf32>
  return %z : tensor<1x768xf32>
}

func.func @gated_3x75x24_bf16(%q: tensor<3x1x24xf32>, %k: tensor<3x75x24xf32>, %v: tensor<3x75x24xf32>, %position: tensor<1xi32> {tinymlir.range = [0, 75]}, %w: tensor<72x160xbf16>, %x: tensor<1x160xf32>, %gain: tensor<160xf32>, %up: tensor<160x52xf32>, %gate: tensor<160x52xf32>, %down: tensor<52x160xf32>) -> tensor<1x160xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.375 : f32
  %es = tensor.empty() : tensor<3x1x75xf32>
  %eh = tensor.empty() : tensor<3x1x24xf32>
  %er = tensor.empty() : tensor<1x160xf32>
  %e1 = tensor.empty() : tensor<1xf32>
  %eu = tensor.empty() : tensor<1x52xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<3x1x75xf32>) -> tensor<3x1x75xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<3x1x24xf32>, tensor<3x75x24xf32>) outs(%fs : tensor<3x1x75xf32>) -> tensor<3x1x75xf32>
  %scores = linalg.generic {indexing_maps = [#all, #first, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products, %position : tensor<3x1x75xf32>, tensor<1xi32>) outs(%es : tensor<3x1x75xf32>) {
  ^bb0(%a: f32, %p: i32, %o: f32):
    %0 = linalg.index 2 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.cmpi sle, %1, %p : i32
    %3 = arith.mulf %a, %scale : f32
    %4 = arith.select %2, %3, %low : f32
    linalg.yield %4 : f32
  } -> tensor<3x1x75xf32>
  %weights = linalg.softmax dimension(2) ins(%scores : tensor<3x1x75xf32>) outs(%es : tensor<3x1x75xf32>) -> tensor<3x1x75xf32>
  %fh = linalg.fill ins(%zero : f32) outs(%eh : tensor<3x1x24xf32>) -> tensor<3x1x24xf32>
  %heads = linalg.batch_matmul ins(%weights, %v : tensor<3x1x75xf32>, tensor<3x75x24xf32>) outs(%fh : tensor<3x1x24xf32>) -> tensor<3x1x24xf32>
  %joined = tensor.collapse_shape %heads [[0, 1, 2]] : tensor<3x1x24xf32> into tensor<72xf32>
  %row = tensor.expand_shape %joined [[0, 1]] output_shape [1, 72] : tensor<72xf32> into tensor<1x72xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1x160xf32>) -> tensor<1x160xf32>
  %out = linalg.matmul ins(%row, %w : tensor<1x72xf32>, tensor<72x160xbf16>) outs(%fr : tensor<1x160xf32>) -> tensor<1x160xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%out, %x : tensor<1x160xf32>, tensor<1x160xf32>) outs(%er : tensor<1x160xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %1 = arith.addf %c, %a : f32
    linalg.yield %1 : f32
  } -> tensor<1x160xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1xf32>) -> tensor<1xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<1x160xf32>) outs(%f1 : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %squares, %gain : tensor<1x160xf32>, tensor<1xf32>, tensor<160xf32>) outs(%er : tensor<1x160xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %o: f32):
    %n = arith.constant 160.0 : f32
    %0 = arith.divf %s, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %2, %g : f32
    linalg.yield %3 : f32
  } -> tensor<1x160xf32>
  %fu = linalg.fill ins(%zero : f32) outs(%eu : tensor<1x52xf32>) -> tensor<1x52xf32>
  %h = linalg.matmul ins(%normal, %up : tensor<1x160xf32>, tensor<160x52xf32>) outs(%fu : tensor<1x52xf32>) -> tensor<1x52xf32>
  %gates = linalg.matmul ins(%normal, %gate : tensor<1x160xf32>, tensor<160x52xf32>) outs(%fu : tensor<1x52xf32>) -> tensor<1x52xf32>
  %act = linalg.mul ins(%h, %gates : tensor<1x52xf32>, tensor<1x52xf32>) outs(%eu : tensor<1x52xf32>) -> tensor<1x52xf32>
  %d = linalg.matmul ins(%act, %down : tensor<1x52xf32>, tensor<52x160xf32>) outs(%fr : tensor<1x160xf32>) -> tensor<1x160xf32>
  %z = linalg.add ins(%y, %d : tensor<1x160xf32>, tensor<1x160xf32>) outs(%er : tensor<1x160xf32>) -> tensor<1x160xf32>
  return %z : tensor<1x160xf32>
}

// More keys than a block takes in one turn, and one head.
func.func @turns_1x2500x32(%q: tensor<1x1x32xf32>, %k: tensor<1x2500x32xf32>, %v: tensor<1x2500x32xf32>, %w: tensor<32x96xf32>, %bias: tensor<96xf32>, %x: tensor<1x96xf32>, %gain: tensor<96xf32>, %up: tensor<96x20xf32>, %down: tensor<20x96xf32>) -> tensor<1x96xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.375 : f32
  %es = tensor.empty() : tensor<1x1x2500xf32>
  %eh = tensor.empty() : tensor<1x1x32xf32>
  %er = tensor.empty() : tensor<1x96xf32>
  %e1 = tensor.empty() : tensor<1xf32>
  %eu = tensor.empty() : tensor<1x20xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<1x1x2500xf32>) -> tensor<1x1x2500xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<1x1x32xf32>, tensor<1x2500x32xf32>) outs(%fs : tensor<1x1x2500xf32>) -> tensor<1x1x2500xf32>
  %scores = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products : tensor<1x1x2500xf32>) outs(%es : tensor<1x1x2500xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %scale : f32
    linalg.yield %0 : f32
  } -> tensor<1x1x2500xf32>
  %weights = linalg.softmax dimension(2) ins(%scores : tensor<1x1x2500xf32>) outs(%es : tensor<1x1x2500xf32>) -> tensor<1x1x2500xf32>
  %fh = linalg.fill ins(%zero : f32) outs(%eh : tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
  %heads = linalg.batch_matmul ins(%weights, %v : tensor<1x1x2500xf32>, tensor<1x2500x32xf32>) outs(%fh : tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
  %row = tensor.collapse_shape %heads [[0, 1], [2]] : tensor<1x1x32xf32> into tensor<1x32xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1x96xf32>) -> tensor<1x96xf32>
  %out = linalg.matmul ins(%row, %w : tensor<1x32xf32>, tensor<32x96xf32>) outs(%fr : tensor<1x96xf32>) -> tensor<1x96xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%out, %bias, %x : tensor<1x96xf32>, tensor<96xf32>, tensor<1x96xf32>) outs(%er : tensor<1x96xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x96xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1xf32>) -> tensor<1xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<1x96xf32>) outs(%f1 : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %squares, %gain : tensor<1x96xf32>, tensor<1xf32>, tensor<96xf32>) outs(%er : tensor<1x96xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %o: f32):
    %n = arith.constant 96.0 : f32
    %0 = arith.divf %s, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %2, %g : f32
    linalg.yield %3 : f32
  } -> tensor<1x96xf32>
  %fu = linalg.fill ins(%zero : f32) outs(%eu : tensor<1x20xf32>) -> tensor<1x20xf32>
  %h = linalg.matmul ins(%normal, %up : tensor<1x96xf32>, tensor<96x20xf32>) outs(%fu : tensor<1x20xf32>) -> tensor<1x20xf32>
  %act = linalg.tanh ins(%h : tensor<1x20xf32>) outs(%eu : tensor<1x20xf32>) -> tensor<1x20xf32>
  %d = linalg.matmul ins(%act, %down : tensor<1x20xf32>, tensor<20x96xf32>) outs(%fr : tensor<1x96xf32>) -> tensor<1x96xf32>
  %z = linalg.add ins(%y, %d : tensor<1x96xf32>, tensor<1x96xf32>) outs(%er : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %z : tensor<1x96xf32>
}

// More keys than there are lanes for, of few elements; columns that fill no warp.
func.func @small_5x9x4_i8(%q: tensor<5x1x4xf32>, %k: tensor<5x9x4xf32>, %v: tensor<5x9x4xf32>, %position: tensor<1xi32> {tinymlir.range = [0, 9]}, %w: tensor<20x32xi8> {tinymlir.range = [-127, 128]}, %bias: tensor<32xf32>, %x: tensor<1x32xf32>, %gain: tensor<32xf32>, %up: tensor<32x36xf32>, %down: tensor<36x32xf32>) -> tensor<1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.375 : f32
  %es = tensor.empty() : tensor<5x1x9xf32>
  %eh = tensor.empty() : tensor<5x1x4xf32>
  %er = tensor.empty() : tensor<1x32xf32>
  %e1 = tensor.empty() : tensor<1xf32>
  %eu = tensor.empty() : tensor<1x36xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<5x1x9xf32>) -> tensor<5x1x9xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<5x1x4xf32>, tensor<5x9x4xf32>) outs(%fs : tensor<5x1x9xf32>) -> tensor<5x1x9xf32>
  %scores = linalg.generic {indexing_maps = [#all, #first, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products, %position : tensor<5x1x9xf32>, tensor<1xi32>) outs(%es : tensor<5x1x9xf32>) {
  ^bb0(%a: f32, %p: i32, %o: f32):
    %0 = linalg.index 2 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.cmpi sle, %1, %p : i32
    %3 = arith.mulf %a, %scale : f32
    %4 = arith.select %2, %3, %low : f32
    linalg.yield %4 : f32
  } -> tensor<5x1x9xf32>
  %weights = linalg.softmax dimension(2) ins(%scores : tensor<5x1x9xf32>) outs(%es : tensor<5x1x9xf32>) -> tensor<5x1x9xf32>
  %fh = linalg.fill ins(%zero : f32) outs(%eh : tensor<5x1x4xf32>) -> tensor<5x1x4xf32>
  %heads = linalg.batch_matmul ins(%weights, %v : tensor<5x1x9xf32>, tensor<5x9x4xf32>) outs(%fh : tensor<5x1x4xf32>) -> tensor<5x1x4xf32>
  %joined = tensor.collapse_shape %heads [[0, 1, 2]] : tensor<5x1x4xf32> into tensor<20xf32>
  %row = tensor.expand_shape %joined [[0, 1]] output_shape [1, 20] : tensor<20xf32> into tensor<1x20xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1x32xf32>) -> tensor<1x32xf32>
  %out = linalg.matmul ins(%row, %w : tensor<1x20xf32>, tensor<20x32xi8>) outs(%fr : tensor<1x32xf32>) -> tensor<1x32xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%out, %bias, %x : tensor<1x32xf32>, tensor<32xf32>, tensor<1x32xf32>) outs(%er : tensor<1x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1xf32>) -> tensor<1xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<1x32xf32>) outs(%f1 : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %squares, %gain : tensor<1x32xf32>, tensor<1xf32>, tensor<32xf32>) outs(%er : tensor<1x32xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %o: f32):
    %n = arith.constant 32.0 : f32
    %0 = arith.divf %s, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %2, %g : f32
    linalg.yield %3 : f32
  } -> tensor<1x32xf32>
  %fu = linalg.fill ins(%zero : f32) outs(%eu : tensor<1x36xf32>) -> tensor<1x36xf32>
  %h = linalg.matmul ins(%normal, %up : tensor<1x32xf32>, tensor<32x36xf32>) outs(%fu : tensor<1x36xf32>) -> tensor<1x36xf32>
  %act = linalg.tanh ins(%h : tensor<1x36xf32>) outs(%eu : tensor<1x36xf32>) -> tensor<1x36xf32>
  %d = linalg.matmul ins(%act, %down : tensor<1x36xf32>, tensor<36x32xf32>) outs(%fr : tensor<1x32xf32>) -> tensor<1x32xf32>
  %z = linalg.add ins(%y, %d : tensor<1x32xf32>, tensor<1x32xf32>) outs(%er : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %z : tensor<1x32xf32>
}

// What the product behind the norm reads in its store cannot be stored by it.
func.func @between_2x40x16_f16(%q: tensor<2x1x16xf32>, %k: tensor<2x40x16xf32>, %v: tensor<2x40x16xf32>, %position: tensor<1xi32> {tinymlir.range = [0, 40]}, %w: tensor<32x64xf16>, %bias: tensor<64xf32>, %x: tensor<1x64xf32>, %gain: tensor<64xf32>, %up: tensor<64x64xf32>, %down: tensor<64x64xf32>) -> tensor<1x64xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.375 : f32
  %es = tensor.empty() : tensor<2x1x40xf32>
  %eh = tensor.empty() : tensor<2x1x16xf32>
  %er = tensor.empty() : tensor<1x64xf32>
  %e1 = tensor.empty() : tensor<1xf32>
  %eu = tensor.empty() : tensor<1x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x1x40xf32>) -> tensor<2x1x40xf32>
  %products = linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : tensor<2x1x16xf32>, tensor<2x40x16xf32>) outs(%fs : tensor<2x1x40xf32>) -> tensor<2x1x40xf32>
  %scores = linalg.generic {indexing_maps = [#all, #first, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%products, %position : tensor<2x1x40xf32>, tensor<1xi32>) outs(%es : tensor<2x1x40xf32>) {
  ^bb0(%a: f32, %p: i32, %o: f32):
    %0 = linalg.index 2 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.cmpi sle, %1, %p : i32
    %3 = arith.mulf %a, %scale : f32
    %4 = arith.select %2, %3, %low : f32
    linalg.yield %4 : f32
  } -> tensor<2x1x40xf32>
  %weights = linalg.softmax dimension(2) ins(%scores : tensor<2x1x40xf32>) outs(%es : tensor<2x1x40xf32>) -> tensor<2x1x40xf32>
  %fh = linalg.fill ins(%zero : f32) outs(%eh : tensor<2x1x16xf32>) -> tensor<2x1x16xf32>
  %heads = linalg.batch_matmul ins(%weights, %v : tensor<2x1x40xf32>, tensor<2x40x16xf32>) outs(%fh : tensor<2x1x16xf32>) -> tensor<2x1x16xf32>
  %joined = tensor.collapse_shape %heads [[0, 1, 2]] : tensor<2x1x16xf32> into tensor<32xf32>
  %row = tensor.expand_shape %joined [[0, 1]] output_shape [1, 32] : tensor<32xf32> into tensor<1x32xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1x64xf32>) -> tensor<1x64xf32>
  %out = linalg.matmul ins(%row, %w : tensor<1x32xf32>, tensor<32x64xf16>) outs(%fr : tensor<1x64xf32>) -> tensor<1x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%out, %bias, %x : tensor<1x64xf32>, tensor<64xf32>, tensor<1x64xf32>) outs(%er : tensor<1x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1xf32>) -> tensor<1xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<1x64xf32>) outs(%f1 : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %squares, %gain : tensor<1x64xf32>, tensor<1xf32>, tensor<64xf32>) outs(%er : tensor<1x64xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %o: f32):
    %n = arith.constant 64.0 : f32
    %0 = arith.divf %s, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %2, %g : f32
    linalg.yield %3 : f32
  } -> tensor<1x64xf32>
  %fu = linalg.fill ins(%zero : f32) outs(%eu : tensor<1x64xf32>) -> tensor<1x64xf32>
  %h = linalg.matmul ins(%normal, %up : tensor<1x64xf32>, tensor<64x64xf32>) outs(%fu : tensor<1x64xf32>) -> tensor<1x64xf32>
  %act = linalg.add ins(%h, %y : tensor<1x64xf32>, tensor<1x64xf32>) outs(%eu : tensor<1x64xf32>) -> tensor<1x64xf32>
  %d = linalg.matmul ins(%act, %down : tensor<1x64xf32>, tensor<64x64xf32>) outs(%fr : tensor<1x64xf32>) -> tensor<1x64xf32>
  %z = linalg.add ins(%y, %d : tensor<1x64xf32>, tensor<1x64xf32>) outs(%er : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %z : tensor<1x64xf32>
}

