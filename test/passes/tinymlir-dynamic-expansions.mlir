// RUN: tinymlir-opt %s --tinymlir-dynamic-expansions | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-dynamic-expansions --expand-strided-metadata -o /dev/null

// The strides of a dimension that becomes several of dynamic sizes are products of these; what the type tells is not computed.
// CHECK-LABEL: func.func @two(
// CHECK-SAME:    %[[X:.*]]: memref<?x8xf32>, %[[N:.*]]: index, %[[M:.*]]: index
// CHECK:         %{{.*}}, %{{.*}}, %{{.*}}:2, %[[S:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[STEP:.*]] = arith.muli %[[S]]#0, %[[M]]
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[N]], %[[M]], 8], strides: [%[[STEP]], 8, 1] : memref<?x8xf32> to memref<?x?x8xf32>
func.func @two(%x: memref<?x8xf32>, %n: index, %m: index) -> memref<?x?x8xf32> {
  %e = memref.expand_shape %x [[0, 1], [2]] output_shape [%n, %m, 8] : memref<?x8xf32> into memref<?x?x8xf32>
  return %e : memref<?x?x8xf32>
}

// Between static sizes, of a view whose strides are not known.
// CHECK-LABEL: func.func @three(
// CHECK-SAME:    %[[X:.*]]: memref<{{.*}}>, %[[N:.*]]: index, %[[M:.*]]: index
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[S:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[A:.*]] = arith.muli %[[S]]#1, %[[M]]
// CHECK:         %[[B:.*]] = arith.muli %[[A]], %[[C3]]
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [4, %[[N]], 3, %[[M]]], strides: [%[[S]]#0, %[[B]], %[[A]], %[[S]]#1]
func.func @three(%x: memref<4x?xf32, strided<[?, ?], offset: ?>>, %n: index, %m: index) -> memref<4x?x3x?xf32, strided<[?, ?, ?, ?], offset: ?>> {
  %e = memref.expand_shape %x [[0], [1, 2, 3]] output_shape [4, %n, 3, %m] : memref<4x?xf32, strided<[?, ?], offset: ?>> into memref<4x?x3x?xf32, strided<[?, ?, ?, ?], offset: ?>>
  return %e : memref<4x?x3x?xf32, strided<[?, ?, ?, ?], offset: ?>>
}

// One of a dimension is upstream's.
// CHECK-LABEL: func.func @one(
// CHECK-NEXT:    memref.expand_shape
func.func @one(%x: memref<?x?xf32>, %n: index, %m: index) -> memref<?x2x?x3xf32> {
  %e = memref.expand_shape %x [[0, 1], [2, 3]] output_shape [%n, 2, %m, 3] : memref<?x?xf32> into memref<?x2x?x3xf32>
  return %e : memref<?x2x?x3xf32>
}
