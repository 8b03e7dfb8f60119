// A memref of unknown rank as argument.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota@2x3 | FileCheck %s
// CHECK: 2
func.func @main(%m: memref<*xf32>) -> index {
 %r = memref.rank %m : memref<*xf32>
 return %r : index }
