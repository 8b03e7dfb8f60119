// RUN: tinymlir-opt %s --tinymlir-tuned-matmul=chip=sm_90 | FileCheck %s

#id = affine_map<(b, t, j) -> (b, t, j)>
#columns = affine_map<(b, t, j) -> (j)>
#row = affine_map<(b, t, j) -> (t, j)>
#heads = affine_map<(b, t, j) -> (t, b, j)>

// The rows of several sequences are rows of one product: bias and residual of rank 3 go into its store.
// CHECK-LABEL: func.func @sequences
// CHECK-NOT: linalg.
// CHECK: call @matmul_tiled_{{.*}}_epilogue(
// CHECK-NOT: linalg.
func.func @sequences(%a: memref<512x768xf32>, %b: memref<768x3072xf32>, %bias: memref<3072xf32>, %x: memref<4x128x3072xf32>, %r: memref<4x128x3072xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<512x3072xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<512x3072xf32>)
  linalg.matmul ins(%a, %b : memref<512x768xf32>, memref<768x3072xf32>) outs(%c : memref<512x3072xf32>)
  %c3 = memref.expand_shape %c [[0, 1], [2]] output_shape [4, 128, 3072] : memref<512x3072xf32> into memref<4x128x3072xf32>
  linalg.generic {indexing_maps = [#id, #columns, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c3, %bias, %x : memref<4x128x3072xf32>, memref<3072xf32>, memref<4x128x3072xf32>) outs(%r : memref<4x128x3072xf32>) {
  ^bb0(%v: f32, %w: f32, %y: f32, %out: f32):
    %0 = arith.addf %v, %w : f32
    %1 = arith.addf %0, %y : f32
    linalg.yield %1 : f32
  }
  return
}

// What differs within sequences only, such as positions, or is stored with sequences and rows exchanged, has no one distance from row to row.
// CHECK-LABEL: func.func @positions
// CHECK: call @matmul_tiled_
// CHECK: linalg.generic
// CHECK: call @matmul_tiled_
// CHECK: linalg.generic
func.func @positions(%a: memref<512x768xf32>, %b: memref<768x3072xf32>, %x: memref<128x3072xf32>, %r: memref<4x128x3072xf32>, %s: memref<128x4x3072xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<512x3072xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<512x3072xf32>)
  linalg.matmul ins(%a, %b : memref<512x768xf32>, memref<768x3072xf32>) outs(%c : memref<512x3072xf32>)
  %c3 = memref.expand_shape %c [[0, 1], [2]] output_shape [4, 128, 3072] : memref<512x3072xf32> into memref<4x128x3072xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c3, %x : memref<4x128x3072xf32>, memref<128x3072xf32>) outs(%r : memref<4x128x3072xf32>) {
  ^bb0(%v: f32, %y: f32, %out: f32):
    %0 = arith.addf %v, %y : f32
    linalg.yield %0 : f32
  }
  %d = memref.alloc() : memref<512x3072xf32>
  linalg.fill ins(%zero : f32) outs(%d : memref<512x3072xf32>)
  linalg.matmul ins(%a, %b : memref<512x768xf32>, memref<768x3072xf32>) outs(%d : memref<512x3072xf32>)
  %d3 = memref.expand_shape %d [[0, 1], [2]] output_shape [4, 128, 3072] : memref<512x3072xf32> into memref<4x128x3072xf32>
  linalg.generic {indexing_maps = [#id, #heads], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d3 : memref<4x128x3072xf32>) outs(%s : memref<128x4x3072xf32>) {
  ^bb0(%v: f32, %out: f32):
    %0 = math.tanh %v : f32
    linalg.yield %0 : f32
  }
  return
}
