// vector.contract on tensors.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota --arg 1=iota | FileCheck %s
// CHECK: {{\[\[}}28. 34.]
// CHECK-NEXT: [76. 98.]]
func.func @main(%a: tensor<2x4xf32>, %b: tensor<4x2xf32>) -> tensor<2x2xf32> {
 %c0 = arith.constant 0 : index
 %z = arith.constant 0.0 : f32
 %x = vector.transfer_read %a[%c0, %c0], %z : tensor<2x4xf32>, vector<2x4xf32>
 %y = vector.transfer_read %b[%c0, %c0], %z : tensor<4x2xf32>, vector<4x2xf32>
 %i = arith.constant dense<0.0> : vector<2x2xf32>
 %r = vector.contract {indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>], iterator_types = ["parallel","parallel","reduction"], kind = #vector.kind<add>} %x, %y, %i : vector<2x4xf32>, vector<4x2xf32> into vector<2x2xf32>
 %e = tensor.empty() : tensor<2x2xf32>
 %w = vector.transfer_write %r, %e[%c0, %c0] : vector<2x2xf32>, tensor<2x2xf32>
 return %w : tensor<2x2xf32> }
