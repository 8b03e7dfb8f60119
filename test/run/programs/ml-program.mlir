// ml_program globals.
// RUN: tinymlir-runner %s | FileCheck %s
// CHECK: [4. 4.]
ml_program.global private mutable @g(dense<4.0> : tensor<2xf32>) : tensor<2xf32>
func.func @main() -> tensor<2xf32> {
 %0 = ml_program.global_load @g : tensor<2xf32>
 return %0 : tensor<2xf32> }
