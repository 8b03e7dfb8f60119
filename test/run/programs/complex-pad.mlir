// A complex number that a parallel loop of unknown length uses goes to the other threads with it.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=1 | FileCheck %s
// CHECK: [1.+2.j 0.+0.j 1.+0.j]
func.func @main(%x: tensor<2xcomplex<f32>>, %n: index) -> tensor<?xcomplex<f32>> {
  %p = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  %r = tensor.pad %x low[%n] high[0] {
  ^bb0(%i: index):
    tensor.yield %p : complex<f32>
  } : tensor<2xcomplex<f32>> to tensor<?xcomplex<f32>>
  return %r : tensor<?xcomplex<f32>>
}
