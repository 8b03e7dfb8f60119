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

// A loop that writes what the product reads stays, and so does what follows it.
// CHECK-LABEL: func.func @overwritten
// CHECK-COUNT-3: gpu.launch_func
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
