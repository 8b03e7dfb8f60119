// A slice of one column of a batch of one, of a buffer of any strides: which of the two dimensions of one element goes.
// RUN: tinymlir-runner %s --arg 0=iota --arg 1=2 | FileCheck %s
// RUN: tinymlir-runner %s --arg 0=iota --arg 1=2 --gpu --emulate | FileCheck %s
// CHECK: {{\[\[}} 2. 6. 10.]]
func.func @main(%m: memref<1x3x4xf32, strided<[?, ?, ?], offset: ?>>, %i: index) -> tensor<1x3xf32> {
  %x = bufferization.to_tensor %m restrict : memref<1x3x4xf32, strided<[?, ?, ?], offset: ?>> to tensor<1x3x4xf32>
  %s = tensor.extract_slice %x[0, 0, %i] [1, 3, 1] [1, 1, 1] : tensor<1x3x4xf32> to tensor<1x3xf32>
  return %s : tensor<1x3xf32>
}
