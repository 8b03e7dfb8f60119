// Products of a few rows with a norm before them and a bias and a residual behind them: one kernel each, at sizes that fill
// neither the last block of columns, nor the last step along the sum, nor a vector.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @layer_1x768x2304(%x: tensor<1x768xf32>, %gain: tensor<768xf32>, %bias: tensor<768xf32>, %w: tensor<768x2304xf32>, %offset: tensor<2304xf32>, %rest: tensor<1x2304xf32>) -> tensor<1x2304xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 768.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<1x768xf32>
  %er = tensor.empty() : tensor<1xf32>
  %eo = tensor.empty() : tensor<1x2304xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x768xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<1x768xf32>, tensor<1xf32>) outs(%ex : tensor<1x768xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %b, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x768xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<1x768xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %bias : tensor<1x768xf32>, tensor<1xf32>, tensor<768xf32>, tensor<768xf32>) outs(%ex : tensor<1x768xf32>) {
  ^bb0(%a: f32, %b: f32, %g: f32, %h: f32, %c: f32):
    %0 = arith.divf %b, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<1x768xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x2304xf32>) -> tensor<1x2304xf32>
  %product = linalg.matmul ins(%normal, %w : tensor<1x768xf32>, tensor<768x2304xf32>) outs(%fo : tensor<1x2304xf32>) -> tensor<1x2304xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%product, %offset, %rest : tensor<1x2304xf32>, tensor<2304xf32>, tensor<1x2304xf32>) outs(%eo : tensor<1x2304xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<1x2304xf32>
  return %r : tensor<1x2304xf32>
}

func.func @rms_1x516x100(%x: tensor<1x516xf32>, %gain: tensor<516xf32>, %bias: tensor<516xf32>, %w: tensor<516x100xf32>, %offset: tensor<100xf32>, %rest: tensor<1x100xf32>) -> tensor<1x100xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 516.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<1x516xf32>
  %er = tensor.empty() : tensor<1xf32>
  %eo = tensor.empty() : tensor<1x100xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x516xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain, %bias : tensor<1x516xf32>, tensor<1xf32>, tensor<516xf32>, tensor<516xf32>) outs(%ex : tensor<1x516xf32>) {
  ^bb0(%a: f32, %b: f32, %g: f32, %h: f32, %c: f32):
    %0 = arith.divf %b, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<1x516xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x100xf32>) -> tensor<1x100xf32>
  %product = linalg.matmul ins(%normal, %w : tensor<1x516xf32>, tensor<516x100xf32>) outs(%fo : tensor<1x100xf32>) -> tensor<1x100xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%product, %offset, %rest : tensor<1x100xf32>, tensor<100xf32>, tensor<1x100xf32>) outs(%eo : tensor<1x100xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<1x100xf32>
  return %r : tensor<1x100xf32>
}

func.func @layer_5x772x36(%x: tensor<5x772xf32>, %gain: tensor<772xf32>, %bias: tensor<772xf32>, %w: tensor<772x36xf32>, %offset: tensor<36xf32>, %rest: tensor<5x36xf32>) -> tensor<5x36xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 772.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<5x772xf32>
  %er = tensor.empty() : tensor<5xf32>
  %eo = tensor.empty() : tensor<5x36xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x772xf32>) outs(%fr : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<5xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<5x772xf32>, tensor<5xf32>) outs(%ex : tensor<5x772xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %b, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<5x772xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<5x772xf32>) outs(%fr : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<5xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %bias : tensor<5x772xf32>, tensor<5xf32>, tensor<772xf32>, tensor<772xf32>) outs(%ex : tensor<5x772xf32>) {
  ^bb0(%a: f32, %b: f32, %g: f32, %h: f32, %c: f32):
    %0 = arith.divf %b, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<5x772xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<5x36xf32>) -> tensor<5x36xf32>
  %product = linalg.matmul ins(%normal, %w : tensor<5x772xf32>, tensor<772x36xf32>) outs(%fo : tensor<5x36xf32>) -> tensor<5x36xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%product, %offset, %rest : tensor<5x36xf32>, tensor<36xf32>, tensor<5x36xf32>) outs(%eo : tensor<5x36xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<5x36xf32>
  return %r : tensor<5x36xf32>
}

func.func @rms_4x1540x68(%x: tensor<4x1540xf32>, %gain: tensor<1540xf32>, %bias: tensor<1540xf32>, %w: tensor<1540x68xf32>, %offset: tensor<68xf32>, %rest: tensor<4x68xf32>) -> tensor<4x68xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1540.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<4x1540xf32>
  %er = tensor.empty() : tensor<4xf32>
  %eo = tensor.empty() : tensor<4x68xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x1540xf32>) outs(%fr : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain, %bias : tensor<4x1540xf32>, tensor<4xf32>, tensor<1540xf32>, tensor<1540xf32>) outs(%ex : tensor<4x1540xf32>) {
  ^bb0(%a: f32, %b: f32, %g: f32, %h: f32, %c: f32):
    %0 = arith.divf %b, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<4x1540xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x68xf32>) -> tensor<4x68xf32>
  %product = linalg.matmul ins(%normal, %w : tensor<4x1540xf32>, tensor<1540x68xf32>) outs(%fo : tensor<4x68xf32>) -> tensor<4x68xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%product, %offset, %rest : tensor<4x68xf32>, tensor<68xf32>, tensor<4x68xf32>) outs(%eo : tensor<4x68xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<4x68xf32>
  return %r : tensor<4x68xf32>
}

func.func @layer_8x1022x20(%x: tensor<8x1022xf32>, %gain: tensor<1022xf32>, %bias: tensor<1022xf32>, %w: tensor<1022x20xf32>, %offset: tensor<20xf32>, %rest: tensor<8x20xf32>) -> tensor<8x20xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1022.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<8x1022xf32>
  %er = tensor.empty() : tensor<8xf32>
  %eo = tensor.empty() : tensor<8x20xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x1022xf32>) outs(%fr : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<8x1022xf32>, tensor<8xf32>) outs(%ex : tensor<8x1022xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %b, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x1022xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<8x1022xf32>) outs(%fr : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %bias : tensor<8x1022xf32>, tensor<8xf32>, tensor<1022xf32>, tensor<1022xf32>) outs(%ex : tensor<8x1022xf32>) {
  ^bb0(%a: f32, %b: f32, %g: f32, %h: f32, %c: f32):
    %0 = arith.divf %b, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<8x1022xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x20xf32>) -> tensor<8x20xf32>
  %product = linalg.matmul ins(%normal, %w : tensor<8x1022xf32>, tensor<1022x20xf32>) outs(%fo : tensor<8x20xf32>) -> tensor<8x20xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%product, %offset, %rest : tensor<8x20xf32>, tensor<20xf32>, tensor<8x20xf32>) outs(%eo : tensor<8x20xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<8x20xf32>
  return %r : tensor<8x20xf32>
}
