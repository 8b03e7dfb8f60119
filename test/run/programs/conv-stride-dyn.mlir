// A strided convolution of dynamic size.
// RUN: tinymlir-runner %s --strict-args --arg 0=ones@1x6x6x2 --arg 1=ones | FileCheck %s
// CHECK: {{\[\[\[\[}}18. 18. 18. 18.]
// CHECK-NEXT: [18. 18. 18. 18.]]
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}18. 18. 18. 18.]
// CHECK-NEXT: [18. 18. 18. 18.]]]]
func.func @main(%x: tensor<?x?x?x?xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<?x?x?x4xf32> {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %c2 = arith.constant 2 : index
 %c3 = arith.constant 3 : index
 %z = arith.constant 0.0 : f32
 %n = tensor.dim %x, %c0 : tensor<?x?x?x?xf32>
 %h = tensor.dim %x, %c1 : tensor<?x?x?x?xf32>
 %wd = tensor.dim %x, %c2 : tensor<?x?x?x?xf32>
 %h0 = arith.subi %h, %c3 : index
 %h1 = arith.floordivsi %h0, %c2 : index
 %h2 = arith.addi %h1, %c1 : index
 %w0 = arith.subi %wd, %c3 : index
 %w1 = arith.floordivsi %w0, %c2 : index
 %w2 = arith.addi %w1, %c1 : index
 %e = tensor.empty(%n, %h2, %w2) : tensor<?x?x?x4xf32>
 %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
 %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<?x?x?x?xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
 return %r : tensor<?x?x?x4xf32> }
