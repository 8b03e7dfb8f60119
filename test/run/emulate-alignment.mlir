// An argument at another address than a kernel's vectors want ends the program with one message, before any launch; a simple
// kernel takes it.
// RUN: tinymlir-runner %s --entry aligned --gpu --emulate --schedule fast | FileCheck %s
// RUN: tinymlir-runner %s --entry shifted --gpu --emulate | FileCheck %s
// RUN: %fails tinymlir-runner %s --entry shifted --gpu --emulate --schedule fast 2>&1 | FileCheck %s --check-prefix=FAILS
// CHECK: 64
// FAILS: error: {{.*}}emulate-alignment.mlir:{{[0-9:]+}} {{.*}}argument 'weights' of @product is not aligned: it begins 4 bytes behind a multiple of 16 (pass memory that is aligned, or compile with schedule=simple)
func.func @product(%a: memref<1x64xf32>, %b: memref<64x32xf32> {tinymlir.name = "weights"}, %c: memref<1x32xf32>) {
  linalg.matmul ins(%a, %b : memref<1x64xf32>, memref<64x32xf32>) outs(%c : memref<1x32xf32>)
  return
}

func.func @aligned() -> memref<1x32xf32> {
  %place = arith.constant 0 : index
  %c = call @at(%place) : (index) -> memref<1x32xf32>
  return %c : memref<1x32xf32>
}
func.func @shifted() -> memref<1x32xf32> {
  %place = arith.constant 4 : index
  %c = call @at(%place) : (index) -> memref<1x32xf32>
  return %c : memref<1x32xf32>
}
func.func private @at(%place: index) -> memref<1x32xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %bytes = memref.alloc() {alignment = 64 : i64} : memref<8256xi8>
  %b = memref.view %bytes[%place][] : memref<8256xi8> to memref<64x32xf32>
  %a = memref.alloc() {alignment = 64 : i64} : memref<1x64xf32>
  %c = memref.alloc() {alignment = 64 : i64} : memref<1x32xf32>
  linalg.fill ins(%one : f32) outs(%b : memref<64x32xf32>)
  linalg.fill ins(%one : f32) outs(%a : memref<1x64xf32>)
  linalg.fill ins(%zero : f32) outs(%c : memref<1x32xf32>)
  call @product(%a, %b, %c) : (memref<1x64xf32>, memref<64x32xf32>, memref<1x32xf32>) -> ()
  return %c : memref<1x32xf32>
}
