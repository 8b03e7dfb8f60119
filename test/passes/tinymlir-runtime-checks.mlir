// RUN: tinymlir-opt %s --tinymlir-bufferize | FileCheck %s
// Bufferizing again checks nothing twice.
// RUN: tinymlir-opt %s --tinymlir-bufferize -o %t.once.mlir
// RUN: tinymlir-opt %t.once.mlir --tinymlir-bufferize | diff - %t.once.mlir

// CHECK: #[[MAP:.*]] = affine_map<()[s0] -> (s0 * 2 + 2)>

// Sizes along one loop dimension must agree; those that the output was made from do, and are not compared.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME:    %[[A:[^ ]*]]: memref<?x?xf32>, %[[B:[^ ]*]]: memref<?x?xf32>
// CHECK-DAG:     %[[K:.*]] = memref.dim %[[B]], %c0
// CHECK-DAG:     %[[L:.*]] = memref.dim %[[A]], %c1
// CHECK:         %[[OK:.*]] = arith.cmpi eq, %[[K]], %[[L]]
// CHECK-NEXT:    cf.assert %[[OK]], "'linalg.matmul' op sizes differ: {0} and {1}, along dimension 0 of operand 1 and dimension 1 of operand 0"
// CHECK-NEXT:    linalg.matmul
// CHECK-NOT:     cf.assert
func.func @sizes(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Static sizes were verified.
// CHECK-LABEL: func.func @static(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @static(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// The last element that a window reaches, here 2 * (size - 1) + 2, is inside.
// CHECK-LABEL: func.func @window(
// CHECK:         %[[LAST:.*]] = affine.apply #[[MAP]]()
// CHECK:         %[[SIZE:.*]] = memref.dim %{{.*}}, %c1
// CHECK:         %[[OK:.*]] = arith.cmpi slt, %[[LAST]], %[[SIZE]]
// CHECK:         cf.assert %[[OK]], "'linalg.conv_2d_nhwc_hwcf' op window is out of bounds: it reaches index {0} of dimension 1 of operand 0, whose size is {1}"
// CHECK:         cf.assert %{{.*}}, "{{.*}} dimension 2 of operand 0
// CHECK-NOT:     cf.assert
func.func @window(%x: tensor<1x?x?x2xf32>, %w: tensor<3x3x2x4xf32>, %o: tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x?x?x2xf32>, tensor<3x3x2x4xf32>) outs(%o : tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32>
  return %r : tensor<1x?x?x4xf32>
}

// An index from data is checked, one from a loop of known length is not. One comparison without sign serves for both ends.
// CHECK-LABEL: func.func @gather(
// CHECK:         %[[I:.*]] = arith.index_cast
// CHECK:         %[[OK:.*]] = arith.cmpi ult, %[[I]], %c4
// CHECK-NEXT:    cf.assert %[[OK]], "'tensor.extract' op index is out of bounds: {0} along dimension 0, whose size is {1}"
// CHECK-NEXT:    memref.load
// CHECK-NOT:     cf.assert
func.func @gather(%t: tensor<4x2xf32>, %i: tensor<3xi32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%i : tensor<3xi32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%a: i32, %o: f32):
    %k = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%k, %j] : tensor<4x2xf32>
    linalg.yield %v : f32
  } -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// A slice begins and ends inside.
// CHECK-LABEL: func.func @slice(
// CHECK:         cf.assert %{{.*}}, "'tensor.extract_slice' op size is negative: {0} along dimension 0"
// CHECK:         cf.assert %{{.*}}, "'tensor.extract_slice' op offset is out of bounds: {0} along dimension 0, whose size is {1}"
// CHECK:         cf.assert %{{.*}}, "'tensor.extract_slice' op slice is out of bounds: it ends at {0} along dimension 0, whose size is {1}"
// CHECK:         memref.subview
func.func @slice(%x: tensor<8xf32>, %o: index, %n: index) -> tensor<?xf32> {
  %s = tensor.extract_slice %x[%o] [%n] [2] : tensor<8xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}

// A place that a parallel loop goes through needs no check, one that is read from memory does.
// CHECK-LABEL: func.func @parallel_slice(
// CHECK:         scf.forall
// CHECK-NOT:     along dimension 0
// CHECK:         cf.assert %{{.*}}, "'tensor.extract_slice' op offset is out of bounds: {0} along dimension 1, whose size is {1}"
// CHECK-NOT:     along dimension 0
// CHECK:         return
func.func @parallel_slice(%x: tensor<4x8xf32>, %r: tensor<4x1xf32>, %at: tensor<1xindex>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %n = scf.forall (%i) in (4) shared_outs(%o = %x) -> (tensor<4x8xf32>) {
    %j = tensor.extract %at[%c0] : tensor<1xindex>
    %e = tensor.extract_slice %r[%i, 0] [1, 1] [1, 1] : tensor<4x1xf32> to tensor<1x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<4x8xf32>
    }
  }
  return %n : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @cast(
// CHECK:         cf.assert %{{.*}}, "'tensor.cast' op sizes differ: {0} of the source and {1} of the result, along dimension 0"
func.func @cast(%x: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %r = tensor.cast %x : tensor<?x4xf32> to tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @expand(
// CHECK:         cf.assert %{{.*}}, "'tensor.expand_shape' op sizes do not multiply: to {0}, where dimension 0 has {1}"
// CHECK:         memref.expand_shape
func.func @expand(%x: tensor<?xf32>, %n: index) -> tensor<?x4xf32> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @reshape(
// CHECK:         cf.assert %{{.*}}, "'tensor.reshape' op numbers of elements differ: {0} of the source and {1} of the result"
// CHECK:         memref.copy
func.func @reshape(%x: tensor<?xf32>, %s: tensor<2xindex>) -> tensor<?x?xf32> {
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @copy(
// CHECK:         cf.assert %{{.*}}, "'memref.copy' op sizes differ: {0} and {1}, of source and target along dimension 0"
func.func @copy(%x: memref<?xf32>, %y: memref<4xf32>) {
  memref.copy %x, %y : memref<?xf32> to memref<4xf32>
  return
}

// In hand-written code on memrefs an index that depends on loops alone is trusted, one from data is not.
// CHECK-LABEL: func.func @loops(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @loops(%x: memref<8xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> f32 {
    %v = memref.load %x[%i] : memref<8xf32>
    %t = arith.addf %s, %v : f32
    scf.yield %t : f32
  }
  return %r : f32
}

// CHECK-LABEL: func.func @data(
// CHECK-COUNT-1: cf.assert %{{.*}}, "'memref.load' op index is out of bounds: {0} along dimension 0, whose size is {1}"
// CHECK-NOT:     cf.assert
func.func @data(%x: memref<8xf32>, %i: memref<1xindex>) -> f32 {
  %c0 = arith.constant 0 : index
  %k = memref.load %i[%c0] : memref<1xindex>
  %v = memref.load %x[%k] : memref<8xf32>
  return %v : f32
}

// A divisor that is a constant other than zero needs no check.
// CHECK-LABEL: func.func @divide(
// CHECK:         cf.assert %{{.*}}, "'arith.divsi' op divides by zero"
// CHECK-NOT:     cf.assert
func.func @divide(%x: i32, %y: i32) -> (i32, i32) {
  %c7 = arith.constant 7 : i32
  %q = arith.divsi %x, %y : i32
  %r = arith.remsi %x, %c7 : i32
  return %q, %r : i32, i32
}

// An element that a selection discards may lie outside: its index is an error only where the element is used, and 0
// otherwise. What the condition is computed from moves before the access.
// CHECK-LABEL: func.func @masked(
// CHECK:         %[[I:.*]] = arith.index_cast
// CHECK:         %[[IGNORED:.*]] = arith.cmpi eq
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %c4
// CHECK:         %[[FINE:.*]] = arith.ori %[[INSIDE]], %{{.*}}
// CHECK:         cf.assert %[[FINE]], "'tensor.extract' op index is out of bounds: {0} along dimension 0, whose size is {1}"
// CHECK:         %[[SAFE:.*]] = arith.select %[[INSIDE]], %[[I]], %c0
// CHECK:         memref.load %{{.*}}[%[[SAFE]]]
func.func @masked(%t: tensor<4xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  %ignored = arith.constant -100 : i64
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->(i)>], iterator_types = ["parallel"]} ins(%i : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: i64, %o: f32):
    %k = arith.index_cast %a : i64 to index
    %v = tensor.extract %t[%k] : tensor<4xf32>
    %n = arith.negf %v : f32
    %c = arith.cmpi eq, %a, %ignored : i64
    %s = arith.select %c, %z, %n : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// A size that a caller gives; what the size of another buffer is needs no check.
// CHECK-LABEL: func.func @fresh(
// CHECK:         %[[MOST:.*]] = arith.constant 8796093022208 : index
// CHECK:         arith.cmpi ule, %{{.*}}, %[[MOST]] : index
// CHECK:         cf.assert %{{.*}}, "'tensor.empty' op size is not possible: {0} along dimension 0, where at most {1} elements can be addressed"
// CHECK:         memref.alloc(
// CHECK-NOT:     cf.assert
// CHECK:         memref.alloc(
func.func @fresh(%n: index, %x: tensor<?xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.fill ins(%one : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %f = tensor.empty(%m) : tensor<?xf32>
  %s = linalg.fill ins(%one : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %r, %s : tensor<?x4xf32>, tensor<?xf32>
}

func.func @fresh2(%n: index, %m: index) -> tensor<?x?xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = linalg.fill ins(%one : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
