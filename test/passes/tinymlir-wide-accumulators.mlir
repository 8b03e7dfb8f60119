// RUN: tinymlir-opt %s --tinymlir-wide-accumulators | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-wide-accumulators --tinymlir-blas | FileCheck %s --check-prefix=BLAS

// Inputs and output are extended, the sums rounded once, and nothing is left allocated; BLAS can have what is between.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[A:[^ ]*]]: memref<4x8xf16>, %[[B:[^ ]*]]: memref<8x?xf16>, %[[C:[^ ]*]]: memref<4x?xf16>
// CHECK:         %[[WA:.*]] = memref.alloc() {{.*}} : memref<4x8xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : memref<4x8xf16>) outs(%[[WA]] : memref<4x8xf32>)
// CHECK:           arith.extf
// CHECK:         %[[WB:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<8x?xf32>
// CHECK:         %[[WC:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<4x?xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[C]] : memref<4x?xf16>) outs(%[[WC]] : memref<4x?xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[WA]], %[[WB]] : {{.*}}) outs(%[[WC]] :
// CHECK:         linalg.generic {{.*}} ins(%[[WC]] : memref<4x?xf32>) outs(%[[C]] : memref<4x?xf16>)
// CHECK:           arith.truncf
// CHECK-DAG:     memref.dealloc %[[WA]]
// CHECK-DAG:     memref.dealloc %[[WB]]
// CHECK-DAG:     memref.dealloc %[[WC]]
// BLAS-LABEL:  func.func @matmul(
// BLAS:          call @cblas_sgemm
func.func @matmul(%a: memref<4x8xf16>, %b: memref<8x?xf16>, %c: memref<4x?xf16>) {
  linalg.matmul ins(%a, %b : memref<4x8xf16>, memref<8x?xf16>) outs(%c : memref<4x?xf16>)
  return
}

// An output that is wide already is added to in place.
// CHECK-LABEL: func.func @mixed(
// CHECK-COUNT-2: memref.alloc()
// CHECK-NOT:     memref.alloc()
// CHECK-NOT:     arith.truncf
// CHECK:         return
// BLAS-LABEL:  func.func @mixed(
// BLAS:          call @cblas_sgemm
func.func @mixed(%a: memref<4x8xbf16>, %b: memref<8x16xbf16>, %c: memref<4x16xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xbf16>, memref<8x16xbf16>) outs(%c : memref<4x16xf32>)
  return
}

// A convolution keeps its windows.
// CHECK-LABEL: func.func @conv(
// CHECK:         linalg.generic {{.*}}"reduction", "reduction", "reduction"]} ins(%{{.*}}, %{{.*}} : memref<1x8x8x2xf32>, memref<3x3x2x4xf32>) outs(%{{.*}} : memref<1x6x6x4xf32>)
func.func @conv(%a: memref<1x8x8x2xf16>, %b: memref<3x3x2x4xf16>, %c: memref<1x6x6x4xf16>) {
  linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : memref<1x8x8x2xf16>, memref<3x3x2x4xf16>) outs(%c : memref<1x6x6x4xf16>)
  return
}

// One type throughout stays, and so does a sum that the user wrote in half precision.
// CHECK-LABEL: func.func @single(
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.matmul
func.func @single(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
  return
}

// CHECK-LABEL: func.func @sum(
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.reduce
func.func @sum(%a: memref<4x8xf16>, %c: memref<4xf16>) {
  linalg.reduce {arith.addf} ins(%a : memref<4x8xf16>) outs(%c : memref<4xf16>) dimensions = [1]
  return
}
