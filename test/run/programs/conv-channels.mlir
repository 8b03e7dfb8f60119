// A convolution whose channels differ at run time.
// RUN: %fails tinymlir-runner %s --strict-args --arg 0=ones@1x6x6x3 --arg 1=ones --arg 2=ones 2>&1 | FileCheck %s
// CHECK: 'linalg.conv_2d_nhwc_hwcf' op sizes differ: 3 and 2, along dimension 3 of operand 0 and dimension 2 of operand 1
func.func @main(%x: tensor<?x?x?x?xf32>, %w: tensor<3x3x2x4xf32>, %f: tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32> {
 %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<?x?x?x?xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32>
 return %r : tensor<1x2x2x4xf32> }
