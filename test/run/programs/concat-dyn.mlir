// Concatenation of dynamic sizes.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota@1x2 --arg 1=iota@2x2 | FileCheck %s
// CHECK: {{\[\[}}0. 1.]
// CHECK-NEXT: [0. 1.]
// CHECK-NEXT: [2. 3.]]
func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
 %c = tensor.concat dim(0) %x, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
 return %c : tensor<?x2xf32> }
