// Rows become a grid of rows whose sizes only another argument tells, on the CPU and in kernels; a grid of another size is refused.
// RUN: tinymlir-runner %s --arg 0=iota@6x8 --arg 1=zeros@2x3 | FileCheck %s
// RUN: tinymlir-runner %s --arg 0=iota@6x8 --arg 1=zeros@2x3 -o 0=%t.npy
// RUN: tinymlir-runner %s --arg 0=iota@6x8 --arg 1=zeros@2x3 --gpu --emulate --expect 0=%t.npy
// RUN: tinymlir-runner %s --arg 0=iota@6x8 --arg 1=zeros@2x3 --gpu --emulate --schedule fast --memory device --chip sm_90 --expect 0=%t.npy
// RUN: not tinymlir-runner %s --arg 0=iota@6x8 --arg 1=zeros@2x4 2>&1 | FileCheck %s --check-prefix=SIZE
// CHECK: {{\[\[\[}} -0.  -1.  -2.
// CHECK: [-40. -41. -42. -43. -44. -45. -46. -47.]]]
// SIZE: dynamic-expansions.mlir:[[#@LINE+6]]:8: 'tensor.expand_shape' op sizes do not multiply: to 8, where dimension 0 has 6
func.func @main(%a: tensor<?x8xf32>, %b: tensor<?x?xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c0 : tensor<?x?xf32>
  %m = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.expand_shape %a [[0, 1], [2]] output_shape [%n, %m, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  %r = tensor.empty(%n, %m) : tensor<?x?x8xf32>
  %negative = linalg.negf ins(%e : tensor<?x?x8xf32>) outs(%r : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %negative : tensor<?x?x8xf32>
}
