// A dialect that is not here, in its own syntax.
// RUN: %fails tinymlir-runner %s 2>&1 | FileCheck %s
// CHECK: error: 'stablehlo.add' op cannot be read: there is no dialect `stablehlo` (convert it to dialects of LLVM's first, such as linalg or tosa)
// CHECK-NOT: Available dialects
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
 %0 = stablehlo.add %x, %x : tensor<4xf32>
 return %0 : tensor<4xf32> }
