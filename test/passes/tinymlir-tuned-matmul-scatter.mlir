// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" --split-input-file | FileCheck %s

// Loops that copy parts of a product's only row to a place that a kernel reads, such as a cache, go into its store: columns
// 64 to 191 as 4 heads of 32, and the rest. Checks of the place come with them.
// CHECK-LABEL: gpu.func @matmul_skinny_f32_1
// CHECK:         memref.store
// CHECK:         scf.if
// CHECK:           memref.load %{{.*}}[%{{.*}}] : memref<1xi32>
// CHECK:           cf.assert %{{.*}}, "past the end"
// CHECK:           memref.subview %{{.*}}[1, 1, 1] [1, 1, 1] : memref<4x256x32xf32>
// CHECK-NEXT:      memref.store
// CHECK:         scf.if
// CHECK:           memref.store
// CHECK:         gpu.return
// CHECK-LABEL: func.func @update
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @update(%a: memref<1x96xf32>, %b: memref<96x256xf32>, %c: memref<1x256xf32>, %cache: memref<4x256x32xf32>, %tail: memref<64xf32>, %position: memref<1xi32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  linalg.fill ins(%zero : f32) outs(%c : memref<1x256xf32>)
  linalg.matmul ins(%a, %b : memref<1x96xf32>, memref<96x256xf32>) outs(%c : memref<1x256xf32>)
  %heads = memref.reinterpret_cast %c to offset: [64], sizes: [4, 1, 32], strides: [32, 32, 1] : memref<1x256xf32> to memref<4x1x32xf32, strided<[32, 32, 1], offset: 64>>
  scf.forall (%h, %d) in (4, 32) {
    %p = memref.load %position[%c0] : memref<1xi32>
    %at = arith.index_cast %p : i32 to index
    %from = memref.subview %heads[%h, 0, %d] [1, 1, 1] [1, 1, 1] : memref<4x1x32xf32, strided<[32, 32, 1], offset: 64>> to memref<1x1x1xf32, strided<[32, 32, 1], offset: ?>>
    %in = arith.cmpi ult, %at, %c256 : index
    cf.assert %in, "past the end"
    %to = memref.subview %cache[%h, %at, %d] [1, 1, 1] [1, 1, 1] : memref<4x256x32xf32> to memref<1x1x1xf32, strided<[8192, 32, 1], offset: ?>>
    memref.copy %from, %to : memref<1x1x1xf32, strided<[32, 32, 1], offset: ?>> to memref<1x1x1xf32, strided<[8192, 32, 1], offset: ?>>
  }
  %last = memref.reinterpret_cast %c to offset: [192], sizes: [64], strides: [1] : memref<1x256xf32> to memref<64xf32, strided<[1], offset: 192>>
  scf.forall (%d) in (64) {
    %from = memref.subview %last[%d] [1] [1] : memref<64xf32, strided<[1], offset: 192>> to memref<1xf32, strided<[1], offset: ?>>
    %to = memref.subview %tail[%d] [1] [1] : memref<64xf32> to memref<1xf32, strided<[1], offset: ?>>
    memref.copy %from, %to : memref<1xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// A loop that writes what the product reads stays, and so does what follows it: they are a kernel for both.
// CHECK-LABEL: func.func @overwritten
// CHECK: gpu.launch_func {{.*}}@matmul_skinny_f32_1 blocks
// CHECK: gpu.launch_func {{.*}}@copy_1x1_f32_and_copy_1x1_f32 blocks
// CHECK-NOT: gpu.launch_func
func.func @overwritten(%a: memref<1x64xf32>, %b: memref<64x64xf32>, %c: memref<1x64xf32>, %tail: memref<1x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<1x64xf32>)
  linalg.matmul ins(%a, %b : memref<1x64xf32>, memref<64x64xf32>) outs(%c : memref<1x64xf32>)
  scf.forall (%d) in (64) {
    %from = memref.subview %c[0, %d] [1, 1] [1, 1] : memref<1x64xf32> to memref<1x1xf32, strided<[64, 1], offset: ?>>
    %to = memref.subview %a[0, %d] [1, 1] [1, 1] : memref<1x64xf32> to memref<1x1xf32, strided<[64, 1], offset: ?>>
    memref.copy %from, %to : memref<1x1xf32, strided<[64, 1], offset: ?>> to memref<1x1xf32, strided<[64, 1], offset: ?>>
  }
  scf.forall (%d) in (64) {
    %from = memref.subview %c[0, %d] [1, 1] [1, 1] : memref<1x64xf32> to memref<1x1xf32, strided<[64, 1], offset: ?>>
    %to = memref.subview %tail[0, %d] [1, 1] [1, 1] : memref<1x64xf32> to memref<1x1xf32, strided<[64, 1], offset: ?>>
    memref.copy %from, %to : memref<1x1xf32, strided<[64, 1], offset: ?>> to memref<1x1xf32, strided<[64, 1], offset: ?>>
  }
  return
}

// -----

// One that copies every other column has no interval of columns, and stays.
// CHECK-LABEL: func.func @strided
// CHECK-COUNT-2: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @strided(%a: memref<1x64xf32>, %b: memref<64x64xf32>, %c: memref<1x64xf32>, %tail: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<1x64xf32>)
  linalg.matmul ins(%a, %b : memref<1x64xf32>, memref<64x64xf32>) outs(%c : memref<1x64xf32>)
  %even = memref.reinterpret_cast %c to offset: [0], sizes: [32], strides: [2] : memref<1x64xf32> to memref<32xf32, strided<[2]>>
  scf.forall (%d) in (32) {
    %from = memref.subview %even[%d] [1] [1] : memref<32xf32, strided<[2]>> to memref<1xf32, strided<[2], offset: ?>>
    %to = memref.subview %tail[%d] [1] [1] : memref<32xf32> to memref<1xf32, strided<[1], offset: ?>>
    memref.copy %from, %to : memref<1xf32, strided<[2], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// Of several rows, copies of a range of columns go into the store: the last 8 of 12 heads, four elements at a time, each to a
// cache that is longer.
// CHECK-LABEL: gpu.func @matmul_tiled_32x128_f32_epilogue(
// CHECK-SAME:    %[[KEYS:arg[0-9]+]]: memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>, %[[VALUES:arg[0-9]+]]: memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>) workgroup
// CHECK:         vector.store %[[SUM:.*]], %arg2
// CHECK:         scf.if
// CHECK-NEXT:      vector.store %{{.*}}, %[[KEYS]]
// CHECK:         scf.if
// CHECK-NEXT:      vector.store %{{.*}}, %[[VALUES]]
// CHECK-LABEL: func.func @heads
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @heads(%a: memref<32x96xf32>, %b: memref<96x384xf32>, %bias: memref<384xf32>, %r: memref<12x32x32xf32>, %keys: memref<4x256x32xf32>, %values: memref<4x256x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<32x384xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<32x384xf32>)
  linalg.matmul ins(%a, %b : memref<32x96xf32>, memref<96x384xf32>) outs(%c : memref<32x384xf32>)
  %cut = memref.expand_shape %c [[0], [1, 2]] output_shape [32, 12, 32] : memref<32x384xf32> into memref<32x12x32xf32>
  %cut_bias = memref.expand_shape %bias [[0, 1]] output_shape [12, 32] : memref<384xf32> into memref<12x32xf32>
  linalg.generic {indexing_maps = [affine_map<(i, h, d) -> (i, h, d)>, affine_map<(i, h, d) -> (h, d)>, affine_map<(i, h, d) -> (h, i, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%cut, %cut_bias : memref<32x12x32xf32>, memref<12x32xf32>) outs(%r : memref<12x32x32xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  %k = memref.subview %r[4, 0, 0] [4, 32, 32] [1, 1, 1] : memref<12x32x32xf32> to memref<4x32x32xf32, strided<[1024, 32, 1], offset: 4096>>
  %v = memref.subview %r[8, 0, 0] [4, 32, 32] [1, 1, 1] : memref<12x32x32xf32> to memref<4x32x32xf32, strided<[1024, 32, 1], offset: 8192>>
  %to_k = memref.subview %keys[0, 16, 0] [4, 32, 32] [1, 1, 1] : memref<4x256x32xf32> to memref<4x32x32xf32, strided<[8192, 32, 1], offset: 512>>
  %to_v = memref.subview %values[0, 0, 0] [4, 32, 32] [1, 1, 1] : memref<4x256x32xf32> to memref<4x32x32xf32, strided<[8192, 32, 1]>>
  memref.copy %k, %to_k : memref<4x32x32xf32, strided<[1024, 32, 1], offset: 4096>> to memref<4x32x32xf32, strided<[8192, 32, 1], offset: 512>>
  memref.copy %v, %to_v : memref<4x32x32xf32, strided<[1024, 32, 1], offset: 8192>> to memref<4x32x32xf32, strided<[8192, 32, 1]>>
  memref.dealloc %c : memref<32x384xf32>
  return
}

// -----

// Of a few rows they go one by one. A copy over what the product reads stays.
// CHECK-LABEL: func.func @few
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
// CHECK-LABEL: func.func @reads
// CHECK: gpu.launch_func
// CHECK: gpu.memcpy
func.func @few(%a: memref<4x96xf32>, %b: memref<96x64xf32>, %c: memref<4x64xf32>, %cache: memref<256x32xf32>) {
  linalg.matmul ins(%a, %b : memref<4x96xf32>, memref<96x64xf32>) outs(%c : memref<4x64xf32>)
  %from = memref.subview %c[0, 32] [4, 32] [1, 1] : memref<4x64xf32> to memref<4x32xf32, strided<[64, 1], offset: 32>>
  %to = memref.subview %cache[8, 0] [4, 32] [1, 1] : memref<256x32xf32> to memref<4x32xf32, strided<[32, 1], offset: 256>>
  memref.copy %from, %to : memref<4x32xf32, strided<[64, 1], offset: 32>> to memref<4x32xf32, strided<[32, 1], offset: 256>>
  return
}
func.func @reads(%a: memref<16x96xf32>, %b: memref<96x96xf32>, %c: memref<16x96xf32>) {
  linalg.matmul ins(%a, %b : memref<16x96xf32>, memref<96x96xf32>) outs(%c : memref<16x96xf32>)
  memref.copy %c, %a : memref<16x96xf32> to memref<16x96xf32>
  return
}

// -----

// Of copies and loops that write the same place the last counts: it stays behind the kernel that does the first. Those that write
// different parts of a buffer both go.
// CHECK-LABEL: func.func @copied_over
// CHECK: gpu.launch_func
// CHECK: gpu.launch_func {{.*}} @kernels::@copy_4x32_f32
// CHECK-NOT: gpu.launch_func
// CHECK-LABEL: func.func @copied_beside
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.{{launch_func|memcpy}}
// CHECK-LABEL: func.func @stored_over
// CHECK-COUNT-2: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @copied_over(%a: memref<4x96xf32>, %b: memref<96x64xf32>, %c: memref<4x64xf32>, %cache: memref<256x32xf32>) {
  linalg.matmul ins(%a, %b : memref<4x96xf32>, memref<96x64xf32>) outs(%c : memref<4x64xf32>)
  %right = memref.subview %c[0, 32] [4, 32] [1, 1] : memref<4x64xf32> to memref<4x32xf32, strided<[64, 1], offset: 32>>
  %left = memref.subview %c[0, 0] [4, 32] [1, 1] : memref<4x64xf32> to memref<4x32xf32, strided<[64, 1]>>
  %to = memref.subview %cache[8, 0] [4, 32] [1, 1] : memref<256x32xf32> to memref<4x32xf32, strided<[32, 1], offset: 256>>
  memref.copy %right, %to : memref<4x32xf32, strided<[64, 1], offset: 32>> to memref<4x32xf32, strided<[32, 1], offset: 256>>
  memref.copy %left, %to : memref<4x32xf32, strided<[64, 1]>> to memref<4x32xf32, strided<[32, 1], offset: 256>>
  return
}
func.func @copied_beside(%a: memref<4x96xf32>, %b: memref<96x64xf32>, %c: memref<4x64xf32>, %cache: memref<256x32xf32>) {
  linalg.matmul ins(%a, %b : memref<4x96xf32>, memref<96x64xf32>) outs(%c : memref<4x64xf32>)
  %right = memref.subview %c[0, 32] [4, 32] [1, 1] : memref<4x64xf32> to memref<4x32xf32, strided<[64, 1], offset: 32>>
  %left = memref.subview %c[0, 0] [4, 32] [1, 1] : memref<4x64xf32> to memref<4x32xf32, strided<[64, 1]>>
  %to = memref.subview %cache[8, 0] [4, 32] [1, 1] : memref<256x32xf32> to memref<4x32xf32, strided<[32, 1], offset: 256>>
  %next = memref.subview %cache[12, 0] [4, 32] [1, 1] : memref<256x32xf32> to memref<4x32xf32, strided<[32, 1], offset: 384>>
  memref.copy %right, %to : memref<4x32xf32, strided<[64, 1], offset: 32>> to memref<4x32xf32, strided<[32, 1], offset: 256>>
  memref.copy %left, %next : memref<4x32xf32, strided<[64, 1]>> to memref<4x32xf32, strided<[32, 1], offset: 384>>
  return
}
func.func @stored_over(%a: memref<1x96xf32>, %b: memref<96x64xf32>, %c: memref<1x64xf32>, %tail: memref<1x32xf32>) {
  linalg.matmul ins(%a, %b : memref<1x96xf32>, memref<96x64xf32>) outs(%c : memref<1x64xf32>)
  %right = memref.subview %c[0, 32] [1, 32] [1, 1] : memref<1x64xf32> to memref<1x32xf32, strided<[64, 1], offset: 32>>
  scf.forall (%d) in (32) {
    %from = memref.subview %right[0, %d] [1, 1] [1, 1] : memref<1x32xf32, strided<[64, 1], offset: 32>> to memref<1x1xf32, strided<[64, 1], offset: ?>>
    %to = memref.subview %tail[0, %d] [1, 1] [1, 1] : memref<1x32xf32> to memref<1x1xf32, strided<[32, 1], offset: ?>>
    memref.copy %from, %to : memref<1x1xf32, strided<[64, 1], offset: ?>> to memref<1x1xf32, strided<[32, 1], offset: ?>>
  }
  scf.forall (%d) in (32) {
    %from = memref.subview %c[0, %d] [1, 1] [1, 1] : memref<1x64xf32> to memref<1x1xf32, strided<[64, 1], offset: ?>>
    %to = memref.subview %tail[0, %d] [1, 1] [1, 1] : memref<1x32xf32> to memref<1x1xf32, strided<[32, 1], offset: ?>>
    memref.copy %from, %to : memref<1x1xf32, strided<[64, 1], offset: ?>> to memref<1x1xf32, strided<[32, 1], offset: ?>>
  }
  return
}
