// RUN: tinymlir-opt %s --tinymlir-decompose -verify-diagnostics -split-input-file

func.func @packdyn(%x: tensor<?x4xf32>, %e: tensor<?x2x?x2xf32>, %t: index) -> tensor<?x2x?x2xf32> {
  // expected-error @below {{'linalg.pack' op cannot be lowered: it needs static tiles and tensors}}
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [%t, 2] into %e : tensor<?x4xf32> -> tensor<?x2x?x2xf32>
  return %r : tensor<?x2x?x2xf32>
}

// -----

// Upstream's decomposition crashes on it.
func.func @softmax(%x: tensor<2x8xi32>, %e: tensor<2x8xi32>) -> tensor<2x8xi32> {
  // expected-error @below {{'linalg.softmax' op cannot be lowered: its elements are no floating-point numbers}}
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x8xi32>) outs(%e : tensor<2x8xi32>) -> tensor<2x8xi32>
  return %r : tensor<2x8xi32>
}

// -----

// Upstream's decomposition leaves operations that mix both.
func.func @buffers(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @below {{'linalg.softmax' op cannot be lowered: its operands are buffers (use tensors)}}
  linalg.softmax dimension(0) ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  return
}

// -----

func.func @winograd(%filter: tensor<2x3x3x5xindex>, %out: tensor<6x6x5x2xindex>) -> tensor<6x6x5x2xindex> {
  // expected-error @below {{'linalg.winograd_filter_transform' op cannot be lowered: its elements are no floating-point numbers}}
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%filter : tensor<2x3x3x5xindex>) outs(%out : tensor<6x6x5x2xindex>) -> tensor<6x6x5x2xindex>
  return %0 : tensor<6x6x5x2xindex>
}

// -----

func.func @winograd_output(%value: tensor<6x6x1x1x2x2xi32>, %out: tensor<2x4x4x2xi32>) -> tensor<2x4x4x2xi32> {
  // expected-error @below {{'linalg.winograd_output_transform' op cannot be lowered: its elements are no floating-point numbers}}
  %0 = linalg.winograd_output_transform fmr(F_4_3) ins(%value : tensor<6x6x1x1x2x2xi32>) outs(%out : tensor<2x4x4x2xi32>) -> tensor<2x4x4x2xi32>
  return %0 : tensor<2x4x4x2xi32>
}

// -----

func.func @winograd_double(%filter: tensor<2x3x3x5xf64>, %out: tensor<6x6x5x2xf64>) -> tensor<6x6x5x2xf64> {
  // expected-error @+1 {{'linalg.winograd_filter_transform' op cannot be lowered: its elements are not f32 (convert them)}}
  %r = linalg.winograd_filter_transform fmr(F_4_3) ins(%filter : tensor<2x3x3x5xf64>) outs(%out : tensor<6x6x5x2xf64>) -> tensor<6x6x5x2xf64>
  return %r : tensor<6x6x5x2xf64>
}
