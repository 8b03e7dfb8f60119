// RUN: tinymlir-opt %s --tinymlir-bufferize | FileCheck %s --implicit-check-not=tensor

// A result is computed where it is returned: one allocation, no copy, and the caller frees it.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>) -> memref<4xf32>
// CHECK:         %[[R:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK-NOT:     memref.copy
// CHECK:         linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
// CHECK:         linalg.negf ins(%[[R]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
// CHECK-NOT:     memref.dealloc
// CHECK:         return %[[R]]
func.func @in_place(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.negf ins(%y : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// What the caller passed is copied before it is written to, and what is returned of it is a copy.
// CHECK-LABEL: func.func @input(
// CHECK-SAME:    %[[X:[^ ]*]]: memref<4xf32>
// CHECK:         %[[R:.*]] = memref.alloc()
// CHECK:         memref.copy %[[X]], %[[R]]
// CHECK:         memref.store %{{.*}}, %[[R]]
// CHECK-NOT:     memref.store
func.func @input(%x: tensor<4xf32>, %v: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %y = tensor.insert %v into %x[%c0] : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A temporary is freed after its last use.
// CHECK-LABEL: func.func @temporary(
// CHECK:         %[[T:.*]] = memref.alloc()
// CHECK:         linalg.exp {{.*}} outs(%[[T]]
// CHECK:         memref.load %[[T]]
// CHECK:         memref.dealloc %[[T]]
// CHECK:         return
func.func @temporary(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %v = tensor.extract %y[%c0] : tensor<4xf32>
  return %v : f32
}

// A loop may carry a fresh tensor; the one before is freed in every iteration.
// CHECK-LABEL: func.func @loop(
// CHECK:         scf.for
// CHECK:           memref.alloc()
// CHECK:           memref.dealloc
// CHECK:           scf.yield
func.func @loop(%a: tensor<2xf32>, %b: tensor<2xf32>, %n: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (tensor<2xf32>, tensor<2xf32>) {
    %e = tensor.empty() : tensor<2xf32>
    %s = linalg.add ins(%p, %q : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    scf.yield %q, %s : tensor<2xf32>, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}

// Layouts at the boundary are the identity: a slice is copied out.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME:    -> memref<3xf32>
// CHECK:         %[[S:.*]] = memref.subview
// CHECK:         %[[R:.*]] = memref.alloc()
// CHECK:         memref.copy %[[S]], %[[R]]
// CHECK:         return %[[R]]
func.func @slice(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %s = tensor.extract_slice %x[0, 1] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3xf32>
  return %s : tensor<3xf32>
}

// A function on memrefs beside those on tensors is left as it is.
// CHECK-LABEL: func.func @theirs(
// CHECK:         %[[M:.*]] = memref.alloc(%{{.*}})
// CHECK-COUNT-1: memref.dealloc %[[M]]
// CHECK-NOT:     memref.dealloc
func.func @theirs(%n: index) {
  %m = memref.alloc(%n) : memref<?xf32>
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%m : memref<?xf32>)
  memref.dealloc %m : memref<?xf32>
  return
}
