// RUN: tinymlir-opt %s --tinymlir-rank-reductions | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-rank-reductions --expand-strided-metadata -o /dev/null

// The last dimension is dropped, not the first.
// CHECK-LABEL: func.func @column(
// CHECK-SAME:    %[[X:.*]]: memref<{{.*}}>, %[[I:.*]]: index, %[[N:.*]]: index
// CHECK:         %[[V:.*]] = memref.subview %[[X]][0, 0, %[[I]]] [1, %[[N]], 1] [1, 2, 1] : memref<1x?x4xf32, strided<[?, ?, 3], offset: ?>> to memref<1x?x1xf32, strided<[?, ?, 3], offset: ?>>
// CHECK:         memref.collapse_shape %[[V]] {{\[}}[0], [1, 2]] : memref<1x?x1xf32, strided<[?, ?, 3], offset: ?>> into memref<1x?xf32, strided<[?, ?], offset: ?>>
func.func @column(%x: memref<1x?x4xf32, strided<[?, ?, 3], offset: ?>>, %i: index, %n: index) -> memref<1x?xf32, strided<[?, ?], offset: ?>> {
  %s = memref.subview %x[0, 0, %i] [1, %n, 1] [1, 2, 1] : memref<1x?x4xf32, strided<[?, ?, 3], offset: ?>> to memref<1x?xf32, strided<[?, ?], offset: ?>>
  return %s : memref<1x?xf32, strided<[?, ?], offset: ?>>
}

// Known strides tell, and so does a single dimension of one element.
// CHECK-LABEL: func.func @certain(
// CHECK-NOT:     collapse_shape
func.func @certain(%x: memref<1x2x4xf32>, %y: memref<?x?xf32, strided<[?, ?]>>) -> (memref<1x2xf32, strided<[8, 4]>>, memref<4xf32, strided<[?]>>) {
  %s = memref.subview %x[0, 0, 0] [1, 2, 1] [1, 1, 1] : memref<1x2x4xf32> to memref<1x2xf32, strided<[8, 4]>>
  %t = memref.subview %y[0, 0] [4, 1] [1, 1] : memref<?x?xf32, strided<[?, ?]>> to memref<4xf32, strided<[?]>>
  return %s, %t : memref<1x2xf32, strided<[8, 4]>>, memref<4xf32, strided<[?]>>
}
