// A name that is no identifier.
// RUN: tinymlir-runner %s --strict-args --arg 0=zeros -e "my model/v1.2 forward" | FileCheck %s
// RUN: tinymlir-runner %s --strict-args --arg 0=zeros -e "my model/v1.2 forward" --gpu --emulate | FileCheck %s
// RUN: tinymlir-runner %s --strict-args --arg 0=zeros -e 'a"::ü' --gpu --emulate | FileCheck %s
// CHECK: [1. 1.]
func.func @"my model/v1.2 forward"(%x: tensor<2xf32>) -> tensor<2xf32> {
 %e = tensor.empty() : tensor<2xf32>
 %r = linalg.exp ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
 return %r : tensor<2xf32> }
func.func @"a\22::ü"(%x: tensor<2xf32>) -> tensor<2xf32> {
 %e = tensor.empty() : tensor<2xf32>
 %r = linalg.exp ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
 return %r : tensor<2xf32> }
