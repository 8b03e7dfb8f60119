// RUN: tinymlir-opt %s --tinymlir-fold-transposes -split-input-file | FileCheck %s

// A weight of N x K, as exporters write every linear layer, is read as it lies.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME:    %[[X:.*]]: tensor<32x64xf32>, %[[W:.*]]: tensor<128x64xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.matmul indexing_maps = [#{{.*}}, #[[B:.*]], #{{.*}}] ins(%[[X]], %[[W]] : tensor<32x64xf32>, tensor<128x64xf32>)
func.func @linear(%x: tensor<32x64xf32>, %w: tensor<128x64xf32>, %c: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %r : tensor<32x128xf32>
}

// -----

// The same of a generic, of dynamic sizes, of a matrix of another type than the rows.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xf32>, %[[W:.*]]: tensor<?x64xbf16>
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.matmul indexing_maps = [#[[A]], #[[B]], #{{.*}}] ins(%[[X]], %[[W]] : tensor<?x64xf32>, tensor<?x64xbf16>)
#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
func.func @dynamic(%x: tensor<?x64xf32>, %w: tensor<?x64xbf16>, %c: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%n) : tensor<64x?xbf16>
  %t = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<?x64xbf16>) outs(%e : tensor<64x?xbf16>) {
  ^bb0(%v: bf16, %o: bf16):
    linalg.yield %v : bf16
  } -> tensor<64x?xbf16>
  %r = linalg.matmul ins(%x, %t : tensor<?x64xf32>, tensor<64x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// A named product that has one order only becomes a generic.
// CHECK-LABEL: func.func @vecmat(
// CHECK-SAME:    %[[X:.*]]: tensor<64xf32>, %[[W:.*]]: tensor<128x64xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<64xf32>, tensor<128x64xf32>)
func.func @vecmat(%x: tensor<64xf32>, %w: tensor<128x64xf32>, %c: tensor<128xf32>) -> tensor<128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %r = linalg.vecmat ins(%x, %t : tensor<64xf32>, tensor<64x128xf32>) outs(%c : tensor<128xf32>) -> tensor<128xf32>
  return %r : tensor<128xf32>
}

// -----

// The rows of the result would be columns of what is read, whose elements lie apart: the copy pays.
// CHECK-LABEL: func.func @rows(
// CHECK:         %[[T:.*]] = linalg.transpose
// CHECK:         linalg.matmul ins(%[[T]],
func.func @rows(%x: tensor<64x32xf32>, %w: tensor<64x128xf32>, %c: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x32xf32>) outs(%e : tensor<32x64xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%t, %w : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %r : tensor<32x128xf32>
}

// -----

// What something else reads is copied anyway.
// CHECK-LABEL: func.func @returned(
// CHECK:         %[[T:.*]] = linalg.transpose
// CHECK:         linalg.matmul ins(%{{.*}}, %[[T]] :
func.func @returned(%x: tensor<32x64xf32>, %w: tensor<128x64xf32>, %c: tensor<32x128xf32>) -> (tensor<32x128xf32>, tensor<64x128xf32>) {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %r, %t : tensor<32x128xf32>, tensor<64x128xf32>
}

// -----

// Two products read a matrix as it lies; three share a copy.
// CHECK-LABEL: func.func @two(
// CHECK-NOT:     linalg.transpose
// CHECK:         return
// CHECK-LABEL: func.func @three(
// CHECK:         linalg.transpose
func.func @two(%x: tensor<32x64xf32>, %y: tensor<32x64xf32>, %w: tensor<128x64xf32>, %c: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%x, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  %1 = linalg.matmul ins(%y, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%0 : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %1 : tensor<32x128xf32>
}
func.func @three(%x: tensor<32x64xf32>, %y: tensor<32x64xf32>, %w: tensor<128x64xf32>, %c: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%x, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  %1 = linalg.matmul ins(%y, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%0 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %2 = linalg.matmul ins(%x, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%1 : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %2 : tensor<32x128xf32>
}

// -----

// Products of one row are as quick on either, however many there are.
// CHECK-LABEL: func.func @single_rows(
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @single_rows(%x: tensor<1x64xf32>, %w: tensor<128x64xf32>, %c: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%x, %t : tensor<1x64xf32>, tensor<64x128xf32>) outs(%c : tensor<1x128xf32>) -> tensor<1x128xf32>
  %1 = linalg.matmul ins(%x, %t : tensor<1x64xf32>, tensor<64x128xf32>) outs(%0 : tensor<1x128xf32>) -> tensor<1x128xf32>
  %2 = linalg.matmul ins(%x, %t : tensor<1x64xf32>, tensor<64x128xf32>) outs(%1 : tensor<1x128xf32>) -> tensor<1x128xf32>
  return %2 : tensor<1x128xf32>
}

// -----

// One copy serves all turns of a loop.
// CHECK-LABEL: func.func @loop(
// CHECK:         linalg.transpose
// CHECK:         scf.for
func.func @loop(%x: tensor<32x64xf32>, %w: tensor<128x64xf32>, %c: tensor<32x128xf32>, %n: index) -> tensor<32x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c) -> tensor<32x128xf32> {
    %0 = linalg.matmul ins(%x, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%s : tensor<32x128xf32>) -> tensor<32x128xf32>
    scf.yield %0 : tensor<32x128xf32>
  }
  return %r : tensor<32x128xf32>
}

// -----

// What is overwritten before the product would have to be copied as a whole instead.
// CHECK-LABEL: func.func @overwritten(
// CHECK:         linalg.transpose
func.func @overwritten(%x: tensor<32x64xf32>, %w: tensor<128x64xf32>, %row: tensor<1x64xf32>, %c: tensor<32x128xf32>) -> (tensor<32x128xf32>, tensor<128x64xf32>) {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %next = tensor.insert_slice %row into %w[0, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<128x64xf32>
  %r = linalg.matmul ins(%x, %t : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %r, %next : tensor<32x128xf32>, tensor<128x64xf32>
}

// -----

// Heads beside one another in rows, of one sequence: the product of queries and keys, and that of weights and values, read them
// there, and the latter puts its heads beside one another.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[Q:.*]]: tensor<1x16x4x8xf32>, %[[K:.*]]: tensor<1x16x4x8xf32>, %[[V:.*]]: tensor<1x16x4x8xf32>
// CHECK-NOT:     linalg.transpose
// CHECK-DAG:     %[[QC:.*]] = tensor.collapse_shape %[[Q]] {{\[\[}}0, 1], [2], [3]]
// CHECK-DAG:     %[[KC:.*]] = tensor.collapse_shape %[[K]] {{\[\[}}0, 1], [2], [3]]
// CHECK:         linalg.generic {{.*}} ins(%[[QC]], %[[KC]] : tensor<16x4x8xf32>, tensor<16x4x8xf32>)
// CHECK:         %[[VC:.*]] = tensor.collapse_shape %[[V]] {{\[\[}}0, 1], [2], [3]]
// CHECK:         linalg.fill {{.*}} -> tensor<16x4x8xf32>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[VC]] : tensor<4x16x16xf32>, tensor<16x4x8xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         tensor.expand_shape %[[R]] {{\[\[}}0, 1], [2], [3]] output_shape [1, 16, 4, 8]
func.func @heads(%q: tensor<1x16x4x8xf32>, %k: tensor<1x16x4x8xf32>, %v: tensor<1x16x4x8xf32>) -> tensor<1x16x4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x16x8xf32>
  %ek = tensor.empty() : tensor<1x4x8x16xf32>
  %qt = linalg.transpose ins(%q : tensor<1x16x4x8xf32>) outs(%e : tensor<1x4x16x8xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<1x16x4x8xf32>) outs(%ek : tensor<1x4x8x16xf32>) permutation = [0, 2, 3, 1]
  %vt = linalg.transpose ins(%v : tensor<1x16x4x8xf32>) outs(%e : tensor<1x4x16x8xf32>) permutation = [0, 2, 1, 3]
  %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<1x4x16x8xf32> into tensor<4x16x8xf32>
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<1x4x8x16xf32> into tensor<4x8x16xf32>
  %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<1x4x16x8xf32> into tensor<4x16x8xf32>
  %es = tensor.empty() : tensor<4x16x16xf32>
  %fs = linalg.fill ins(%z : f32) outs(%es : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %s = linalg.batch_matmul ins(%qc, %kc : tensor<4x16x8xf32>, tensor<4x8x16xf32>) outs(%fs : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %er = tensor.empty() : tensor<4x16x8xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %r = linalg.batch_matmul ins(%s, %vc : tensor<4x16x16xf32>, tensor<4x16x8xf32>) outs(%fr : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %rx = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [1, 4, 16, 8] : tensor<4x16x8xf32> into tensor<1x4x16x8xf32>
  %eo = tensor.empty() : tensor<1x16x4x8xf32>
  %o = linalg.transpose ins(%rx : tensor<1x4x16x8xf32>) outs(%eo : tensor<1x16x4x8xf32>) permutation = [0, 2, 1, 3]
  return %o : tensor<1x16x4x8xf32>
}

// -----

// Of several sequences batches and heads lie apart: the rows of keys are copied, as rows.
// CHECK-LABEL: func.func @sequences(
// CHECK:         %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<2x16x4x8xf32>) outs(%{{.*}} : tensor<2x4x16x8xf32>) permutation = [0, 2, 1, 3]
// CHECK:         %[[K:.*]] = tensor.collapse_shape %[[T]] {{.*}} into tensor<8x16x8xf32>
// CHECK:         linalg.batch_matmul indexing_maps = {{.*}} ins(%{{.*}}, %[[K]] : tensor<8x16x8xf32>, tensor<8x16x8xf32>)
func.func @sequences(%q: tensor<8x16x8xf32>, %k: tensor<2x16x4x8xf32>, %s: tensor<8x16x16xf32>) -> tensor<8x16x16xf32> {
  %ek = tensor.empty() : tensor<2x4x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<2x16x4x8xf32>) outs(%ek : tensor<2x4x8x16xf32>) permutation = [0, 2, 3, 1]
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x4x8x16xf32> into tensor<8x8x16xf32>
  %r = linalg.batch_matmul ins(%q, %kc : tensor<8x16x8xf32>, tensor<8x8x16xf32>) outs(%s : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  return %r : tensor<8x16x16xf32>
}

// -----

// Keys that are scaled after they were transposed are scaled as they lie.
// CHECK-LABEL: func.func @scaled(
// CHECK-SAME:    %{{.*}}, %[[K:.*]]: tensor<2x4x16x8xf32>
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[K]] : tensor<2x4x16x8xf32>) outs(%{{.*}} : tensor<2x4x16x8xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[S]] {{.*}} into tensor<8x16x8xf32>
// CHECK:         linalg.batch_matmul indexing_maps = {{.*}} ins(%{{.*}}, %[[C]] :
#id4 = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @scaled(%q: tensor<8x16x8xf32>, %k: tensor<2x4x16x8xf32>, %s: tensor<8x16x16xf32>) -> tensor<8x16x16xf32> {
  %half = arith.constant 0.5 : f32
  %ek = tensor.empty() : tensor<2x4x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<2x4x16x8xf32>) outs(%ek : tensor<2x4x8x16xf32>) permutation = [0, 1, 3, 2]
  %ks = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%kt : tensor<2x4x8x16xf32>) outs(%ek : tensor<2x4x8x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.mulf %v, %half : f32
    linalg.yield %m : f32
  } -> tensor<2x4x8x16xf32>
  %kc = tensor.collapse_shape %ks [[0, 1], [2], [3]] : tensor<2x4x8x16xf32> into tensor<8x8x16xf32>
  %r = linalg.batch_matmul ins(%q, %kc : tensor<8x16x8xf32>, tensor<8x8x16xf32>) outs(%s : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  return %r : tensor<8x16x16xf32>
}

// -----

// A weight that is transposed and repeated for each sequence is read once, by one product of all rows.
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME:    %[[X:.*]]: tensor<2x16x64xf32>, %[[W:.*]]: tensor<128x64xf32>, %[[I:.*]]: tensor<2x16x128xf32>
// CHECK:         %[[XC:.*]] = tensor.collapse_shape %[[X]] {{.*}} into tensor<32x64xf32>
// CHECK:         %[[IC:.*]] = tensor.collapse_shape %[[I]] {{.*}} into tensor<32x128xf32>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[XC]], %[[W]] : tensor<32x64xf32>, tensor<128x64xf32>) outs(%[[IC]]
// CHECK:         tensor.expand_shape %[[R]]
func.func @repeated(%x: tensor<2x16x64xf32>, %w: tensor<128x64xf32>, %c: tensor<2x16x128xf32>) -> tensor<2x16x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) permutation = [1, 0]
  %eb = tensor.empty() : tensor<2x64x128xf32>
  %b = linalg.broadcast ins(%t : tensor<64x128xf32>) outs(%eb : tensor<2x64x128xf32>) dimensions = [0]
  %r = linalg.batch_matmul ins(%x, %b : tensor<2x16x64xf32>, tensor<2x64x128xf32>) outs(%c : tensor<2x16x128xf32>) -> tensor<2x16x128xf32>
  return %r : tensor<2x16x128xf32>
}

// -----

// Batches and rows are not made one where both numbers are dynamic: their product could not be taken apart again.
// CHECK-LABEL: func.func @repeated_dynamic(
// CHECK-NOT:     tensor.collapse_shape
// CHECK-NOT:     linalg.broadcast
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x?x64xf32>, tensor<64x128xf32>) outs(%{{.*}} : tensor<?x?x128xf32>)
func.func @repeated_dynamic(%x: tensor<?x?x64xf32>, %w: tensor<64x128xf32>, %n: index, %c: tensor<?x?x128xf32>) -> tensor<?x?x128xf32> {
  %e = tensor.empty(%n) : tensor<?x64x128xf32>
  %all = linalg.broadcast ins(%w : tensor<64x128xf32>) outs(%e : tensor<?x64x128xf32>) dimensions = [0]
  %r = linalg.batch_matmul ins(%x, %all : tensor<?x?x64xf32>, tensor<?x64x128xf32>) outs(%c : tensor<?x?x128xf32>) -> tensor<?x?x128xf32>
  return %r : tensor<?x?x128xf32>
}

// -----

// A vector repeated along what is summed up, or along columns, is no matrix.
// CHECK-LABEL: func.func @vector_repeated(
// CHECK:         linalg.broadcast
// CHECK:         linalg.matmul
func.func @vector_repeated(%x: tensor<32x64xf32>, %w: tensor<128xf32>, %c: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %b = linalg.broadcast ins(%w : tensor<128xf32>) outs(%e : tensor<64x128xf32>) dimensions = [0]
  %r = linalg.matmul ins(%x, %b : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %r : tensor<32x128xf32>
}

// -----

// A result that is transposed as a matrix is left to a target's store, whose columns lie side by side.
// CHECK-LABEL: func.func @columns(
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
func.func @columns(%x: tensor<32x64xf32>, %w: tensor<64x128xf32>) -> tensor<128x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x128xf32>) -> tensor<32x128xf32>
  %r = linalg.matmul ins(%x, %w : tensor<32x64xf32>, tensor<64x128xf32>) outs(%f : tensor<32x128xf32>) -> tensor<32x128xf32>
  %et = tensor.empty() : tensor<128x32xf32>
  %t = linalg.transpose ins(%r : tensor<32x128xf32>) outs(%et : tensor<128x32xf32>) permutation = [1, 0]
  return %t : tensor<128x32xf32>
}
