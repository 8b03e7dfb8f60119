// Two products of one row, with a norm before them, what makes the first's result the second's row, and what is added to its
// result: one kernel where reductions may be atomic, at sizes that its threads share evenly and at others.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// The perceptron of GPT-2 124M.
func.func @layer_768x3072x768(%x: tensor<1x768xf32>, %gain: tensor<768xf32>, %shift: tensor<768xf32>, %w: tensor<768x3072xf32>, %b: tensor<3072xf32>, %v: tensor<3072x768xf32>, %c: tensor<768xf32>, %rest: tensor<1x768xf32>) -> tensor<1x768xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 768.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<1x768xf32>
  %er = tensor.empty() : tensor<1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x768xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<1xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<1x768xf32>, tensor<1xf32>) outs(%ex : tensor<1x768xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x768xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<1x768xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %shift : tensor<1x768xf32>, tensor<1xf32>, tensor<768xf32>, tensor<768xf32>) outs(%ex : tensor<1x768xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<1x768xf32>
  %eup = tensor.empty() : tensor<1x3072xf32>
  %fup = linalg.fill ins(%zero : f32) outs(%eup : tensor<1x3072xf32>) -> tensor<1x3072xf32>
  %up = linalg.matmul ins(%normal, %w : tensor<1x768xf32>, tensor<768x3072xf32>) outs(%fup : tensor<1x3072xf32>) -> tensor<1x3072xf32>
  %between = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%up, %b : tensor<1x3072xf32>, tensor<3072xf32>) outs(%eup : tensor<1x3072xf32>) {
  ^bb0(%a: f32, %p: f32, %o: f32):
    %0 = arith.addf %a, %p : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %k0 = arith.constant 0.797884583 : f32
    %k1 = arith.constant 4.471500e-02 : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %1, %0 : f32
    %3 = arith.mulf %2, %k1 : f32
    %4 = arith.addf %0, %3 : f32
    %5 = arith.mulf %4, %k0 : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %0, %half : f32
    %9 = arith.mulf %8, %7 : f32
    linalg.yield %9 : f32
  } -> tensor<1x3072xf32>
  %edown = tensor.empty() : tensor<1x768xf32>
  %fdown = linalg.fill ins(%zero : f32) outs(%edown : tensor<1x768xf32>) -> tensor<1x768xf32>
  %down = linalg.matmul ins(%between, %v : tensor<1x3072xf32>, tensor<3072x768xf32>) outs(%fdown : tensor<1x768xf32>) -> tensor<1x768xf32>
  %result = linalg.generic {indexing_maps = [#id, #id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%down, %rest, %c : tensor<1x768xf32>, tensor<1x768xf32>, tensor<768xf32>) outs(%edown : tensor<1x768xf32>) {
  ^bb0(%a: f32, %r: f32, %p: f32, %o: f32):
    %0 = arith.addf %a, %r : f32
    %1 = arith.addf %0, %p : f32
    linalg.yield %1 : f32
  } -> tensor<1x768xf32>
  return %result : tensor<1x768xf32>
}

// The same with matrices of bf16.
func.func @bf16_768x3072x768(%x: tensor<1x768xf32>, %gain: tensor<768xf32>, %shift: tensor<768xf32>, %w: tensor<768x3072xbf16>, %b: tensor<3072xf32>, %v: tensor<3072x768xbf16>, %c: tensor<768xf32>, %rest: tensor<1x768xf32>) -> tensor<1x768xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 768.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<1x768xf32>
  %er = tensor.empty() : tensor<1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x768xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<1xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<1x768xf32>, tensor<1xf32>) outs(%ex : tensor<1x768xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x768xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<1x768xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %shift : tensor<1x768xf32>, tensor<1xf32>, tensor<768xf32>, tensor<768xf32>) outs(%ex : tensor<1x768xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<1x768xf32>
  %eup = tensor.empty() : tensor<1x3072xf32>
  %fup = linalg.fill ins(%zero : f32) outs(%eup : tensor<1x3072xf32>) -> tensor<1x3072xf32>
  %up = linalg.matmul ins(%normal, %w : tensor<1x768xf32>, tensor<768x3072xbf16>) outs(%fup : tensor<1x3072xf32>) -> tensor<1x3072xf32>
  %between = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%up, %b : tensor<1x3072xf32>, tensor<3072xf32>) outs(%eup : tensor<1x3072xf32>) {
  ^bb0(%a: f32, %p: f32, %o: f32):
    %0 = arith.addf %a, %p : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %k0 = arith.constant 0.797884583 : f32
    %k1 = arith.constant 4.471500e-02 : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %1, %0 : f32
    %3 = arith.mulf %2, %k1 : f32
    %4 = arith.addf %0, %3 : f32
    %5 = arith.mulf %4, %k0 : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %0, %half : f32
    %9 = arith.mulf %8, %7 : f32
    linalg.yield %9 : f32
  } -> tensor<1x3072xf32>
  %edown = tensor.empty() : tensor<1x768xf32>
  %fdown = linalg.fill ins(%zero : f32) outs(%edown : tensor<1x768xf32>) -> tensor<1x768xf32>
  %down = linalg.matmul ins(%between, %v : tensor<1x3072xf32>, tensor<3072x768xbf16>) outs(%fdown : tensor<1x768xf32>) -> tensor<1x768xf32>
  %result = linalg.generic {indexing_maps = [#id, #id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%down, %rest, %c : tensor<1x768xf32>, tensor<1x768xf32>, tensor<768xf32>) outs(%edown : tensor<1x768xf32>) {
  ^bb0(%a: f32, %r: f32, %p: f32, %o: f32):
    %0 = arith.addf %a, %r : f32
    %1 = arith.addf %0, %p : f32
    linalg.yield %1 : f32
  } -> tensor<1x768xf32>
  return %result : tensor<1x768xf32>
}

// More columns than a block has threads for, and a sum that is no multiple of its groups.
func.func @rms_516x160x1540(%x: tensor<1x516xf32>, %gain: tensor<516xf32>, %w: tensor<516x160xf32>, %v: tensor<160x1540xf32>, %rest: tensor<1x1540xf32>) -> tensor<1x1540xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 516.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<1x516xf32>
  %er = tensor.empty() : tensor<1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x516xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain : tensor<1x516xf32>, tensor<1xf32>, tensor<516xf32>) outs(%ex : tensor<1x516xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    linalg.yield %4 : f32
  } -> tensor<1x516xf32>
  %eup = tensor.empty() : tensor<1x160xf32>
  %fup = linalg.fill ins(%zero : f32) outs(%eup : tensor<1x160xf32>) -> tensor<1x160xf32>
  %up = linalg.matmul ins(%normal, %w : tensor<1x516xf32>, tensor<516x160xf32>) outs(%fup : tensor<1x160xf32>) -> tensor<1x160xf32>
  %between = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%up : tensor<1x160xf32>) outs(%eup : tensor<1x160xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.maximumf %a, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<1x160xf32>
  %edown = tensor.empty() : tensor<1x1540xf32>
  %fdown = linalg.fill ins(%zero : f32) outs(%edown : tensor<1x1540xf32>) -> tensor<1x1540xf32>
  %down = linalg.matmul ins(%between, %v : tensor<1x160xf32>, tensor<160x1540xf32>) outs(%fdown : tensor<1x1540xf32>) -> tensor<1x1540xf32>
  %result = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%down, %rest : tensor<1x1540xf32>, tensor<1x1540xf32>) outs(%edown : tensor<1x1540xf32>) {
  ^bb0(%a: f32, %r: f32, %o: f32):
    %0 = arith.addf %a, %r : f32
    linalg.yield %0 : f32
  } -> tensor<1x1540xf32>
  return %result : tensor<1x1540xf32>
}

// No norm, and fewer columns than a group of threads reads.
func.func @plain_100x72x20(%x: tensor<1x100xf32>, %w: tensor<100x72xf32>, %b: tensor<72xf32>, %v: tensor<72x20xf32>, %c: tensor<20xf32>, %rest: tensor<1x20xf32>) -> tensor<1x20xf32> {
  %zero = arith.constant 0.0 : f32
  %eup = tensor.empty() : tensor<1x72xf32>
  %fup = linalg.fill ins(%zero : f32) outs(%eup : tensor<1x72xf32>) -> tensor<1x72xf32>
  %up = linalg.matmul ins(%x, %w : tensor<1x100xf32>, tensor<100x72xf32>) outs(%fup : tensor<1x72xf32>) -> tensor<1x72xf32>
  %between = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%up, %b : tensor<1x72xf32>, tensor<72xf32>) outs(%eup : tensor<1x72xf32>) {
  ^bb0(%a: f32, %p: f32, %o: f32):
    %0 = arith.addf %a, %p : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<1x72xf32>
  %edown = tensor.empty() : tensor<1x20xf32>
  %fdown = linalg.fill ins(%zero : f32) outs(%edown : tensor<1x20xf32>) -> tensor<1x20xf32>
  %down = linalg.matmul ins(%between, %v : tensor<1x72xf32>, tensor<72x20xf32>) outs(%fdown : tensor<1x20xf32>) -> tensor<1x20xf32>
  %result = linalg.generic {indexing_maps = [#id, #id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%down, %rest, %c : tensor<1x20xf32>, tensor<1x20xf32>, tensor<20xf32>) outs(%edown : tensor<1x20xf32>) {
  ^bb0(%a: f32, %r: f32, %p: f32, %o: f32):
    %0 = arith.addf %a, %r : f32
    %1 = arith.addf %0, %p : f32
    linalg.yield %1 : f32
  } -> tensor<1x20xf32>
  return %result : tensor<1x20xf32>
}

// Matrices of f16.
func.func @f16_90x80x136(%x: tensor<1x90xf32>, %gain: tensor<90xf32>, %shift: tensor<90xf32>, %w: tensor<90x80xf16>, %v: tensor<80x136xf16>, %rest: tensor<1x136xf32>) -> tensor<1x136xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 90.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %ex = tensor.empty() : tensor<1x90xf32>
  %er = tensor.empty() : tensor<1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1xf32>) -> tensor<1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x90xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<1xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<1x90xf32>, tensor<1xf32>) outs(%ex : tensor<1x90xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x90xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<1x90xf32>) outs(%fr : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<1xf32>
  %normal = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gain, %shift : tensor<1x90xf32>, tensor<1xf32>, tensor<90xf32>, tensor<90xf32>) outs(%ex : tensor<1x90xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<1x90xf32>
  %eup = tensor.empty() : tensor<1x80xf32>
  %fup = linalg.fill ins(%zero : f32) outs(%eup : tensor<1x80xf32>) -> tensor<1x80xf32>
  %up = linalg.matmul ins(%normal, %w : tensor<1x90xf32>, tensor<90x80xf16>) outs(%fup : tensor<1x80xf32>) -> tensor<1x80xf32>
  %between = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%up : tensor<1x80xf32>) outs(%eup : tensor<1x80xf32>) {
  ^bb0(%a: f32, %o: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %k0 = arith.constant 0.797884583 : f32
    %k1 = arith.constant 4.471500e-02 : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.mulf %1, %a : f32
    %3 = arith.mulf %2, %k1 : f32
    %4 = arith.addf %a, %3 : f32
    %5 = arith.mulf %4, %k0 : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %a, %half : f32
    %9 = arith.mulf %8, %7 : f32
    linalg.yield %9 : f32
  } -> tensor<1x80xf32>
  %edown = tensor.empty() : tensor<1x136xf32>
  %fdown = linalg.fill ins(%zero : f32) outs(%edown : tensor<1x136xf32>) -> tensor<1x136xf32>
  %down = linalg.matmul ins(%between, %v : tensor<1x80xf32>, tensor<80x136xf16>) outs(%fdown : tensor<1x136xf32>) -> tensor<1x136xf32>
  %result = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%down, %rest : tensor<1x136xf32>, tensor<1x136xf32>) outs(%edown : tensor<1x136xf32>) {
  ^bb0(%a: f32, %r: f32, %o: f32):
    %0 = arith.addf %a, %r : f32
    linalg.yield %0 : f32
  } -> tensor<1x136xf32>
  return %result : tensor<1x136xf32>
}

