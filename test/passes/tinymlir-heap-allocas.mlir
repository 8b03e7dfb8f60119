// RUN: tinymlir-opt %s --tinymlir-heap-allocas -allow-unregistered-dialect | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-heap-allocas=max-bytes=16 -allow-unregistered-dialect | FileCheck %s --check-prefix=FEW

// 16 MiB are more than a stack; the buffer ends with its block.
// CHECK-LABEL: func.func @large(
// CHECK:         %[[M:.*]] = memref.alloc() {alignment = 128 : i64} : memref<2048x2048xf32>
// CHECK-NEXT:    "test.use"(%[[M]])
// CHECK-NEXT:    memref.dealloc %[[M]]
func.func @large() {
  %m = memref.alloca() {alignment = 128 : i64} : memref<2048x2048xf32>
  "test.use"(%m) : (memref<2048x2048xf32>) -> ()
  return
}

// Nothing says how large this is.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[N:.*]]: index
// CHECK:         memref.alloc(%[[N]])
// CHECK:         memref.dealloc
func.func @dynamic(%n: index) {
  %m = memref.alloca(%n) : memref<?xf32>
  "test.use"(%m) : (memref<?xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @small(
// CHECK:         memref.alloca()
// CHECK-NOT:     memref.dealloc
// FEW-LABEL:   func.func @small(
// FEW:           memref.alloc()
func.func @small() {
  %m = memref.alloca() : memref<16xf32>
  "test.use"(%m) : (memref<16xf32>) -> ()
  return
}

// A small one in a loop takes its space once; a large one ends with the iteration.
// CHECK-LABEL: func.func @loop(
// CHECK:         %[[SMALL:.*]] = memref.alloca() : memref<16xf32>
// CHECK:         scf.for
// CHECK:           "test.use"(%[[SMALL]])
// CHECK:           %[[LARGE:.*]] = memref.alloc(
// CHECK:           memref.dealloc %[[LARGE]]
// CHECK-NEXT:    }
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %m = memref.alloca() : memref<16xf32>
    "test.use"(%m) : (memref<16xf32>) -> ()
    %l = memref.alloca(%n) : memref<?xf32>
    "test.use"(%l) : (memref<?xf32>) -> ()
  }
  return
}

// The sizes that a reshape reads are not passed on with its result.
// CHECK-LABEL: func.func @sizes_of_reshape(
// CHECK:         memref.alloc(
// CHECK:         memref.reshape
// CHECK:         memref.dealloc
func.func @sizes_of_reshape(%x: memref<4xf32>, %n: index) -> memref<*xf32> {
  %sizes = memref.alloca(%n) : memref<?xindex>
  "test.use"(%sizes) : (memref<?xindex>) -> ()
  %r = memref.reshape %x(%sizes) : (memref<4xf32>, memref<?xindex>) -> memref<*xf32>
  return %r : memref<*xf32>
}
