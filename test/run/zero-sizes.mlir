// Arrays without elements among the operands of what copies slices.
// RUN: tinymlir-runner %s -e concat --arg 0=iota | FileCheck %s --check-prefix=CONCAT
// RUN: tinymlir-runner %s -e pad | FileCheck %s --check-prefix=PAD

// CONCAT: {{\[\[}}0. 1. 2.]
// CONCAT-NEXT: [3. 4. 5.]]
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// PAD: {{\[\[}}3. 3. 3.]
// PAD-NEXT: [3. 3. 3.]]
func.func @pad(%x: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %z = arith.constant 3.0 : f32
  %r = tensor.pad %x low[2, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<0x3xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
