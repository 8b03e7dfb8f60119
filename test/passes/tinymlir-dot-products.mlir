// RUN: tinymlir-opt %s --tinymlir-dot-products=vector-bits=256 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-dot-products --remarks-filter=tinymlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Five rows of x W^T: tiles of three rows and three columns, vectors along the sum, whose lanes are added up last. The fill goes.
// CHECK-LABEL: func.func @linear(
// CHECK-NOT:     linalg.
// CHECK:         call @dots(
// CHECK-NOT:     linalg.
func.func @linear(%x: memref<5x256xf32>, %w: memref<96x256xf32>, %y: memref<5x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<5x96xf32>)
  linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : memref<5x256xf32>, memref<96x256xf32>) outs(%y : memref<5x96xf32>)
  return
}

// What is there before is added to; a sum of more than a part is added up in parts, and the fill stays.
// CHECK-LABEL: func.func @added(
// CHECK-NOT:     linalg.
// CHECK:         call @dots_0(
// CHECK-LABEL: func.func @long(
// CHECK:         linalg.fill
// CHECK:         call @dots_1(
func.func @added(%x: memref<5x256xf32>, %w: memref<96x256xbf16>, %y: memref<5x96xf32>) {
  linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : memref<5x256xf32>, memref<96x256xbf16>) outs(%y : memref<5x96xf32>)
  return
}
func.func @long(%x: memref<5x2000xf32>, %w: memref<96x2000xf32>, %y: memref<5x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<5x96xf32>)
  linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : memref<5x2000xf32>, memref<96x2000xf32>) outs(%y : memref<5x96xf32>)
  return
}

// BLAS is left a matrix of K x N, many rows, batches, short sums and dynamic sizes.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-5: linalg.
// CHECK-NEXT:    return
// REMARK-DAG:    is no product for dots: what is summed up is not known to lie side by side
// REMARK-DAG:    is no product for dots: more than 256 rows
// REMARK-DAG:    is no product for dots: it has batches
// REMARK-DAG:    is no product for dots: it adds up 30 elements only
// REMARK-DAG:    is no product for dots: a size is not known
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>
func.func @left(%x: memref<5x256xf32>, %kn: memref<256x96xf32>, %y: memref<5x96xf32>, %w: memref<96x256xf32>,
                %many: memref<300x256xf32>, %mw: memref<300x256xf32>, %my: memref<300x300xf32>, %q: memref<2x5x256xf32>, %k: memref<2x96x256xf32>, %s: memref<2x5x96xf32>,
                %short: memref<5x30xf32>, %sw: memref<960x30xf32>, %sy: memref<5x960xf32>, %dx: memref<?x256xf32>, %dy: memref<?x96xf32>) {
  linalg.matmul ins(%x, %kn : memref<5x256xf32>, memref<256x96xf32>) outs(%y : memref<5x96xf32>)
  linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%many, %mw : memref<300x256xf32>, memref<300x256xf32>) outs(%my : memref<300x300xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<2x5x256xf32>, memref<2x96x256xf32>) outs(%s : memref<2x5x96xf32>)
  linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%short, %sw : memref<5x30xf32>, memref<960x30xf32>) outs(%sy : memref<5x960xf32>)
  linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%dx, %w : memref<?x256xf32>, memref<96x256xf32>) outs(%dy : memref<?x96xf32>)
  return
}

// The tiles: three vectors of rows and three of columns make nine products a step.
// CHECK-LABEL: func.func private @dots_range(
// CHECK:         %[[SUMS:.*]]:9 = scf.for
// CHECK-COUNT-6:   vector.load {{.*}} vector<8xf32>
// CHECK:           scf.yield
// CHECK:         vector.reduction <add>, %[[SUMS]]#0 fastmath<reassoc>
// CHECK-NEXT:    memref.store
