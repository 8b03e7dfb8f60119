// RUN: tinymlir-opt %s --tinymlir-narrow-products | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90a precision=bf16" | FileCheck %s --check-prefix=FAST
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90a" | FileCheck %s --check-prefix=STRICT
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_80 precision=bf16" | FileCheck %s --check-prefix=OLDER
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_75 precision=bf16" | FileCheck %s --check-prefix=STRICT
// RUN: %fails tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast precision=int4" 2>&1 | FileCheck %s --check-prefix=WRONG

// Factors are rounded to bf16, sums stay f32; precision=bf16 asks for it, from sm_80 on.
// OLDER: gpu.func @matmul_mma_bf16
// WRONG: error: {{.*}}cannot choose kernels: a precision is fp32, tf32 or bf16, not `int4`
// FAST: gpu.func @matmul_wgmma_bf16
// STRICT-NOT: mma

// CHECK-LABEL: func.func @both(
// CHECK: %[[A:.*]] = linalg.copy ins(%{{.*}} : tensor<64x96xf32>) outs(%{{.*}} : tensor<64x96xbf16>)
// CHECK: %[[B:.*]] = linalg.copy ins(%{{.*}} : tensor<96x48xf32>) outs(%{{.*}} : tensor<96x48xbf16>)
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<64x96xbf16>, tensor<96x48xbf16>) outs(%{{.*}} : tensor<64x48xf32>)
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : f32
func.func @both(%a: tensor<64x96xf32>, %b: tensor<96x48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x48xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %p : tensor<64x48xf32>
}

// A matrix that is bf16 is read as it is, also transposed.
// CHECK-LABEL: func.func @one(
// CHECK-SAME: %{{.*}}: tensor<64x96xf32>, %[[B:.*]]: tensor<48x96xbf16>
// CHECK-COUNT-1: linalg.copy
// CHECK: ins(%{{.*}}, %[[B]] : tensor<64x96xbf16>, tensor<48x96xbf16>)
func.func @one(%a: tensor<64x96xf32>, %b: tensor<48x96xbf16>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x48xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<64x96xf32>, tensor<48x96xbf16>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %p : tensor<64x48xf32>
}

// Few rows, batches, and rows that would not begin at multiples of 16 bytes, stay f32.
// CHECK-LABEL: func.func @left(
// CHECK-NOT: bf16
// CHECK: return
func.func @left(%a: tensor<8x96xf32>, %b: tensor<96x48xf32>, %c: tensor<8x48xf32>, %d: tensor<2x64x64xf32>,
                %e: tensor<64x92xf32>, %f: tensor<92x48xf32>, %g: tensor<64x48xf32>) -> (tensor<8x48xf32>, tensor<2x64x64xf32>, tensor<64x48xf32>) {
  %p = linalg.matmul ins(%a, %b : tensor<8x96xf32>, tensor<96x48xf32>) outs(%c : tensor<8x48xf32>) -> tensor<8x48xf32>
  %q = linalg.batch_matmul ins(%d, %d : tensor<2x64x64xf32>, tensor<2x64x64xf32>) outs(%d : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %r = linalg.matmul ins(%e, %f : tensor<64x92xf32>, tensor<92x48xf32>) outs(%g : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %p, %q, %r : tensor<8x48xf32>, tensor<2x64x64xf32>, tensor<64x48xf32>
}

// A product with a vector is none of matrices.
// CHECK-LABEL: func.func @vector(
// CHECK:         linalg.matvec
// CHECK-NOT:     bf16
func.func @vector(%a: tensor<64x64xf32>, %x: tensor<64xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
  %r = linalg.matvec ins(%a, %x : tensor<64x64xf32>, tensor<64xf32>) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
