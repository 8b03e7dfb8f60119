// RUN: tinymlir-opt %s --tinymlir-tiled-matmul --remarks-filter=tinymlir --remark-format=emitRemark 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// One function for a rank and an element type, whatever the sizes: what is passed is a view.
// CHECK-LABEL: func.func @static(
// CHECK-SAME:  %[[A:.*]]: memref<33x17xf32>, %[[B:.*]]: memref<17x65xf32>, %[[C:.*]]: memref<33x65xf32>
// CHECK:         %[[AV:.*]] = memref.cast %[[A]] : memref<33x17xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
// CHECK:         %[[BV:.*]] = memref.cast %[[B]]
// CHECK:         %[[CV:.*]] = memref.cast %[[C]]
// CHECK:         call @matmul_2d_f32(%[[AV]], %[[BV]], %[[CV]])
// CHECK-NOT:     linalg.matmul
func.func @static(%a: memref<33x17xf32>, %b: memref<17x65xf32>, %c: memref<33x65xf32>) {
  linalg.matmul ins(%a, %b : memref<33x17xf32>, memref<17x65xf32>) outs(%c : memref<33x65xf32>)
  return
}

// Strides of a view are passed, not copied away.
// CHECK-LABEL: func.func @strided(
// CHECK-NOT:     memref.copy
// CHECK:         memref.cast %{{.*}} : memref<4x4xf32, strided<[9, 2], offset: 1>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
// CHECK:         call @matmul_2d_f32
func.func @strided(%a: memref<?x4xf32>, %b: memref<4x4xf32, strided<[9, 2], offset: 1>>, %c: memref<?x4xf32>) {
  linalg.matmul ins(%a, %b : memref<?x4xf32>, memref<4x4xf32, strided<[9, 2], offset: 1>>) outs(%c : memref<?x4xf32>)
  return
}

// A transposed operand is a view with its sizes and strides exchanged.
// CHECK-LABEL: func.func @transposed(
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %arg0
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [%[[OFFSET]]], sizes: [%[[SIZES]]#1, %[[SIZES]]#0], strides: [%[[STRIDES]]#1, %[[STRIDES]]#0]
// CHECK:         call @matmul_2d_f32
func.func @transposed(%a: memref<17x33xf32>, %b: memref<17x65xf32>, %c: memref<33x65xf32>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : memref<17x33xf32>, memref<17x65xf32>) outs(%c : memref<33x65xf32>)
  return
}

// A broadcast operand has stride zero along the dimension that it lacks.
// CHECK-LABEL: func.func @broadcast(
// CHECK:         %[[ZERO:c0_.*]] = arith.constant 0 : index
// CHECK-NEXT:    memref.reinterpret_cast %{{.*}} strides: [%[[ZERO]], %{{.*}}]
// CHECK:         call @matmul_2d_f32
func.func @broadcast(%a: memref<3xf32>, %b: memref<3x2xf32>, %c: memref<4x2xf32>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : memref<3xf32>, memref<3x2xf32>) outs(%c : memref<4x2xf32>)
  return
}

// The batched kernel, in the half-precision class.
// CHECK-LABEL: func.func @batched(
// CHECK:         call @matmul_batched_bf16({{.*}}) : (memref<?x?x?xbf16, strided<[?, ?, ?], offset: ?>>
func.func @batched(%a: memref<4x33x17xbf16>, %b: memref<4x17x65xbf16>, %c: memref<4x33x65xbf16>) {
  linalg.batch_matmul ins(%a, %b : memref<4x33x17xbf16>, memref<4x17x65xbf16>) outs(%c : memref<4x33x65xbf16>)
  return
}

// A second summed dimension is a loop around the call: the kernel adds to its output.
// CHECK-LABEL: func.func @batch_reduce(
// CHECK:         scf.for
// CHECK:           call @matmul_2d_f32
func.func @batch_reduce(%a: memref<4x33x17xf32>, %b: memref<4x17x65xf32>, %c: memref<33x65xf32>) {
  linalg.batch_reduce_matmul ins(%a, %b : memref<4x33x17xf32>, memref<4x17x65xf32>) outs(%c : memref<33x65xf32>)
  return
}

// Vectors are matrices of one row or column.
// CHECK-LABEL: func.func @vectors(
// CHECK-COUNT-3: call @matmul_2d_f64
func.func @vectors(%m: memref<5x7xf64>, %v: memref<7xf64>, %u: memref<5xf64>, %s: memref<f64>) {
  linalg.matvec ins(%m, %v : memref<5x7xf64>, memref<7xf64>) outs(%u : memref<5xf64>)
  linalg.vecmat ins(%u, %m : memref<5xf64>, memref<5x7xf64>) outs(%v : memref<7xf64>)
  linalg.dot ins(%v, %v : memref<7xf64>, memref<7xf64>) outs(%s : memref<f64>)
  return
}

// What has no template stays, and a remark says why.
// CHECK-LABEL: func.func @declined(
// CHECK:         linalg.matmul
// CHECK:         linalg.matmul
// CHECK:         linalg.generic
// CHECK-NOT:     call
// CHECK:         return
// REMARK: 'linalg.matmul' takes the loop path: its body is not a floating-point multiply-add
// REMARK: 'linalg.matmul' takes the loop path: its element types are mixed
func.func @declined(%i: memref<4x4xi32>, %h: memref<4x4xf16>, %f: memref<4x4xf32>) {
  linalg.matmul ins(%i, %i : memref<4x4xi32>, memref<4x4xi32>) outs(%i : memref<4x4xi32>)
  linalg.matmul ins(%h, %h : memref<4x4xf16>, memref<4x4xf16>) outs(%f : memref<4x4xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]} ins(%f, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%f : memref<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.maximumf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK: func.func private @matmul_2d_f32(
// CHECK: gpu.launch
// CHECK: func.func private @matmul_batched_bf16(
// CHECK: arith.truncf
// CHECK: func.func private @matmul_2d_f64(
