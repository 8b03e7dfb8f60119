// On a card the runner gives what it gives on the CPU.
// REQUIRES: cuda
// RUN: tinymlir-runner %s -e f -o 0=%t.0.npy -o 1=%t.1.npy
// RUN: tinymlir-runner %s -e f --gpu --expect 0=%t.0.npy --expect 1=%t.1.npy --rtol 2e-5 --atol 2e-5 --repeat 2
// RUN: tinymlir-runner %s -e f --gpu --memory device --expect 0=%t.0.npy --expect 1=%t.1.npy --rtol 2e-5 --atol 2e-5
// RUN: tinymlir-runner %s --gpu --emit lowered | tinymlir-runner - --gpu -e f --expect 0=%t.0.npy --rtol 2e-5 --atol 2e-5 -o 1=%t.2.npy
// RUN: tinymlir-runner %s --gpu -e update --arg x=ones -o 1=%t.x.npy | FileCheck %s
// RUN: tinymlir-runner %s -e update --arg x=ones --expect 1=%t.x.npy -o 0=%t.s.npy

// CHECK: {{^6.0$}}
func.func @f(%a: tensor<37x50xf32>, %b: tensor<50x21xf32>) -> (tensor<37x21xf32>, tensor<37xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x21xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<37x21xf32>) -> tensor<37x21xf32>
  %r = linalg.matmul ins(%a, %b : tensor<37x50xf32>, tensor<50x21xf32>) outs(%f : tensor<37x21xf32>) -> tensor<37x21xf32>
  %t = linalg.exp ins(%r : tensor<37x21xf32>) outs(%e : tensor<37x21xf32>) -> tensor<37x21xf32>
  %s = tensor.empty() : tensor<37xf32>
  %g = linalg.fill ins(%z : f32) outs(%s : tensor<37xf32>) -> tensor<37xf32>
  %q = linalg.reduce { arith.addf } ins(%t : tensor<37x21xf32>) outs(%g : tensor<37xf32>) dimensions = [1]
  return %t, %q : tensor<37x21xf32>, tensor<37xf32>
}
func.func @update(%x: tensor<2x3xf32> {tinymlir.writable, tinymlir.name = "x"}) -> (tensor<f32>, tensor<2x3xf32>) {
  %z = arith.constant 0.0 : f32
  %s = tensor.empty() : tensor<f32>
  %g = linalg.fill ins(%z : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %q = linalg.reduce { arith.addf } ins(%x : tensor<2x3xf32>) outs(%g : tensor<f32>) dimensions = [0, 1]
  %r = linalg.add ins(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %q, %r : tensor<f32>, tensor<2x3xf32>
}
