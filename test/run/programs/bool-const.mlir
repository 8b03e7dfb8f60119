// Constants of several element types.
// RUN: tinymlir-runner %s | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [ True False  True]
// CHECK-NEXT: result 1:
// CHECK-NEXT: {{\[\[}}  1  -2]
// CHECK-NEXT: [  3 127]]
// CHECK-NEXT: result 2:
// CHECK-NEXT: [1.-2.j 1.-2.j]
// CHECK-NEXT: result 3:
// CHECK-NEXT: []
func.func @main() -> (tensor<3xi1>, tensor<2x2xi8>, tensor<2xcomplex<f64>>, tensor<0xf32>) {
 %a = arith.constant dense<[true, false, true]> : tensor<3xi1>
 %b = arith.constant dense<[[1, -2], [3, 127]]> : tensor<2x2xi8>
 %c = arith.constant dense<(1.0, -2.0)> : tensor<2xcomplex<f64>>
 %d = arith.constant dense<> : tensor<0xf32>
 return %a, %b, %c, %d : tensor<3xi1>, tensor<2x2xi8>, tensor<2xcomplex<f64>>, tensor<0xf32> }
