// Packs and unpacks nothing.
// RUN: tinymlir-runner %s | FileCheck %s
// CHECK: sizes = [0, 2, 4, 2] strides = [16, 8, 2, 1] data =
// CHECK: sizes = [0, 4] strides = [4, 1] data =
func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %p = arith.constant 7.0 : f32
  %x = tensor.empty() : tensor<0x4xf32>
  %e = tensor.empty() : tensor<0x2x4x2xf32>
  %a = linalg.pack %x padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<0x4xf32> -> tensor<0x2x4x2xf32>
  %u = tensor.cast %a : tensor<0x2x4x2xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  %b = linalg.unpack %e inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %x : tensor<0x2x4x2xf32> -> tensor<0x4xf32>
  %v = tensor.cast %b : tensor<0x4xf32> to tensor<*xf32>
  call @printMemrefF32(%v) : (tensor<*xf32>) -> ()
  return
}
