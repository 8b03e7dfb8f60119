// Memrefs of unknown strides as arguments.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=iota --arg 2=zeros | FileCheck %s
// CHECK: {{\[\[}}10. 13.]
// CHECK-NEXT: [28. 40.]]
func.func @main(%x: memref<2x3xf32, strided<[?, ?], offset: ?>>, %y: memref<3x2xf32, strided<[?, ?], offset: ?>>, %z: memref<2x2xf32>) {
 linalg.matmul ins(%x, %y : memref<2x3xf32, strided<[?, ?], offset: ?>>, memref<3x2xf32, strided<[?, ?], offset: ?>>) outs(%z : memref<2x2xf32>)
 return }
