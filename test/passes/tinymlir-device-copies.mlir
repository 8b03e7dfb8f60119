// RUN: tinymlir-opt %s --tinymlir-device-copies | FileCheck %s

// Between contiguous buffers the device copies by itself.
// CHECK-LABEL: func.func @contiguous(
// CHECK:         gpu.memcpy %arg1, %arg0 : memref<4x?xf32>, memref<4x?xf32>
// CHECK-NOT:     memref.copy
func.func @contiguous(%a: memref<4x?xf32>, %b: memref<4x?xf32>) {
  memref.copy %a, %b : memref<4x?xf32> to memref<4x?xf32>
  return
}

// gpu.memcpy has no lowering for strides: a kernel copies.
// CHECK-LABEL: func.func @strided(
// CHECK-NOT:     gpu.memcpy
// CHECK:         linalg.generic {{.*}} ins(%arg0 : memref<4x4xf32, strided<[8, 1], offset: 2>>) outs(%arg1 : memref<4x4xf32>)
func.func @strided(%a: memref<4x4xf32, strided<[8, 1], offset: 2>>, %b: memref<4x4xf32>) {
  memref.copy %a, %b : memref<4x4xf32, strided<[8, 1], offset: 2>> to memref<4x4xf32>
  return
}

// Nor for strides that are written out and those of dense elements.
// CHECK-LABEL: func.func @dense(
// CHECK-NOT:     gpu.memcpy
// CHECK:         linalg.generic {{.*}} ins(%arg0 : memref<1x1xf32, strided<[1, 1]>>)
func.func @dense(%a: memref<1x1xf32, strided<[1, 1]>>, %b: memref<1x1xf32>) {
  memref.copy %a, %b : memref<1x1xf32, strided<[1, 1]>> to memref<1x1xf32>
  return
}

// The host keeps a copy whose shape is known at run time only.
// CHECK-LABEL: func.func @unranked(
// CHECK:         memref.copy
func.func @unranked(%a: memref<*xf32>, %b: memref<*xf32>) {
  memref.copy %a, %b : memref<*xf32> to memref<*xf32>
  return
}

// A reduction to a scalar gets a parallel loop of one iteration.
// CHECK-LABEL: func.func @scalar(
// CHECK:         scf.parallel
// CHECK-NEXT:      linalg.dot
func.func @scalar(%a: memref<?xi32>, %s: memref<i32>) {
  linalg.dot ins(%a, %a : memref<?xi32>, memref<?xi32>) outs(%s : memref<i32>)
  return
}

// Parallel dimensions move out of a reduction.
// CHECK-LABEL: func.func @middle(
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
func.func @middle(%x: memref<4x3x20xf32>, %y: memref<4x20xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<4x3x20xf32>) outs(%y : memref<4x20xf32>) dimensions = [1]
  return
}
