// RUN: tinymlir-opt %s --tinymlir-tuned-matmul=chip=sm_90 --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The parts of a split K, with a residual, are summed up where the reduction of a norm reads them: by a kernel of rows.
// CHECK-LABEL: func.func @norm
// CHECK:         call @matmul_tiled_32x128_f32(
// CHECK-NOT:     call @split_sum
// CHECK:         linalg.generic
// CHECK-SAME:    attrs = {tinymlir.parts}
// CHECK-COUNT-22:  arith.addf
// CHECK:         linalg.generic
// CHECK-SAME:    iterator_types = ["parallel", "reduction"]
func.func @norm(%a: memref<32x3072xf32>, %b: memref<3072x768xf32>, %x: memref<32x768xf32>, %r: memref<32x768xf32>, %sum: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<32x768xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<32x768xf32>)
  linalg.matmul ins(%a, %b : memref<32x3072xf32>, memref<3072x768xf32>) outs(%c : memref<32x768xf32>)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %x : memref<32x768xf32>, memref<32x768xf32>) outs(%r : memref<32x768xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<32xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%r : memref<32x768xf32>) outs(%sum : memref<32xf32>) {
  ^bb0(%p: f32, %out: f32):
    %s = arith.addf %p, %out : f32
    linalg.yield %s : f32
  }
  memref.dealloc %c : memref<32x768xf32>
  return
}

// -----

// Elsewhere a kernel adds them, eight at a time, or as many as there are, and copies of the rows are part of its store.
// CHECK-LABEL: func.func @copied
// CHECK:         call @matmul_tiled_32x128_f32(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}})
// CHECK:         call @split_sum_f32(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}})
// CHECK-NOT:     memref.copy
// CHECK-LABEL: gpu.func @split_reduce(
// CHECK:         scf.for
// CHECK-COUNT-8:   memref.load %arg0
// CHECK-NOT:       memref.load %arg0
// CHECK:         memref.store %[[SUM:.*]], %arg1
// CHECK:         scf.if
// CHECK-NEXT:      memref.store %[[SUM]], %arg4
func.func @copied(%a: memref<32x768xf32>, %b: memref<768x768xf32>, %c: memref<32x768xf32>, %cache: memref<64x256xf32>) {
  linalg.matmul ins(%a, %b : memref<32x768xf32>, memref<768x768xf32>) outs(%c : memref<32x768xf32>)
  %from = memref.subview %c[0, 256] [32, 256] [1, 1] : memref<32x768xf32> to memref<32x256xf32, strided<[768, 1], offset: 256>>
  %to = memref.subview %cache[8, 0] [32, 256] [1, 1] : memref<64x256xf32> to memref<32x256xf32, strided<[256, 1], offset: 2048>>
  memref.copy %from, %to : memref<32x256xf32, strided<[768, 1], offset: 256>> to memref<32x256xf32, strided<[256, 1], offset: 2048>>
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// The last turn of a large grid is half empty: the last 192 rows are in 7 parts, which only those rows of the result and of the
// residual are summed up for.
// CHECK-LABEL: func.func @tail(
// CHECK-DAG:     arith.constant 7 : index
// CHECK-DAG:     arith.constant 3 : index
// CHECK:         call @matmul_tiled_64x128_f32_tail_epilogue({{.*}}) {tinymlir.writes = array<i64: 2, 7>}
// CHECK:         %[[FIRST:.*]] = arith.constant 15990784 : index
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [%[[FIRST]]{{.*}}]
// CHECK:         call @split_sum_f32_epilogue(
func.func @tail(%a: memref<4096x4096xf32>, %b: memref<4096x4096xf32>, %x: memref<4096x4096xf32>, %r: memref<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4096x4096xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4096x4096xf32>)
  linalg.matmul ins(%a, %b : memref<4096x4096xf32>, memref<4096x4096xf32>) outs(%c : memref<4096x4096xf32>)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %x : memref<4096x4096xf32>, memref<4096x4096xf32>) outs(%r : memref<4096x4096xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }
  memref.dealloc %c : memref<4096x4096xf32>
  return
}
