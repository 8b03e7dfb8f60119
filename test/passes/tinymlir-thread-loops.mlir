// RUN: tinymlir-opt %s --tinymlir-thread-loops | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-thread-loops --remarks-filter=tinymlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The rows are shared; the columns stay a loop.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<100x1000xf32>, %[[Y:[a-z0-9]*]]: memref<100x1000xf32>
// CHECK:         call @rows_threads(%[[X]], %[[Y]])
// CHECK-NEXT:    return
func.func @rows(%x: memref<100x1000xf32>, %y: memref<100x1000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %c1000 = arith.constant 1000 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c100, %c1000) step (%c1, %c1) {
    %0 = memref.load %x[%i, %j] : memref<100x1000xf32>
    %1 = math.exp %0 : f32
    memref.store %1, %y[%i, %j] : memref<100x1000xf32>
  }
  return
}

// A short loop stays where it is.
// CHECK-LABEL: func.func @short(
// CHECK-NOT:     call
// CHECK:         scf.for
// REMARK: remark: [Missed] {{.*}}stays on one thread: it is short
func.func @short(%x: memref<100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %z = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
    memref.store %z, %x[%i] : memref<100xf32>
  }
  return
}

// Bounds that are known at run time only are counted there; the runtime decides.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?xf32>, %[[FROM:[a-z0-9]*]]: index, %[[TO:[a-z0-9]*]]: index, %[[BY:[a-z0-9]*]]: index
// CHECK:         call @dynamic_threads({{.*}}%[[FROM]], %[[TO]], %[[BY]])
func.func @dynamic(%x: memref<?xf32>, %from: index, %to: index, %by: index) {
  %z = arith.constant 1.0 : f32
  scf.parallel (%i) = (%from) to (%to) step (%by) {
    memref.store %z, %x[%i] : memref<?xf32>
  }
  return
}

// The order of calls would show.
// CHECK-LABEL: func.func @calls(
// CHECK:         scf.for
// CHECK:           call @print
// REMARK: remark: [Missed] {{.*}}stays on one thread: 'func.call' in its body may not be called by several threads
func.func private @print(index)
func.func @calls() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000000 = arith.constant 1000000 : index
  scf.parallel (%i) = (%c0) to (%c1000000) step (%c1) {
    func.call @print(%i) : (index) -> ()
  }
  return
}

// A name that wants quotes.
// CHECK-LABEL: func.func @"7 models/v1.2"
// CHECK:         call @_7_models_v1.2_threads(
func.func @"7 models/v1.2"(%a: memref<1000000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000000 = arith.constant 1000000 : index
  scf.parallel (%i) = (%c0) to (%c1000000) step (%c1) {
    %x = memref.load %a[%i] : memref<1000000xf32>
    %e = math.exp %x : f32
    memref.store %e, %a[%i] : memref<1000000xf32>
  }
  return
}

// CHECK-LABEL: func.func private @rows_threads(
// CHECK:         %[[COUNT:.*]] = arith.index_cast {{.*}} : index to i64
// CHECK:         call @tinymlirParallelFor({{.*}}, {{.*}}, %[[COUNT]], {{.*}})
// CHECK-LABEL: func.func private @rows_threads_range(
// CHECK-SAME:    !llvm.ptr, %[[FIRST:.*]]: i64, %[[LAST:.*]]: i64)
// CHECK-DAG:     %[[BEGIN:.*]] = arith.index_cast %[[FIRST]]
// CHECK-DAG:     %[[END:.*]] = arith.index_cast %[[LAST]]
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK:           scf.for
// CHECK:             math.exp
// CHECK-NOT:   tinymlir.body
