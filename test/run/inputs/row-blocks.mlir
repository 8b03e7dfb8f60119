// Chains of operations over the same rows, of sizes known when they run.
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#id = affine_map<(i, j) -> (i, j)>

// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + 1e-5) * g + b, with the sums of x.
func.func @layer_norm(%x: tensor<?x?xf32>, %g: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 1.0e-5 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %mi = arith.index_cast %m : index to i32
  %count = arith.sitofp %mi : i32 to f32
  %rows = tensor.empty(%n) : tensor<?xf32>
  %whole = tensor.empty(%n, %m) : tensor<?x?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%none : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%whole : tensor<?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %s, %count : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<?x?xf32>) outs(%none : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %scaled = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %g, %b : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%whole : tensor<?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %gain: f32, %bias: f32, %o: f32):
    %0 = arith.divf %s, %count : f32
    %1 = arith.addf %0, %small : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %gain : f32
    %5 = arith.addf %4, %bias : f32
    linalg.yield %5 : f32
  } -> tensor<?x?xf32>
  return %scaled, %sum : tensor<?x?xf32>, tensor<?xf32>
}

// x / sqrt(sum(x^2)) in rows of 5, in f64.
func.func @short_rows(%x: tensor<?x5xf64>) -> tensor<?x5xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?x5xf64>
  %rows = tensor.empty(%n) : tensor<?xf64>
  %whole = tensor.empty(%n) : tensor<?x5xf64>
  %none = linalg.fill ins(%zero : f64) outs(%rows : tensor<?xf64>) -> tensor<?xf64>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x5xf64>) outs(%none : tensor<?xf64>) {
  ^bb0(%a: f64, %o: f64):
    %0 = arith.mulf %a, %a : f64
    %1 = arith.addf %0, %o : f64
    linalg.yield %1 : f64
  } -> tensor<?xf64>
  %scaled = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %squares : tensor<?x5xf64>, tensor<?xf64>) outs(%whole : tensor<?x5xf64>) {
  ^bb0(%a: f64, %s: f64, %o: f64):
    %0 = math.sqrt %s : f64
    %1 = arith.divf %a, %0 : f64
    linalg.yield %1 : f64
  } -> tensor<?x5xf64>
  return %scaled : tensor<?x5xf64>
}

// A softmax of three dimensions, masked by the place along two of them.
func.func @softmax(%x: tensor<3x40x33xf32>) -> tensor<3x40x33xf32> {
  %low = arith.constant -1.0e30 : f32
  %whole = tensor.empty() : tensor<3x40x33xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<3x40x33xf32>) outs(%whole : tensor<3x40x33xf32>) {
  ^bb0(%a: f32, %o: f32):
    %batch = linalg.index 0 : index
    %row = linalg.index 1 : index
    %column = linalg.index 2 : index
    %reach = arith.addi %row, %batch : index
    %keeps = arith.cmpi ule, %column, %reach : index
    %0 = arith.select %keeps, %a, %low : f32
    linalg.yield %0 : f32
  } -> tensor<3x40x33xf32>
  %e = tensor.empty() : tensor<3x40x33xf32>
  %0 = linalg.softmax dimension(2) ins(%masked : tensor<3x40x33xf32>) outs(%e : tensor<3x40x33xf32>) -> tensor<3x40x33xf32>
  return %0 : tensor<3x40x33xf32>
}

// A stack buffer in the body of a parallel loop is each iteration's own.
func.func @own_stack(%x: memref<1000x100xf32>) -> memref<1000x100xf32> {
  %y = memref.alloc() : memref<1000x100xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.forall (%i) in (1000) {
    %t = memref.alloca() : memref<100xf32>
    scf.for %j = %c0 to %c100 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<1000x100xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %t[%j] : memref<100xf32>
    }
    scf.for %j = %c0 to %c100 step %c1 {
      %0 = memref.load %t[%j] : memref<100xf32>
      %1 = math.log %0 : f32
      memref.store %1, %y[%i, %j] : memref<1000x100xf32>
    }
  }
  return %y : memref<1000x100xf32>
}
