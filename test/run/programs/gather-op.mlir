// tensor.gather.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=1 | FileCheck %s
// CHECK: {{\[\[}}3. 4. 5.]
// CHECK-NEXT: [3. 4. 5.]]
func.func @main(%x: tensor<4x3xf32>, %i: tensor<2x1xindex>) -> tensor<2x3xf32> {
 %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<4x3xf32>, tensor<2x1xindex>) -> tensor<2x3xf32>
 return %g : tensor<2x3xf32> }
