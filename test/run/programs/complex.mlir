// Complex numbers.
// RUN: tinymlir-runner %s | FileCheck %s
// CHECK: result 0:
// CHECK-NEXT: [-7.+24.j  0. -2.j]
// CHECK-NEXT: result 1:
// CHECK-NEXT: [5.        1.4142135]
func.func @main() -> (tensor<2xcomplex<f32>>, tensor<2xf32>) {
 %x = arith.constant dense<[(3.0, 4.0), (1.0, -1.0)]> : tensor<2xcomplex<f32>>
 %e = tensor.empty() : tensor<2xcomplex<f32>>
 %g = tensor.empty() : tensor<2xf32>
 %r:2 = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->(i)>, affine_map<(i)->(i)>], iterator_types = ["parallel"]} ins(%x : tensor<2xcomplex<f32>>) outs(%e, %g : tensor<2xcomplex<f32>>, tensor<2xf32>) {
 ^bb0(%a: complex<f32>, %o: complex<f32>, %p: f32):
  %0 = complex.mul %a, %a : complex<f32>
  %1 = complex.abs %a : complex<f32>
  linalg.yield %0, %1 : complex<f32>, f32
 } -> (tensor<2xcomplex<f32>>, tensor<2xf32>)
 return %r#0, %r#1 : tensor<2xcomplex<f32>>, tensor<2xf32> }
