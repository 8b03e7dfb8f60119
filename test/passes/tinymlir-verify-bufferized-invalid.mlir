// RUN: tinymlir-opt %s --tinymlir-verify-bufferized -split-input-file -verify-diagnostics
// RUN: tinymlir-opt %s --tinymlir-lower-cpu -split-input-file -verify-diagnostics

func.func @fine(%x: memref<2x3xf32>, %y: memref<3x2xf32>, %z: memref<2x2xf32>) {
  linalg.matmul ins(%x, %y : memref<2x3xf32>, memref<3x2xf32>) outs(%z : memref<2x2xf32>)
  return
}

// -----

func.func @left(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>, %z: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error @below {{'linalg.matmul' op has a value of type tensor<2x2xf32>: bufferize the module first (tinymlir-bufferize)}}
  %0 = linalg.matmul ins(%x, %y : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
