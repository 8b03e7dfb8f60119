// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-gpu-outline --tinymlir-lower-gpu | FileCheck %s --implicit-check-not=approx --implicit-check-not=.ftz --implicit-check-not=fma

// Sums, products, quotients and square roots round correctly and keep denormals; none are joined.
// CHECK-DAG: mul.rn.f32
// CHECK-DAG: add.rn.f32
// CHECK-DAG: div.rn.f32
// CHECK-DAG: sqrt.rn.f32
func.func @exact(%x: memref<64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %o : f32
    %s = arith.addf %m, %a : f32
    %d = arith.divf %s, %o : f32
    %q = math.sqrt %d : f32
    linalg.yield %q : f32
  }
  return
}
