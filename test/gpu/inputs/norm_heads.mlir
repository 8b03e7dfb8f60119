// Norms of a few rows before a product whose B lies along the sum: one kernel each, at sizes that fill neither the last block of columns,
// nor the last turn of the blocks, nor the last step along the sum, nor a warp's four columns.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>

func.func @layer_1x132x13901(%x: tensor<1x132xf32>, %gain: tensor<132xf32>, %bias: tensor<132xf32>, %w: tensor<13901x132xf32>) -> tensor<1x13901xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 132.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<1x132xf32>
  %er = tensor.empty() : tensor<1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x132xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<1xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<1x132xf32>, tensor<1xf32>) outs(%ex : tensor<1x132xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.subf %p, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x132xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<1x132xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %bias : tensor<1x132xf32>, tensor<1xf32>, tensor<132xf32>, tensor<132xf32>) outs(%ex : tensor<1x132xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<1x132xf32>
  %eo = tensor.empty() : tensor<1x13901xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x13901xf32>) -> tensor<1x13901xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<1x132xf32>, tensor<13901x132xf32>) outs(%fo : tensor<1x13901xf32>) {
  ^bb0(%x0: f32, %y: f32, %z: f32):
    %p = arith.mulf %x0, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x13901xf32>
  return %product : tensor<1x13901xf32>
}

func.func @rms_1x1028x50_residual(%x: tensor<1x1028xf32>, %gain: tensor<1028xf32>, %bias: tensor<1028xf32>, %w: tensor<50x1028xf32>, %offset: tensor<50xf32>, %rest: tensor<1x50xf32>) -> tensor<1x50xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1028.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<1x1028xf32>
  %er = tensor.empty() : tensor<1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x1028xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain, %bias : tensor<1x1028xf32>, tensor<1xf32>, tensor<1028xf32>, tensor<1028xf32>) outs(%ex : tensor<1x1028xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<1x1028xf32>
  %eo = tensor.empty() : tensor<1x50xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x50xf32>) -> tensor<1x50xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<1x1028xf32>, tensor<50x1028xf32>) outs(%fo : tensor<1x50xf32>) {
  ^bb0(%x0: f32, %y: f32, %z: f32):
    %p = arith.mulf %x0, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x50xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%product, %offset, %rest : tensor<1x50xf32>, tensor<50xf32>, tensor<1x50xf32>) outs(%eo : tensor<1x50xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32, %d: f32):
    %0 = arith.addf %p, %q : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1x50xf32>
  return %r : tensor<1x50xf32>
}

func.func @layer_3x516x6950(%x: tensor<3x516xf32>, %gain: tensor<516xf32>, %bias: tensor<516xf32>, %w: tensor<6950x516xf32>) -> tensor<3x6950xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 516.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<3x516xf32>
  %er = tensor.empty() : tensor<3xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<3xf32>) -> tensor<3xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x516xf32>) outs(%fr : tensor<3xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<3xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<3x516xf32>, tensor<3xf32>) outs(%ex : tensor<3x516xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.subf %p, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<3x516xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<3x516xf32>) outs(%fr : tensor<3xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %bias : tensor<3x516xf32>, tensor<3xf32>, tensor<516xf32>, tensor<516xf32>) outs(%ex : tensor<3x516xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<3x516xf32>
  %eo = tensor.empty() : tensor<3x6950xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x6950xf32>) -> tensor<3x6950xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<3x516xf32>, tensor<6950x516xf32>) outs(%fo : tensor<3x6950xf32>) {
  ^bb0(%x0: f32, %y: f32, %z: f32):
    %p = arith.mulf %x0, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x6950xf32>
  return %product : tensor<3x6950xf32>
}

func.func @layer_8x772x37_residual(%x: tensor<8x772xf32>, %gain: tensor<772xf32>, %bias: tensor<772xf32>, %w: tensor<37x772xf32>, %offset: tensor<37xf32>, %rest: tensor<8x37xf32>) -> tensor<8x37xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 772.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<8x772xf32>
  %er = tensor.empty() : tensor<8xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x772xf32>) outs(%fr : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<8x772xf32>, tensor<8xf32>) outs(%ex : tensor<8x772xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.subf %p, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x772xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<8x772xf32>) outs(%fr : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %bias : tensor<8x772xf32>, tensor<8xf32>, tensor<772xf32>, tensor<772xf32>) outs(%ex : tensor<8x772xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<8x772xf32>
  %eo = tensor.empty() : tensor<8x37xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x37xf32>) -> tensor<8x37xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<8x772xf32>, tensor<37x772xf32>) outs(%fo : tensor<8x37xf32>) {
  ^bb0(%x0: f32, %y: f32, %z: f32):
    %p = arith.mulf %x0, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x37xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%product, %offset, %rest : tensor<8x37xf32>, tensor<37xf32>, tensor<8x37xf32>) outs(%eo : tensor<8x37xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32, %d: f32):
    %0 = arith.addf %p, %q : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<8x37xf32>
  return %r : tensor<8x37xf32>
}

func.func @rms_2x260x70(%x: tensor<2x260xf32>, %gain: tensor<260xf32>, %bias: tensor<260xf32>, %w: tensor<70x260xf32>) -> tensor<2x70xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 260.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<2x260xf32>
  %er = tensor.empty() : tensor<2xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<2xf32>) -> tensor<2xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x260xf32>) outs(%fr : tensor<2xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<2xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain, %bias : tensor<2x260xf32>, tensor<2xf32>, tensor<260xf32>, tensor<260xf32>) outs(%ex : tensor<2x260xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<2x260xf32>
  %eo = tensor.empty() : tensor<2x70xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x70xf32>) -> tensor<2x70xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<2x260xf32>, tensor<70x260xf32>) outs(%fo : tensor<2x70xf32>) {
  ^bb0(%x0: f32, %y: f32, %z: f32):
    %p = arith.mulf %x0, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x70xf32>
  return %product : tensor<2x70xf32>
}

func.func @rms_2x100x3(%x: tensor<2x100xf32>, %gain: tensor<100xf32>, %bias: tensor<100xf32>, %w: tensor<3x100xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 100.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<2x100xf32>
  %er = tensor.empty() : tensor<2xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<2xf32>) -> tensor<2xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x100xf32>) outs(%fr : tensor<2xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<2xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain, %bias : tensor<2x100xf32>, tensor<2xf32>, tensor<100xf32>, tensor<100xf32>) outs(%ex : tensor<2x100xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<2x100xf32>
  %eo = tensor.empty() : tensor<2x3xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3xf32>) -> tensor<2x3xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<2x100xf32>, tensor<3x100xf32>) outs(%fo : tensor<2x3xf32>) {
  ^bb0(%x0: f32, %y: f32, %z: f32):
    %p = arith.mulf %x0, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %product : tensor<2x3xf32>
}

func.func @layer_1x776x45_bf16(%x: tensor<1x776xf32>, %gain: tensor<776xf32>, %bias: tensor<776xf32>, %w: tensor<45x776xbf16>) -> tensor<1x45xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 776.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<1x776xf32>
  %er = tensor.empty() : tensor<1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x776xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<1xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<1x776xf32>, tensor<1xf32>) outs(%ex : tensor<1x776xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.subf %p, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x776xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<1x776xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %bias : tensor<1x776xf32>, tensor<1xf32>, tensor<776xf32>, tensor<776xf32>) outs(%ex : tensor<1x776xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<1x776xf32>
  %eo = tensor.empty() : tensor<1x45xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x45xf32>) -> tensor<1x45xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<1x776xf32>, tensor<45x776xbf16>) outs(%fo : tensor<1x45xf32>) {
  ^bb0(%x0: f32, %y: bf16, %z: f32):
    %wide = arith.extf %y : bf16 to f32
    %p = arith.mulf %x0, %wide : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x45xf32>
  return %product : tensor<1x45xf32>
}

func.func @rms_3x264x33_i8_residual(%x: tensor<3x264xf32>, %gain: tensor<264xf32>, %bias: tensor<264xf32>, %w: tensor<33x264xi8> {tinymlir.range = [-128, 128]}, %offset: tensor<33xf32>, %rest: tensor<3x33xf32>) -> tensor<3x33xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 264.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<3x264xf32>
  %er = tensor.empty() : tensor<3xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<3xf32>) -> tensor<3xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x264xf32>) outs(%fr : tensor<3xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain, %bias : tensor<3x264xf32>, tensor<3xf32>, tensor<264xf32>, tensor<264xf32>) outs(%ex : tensor<3x264xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<3x264xf32>
  %eo = tensor.empty() : tensor<3x33xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x33xf32>) -> tensor<3x33xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<3x264xf32>, tensor<33x264xi8>) outs(%fo : tensor<3x33xf32>) {
  ^bb0(%x0: f32, %y: i8, %z: f32):
    %wide = arith.sitofp %y : i8 to f32
    %p = arith.mulf %x0, %wide : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x33xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%product, %offset, %rest : tensor<3x33xf32>, tensor<33xf32>, tensor<3x33xf32>) outs(%eo : tensor<3x33xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32, %d: f32):
    %0 = arith.addf %p, %q : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<3x33xf32>
  return %r : tensor<3x33xf32>
}

func.func @layer_8x520x70_bf16(%x: tensor<8x520xf32>, %gain: tensor<520xf32>, %bias: tensor<520xf32>, %w: tensor<70x520xbf16>) -> tensor<8x70xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 520.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<8x520xf32>
  %er = tensor.empty() : tensor<8xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x520xf32>) outs(%fr : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<8x520xf32>, tensor<8xf32>) outs(%ex : tensor<8x520xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.subf %p, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x520xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<8x520xf32>) outs(%fr : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %bias : tensor<8x520xf32>, tensor<8xf32>, tensor<520xf32>, tensor<520xf32>) outs(%ex : tensor<8x520xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<8x520xf32>
  %eo = tensor.empty() : tensor<8x70xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x70xf32>) -> tensor<8x70xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<8x520xf32>, tensor<70x520xbf16>) outs(%fo : tensor<8x70xf32>) {
  ^bb0(%x0: f32, %y: bf16, %z: f32):
    %wide = arith.extf %y : bf16 to f32
    %p = arith.mulf %x0, %wide : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x70xf32>
  return %product : tensor<8x70xf32>
}

func.func @rms_4x136x6930_i8(%x: tensor<4x136xf32>, %gain: tensor<136xf32>, %bias: tensor<136xf32>, %w: tensor<6930x136xi8> {tinymlir.range = [-128, 128]}) -> tensor<4x6930xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 136.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<4x136xf32>
  %er = tensor.empty() : tensor<4xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x136xf32>) outs(%fr : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain, %bias : tensor<4x136xf32>, tensor<4xf32>, tensor<136xf32>, tensor<136xf32>) outs(%ex : tensor<4x136xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %p, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<4x136xf32>
  %eo = tensor.empty() : tensor<4x6930xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x6930xf32>) -> tensor<4x6930xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%normal, %w : tensor<4x136xf32>, tensor<6930x136xi8>) outs(%fo : tensor<4x6930xf32>) {
  ^bb0(%x0: f32, %y: i8, %z: f32):
    %wide = arith.sitofp %y : i8 to f32
    %p = arith.mulf %x0, %wide : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6930xf32>
  return %product : tensor<4x6930xf32>
}
