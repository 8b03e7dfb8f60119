// RUN: tinymlir-opt %s --tinymlir-outline-loops | FileCheck %s

#id = affine_map<(i) -> (i)>

// So do parallel loops, with what is inside them.
// CHECK-LABEL: func.func @parallel_loops(
// CHECK-COUNT-2: call @forall
// CHECK-NOT:     scf.forall
// CHECK:         return
func.func @parallel_loops(%x: memref<4xf32>, %y: memref<4xf32>) {
  scf.forall (%i) in (4) {
    %v = memref.load %x[%i] : memref<4xf32>
    %s = arith.addf %v, %v : f32
    memref.store %s, %x[%i] : memref<4xf32>
  }
  scf.forall (%i) in (4) {
    %v = memref.load %y[%i] : memref<4xf32>
    %s = arith.addf %v, %v : f32
    memref.store %s, %y[%i] : memref<4xf32>
  }
  return
}

// Equal operations share a function, whatever they are applied to; the constant moves along, the scalar is passed.
// CHECK-LABEL: func.func @equal(
// CHECK-SAME:    %[[A:.*]]: memref<8xf32>, %[[B:.*]]: memref<8xf32>, %[[S:.*]]: f32)
// CHECK:         call @generic_mulf_addf(%[[A]], %[[B]], %[[S]])
// CHECK-NEXT:    call @generic_mulf_addf(%[[B]], %[[A]], %[[S]])
// CHECK-NEXT:    return
func.func @equal(%a: memref<8xf32>, %b: memref<8xf32>, %s: f32) {
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %two : f32
    %1 = arith.addf %0, %s : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : memref<8xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %two : f32
    %1 = arith.addf %0, %s : f32
    linalg.yield %1 : f32
  }
  return
}

// Another constant is another function; a name that is taken is not taken again.
// CHECK-LABEL: func.func @different(
// CHECK:         call @fill_0
// CHECK-NEXT:    call @fill_1
func.func @different(%a: memref<8xf32>, %b: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  linalg.fill ins(%one : f32) outs(%b : memref<8xf32>)
  return
}
func.func private @fill(memref<8xf32>)

// A function of one operation is one already.
// CHECK-LABEL: func.func @single(
// CHECK-NOT:     call
func.func @single(%a: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  return
}

// Assertions that would report different places are different.
// CHECK-LABEL: func.func @asserting(
// CHECK:         call @[[FIRST:generic_cmpi[_0-9]*]](
// CHECK-NOT:     call @[[FIRST]](
// CHECK:         call @generic_cmpi
func.func @asserting(%a: memref<8xi32>, %b: memref<8xi32>) {
  %zero = arith.constant 0 : i32
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<8xi32>) {
  ^bb0(%x: i32):
    %ok = arith.cmpi sge, %x, %zero : i32
    cf.assert %ok, "negative"
    linalg.yield %x : i32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%b : memref<8xi32>) {
  ^bb0(%x: i32):
    %ok = arith.cmpi sge, %x, %zero : i32
    cf.assert %ok, "negative"
    linalg.yield %x : i32
  }
  return
}

// CHECK: func.func private @generic_mulf_addf(
// CHECK-SAME: attributes {passthrough = ["noinline"]}
// CHECK-NEXT: arith.constant 2.0
// CHECK-NEXT: linalg.generic
