// A gather inside a branch that guards it.
// RUN: tinymlir-runner %s --strict-args --arg 0=iota | FileCheck %s
// CHECK: [0. 0. 1. 2. 3. 0.]
func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
 %e = tensor.empty() : tensor<6xf32>
 %c1 = arith.constant 1 : index
 %c0 = arith.constant 0 : index
 %c4 = arith.constant 4 : index
 %z = arith.constant 0.0 : f32
 %r = linalg.generic {indexing_maps = [affine_map<(i)->(i)>], iterator_types = ["parallel"]} outs(%e : tensor<6xf32>) {
 ^bb0(%o: f32):
  %i = linalg.index 0 : index
  %k = arith.subi %i, %c1 : index
  %a = arith.cmpi sge, %k, %c0 : index
  %b = arith.cmpi slt, %k, %c4 : index
  %in = arith.andi %a, %b : i1
  %s = scf.if %in -> f32 {
   %v = tensor.extract %x[%k] : tensor<4xf32>
   scf.yield %v : f32
  } else { scf.yield %z : f32 }
  linalg.yield %s : f32 } -> tensor<6xf32>
 return %r : tensor<6xf32> }
