// RUN: tinymlir-opt %s --tinymlir-entry-arguments | FileCheck %s

// An argument is not written to unless it is marked; what the user set stays. The function is marked for deallocation.
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %{{.*}}: tensor<4xf32> {bufferization.writable = false}
// CHECK-SAME:    %{{.*}}: tensor<4xf32> {bufferization.writable = true, tinymlir.writable}
// CHECK-SAME:    %{{.*}}: tensor<4xf32> {bufferization.writable = true}
// CHECK-SAME:    %{{.*}}: index)
// CHECK-SAME:    attributes {tinymlir.bufferized}
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32> {tinymlir.writable}, %c: tensor<4xf32> {bufferization.writable = true}, %n: index) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// A private function's callers are all in sight: bufferization knows what may be written.
// CHECK-LABEL: func.func private @helper(
// CHECK-SAME:    %{{.*}}: tensor<4xf32>)
// CHECK-SAME:    attributes {tinymlir.bufferized}
func.func private @helper(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// A function on memrefs is nobody's business.
// CHECK-LABEL: func.func @memrefs(
// CHECK-NOT:     tinymlir
// CHECK:         return
func.func @memrefs(%m: memref<4xf32>) {
  return
}

// Deallocation wants structured control flow.
// CHECK-LABEL: func.func @branches(
// CHECK:         scf.if
// CHECK-NOT:     cf.cond_br
// CHECK-NOT:     cf.br
func.func @branches(%c: i1, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %c, ^x, ^y
^x:
  return %a : tensor<4xf32>
^y:
  return %b : tensor<4xf32>
}
