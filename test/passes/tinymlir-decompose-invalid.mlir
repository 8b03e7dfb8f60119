// RUN: tinymlir-opt %s --tinymlir-decompose -verify-diagnostics


func.func @packdyn(%x: tensor<?x4xf32>, %e: tensor<?x2x?x2xf32>, %t: index) -> tensor<?x2x?x2xf32> {
  // expected-error @below {{'linalg.pack' op cannot be lowered: it needs static tiles and tensors}}
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [%t, 2] into %e : tensor<?x4xf32> -> tensor<?x2x?x2xf32>
  return %r : tensor<?x2x?x2xf32>
}
