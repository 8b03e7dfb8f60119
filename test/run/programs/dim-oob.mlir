// The size along a dimension that there is none of.
// RUN: %fails tinymlir-runner %s --strict-args --arg 0=iota@2x4 --arg 1=5 2>&1 | FileCheck %s
// RUN: tinymlir-runner %s --strict-args --arg 0=iota@2x4 --arg 1=1 | FileCheck %s --check-prefix=FINE
// CHECK: 'tensor.dim' op there is no dimension 5 of 2
// FINE: 4
func.func @main(%x: tensor<?x4xf32>, %k: index) -> index {
  %d = tensor.dim %x, %k : tensor<?x4xf32>
  return %d : index
}
