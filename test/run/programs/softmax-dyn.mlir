// linalg.softmax of dynamic size.
// RUN: tinymlir-runner %s --strict-args --arg 0=ones@2x2 | FileCheck %s
// CHECK: {{\[\[}}0.5 0.5]
// CHECK-NEXT: [0.5 0.5]]
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %d = tensor.dim %x, %c0 : tensor<?x?xf32>
 %d1 = tensor.dim %x, %c1 : tensor<?x?xf32>
 %e = tensor.empty(%d, %d1) : tensor<?x?xf32>
 %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
 return %r : tensor<?x?xf32> }
