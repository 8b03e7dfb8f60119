// Globals, one of them without initial value.
// RUN: tinymlir-runner %s | FileCheck %s
// CHECK: 4.0
memref.global "private" @state : memref<2xf32> = dense<[1.0, 2.0]>
memref.global "private" @fresh : memref<2xf32>
func.func @main() -> f32 {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %s = memref.get_global @state : memref<2xf32>
 %f = memref.get_global @fresh : memref<2xf32>
 linalg.add ins(%s, %s : memref<2xf32>, memref<2xf32>) outs(%f : memref<2xf32>)
 memref.copy %f, %s : memref<2xf32> to memref<2xf32>
 %v = memref.load %s[%c1] : memref<2xf32>
 return %v : f32 }
