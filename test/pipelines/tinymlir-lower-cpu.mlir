// RUN: tinymlir-opt %s --tinymlir-lower-cpu | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-lower-cpu=blas=false | FileCheck %s --check-prefix=LOOPS --implicit-check-not=cblas

// A contraction is a call, or loops where BLAS is not wanted.
// CHECK-LABEL: llvm.func @product(
// CHECK:         llvm.call @cblas_sgemm(
// LOOPS-LABEL: llvm.func @product(
// LOOPS:         llvm.fmul
// LOOPS:         llvm.fadd
func.func @product(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
  return
}

// Half precision sums in single precision, which BLAS can do too.
// CHECK-LABEL: llvm.func @half(
// CHECK:         llvm.call @cblas_sgemm(
func.func @half(%a: memref<4x8xf16>, %b: memref<8x16xf16>, %c: memref<4x16xf16>) {
  linalg.matmul ins(%a, %b : memref<4x8xf16>, memref<8x16xf16>) outs(%c : memref<4x16xf16>)
  return
}

// Memory comes from functions of the runtime, so that a module may have its own malloc and free.
// CHECK-LABEL: llvm.func @memory(
// CHECK:         llvm.call @_mlir_memref_to_llvm_alloc(
// CHECK:         llvm.call @_mlir_memref_to_llvm_free(
func.func @memory(%n: index) {
  %m = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %m : memref<?xf32>
  return
}
// CHECK-LABEL: llvm.func @malloc(
func.func @malloc(%x: i64) -> i64 {
  return %x : i64
}

// A check that fails ends in the runtime.
// CHECK-LABEL: llvm.func @check(
// CHECK:         llvm.call @tinymlir_fail(
// CHECK-NOT:     abort
func.func @check(%c: i1) {
  cf.assert %c, "no"
  return
}
