// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_80" --split-input-file | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline --split-input-file | FileCheck %s --check-prefix=SIMPLE
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_80 memory=device" --split-input-file | FileCheck %s --check-prefix=DEVICE

// Simple kernels access one element at a time. The check does not count as the host's touching an argument.
// SIMPLE-NOT: cf.assert
// DEVICE-LABEL: func.func @row(
// DEVICE-NOT: tinymlir.host
// DEVICE: scf.if

// Of a product of one row B alone is read by four elements at once, 16 bytes; of bf16 they are 8 bytes. One branch leads to
// the checks, before the first launch.
// CHECK-LABEL: func.func @row(
// CHECK-SAME:  %{{[a-z0-9]+}}: memref<1x64xf32>, %[[B:[a-z0-9]+]]: memref<64x32xf32> {tinymlir.name = "weights"}, %[[D:[a-z0-9]+]]: memref<64x32xbf16>,
// CHECK:       %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:  %[[B_AT:.*]] = memref.extract_aligned_pointer_as_index %[[B]]
// CHECK-NEXT:  %[[B_MASK:.*]] = arith.constant 15 : index
// CHECK-NEXT:  %[[B_PAST:.*]] = arith.andi %[[B_AT]], %[[B_MASK]]
// CHECK:       %[[D_AT:.*]] = memref.extract_aligned_pointer_as_index %[[D]]
// CHECK-NEXT:  %[[D_MASK:.*]] = arith.constant 7 : index
// CHECK-NEXT:  %[[D_PAST:.*]] = arith.andi %[[D_AT]], %[[D_MASK]]
// CHECK-NOT:   memref.extract_aligned_pointer_as_index
// CHECK:       scf.if
// CHECK:         %[[OK:.*]] = arith.cmpi eq, %[[B_PAST]], %[[ZERO]]
// CHECK:         cf.assert %[[OK]], "argument 'weights' of @row is not aligned: it begins {0} bytes behind a multiple of 16 (pass memory that is aligned, or compile with schedule=simple)"
// CHECK:         cf.assert %{{.*}}, "argument 2 of @row is not aligned: it begins {0} bytes behind a multiple of 8 (
// CHECK-NOT:   cf.assert
// CHECK:       gpu.launch_func
func.func @row(%a: memref<1x64xf32>, %b: memref<64x32xf32> {tinymlir.name = "weights"}, %d: memref<64x32xbf16>, %c: memref<1x32xf32>) {
  linalg.matmul ins(%a, %b : memref<1x64xf32>, memref<64x32xf32>) outs(%c : memref<1x32xf32>)
  linalg.matmul ins(%a, %d : memref<1x64xf32>, memref<64x32xbf16>) outs(%c : memref<1x32xf32>)
  return
}

// -----

// A private function's argument is its callers': theirs is checked.
// CHECK-LABEL: func.func @outer(
// CHECK-SAME:  memref<1x64xf32>, %[[B:[a-z0-9]+]]: memref<32x64xf32>,
// CHECK:       memref.extract_aligned_pointer_as_index %[[B]]
// CHECK:       cf.assert
// CHECK-LABEL: func.func private @inner(
// CHECK-NOT:   cf.assert
func.func @outer(%a: memref<1x64xf32>, %b: memref<32x64xf32>, %c: memref<1x64xf32>) {
  call @inner(%b, %c) : (memref<32x64xf32>, memref<1x64xf32>) -> ()
  return
}
func.func private @inner(%b: memref<32x64xf32>, %c: memref<1x64xf32>) {
  %a = memref.alloc() : memref<1x32xf32>
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%a : memref<1x32xf32>)
  linalg.matmul ins(%a, %b : memref<1x32xf32>, memref<32x64xf32>) outs(%c : memref<1x64xf32>)
  memref.dealloc %a : memref<1x32xf32>
  return
}

// -----

// Asynchronous copies of 16 bytes, and rows that a norm reads by vectors.
// CHECK-LABEL: func.func @tiles(
// CHECK-COUNT-4: memref.extract_aligned_pointer_as_index
// CHECK-NOT:     memref.extract_aligned_pointer_as_index
func.func @tiles(%a: memref<64x64xf32>, %b: memref<64x128xf32>, %c: memref<64x128xf32>, %x: memref<64x256xf32>, %m: memref<64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x128xf32>) outs(%c : memref<64x128xf32>)
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%m : memref<64xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x256xf32>) outs(%m : memref<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  }
  return
}
