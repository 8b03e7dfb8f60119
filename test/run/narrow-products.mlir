// What rounding the factors of a product to bf16 costs: 2^-8 of the sum of the terms' magnitudes, which here are 304 of at most 1 (of random sign: less),
// and not nothing.
// RUN: tinymlir-runner %s -o 0=%t.npy
// RUN: tinymlir-opt %s --tinymlir-narrow-products -o %t.mlir
// RUN: tinymlir-runner %t.mlir --expect 0=%t.npy --rtol 0 --atol 0.1
// RUN: %fails tinymlir-runner %t.mlir --expect 0=%t.npy --rtol 1e-5 --atol 1e-4
func.func @main(%a: tensor<40x304xf32>, %b: tensor<304x56xf32>) -> tensor<40x56xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<40x56xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<40x56xf32>) -> tensor<40x56xf32>
  %p = linalg.matmul ins(%a, %b : tensor<40x304xf32>, tensor<304x56xf32>) outs(%c : tensor<40x56xf32>) -> tensor<40x56xf32>
  return %p : tensor<40x56xf32>
}
