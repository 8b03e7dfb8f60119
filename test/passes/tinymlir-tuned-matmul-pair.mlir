// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90 reductions=atomic" --split-input-file | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" --split-input-file | FileCheck %s --check-prefix=ORDERED
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=simple chip=sm_90 reductions=atomic" --split-input-file | FileCheck %s --check-prefix=ORDERED
// RUN: tinymlir-opt %s --tinymlir-tuned-matmul="chip=sm_90 reductions=atomic" --remarks --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Nothing is added up by atomic operations unless they were asked for, and nothing by simple kernels.
// ORDERED-NOT: atomic_rmw

// Two layers, each two products with bias and activation between and a residual added at last: a kernel each. Results are
// zeroed at the beginning, both by one kernel. Weights and bias are asked for before the wait, the row is read behind it.
// REMARK: becomes matmul_pair_f32 (templates/matmul_pair.mlir) with the product behind it: 1x64x96x128
// CHECK-LABEL: gpu.func @matmul_pair_f32(
// CHECK:         vector.load {{.*}} : memref<?x?xf32, strided<[96, 1], offset: ?>, #gpu.address_space<global>>, vector<4xf32>
// CHECK:         vector.load {{.*}} : memref<?x?xf32, strided<[128, 1], offset: ?>, #gpu.address_space<global>>, vector<4xf32>
// CHECK:         memref.load %{{.*}} : memref<?xf32, strided<[?], offset: ?>>
// CHECK-NOT:     memref.load
// CHECK:         nvvm.griddepcontrol {{ *}}wait
// CHECK:         memref.load %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
// CHECK-NOT:     #gpu.address_space<global>>, vector
// CHECK:         gpu.barrier
// CHECK:         arith.maximumf
// CHECK:         gpu.barrier
// CHECK:         gpu.barrier
// CHECK:         memref.atomic_rmw addf
// CHECK-LABEL: func.func @layers
// CHECK:         gpu.launch_func {{.*}}@fill_1x128_f32
// CHECK:         gpu.launch_func {{.*}}@matmul_pair_f32
// CHECK:         gpu.launch_func {{.*}}@matmul_pair_f32
// CHECK-NOT:     gpu.launch_func
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @layers(%x: memref<1x64xf32>, %rest: memref<1x128xf32>, %w: memref<64x96xf32>, %b: memref<96xf32>, %v: memref<96x128xf32>, %w2: memref<64x96xf32>, %v2: memref<96x128xf32>) -> (memref<1x128xf32>, memref<1x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %up = memref.alloc() : memref<1x96xf32>
  %row = memref.alloc() : memref<1x96xf32>
  %down = memref.alloc() : memref<1x128xf32>
  %r = memref.alloc() : memref<1x128xf32>
  linalg.fill ins(%zero : f32) outs(%up : memref<1x96xf32>)
  linalg.matmul ins(%x, %w : memref<1x64xf32>, memref<64x96xf32>) outs(%up : memref<1x96xf32>)
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%up, %b : memref<1x96xf32>, memref<96xf32>) outs(%row : memref<1x96xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  }
  linalg.fill ins(%zero : f32) outs(%down : memref<1x128xf32>)
  linalg.matmul ins(%row, %v : memref<1x96xf32>, memref<96x128xf32>) outs(%down : memref<1x128xf32>)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%rest, %down : memref<1x128xf32>, memref<1x128xf32>) outs(%r : memref<1x128xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  }
  %up2 = memref.alloc() : memref<1x96xf32>
  %row2 = memref.alloc() : memref<1x96xf32>
  %down2 = memref.alloc() : memref<1x128xf32>
  %r2 = memref.alloc() : memref<1x128xf32>
  linalg.fill ins(%zero : f32) outs(%up2 : memref<1x96xf32>)
  linalg.matmul ins(%x, %w2 : memref<1x64xf32>, memref<64x96xf32>) outs(%up2 : memref<1x96xf32>)
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%up2, %b : memref<1x96xf32>, memref<96xf32>) outs(%row2 : memref<1x96xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  }
  linalg.fill ins(%zero : f32) outs(%down2 : memref<1x128xf32>)
  linalg.matmul ins(%row2, %v2 : memref<1x96xf32>, memref<96x128xf32>) outs(%down2 : memref<1x128xf32>)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%r, %down2 : memref<1x128xf32>, memref<1x128xf32>) outs(%r2 : memref<1x128xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %up : memref<1x96xf32>
  memref.dealloc %row : memref<1x96xf32>
  memref.dealloc %down : memref<1x128xf32>
  memref.dealloc %up2 : memref<1x96xf32>
  memref.dealloc %row2 : memref<1x96xf32>
  memref.dealloc %down2 : memref<1x128xf32>
  return %r, %r2 : memref<1x128xf32>, memref<1x128xf32>
}

// -----

// What scales the sum as well would be applied to parts of it.
// CHECK-LABEL: func.func @scaled
// CHECK-NOT:     @matmul_pair
#id = affine_map<(i, j) -> (i, j)>
func.func @scaled(%x: memref<1x64xf32>, %rest: memref<1x128xf32>, %w: memref<64x96xf32>, %v: memref<96x128xf32>) -> memref<1x128xf32> {
  %zero = arith.constant 0.0 : f32
  %up = memref.alloc() : memref<1x96xf32>
  %down = memref.alloc() : memref<1x128xf32>
  %r = memref.alloc() : memref<1x128xf32>
  linalg.fill ins(%zero : f32) outs(%up : memref<1x96xf32>)
  linalg.matmul ins(%x, %w : memref<1x64xf32>, memref<64x96xf32>) outs(%up : memref<1x96xf32>)
  linalg.fill ins(%zero : f32) outs(%down : memref<1x128xf32>)
  linalg.matmul ins(%up, %v : memref<1x96xf32>, memref<96x128xf32>) outs(%down : memref<1x128xf32>)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%rest, %down : memref<1x128xf32>, memref<1x128xf32>) outs(%r : memref<1x128xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.mulf %a, %c : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %up : memref<1x96xf32>
  memref.dealloc %down : memref<1x128xf32>
  return %r : memref<1x128xf32>
}

// -----

// The row between is a result as well, so that it must be written.
// CHECK-LABEL: func.func @read_twice
// CHECK-NOT:     @matmul_pair
func.func @read_twice(%x: memref<1x64xf32>, %w: memref<64x96xf32>, %v: memref<96x128xf32>) -> (memref<1x96xf32>, memref<1x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %up = memref.alloc() : memref<1x96xf32>
  %down = memref.alloc() : memref<1x128xf32>
  linalg.fill ins(%zero : f32) outs(%up : memref<1x96xf32>)
  linalg.matmul ins(%x, %w : memref<1x64xf32>, memref<64x96xf32>) outs(%up : memref<1x96xf32>)
  linalg.fill ins(%zero : f32) outs(%down : memref<1x128xf32>)
  linalg.matmul ins(%up, %v : memref<1x96xf32>, memref<96x128xf32>) outs(%down : memref<1x128xf32>)
  return %up, %down : memref<1x96xf32>, memref<1x128xf32>
}

// -----

// The result goes where the row to be added lies, which every block may still read: in place nothing can be zeroed first.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT:     @matmul_pair
#id = affine_map<(i, j) -> (i, j)>
func.func @in_place(%y: memref<1x128xf32>, %w: memref<128x96xf32>, %v: memref<96x128xf32>) -> memref<1x128xf32> {
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<1x128xf32>
  %up = memref.alloc() : memref<1x96xf32>
  %down = memref.alloc() : memref<1x128xf32>
  memref.copy %y, %x : memref<1x128xf32> to memref<1x128xf32>
  linalg.fill ins(%zero : f32) outs(%up : memref<1x96xf32>)
  linalg.matmul ins(%x, %w : memref<1x128xf32>, memref<128x96xf32>) outs(%up : memref<1x96xf32>)
  linalg.fill ins(%zero : f32) outs(%down : memref<1x128xf32>)
  linalg.matmul ins(%up, %v : memref<1x96xf32>, memref<96x128xf32>) outs(%down : memref<1x128xf32>)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %down : memref<1x128xf32>, memref<1x128xf32>) outs(%x : memref<1x128xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %up : memref<1x96xf32>
  memref.dealloc %down : memref<1x128xf32>
  return %x : memref<1x128xf32>
}

// -----

// A product by another matrix must not be computed behind what overwrites that matrix.
// CHECK-LABEL: func.func @overwritten
// CHECK-NOT:     @matmul_pair
func.func @overwritten(%x: memref<1x64xf32>, %w: memref<64x96xf32>, %v: memref<96x128xf32>) -> memref<1x128xf32> {
  %zero = arith.constant 0.0 : f32
  %up = memref.alloc() : memref<1x96xf32>
  %down = memref.alloc() : memref<1x128xf32>
  linalg.fill ins(%zero : f32) outs(%up : memref<1x96xf32>)
  linalg.matmul ins(%x, %w : memref<1x64xf32>, memref<64x96xf32>) outs(%up : memref<1x96xf32>)
  linalg.fill ins(%zero : f32) outs(%w : memref<64x96xf32>)
  linalg.fill ins(%zero : f32) outs(%down : memref<1x128xf32>)
  linalg.matmul ins(%up, %v : memref<1x96xf32>, memref<96x128xf32>) outs(%down : memref<1x128xf32>)
  memref.dealloc %up : memref<1x96xf32>
  return %down : memref<1x128xf32>
}

// -----

// Of narrower matrices the second one is brought to the cache before the wait and read behind it.
// CHECK-LABEL: gpu.func @matmul_pair_f32_bf16(
// CHECK:         vector.load {{.*}} : memref<?x?xbf16, strided<[96, 1], offset: ?>, #gpu.address_space<global>>, vector<8xbf16>
// CHECK:         nvvm.prefetch
// CHECK:         nvvm.griddepcontrol {{ *}}wait
// CHECK:         memref.load %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
// CHECK:         vector.load {{.*}} : memref<?x?xbf16, strided<[128, 1], offset: ?>, #gpu.address_space<global>>, vector<8xbf16>
// CHECK-LABEL: func.func @narrow
func.func @narrow(%x: memref<1x64xf32>, %w: memref<64x96xbf16>, %v: memref<96x128xbf16>) -> memref<1x128xf32> {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<1x64xf32>)
  %up = memref.alloc() : memref<1x96xf32>
  %down = memref.alloc() : memref<1x128xf32>
  linalg.fill ins(%zero : f32) outs(%up : memref<1x96xf32>)
  linalg.matmul ins(%x, %w : memref<1x64xf32>, memref<64x96xbf16>) outs(%up : memref<1x96xf32>)
  linalg.fill ins(%zero : f32) outs(%down : memref<1x128xf32>)
  linalg.matmul ins(%up, %v : memref<1x96xf32>, memref<96x128xbf16>) outs(%down : memref<1x128xf32>)
  memref.dealloc %up : memref<1x96xf32>
  return %down : memref<1x128xf32>
}
