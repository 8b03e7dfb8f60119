// A memref of vectors.
// RUN: tinymlir-runner %s | FileCheck %s
// CHECK: 8.0
func.func @main() -> f32 {
 %c0 = arith.constant 0 : index
 %m = memref.alloc() : memref<2xvector<4xf32>>
 %v = arith.constant dense<2.0> : vector<4xf32>
 memref.store %v, %m[%c0] : memref<2xvector<4xf32>>
 %w = memref.load %m[%c0] : memref<2xvector<4xf32>>
 %s = vector.reduction <add>, %w : vector<4xf32> into f32
 memref.dealloc %m : memref<2xvector<4xf32>>
 return %s : f32 }
