// Tiles of 4 in 7 elements, without padding: upstream would read past the end.
// RUN: %fails tinymlir-runner %s --strict-args --arg 0=iota@7 --arg 1=zeros@2x4 2>&1 | FileCheck %s
// RUN: tinymlir-runner %s --strict-args --arg 0=iota@8 --arg 1=zeros@2x4 | FileCheck %s --check-prefix=FITS
// CHECK: pack-misfit.mlir:[[#@LINE+4]]:8: 'linalg.pack' op tiles do not fit: 4 elements each along dimension 0 (give a padding_value)
// FITS: {{\[}}[0. 1. 2. 3.]
// FITS-NEXT: [4. 5. 6. 7.]]
func.func @main(%x: tensor<?xf32>, %e: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = linalg.pack %x inner_dims_pos = [0] inner_tiles = [4] into %e : tensor<?xf32> -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
