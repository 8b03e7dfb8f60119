// A sparse tensor.
// RUN: %fails tinymlir-runner %s 2>&1 | FileCheck %s
// CHECK: 'func.func' op has a value of type tensor<4xf32, #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>>: tensors with an encoding are not supported (lower them first)
#S = #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>
func.func @main(%x: tensor<4xf32, #S>) -> f32 {
 %c = arith.constant 0 : index
 %v = tensor.extract %x[%c] : tensor<4xf32, #S>
 return %v : f32 }
