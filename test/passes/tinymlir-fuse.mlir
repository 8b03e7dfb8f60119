// RUN: tinymlir-opt %s --tinymlir-fuse -split-input-file | FileCheck %s

// A gather with a check is fused into what uses it, and its check is not left behind twice.
// CHECK-LABEL: func.func @gather_add(
// CHECK-COUNT-1: cf.assert
// CHECK:         tensor.extract
// CHECK-NEXT:    arith.addf
// CHECK-NOT:     cf.assert
// CHECK:         return
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @gather_add(%table: tensor<9x4xf32>, %ids: tensor<2xi32>, %x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %rows = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<2xi32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %i = arith.index_cast %in : i32 to index
    %n = arith.constant 9 : index
    %valid = arith.cmpi ult, %i, %n : index
    cf.assert %valid, "out of range"
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<9x4xf32>
    linalg.yield %v : f32
  } -> tensor<2x4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%rows, %x : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %sum : tensor<2x4xf32>
}

// -----

// A check that nothing used before stays: it can stop the program.
// CHECK-LABEL: func.func @check(
// CHECK:         cf.assert
// CHECK-NOT:     tinymlir.used
// CHECK:         return
func.func @check(%ids: tensor<2xi1>) {
  %e = tensor.empty() : tensor<2xi1>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%ids : tensor<2xi1>) outs(%e : tensor<2xi1>) {
  ^bb0(%in: i1, %out: i1):
    cf.assert %in, "no"
    linalg.yield %in : i1
  } -> tensor<2xi1>
  return
}
