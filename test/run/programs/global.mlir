// Globals, one of them without initial value.
// RUN: %if gpu-cases %{ %fails tinymlir-runner %s 2>&1 | FileCheck %s --check-prefix=CARD %} %else %{ tinymlir-runner %s | FileCheck %s %}
// CHECK: 4.0
// CARD: error: 'memref.get_global' op cannot be read by a kernel: @state is not constant
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
