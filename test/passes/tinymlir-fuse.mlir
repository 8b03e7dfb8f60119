// RUN: tinymlir-opt %s --tinymlir-fuse -split-input-file | FileCheck %s

// A gather with a check is fused into what uses it, and its check is not left behind twice.
// CHECK-LABEL: func.func @gather_add(
// CHECK-COUNT-1: cf.assert
// CHECK:         tensor.extract
// CHECK-NEXT:    arith.addf
// CHECK-NOT:     cf.assert
// CHECK:         return
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @gather_add(%table: tensor<9x4xf32>, %ids: tensor<2xi32>, %x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %rows = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<2xi32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %i = arith.index_cast %in : i32 to index
    %n = arith.constant 9 : index
    %valid = arith.cmpi ult, %i, %n : index
    cf.assert %valid, "out of range"
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<9x4xf32>
    linalg.yield %v : f32
  } -> tensor<2x4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%rows, %x : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %sum : tensor<2x4xf32>
}

// -----

// A check that nothing used before stays: it can stop the program.
// CHECK-LABEL: func.func @check(
// CHECK:         cf.assert
// CHECK-NOT:     tinymlir.used
// CHECK:         return
func.func @check(%ids: tensor<2xi1>) {
  %e = tensor.empty() : tensor<2xi1>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%ids : tensor<2xi1>) outs(%e : tensor<2xi1>) {
  ^bb0(%in: i1, %out: i1):
    cf.assert %in, "no"
    linalg.yield %in : i1
  } -> tensor<2xi1>
  return
}

// -----

// A generic that is exactly a product gets its name back, whatever the order of the factors and the addends.
// CHECK-LABEL: func.func @raised(
// CHECK:         linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x16xf32>)
// CHECK-NOT:     linalg.generic
#A = affine_map<(m, n, k) -> (m, k)>
#B = affine_map<(m, n, k) -> (k, n)>
#C = affine_map<(m, n, k) -> (m, n)>
func.func @raised(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %r = linalg.generic {indexing_maps = [#A, #B, #C], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %y, %x : f32
    %1 = arith.addf %0, %z : f32
    linalg.yield %1 : f32
  } -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

// An unsigned factor has no named operation (the name would extend it with its sign).
// CHECK-LABEL: func.func @unsigned(
// CHECK-NOT:     linalg.matmul
// CHECK:         linalg.generic
// CHECK:           arith.extui
// CHECK:           arith.extsi
#A = affine_map<(m, n, k) -> (m, k)>
#B = affine_map<(m, n, k) -> (k, n)>
#C = affine_map<(m, n, k) -> (m, n)>
func.func @unsigned(%a: tensor<4x8xi8>, %b: tensor<8x16xi8>, %c: tensor<4x16xi32>) -> tensor<4x16xi32> {
  %r = linalg.generic {indexing_maps = [#A, #B, #C], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x8xi8>, tensor<8x16xi8>) outs(%c : tensor<4x16xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<4x16xi32>
  return %r : tensor<4x16xi32>
}

// -----

// A product with a flag that allows reassociation is not the named operation, which has none.
// CHECK-LABEL: func.func @fast(
// CHECK-NOT:     linalg.matmul
// CHECK:         arith.mulf {{.*}} fastmath<fast>
#A = affine_map<(m, n, k) -> (m, k)>
#B = affine_map<(m, n, k) -> (k, n)>
#C = affine_map<(m, n, k) -> (m, n)>
func.func @fast(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %r = linalg.generic {indexing_maps = [#A, #B, #C], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y fastmath<fast> : f32
    %1 = arith.addf %0, %z : f32
    linalg.yield %1 : f32
  } -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

// Reshapes around a product, as torch-mlir writes them, leave it what it is; elementwise operations on both sides fuse
// among themselves only.
// CHECK-LABEL: func.func @reshapes(
// CHECK:         linalg.generic
// CHECK:         linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<6x8xf32>, tensor<8x16xf32>)
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
#id3 = affine_map<(i, j, k) -> (i, j, k)>
func.func @reshapes(%a: tensor<2x3x8xf32>, %b: tensor<8x16xf32>) -> tensor<2x3x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x8xf32>
  %n = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : tensor<2x3x8xf32>) outs(%e : tensor<2x3x8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.negf %x : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x8xf32>
  %flat = tensor.collapse_shape %n [[0, 1], [2]] : tensor<2x3x8xf32> into tensor<6x8xf32>
  %f = tensor.empty() : tensor<6x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<6x16xf32>) -> tensor<6x16xf32>
  %p = linalg.matmul ins(%flat, %b : tensor<6x8xf32>, tensor<8x16xf32>) outs(%z : tensor<6x16xf32>) -> tensor<6x16xf32>
  %deep = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 3, 16] : tensor<6x16xf32> into tensor<2x3x16xf32>
  %g = tensor.empty() : tensor<2x3x16xf32>
  %r = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%deep : tensor<2x3x16xf32>) outs(%g : tensor<2x3x16xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = math.exp %x : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x16xf32>
  %s = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : tensor<2x3x16xf32>) outs(%g : tensor<2x3x16xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %x : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x16xf32>
  return %s : tensor<2x3x16xf32>
}

// -----

// The same through what extends the rows; a check whose result nothing uses stays.
// CHECK-LABEL: func.func @gather_extend_add(
// CHECK-COUNT-2: cf.assert
// CHECK-NOT:     cf.assert
// CHECK:         return
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @gather_extend_add(%table: tensor<9x4xbf16>, %ids: tensor<2xi32>, %x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %narrow = tensor.empty() : tensor<2x4xbf16>
  %e = tensor.empty() : tensor<2x4xf32>
  %rows = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<2xi32>) outs(%narrow : tensor<2x4xbf16>) {
  ^bb0(%in: i32, %out: bf16):
    %i = arith.index_cast %in : i32 to index
    %n = arith.constant 9 : index
    %valid = arith.cmpi ult, %i, %n : index
    cf.assert %valid, "out of range"
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<9x4xbf16>
    linalg.yield %v : bf16
  } -> tensor<2x4xbf16>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<2x4xbf16>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: bf16, %out: f32):
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<2x4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%wide, %x : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  %check = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf oge, %a, %zero : f32
    cf.assert %positive, "negative"
    linalg.yield %a : f32
  } -> tensor<2x4xf32>
  return %sum : tensor<2x4xf32>
}

// -----

// The numbers of rows and columns are made where they are compared, also by two readers and through reshapes: nothing is read for them.
// CHECK-LABEL: func.func @places(
// CHECK-NOT:     tensor.expand_shape
// CHECK:         linalg.generic {{.*}} ins(%{{[^ ,]*}} : tensor<2x8x8xf32>)
// CHECK-DAG:       %[[R:.*]] = linalg.index 1
// CHECK-DAG:       %[[K:.*]] = linalg.index 2
// CHECK:           arith.cmpi sle
// CHECK:         linalg.generic {{.*}} outs(%{{[^ ,]*}} : tensor<8xi64>)
// CHECK-NOT:     linalg.generic
#id = affine_map<(b, i, j) -> (b, i, j)>
#keys = affine_map<(b, i, j) -> (0, j)>
#rows = affine_map<(b, i, j) -> (i, 0)>
#one = affine_map<(i) -> (i)>
func.func @places(%x: tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<8xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %ie = tensor.empty() : tensor<8xi64>
  %i = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%ie : tensor<8xi64>) {
  ^bb0(%o: i64):
    %at = linalg.index 0 : index
    %number = arith.index_cast %at : index to i64
    linalg.yield %number : i64
  } -> tensor<8xi64>
  %ik = tensor.expand_shape %i [[0, 1]] output_shape [1, 8] : tensor<8xi64> into tensor<1x8xi64>
  %ir = tensor.expand_shape %i [[0, 1]] output_shape [8, 1] : tensor<8xi64> into tensor<8x1xi64>
  %e = tensor.empty() : tensor<2x8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #keys, #rows, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %ik, %ir : tensor<2x8x8xf32>, tensor<1x8xi64>, tensor<8x1xi64>) outs(%e : tensor<2x8x8xf32>) {
  ^bb0(%v: f32, %k: i64, %q: i64, %o: f32):
    %in = arith.cmpi sle, %k, %q : i64
    %s = arith.select %in, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<2x8x8xf32>
  %c1 = arith.constant 1 : i64
  %next = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%i : tensor<8xi64>) outs(%ie : tensor<8xi64>) {
  ^bb0(%v: i64, %o: i64):
    %n = arith.addi %v, %c1 : i64
    linalg.yield %n : i64
  } -> tensor<8xi64>
  return %r, %next : tensor<2x8x8xf32>, tensor<8xi64>
}

// -----

// A product with two dimensions of batches has no name.
// CHECK-LABEL: func.func @two_batches(
// CHECK: linalg.generic
#ik = affine_map<(a, b, i, j, k) -> (a, b, i, k)>
#kj = affine_map<(a, b, i, j, k) -> (a, b, k, j)>
#ij = affine_map<(a, b, i, j, k) -> (a, b, i, j)>
func.func @two_batches(%x: tensor<2x3x4x8xf32>, %y: tensor<2x3x8x5xf32>, %z: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %y : tensor<2x3x4x8xf32>, tensor<2x3x8x5xf32>) outs(%z : tensor<2x3x4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}
