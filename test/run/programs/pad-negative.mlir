// Padding by less than nothing, which PyTorch writes for a crop, cuts off: at both ends, beside padding, of dynamic sizes.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=iota@5 | FileCheck %s
// CHECK: {{\[}}[1. 2.]
// CHECK-NEXT: [5. 6.]]
// CHECK: {{\[}}[9. 9. 9. 9.]
// CHECK-NEXT: [2. 3. 9. 9.]]
// CHECK: [1. 2. 3. 9. 9.]
func.func @main(%x: tensor<2x4xf32>, %y: tensor<?xf32>) -> (tensor<2x2xf32>, tensor<2x4xf32>, tensor<?xf32>) {
  %c9 = arith.constant 9.0 : f32
  %a = tensor.pad %x low[0, -1] high[0, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c9 : f32
  } : tensor<2x4xf32> to tensor<2x2xf32>
  %b = tensor.pad %x low[1, -2] high[-1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c9 : f32
  } : tensor<2x4xf32> to tensor<2x4xf32>
  %c = tensor.pad %y low[-1] high[-1] {
  ^bb0(%i: index):
    tensor.yield %c9 : f32
  } : tensor<?xf32> to tensor<?xf32>
  %c2 = arith.constant 2 : index
  %d = tensor.pad %c low[0] high[%c2] {
  ^bb0(%i: index):
    tensor.yield %c9 : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %a, %b, %d : tensor<2x2xf32>, tensor<2x4xf32>, tensor<?xf32>
}
