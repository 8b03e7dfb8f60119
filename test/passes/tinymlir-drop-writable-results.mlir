// RUN: tinymlir-opt %s --tinymlir-optimize --tinymlir-bufferize | FileCheck %s

// A cache that is written to and returned is updated in place: it is neither copied nor cloned nor returned.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[CACHE:.*]]: memref<8x4xf32> {tinymlir.name = "cache", tinymlir.writable}
// CHECK-SAME:    -> memref<4xf32> attributes {{.*}}tinymlir.results = [0, -1]}
// CHECK-NOT:     memref.alloc{{.*}}8x4
// CHECK:         %[[ROW:.*]] = memref.subview %[[CACHE]]
// CHECK:         memref.copy %{{.*}}, %[[ROW]]
// CHECK-NOT:     bufferization.clone
// CHECK:         return %{{.*}} : memref<4xf32>
func.func @step(%cache: tensor<8x4xf32> {tinymlir.writable, tinymlir.name = "cache"}, %row: tensor<1x4xf32>, %pos: tensor<1xi32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %p = tensor.extract %pos[%c0] : tensor<1xi32>
  %pi = arith.index_cast %p : i32 to index
  %new = tensor.insert_slice %row into %cache[%pi, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce ins(%new : tensor<8x4xf32>) outs(%f : tensor<4xf32>) dimensions = [0]
    (%in: f32, %init: f32) { %0 = arith.addf %in, %init : f32
      linalg.yield %0 : f32 }
  return %new, %s : tensor<8x4xf32>, tensor<4xf32>
}

// A caller inside the module goes on with its own argument.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME:    %[[CACHE:.*]]: memref<8x4xf32> {tinymlir.writable}
// CHECK:         call @step(%[[CACHE]], {{.*}}) : ({{.*}}) -> memref<4xf32>
// CHECK:         call @step(%[[CACHE]], {{.*}}) : ({{.*}}) -> memref<4xf32>
func.func @twice(%cache: tensor<8x4xf32> {tinymlir.writable}, %row: tensor<1x4xf32>, %pos: tensor<1xi32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %a:2 = call @step(%cache, %row, %pos) : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi32>) -> (tensor<8x4xf32>, tensor<4xf32>)
  %b:2 = call @step(%a#0, %row, %pos) : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi32>) -> (tensor<8x4xf32>, tensor<4xf32>)
  return %b#0, %b#1 : tensor<8x4xf32>, tensor<4xf32>
}

// An argument that is not marked is not written to, and its result is a new buffer.
// CHECK-LABEL: func.func @unmarked(
// CHECK-SAME:    -> memref<4xf32> attributes {tinymlir.read_only} {
// CHECK:         %[[NEW:.*]] = memref.alloc()
// CHECK:         return %[[NEW]]
func.func @unmarked(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}

// A marked argument that comes back on one of two paths only cannot be dropped.
// CHECK-LABEL: func.func @some_paths(
// CHECK-SAME:    -> memref<4xf32> attributes {tinymlir.read_only} {
func.func @some_paths(%x: tensor<4xf32> {tinymlir.writable}, %y: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = arith.select %c, %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}
