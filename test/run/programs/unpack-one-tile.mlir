// One tile along one dimension of two: a pack and an unpack that no slice alone can make.
// RUN: tinymlir-runner %s --arg x=iota | FileCheck %s
// CHECK: {{\[\[}}0.]
// CHECK-NEXT: [1.]]
func.func @main(%x: tensor<2x1xf32> {tinymlir.name = "x"}) -> tensor<2x1xf32> {
  %nine = arith.constant 9.0 : f32
  %packed = tensor.empty() : tensor<1x1x8xf32>
  %p = linalg.pack %x padding_value(%nine : f32) outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [8] into %packed : tensor<2x1xf32> -> tensor<1x1x8xf32>
  %empty = tensor.empty() : tensor<2x1xf32>
  %r = linalg.unpack %p outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [8] into %empty : tensor<1x1x8xf32> -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}
