// A function on tensors that frees a buffer of its own.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: [3. 4. 5. 6.]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %v = tensor.extract %x[%c3] : tensor<4xf32>
  %m = memref.alloc() : memref<2x2xf32>
  linalg.fill ins(%v : f32) outs(%m : memref<2x2xf32>)
  %w = memref.load %m[%c0, %c0] : memref<2x2xf32>
  %f = memref.collapse_shape %m [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  memref.dealloc %f : memref<4xf32>
  %s = tensor.splat %w : tensor<4xf32>
  %r = arith.addf %x, %s : tensor<4xf32>
  return %r : tensor<4xf32>
}
