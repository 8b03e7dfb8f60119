// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-gpu-outline -o %t.mlir
// RUN: tinymlir-opt %t.mlir --tinymlir-lower-gpu="format=bin chip=sm_75" -o /dev/null
// RUN: tinymlir-opt %t.mlir --tinymlir-lower-gpu="format=bin chip=sm_80" -o /dev/null
// RUN: tinymlir-opt %t.mlir --tinymlir-lower-gpu="format=bin chip=sm_90" -o /dev/null
// RUN: tinymlir-opt %t.mlir --tinymlir-lower-gpu=chip=sm_80 | FileCheck %s

// Both ranks of every element type that has a template. The sum of halves is kept in single precision.
// CHECK-DAG: .visible .entry matmul_2d_f32(
// CHECK-DAG: .visible .entry matmul_2d_f64(
// CHECK-DAG: .visible .entry matmul_2d_f16(
// CHECK-DAG: .visible .entry matmul_2d_bf16(
// CHECK-DAG: .visible .entry matmul_batched_f32(
// CHECK-DAG: .visible .entry matmul_batched_f64(
// CHECK-DAG: .visible .entry matmul_batched_f16(
// CHECK-DAG: .visible .entry matmul_batched_bf16(
// CHECK-NOT: fma.rn.f16
// CHECK-NOT: fma.rn.bf16
func.func @every(%a: memref<?x?xf32>, %b: memref<?x?xf64>, %c: memref<?x?xf16>, %d: memref<?x?xbf16>,
                 %e: memref<?x?x?xf32>, %f: memref<?x?x?xf64>, %g: memref<?x?x?xf16>, %h: memref<?x?x?xbf16>,
                 %ra: memref<?x?xf32>, %rb: memref<?x?xf64>, %rc: memref<?x?xf16>, %rd: memref<?x?xbf16>,
                 %re: memref<?x?x?xf32>, %rf: memref<?x?x?xf64>, %rg: memref<?x?x?xf16>, %rh: memref<?x?x?xbf16>) {
  linalg.matmul ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%ra : memref<?x?xf32>)
  linalg.matmul ins(%b, %b : memref<?x?xf64>, memref<?x?xf64>) outs(%rb : memref<?x?xf64>)
  linalg.matmul ins(%c, %c : memref<?x?xf16>, memref<?x?xf16>) outs(%rc : memref<?x?xf16>)
  linalg.matmul ins(%d, %d : memref<?x?xbf16>, memref<?x?xbf16>) outs(%rd : memref<?x?xbf16>)
  linalg.batch_matmul ins(%e, %e : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%re : memref<?x?x?xf32>)
  linalg.batch_matmul ins(%f, %f : memref<?x?x?xf64>, memref<?x?x?xf64>) outs(%rf : memref<?x?x?xf64>)
  linalg.batch_matmul ins(%g, %g : memref<?x?x?xf16>, memref<?x?x?xf16>) outs(%rg : memref<?x?x?xf16>)
  linalg.batch_matmul ins(%h, %h : memref<?x?x?xbf16>, memref<?x?x?xbf16>) outs(%rh : memref<?x?x?xbf16>)
  return
}
