// RUN: tinymlir-opt %s --tinymlir-expand-math | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-lower-cpu -o /dev/null

// Normal: at least the smallest normal number, and finite. A NaN compares as false.
// CHECK-LABEL: func.func @normal(
// CHECK-DAG:     %[[LOW:.*]] = arith.constant 1.17549435E-38 : f32
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 0x7F800000 : f32
// CHECK:         %[[M:.*]] = math.absf %arg0
// CHECK:         arith.cmpf oge, %[[M]], %[[LOW]]
// CHECK:         arith.cmpf olt, %[[M]], %[[HIGH]]
// CHECK:         arith.andi
func.func @normal(%a: f32) -> i1 {
  %r = math.isnormal %a : f32
  return %r : i1
}

// CHECK-LABEL: func.func @power(
// CHECK:         math.ipowi %{{.*}}, %{{.*}} : i64
// CHECK:         arith.index_cast %{{.*}} : i64 to index
func.func @power(%a: index, %b: index) -> index {
  %r = math.ipowi %a, %b : index
  return %r : index
}
