// The vector dialect with math operations.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: 11.339817
func.func @main(%x: memref<8xf32>) -> f32 {
 %c0 = arith.constant 0 : index
 %z = arith.constant 0.0 : f32
 %v = vector.transfer_read %x[%c0], %z : memref<8xf32>, vector<8xf32>
 %t = math.tanh %v : vector<8xf32>
 %e = math.expm1 %t : vector<8xf32>
 %s = vector.reduction <add>, %e : vector<8xf32> into f32
 return %s : f32 }
