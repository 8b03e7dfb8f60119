// RUN: tinymlir-opt %s --tinymlir-tuned-matmul=chip=sm_90 --split-input-file | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_75" --split-input-file | FileCheck %s --check-prefix=OLD
// RUN: tinymlir-opt %s --tinymlir-tuned-matmul="chip=sm_90 precision=tf32" --split-input-file | FileCheck %s

// One row by bf16 along columns: four elements are 8 bytes, six rows of them are read before the first is used, and become
// f32 by a move of their bits. No matrix of f32 is made.
// CHECK-LABEL: func.func @columns
// CHECK-NOT:   linalg
// CHECK:       call @matmul_skinny_f32_bf16_1(
// CHECK-NOT:   linalg
// CHECK:       return
// CHECK-LABEL: gpu.func @matmul_skinny(
// CHECK-COUNT-6: vector.load %{{.*}} {alignment = 8 : i64} : memref<?x?x?xbf16, strided<[{{.*}}, 2304, 1], offset: ?>, #gpu.address_space<global>>, vector<4xbf16>
// CHECK:         %[[BITS:.*]] = vector.bitcast %{{.*}} : vector<4xbf16> to vector<2xi32>
// CHECK:         arith.shli %[[BITS]]
// CHECK:         arith.andi %[[BITS]]
// CHECK:         vector.fma {{.*}} : vector<4xf32>
// OLD: gpu.func @matmul_skinny_f32_bf16_1(
func.func @columns(%a: memref<1x768xf32>, %b: memref<768x2304xbf16>, %c: memref<1x2304xf32>) {
  linalg.matmul ins(%a, %b : memref<1x768xf32>, memref<768x2304xbf16>) outs(%c : memref<1x2304xf32>)
  return
}

// -----

// Of a longer sum twelve rows are on their way, as many bytes as six of f32.
// CHECK-LABEL: gpu.func @matmul_skinny(
// CHECK-COUNT-12: vector.load %{{.*}} {alignment = 8 : i64} {{.*}}, vector<4xbf16>
// CHECK-NOT:     vector.load
// CHECK:         scf.for
func.func @long(%a: memref<1x3072xf32>, %b: memref<3072x768xbf16>, %c: memref<1x768xf32>) {
  linalg.matmul ins(%a, %b : memref<1x3072xf32>, memref<3072x768xbf16>) outs(%c : memref<1x768xf32>)
  return
}

// -----

// Along the sum a lane reads eight elements, 16 bytes; the narrow matrix may be the first operand.
// CHECK-LABEL: func.func @sum
// CHECK:       call @matmul_skinny_nt_f32_bf16_1(
// CHECK-LABEL: gpu.func @matmul_skinny_nt(
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 16 : i64} {{.*}}bf16{{.*}}, vector<8xbf16>
func.func @sum(%a: memref<768x1xf32>, %b: memref<501x768xbf16>, %c: memref<501x1xf32>) {
  linalg.matmul ins(%b, %a : memref<501x768xbf16>, memref<768x1xf32>) outs(%c : memref<501x1xf32>)
  return
}

// -----

// Elements of i8 go through the mantissa of 2^23: no conversion instruction.
// CHECK-LABEL: func.func @bytes
// CHECK:       call @matmul_skinny_f32_i8_4(
// CHECK-LABEL: gpu.func @matmul_skinny(
// CHECK:         vector.load %{{.*}} {alignment = 4 : i64} {{.*}}, vector<4xi8>
// CHECK-NOT:     sitofp
// CHECK:         arith.subf %{{.*}}, %{{.*}} : vector<4xf32>
func.func @bytes(%a: memref<4x768xf32>, %b: memref<768x64xi8>, %c: memref<4x64xf32>) {
  linalg.matmul ins(%a, %b : memref<4x768xf32>, memref<768x64xi8>) outs(%c : memref<4x64xf32>)
  return
}

// -----

// A tile copies 16 bytes of B, eight elements, at a time, and keeps them as they are in workgroup memory.
// CHECK-LABEL: func.func @tile
// CHECK:       call @matmul_tiled_48x128_f32_bf16(
// CHECK-LABEL: gpu.func @matmul_f32(
// CHECK-SAME:  workgroup(%{{.*}} : memref<3x64x20xf32, {{.*}}, %[[B:.*]] : memref<3x16x128xbf16,
// CHECK:         nvgpu.device_async_copy %{{.*}}, %[[B]][%{{.*}}], 8, %{{.*}} {bypassL1}
// CHECK:         vector.load %[[B]][{{.*}}] {alignment = 8 : i64} {{.*}}, vector<4xbf16>
// OLD-LABEL: func.func @tile
// OLD:       @ext_768x2304_f32
func.func @tile(%a: memref<1024x768xf32>, %b: memref<768x2304xbf16>, %c: memref<1024x2304xf32>) {
  linalg.matmul ins(%a, %b : memref<1024x768xf32>, memref<768x2304xbf16>) outs(%c : memref<1024x2304xf32>)
  return
}

// -----

// Rows along the sum are padded to 48 bytes.
// CHECK-LABEL: func.func @tile_nt
// CHECK:       call @matmul_tiled_32x128_nt_f32_i8(
// CHECK-LABEL: gpu.func @matmul_f32_nt(
// CHECK-SAME:  memref<3x128x48xi8,
// CHECK:         nvgpu.device_async_copy %{{.*}}, 16, %{{.*}} {bypassL1}
func.func @tile_nt(%a: memref<16x96xf32>, %b: memref<129x96xi8>, %c: memref<16x129xf32>) {
  linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %b : memref<16x96xf32>, memref<129x96xi8>) outs(%c : memref<16x129xf32>)
  return
}

// -----

// Rows of 100 elements of bf16 are no multiple of 16 bytes: a tile does not take them, one row does. Where they begin at an odd
// element neither does.
// CHECK-LABEL: func.func @left
// CHECK:       linalg.matmul
// CHECK:       call @matmul_skinny_f32_bf16_1(
// CHECK:       linalg.matmul
func.func @left(%a: memref<64x96xf32>, %x: memref<1x96xf32>, %b: memref<96x100xbf16>, %d: memref<96x100xbf16, strided<[100, 1], offset: 2>>, %c: memref<64x100xf32>, %y: memref<1x100xf32>) {
  linalg.matmul ins(%a, %b : memref<64x96xf32>, memref<96x100xbf16>) outs(%c : memref<64x100xf32>)
  linalg.matmul ins(%x, %b : memref<1x96xf32>, memref<96x100xbf16>) outs(%y : memref<1x100xf32>)
  linalg.matmul ins(%x, %d : memref<1x96xf32>, memref<96x100xbf16, strided<[100, 1], offset: 2>>) outs(%y : memref<1x100xf32>)
  return
}

// -----

// A factor for each output, a bias and a residual are the three operands that the store of a kernel for few rows takes.
// CHECK-LABEL: func.func @scaled
// CHECK:       call @matmul_skinny_f32_i8_1_epilogue(
// CHECK-NOT:   linalg
// CHECK:       return
func.func @scaled(%a: memref<1x768xf32>, %b: memref<768x768xi8>, %scale: memref<768xf32>, %bias: memref<768xf32>, %x: memref<1x768xf32>, %r: memref<1x768xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<1x768xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<1x768xf32>)
  linalg.matmul ins(%a, %b : memref<1x768xf32>, memref<768x768xi8>) outs(%c : memref<1x768xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%c, %scale, %bias, %x : memref<1x768xf32>, memref<768xf32>, memref<768xf32>, memref<1x768xf32>) outs(%r : memref<1x768xf32>) {
  ^bb0(%p: f32, %f: f32, %y: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %f : f32
    %t = arith.addf %s, %y : f32
    %u = arith.addf %t, %q : f32
    linalg.yield %u : f32
  }
  memref.dealloc %c : memref<1x768xf32>
  return
}
