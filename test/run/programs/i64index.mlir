// Index elements.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [0 1 2]
// CHECK-NEXT: result 1:
// CHECK-NEXT: 1
func.func @main(%x: tensor<3xindex>) -> (tensor<3xindex>, index) {
 %c1 = arith.constant 1 : index
 %v = tensor.extract %x[%c1] : tensor<3xindex>
 return %x, %v : tensor<3xindex>, index }
