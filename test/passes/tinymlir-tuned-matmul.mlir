// RUN: tinymlir-opt %s --tinymlir-tuned-matmul=chip=sm_90 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-tuned-matmul="chip=sm_90 precision=tf32" | FileCheck %s --check-prefix=TF32
// RUN: tinymlir-opt %s --tinymlir-tuned-matmul=chip=sm_75 | FileCheck %s --check-prefix=OLD

#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

// The fill before a product and the bias after it go into the kernel; the buffer between is gone. A full grid is not split.
// Chips without asynchronous copies keep the product.
// CHECK-LABEL: func.func @bias
// CHECK-NOT: linalg.
// CHECK-NOT: memref.alloc
// CHECK: arith.constant 1 : index
// CHECK: call @matmul_tiled_64x128_f32_epilogue(
// CHECK-NOT: linalg.
// TF32-LABEL: func.func @bias
// TF32: call @matmul_tf32_128x128_epilogue(
// OLD-LABEL: func.func @bias
// OLD: linalg.matmul
func.func @bias(%a: memref<1024x768xf32>, %b: memref<768x3072xf32>, %bias: memref<3072xf32>, %r: memref<1024x3072xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<1024x3072xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<1024x3072xf32>)
  linalg.matmul ins(%a, %b : memref<1024x768xf32>, memref<768x3072xf32>) outs(%c : memref<1024x3072xf32>)
  linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %bias : memref<1024x3072xf32>, memref<3072xf32>) outs(%r : memref<1024x3072xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  memref.dealloc %c : memref<1024x3072xf32>
  return
}

// A product that something else reads as well keeps its buffer, and the elementwise operation stays.
// CHECK-LABEL: func.func @read_twice
// CHECK: call @matmul_tiled_64x128_f32(
// CHECK: linalg.generic
func.func @read_twice(%a: memref<1024x768xf32>, %b: memref<768x3072xf32>, %r: memref<1024x3072xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c = memref.alloc() : memref<1024x3072xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<1024x3072xf32>)
  linalg.matmul ins(%a, %b : memref<1024x768xf32>, memref<768x3072xf32>) outs(%c : memref<1024x3072xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<1024x3072xf32>) outs(%r : memref<1024x3072xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = math.tanh %x : f32
    linalg.yield %s : f32
  }
  %first = memref.load %c[%c0, %c0] : memref<1024x3072xf32>
  memref.dealloc %c : memref<1024x3072xf32>
  return %first : f32
}

// A small grid over a long sum is split; the parts are added by a second kernel, which also adds what was there.
// CHECK-LABEL: func.func @split
// The buffer for the parts is the function's, as large as the largest need: 4 parts of 1024 x 768 elements here.
// CHECK: %[[N:.*]] = arith.constant 3145728 : index
// CHECK: %[[SLABS:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?xf32>
// CHECK-NOT: memref.alloc
// CHECK: call @matmul_tiled_64x128_f32{{.*}}(
// CHECK: call @split_sum_f32{{(_0)?}}(
// CHECK: call @matmul_tiled_64x128_f32{{.*}}(
// CHECK: call @split_sum_f32{{(_0)?}}(
// CHECK: memref.dealloc %[[SLABS]]
func.func @split(%e: memref<64x3072xf32>, %f: memref<64x768xf32>, %a: memref<1024x3072xf32>, %b: memref<3072x768xf32>, %c: memref<1024x768xf32>) {
  linalg.matmul ins(%a, %b : memref<1024x3072xf32>, memref<3072x768xf32>) outs(%c : memref<1024x768xf32>)
  linalg.matmul ins(%e, %b : memref<64x3072xf32>, memref<3072x768xf32>) outs(%f : memref<64x768xf32>)
  return
}

// Weights stored N x K, an odd number of columns: the kernel for B along K, on any chip when there are few rows.
// CHECK-LABEL: func.func @head
// CHECK: call @matmul_tiled_64x128_nt_f32(
// CHECK: call @matmul_skinny_nt_f32_1(
// TF32-LABEL: func.func @head
// TF32: call @matmul_tf32_128x128_nt(
// TF32: call @matmul_skinny_nt_f32_1(
// OLD-LABEL: func.func @head
// OLD: linalg.generic
// OLD: call @matmul_skinny_nt_f32_1(
func.func @head(%a: memref<100x768xf32>, %one: memref<1x768xf32>, %w: memref<50257x768xf32>, %c: memref<100x50257xf32>, %d: memref<1x50257xf32>) {
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : memref<100x768xf32>, memref<50257x768xf32>) outs(%c : memref<100x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%one, %w : memref<1x768xf32>, memref<50257x768xf32>) outs(%d : memref<1x50257xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A matrix times a vector is the transposed product with one row.
// CHECK-LABEL: func.func @matvec
// CHECK: call @matmul_skinny_nt_f32_1{{.*}}(
func.func @matvec(%w: memref<50257x768xf32>, %x: memref<768xf32>, %y: memref<50257xf32>) {
  linalg.matvec ins(%w, %x : memref<50257x768xf32>, memref<768xf32>) outs(%y : memref<50257xf32>)
  return
}

// What the table does not take stays: sizes that are not multiples of four, other element types, dynamic sizes.
// CHECK-LABEL: func.func @declined
// CHECK-COUNT-3: linalg.matmul
// CHECK-NOT: call
func.func @declined(%a: memref<33x65xf32>, %b: memref<65x127xf32>, %c: memref<33x127xf32>, %d: memref<64x64xf64>, %e: memref<?x64xf32>, %f: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<33x65xf32>, memref<65x127xf32>) outs(%c : memref<33x127xf32>)
  linalg.matmul ins(%d, %d : memref<64x64xf64>, memref<64x64xf64>) outs(%d : memref<64x64xf64>)
  linalg.matmul ins(%e, %f : memref<?x64xf32>, memref<64x64xf32>) outs(%e : memref<?x64xf32>)
  return
}

// An argument of a private function is as aligned as what its callers pass: a view may begin anywhere.
// CHECK-LABEL: func.func private @any_place
// CHECK: linalg.matmul
func.func private @any_place(%a: memref<64x64xf32>, %b: memref<64x64xf32>) {
  linalg.matmul ins(%a, %a : memref<64x64xf32>, memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  return
}
// CHECK-LABEL: func.func private @whole
// CHECK: call @matmul_tiled
func.func private @whole(%a: memref<64x64xf32>, %b: memref<64x64xf32>) {
  linalg.matmul ins(%a, %a : memref<64x64xf32>, memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  return
}
func.func @callers(%bytes: memref<16388xi8>, %b: memref<64x64xf32>) {
  %c4 = arith.constant 4 : index
  %odd = memref.view %bytes[%c4][] : memref<16388xi8> to memref<64x64xf32>
  func.call @any_place(%odd, %b) : (memref<64x64xf32>, memref<64x64xf32>) -> ()
  func.call @whole(%b, %b) : (memref<64x64xf32>, memref<64x64xf32>) -> ()
  return
}
