// RUN: tinymlir-opt %s --tinymlir-gemv | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gemv --remarks-filter=tinymlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#A = affine_map<(m, n, k) -> (m, k)>
#Bt = affine_map<(m, n, k) -> (n, k)>
#C = affine_map<(m, n, k) -> (m, n)>

// The outputs lie side by side: each part of 96 rows is added up in a row of its own, and the parts in order.
// CHECK-LABEL: func.func @columns(
// CHECK-NEXT:    call @[[COLUMNS:gemv[_0-9]*]](%arg0, %arg1, %arg2)
// CHECK-NEXT:    return
func.func @columns(%x: memref<1x200xf32>, %w: memref<200x70xf32>, %y: memref<1x70xf32>) {
  linalg.matmul ins(%x, %w : memref<1x200xf32>, memref<200x70xf32>) outs(%y : memref<1x70xf32>)
  return
}

// An equal product is computed by the same functions.
// CHECK-LABEL: func.func @again(
// CHECK-NEXT:    call @[[COLUMNS]](%arg0, %arg1, %arg2)
func.func @again(%x: memref<1x200xf32>, %w: memref<200x70xf32>, %y: memref<1x70xf32>) {
  linalg.matmul ins(%x, %w : memref<1x200xf32>, memref<200x70xf32>) outs(%y : memref<1x70xf32>)
  return
}

// The summed elements lie side by side.
// CHECK-LABEL: func.func @rows(
// CHECK-NEXT:    call @[[ROWS:gemv[_0-9]*]](%arg0, %arg1, %arg2)
func.func @rows(%x: memref<1x200xf32>, %w: memref<70x200xf32>, %y: memref<1x70xf32>) {
  linalg.matmul indexing_maps = [#A, #Bt, #C] ins(%x, %w : memref<1x200xf32>, memref<70x200xf32>) outs(%y : memref<1x70xf32>)
  return
}

// A column on the right is as good, and so are sizes and strides that are known at run time only.
// CHECK-LABEL: func.func @column(
// CHECK-NEXT:    call @[[COLUMN:gemv[_0-9]*]](%arg0, %arg1, %arg2)
func.func @column(%w: memref<?x?xf64, strided<[?, 1], offset: ?>>, %x: memref<?x1xf64>, %y: memref<?x1xf64>) {
  linalg.matmul ins(%w, %x : memref<?x?xf64, strided<[?, 1], offset: ?>>, memref<?x1xf64>) outs(%y : memref<?x1xf64>)
  return
}

// Narrow elements are converted where they are read.
// CHECK-LABEL: func.func @bf16(
// CHECK-NEXT:    call @[[BF16:gemv[_0-9]*]](%arg0, %arg1, %arg2)
func.func @bf16(%x: memref<1x20xf32>, %w: memref<20x70xbf16>, %y: memref<1x70xf32>) {
  linalg.matmul ins(%x, %w : memref<1x20xf32>, memref<20x70xbf16>) outs(%y : memref<1x70xf32>)
  return
}
// CHECK-LABEL: func.func @int8(
// CHECK-NEXT:    call @[[INT8:gemv[_0-9]*]](%arg0, %arg1, %arg2)
func.func @int8(%x: memref<1x200xf32>, %w: memref<70x200xi8>, %y: memref<1x70xf32>) {
  linalg.matmul indexing_maps = [#A, #Bt, #C] ins(%x, %w : memref<1x200xf32>, memref<70x200xi8>) outs(%y : memref<1x70xf32>)
  return
}

// What is no matrix and vector is left.
// CHECK-LABEL: func.func @left(
// CHECK:         linalg.matmul
// CHECK:         linalg.batch_matmul
// CHECK:         linalg.matmul
// REMARK: remark: [Missed] {{.*}}is no product of a matrix and a vector: it has 1 dimensions of the left operand and 1 of the right one
// REMARK: remark: [Missed] {{.*}}is no product of a matrix and a vector: it has batches
// REMARK: remark: [Missed] {{.*}}is no product of a matrix and a vector: it adds up in f16
func.func @left(%a: memref<3x4xf32>, %b: memref<4x5xf32>, %c: memref<3x5xf32>, %d: memref<2x1x4xf32>, %e: memref<2x4x5xf32>,
                %f: memref<2x1x5xf32>, %g: memref<1x4xf16>, %h: memref<4x5xf16>, %i: memref<1x5xf16>) {
  linalg.matmul ins(%a, %b : memref<3x4xf32>, memref<4x5xf32>) outs(%c : memref<3x5xf32>)
  linalg.batch_matmul ins(%d, %e : memref<2x1x4xf32>, memref<2x4x5xf32>) outs(%f : memref<2x1x5xf32>)
  linalg.matmul ins(%g, %h : memref<1x4xf16>, memref<4x5xf16>) outs(%i : memref<1x5xf16>)
  return
}

// CHECK:         func.func private @[[COLUMNS]](%{{.*}}: memref<1x200xf32>
// CHECK:           memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x70xf32>
// CHECK:           call @tinymlirParallelFor(
// CHECK:           memref.dealloc
// CHECK:         func.func private @[[COLUMNS]]_range(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-COUNT-8:   memref.load %{{.*}} : memref<200x70xf32>
// CHECK:           memref.store
// CHECK:         func.func private @[[ROWS]](
// CHECK-NOT:       memref.alloc
// CHECK:           call @tinymlirParallelFor(
// CHECK:         func.func private @[[ROWS]]_range(
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             arith.addf {{.*}} fastmath<reassoc,contract>
// CHECK:         func.func private @[[BF16]]_range(
// CHECK:           arith.extf %{{.*}} : bf16 to f32
// CHECK:         func.func private @[[INT8]]_range(
// CHECK:           arith.sitofp %{{.*}} : i8 to f32
