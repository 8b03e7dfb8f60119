// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-gpu-outline --tinymlir-lower-gpu=chip=sm_90 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline --tinymlir-lower-gpu=chip=sm_80 | FileCheck %s --check-prefix=PLAIN

// ptxas 12.6 to 13.0 loses the sign of an operand where it joins two signed maxima or minima for sm_90.
// CHECK-LABEL: .entry sub_maxs
// CHECK: not.b32
// CHECK-NOT: neg.s32
// CHECK: max.s32
// PLAIN: neg.s32
func.func @largest_of_negated(%x: memref<2xi32>, %y: memref<i32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : memref<2xi32>) outs(%y : memref<i32>) {
  ^bb0(%a: i32, %o: i32):
    %c0 = arith.constant 0 : i32
    %n = arith.subi %c0, %a : i32
    %m = arith.maxsi %n, %o : i32
    linalg.yield %m : i32
  }
  return
}
