// RUN: tinymlir-opt %s --tinymlir-blas --canonicalize | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-blas --remarks-filter=tinymlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#A = affine_map<(m, n, k) -> (m, k)>
#At = affine_map<(m, n, k) -> (k, m)>
#Ab = affine_map<(m, n, k) -> (k)>
#B = affine_map<(m, n, k) -> (k, n)>
#Bt = affine_map<(m, n, k) -> (n, k)>
#C = affine_map<(m, n, k) -> (m, n)>
#Ct = affine_map<(m, n, k) -> (n, m)>

// Row-major operands: no transposition (111), leading dimensions are the row lengths, and the sum is added to the output.
// CHECK-LABEL: func.func @matmul(
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.0
// CHECK:         call @cblas_sgemm(%c101_i32, %c111_i32, %c111_i32, %c4_i32, %c16_i32, %c8_i32, %[[ONE]], %{{.*}}, %c8_i32, %{{.*}}, %c16_i32, %[[ONE]], %{{.*}}, %c16_i32)
// CHECK-NOT:     linalg
// REMARK: remark: [Passed] tinymlir-blas {{.*}}'linalg.matmul' becomes cblas_sgemm
func.func @matmul(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
  return
}

// Maps that transpose become flags (112); double precision its own routine.
// CHECK-LABEL: func.func @transposed(
// CHECK:         call @cblas_dgemm(%c101_i32, %c112_i32, %c112_i32, %c4_i32, %c16_i32, %c8_i32, %{{.*}}, %{{.*}}, %c4_i32, %{{.*}}, %c8_i32, %{{.*}}, %{{.*}}, %c16_i32)
func.func @transposed(%a: memref<8x4xf64>, %b: memref<16x8xf64>, %c: memref<4x16xf64>) {
  linalg.matmul indexing_maps = [#At, #Bt, #C] ins(%a, %b : memref<8x4xf64>, memref<16x8xf64>) outs(%c : memref<4x16xf64>)
  return
}

// A column-major output is the transposed product: operands change places, M and N too.
// CHECK-LABEL: func.func @column_major(
// CHECK-SAME:    %[[A:[^ ]*]]: {{[^%]*}} %[[B:[^ ]*]]: {{[^%]*}} %{{.*}}: 
// CHECK-DAG:     %[[PA:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
// CHECK-DAG:     %[[PB:.*]] = memref.extract_aligned_pointer_as_index %[[B]]
// CHECK-DAG:     %[[IA:.*]] = arith.index_cast %[[PA]]
// CHECK-DAG:     %[[IB:.*]] = arith.index_cast %[[PB]]
// CHECK-DAG:     %[[QA:.*]] = llvm.inttoptr %[[IA]]
// CHECK-DAG:     %[[QB:.*]] = llvm.inttoptr %[[IB]]
// CHECK:         call @cblas_sgemm(%c101_i32, %c111_i32, %c111_i32, %c16_i32, %c4_i32, %c8_i32, %{{.*}}, %[[QB]], %c8_i32, %[[QA]], %c4_i32, %{{.*}}, %{{.*}}, %c4_i32)
func.func @column_major(%a: memref<4x8xf32, strided<[1, 4]>>, %b: memref<8x16xf32, strided<[1, 8]>>, %c: memref<4x16xf32, strided<[1, 4]>>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32, strided<[1, 4]>>, memref<8x16xf32, strided<[1, 8]>>) outs(%c : memref<4x16xf32, strided<[1, 4]>>)
  return
}

// A leading dimension may be longer than a row, offsets may be static or not: an offset of 3 is 12 bytes.
// CHECK-LABEL: func.func @subviews(
// CHECK-DAG:     %[[BYTES:.*]] = arith.constant 12 : index
// CHECK-DAG:     arith.addi %{{.*}}, %[[BYTES]] : index
// CHECK-DAG:     %{{.*}}, %[[OFFSET:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata
// CHECK:         arith.muli %[[OFFSET]], %c4
// CHECK:         call @cblas_sgemm(%c101_i32, %c111_i32, %c111_i32, %c4_i32, %c16_i32, %c8_i32, %{{.*}}, %{{.*}}, %c100_i32, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c16_i32)
func.func @subviews(%a: memref<4x8xf32, strided<[100, 1], offset: 3>>, %b: memref<8x16xf32, strided<[?, 1], offset: ?>>, %c: memref<4x16xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32, strided<[100, 1], offset: 3>>, memref<8x16xf32, strided<[?, 1], offset: ?>>) outs(%c : memref<4x16xf32>)
  return
}

// Sizes that are known at run time only are taken from the descriptors; a leading dimension is at least 1, as CBLAS wants.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %{{.*}}, %{{.*}}, %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK:         %[[M:.*]] = arith.index_cast %[[SIZES]]#0 : index to i32
// CHECK:         arith.maxsi %[[STRIDES]]#0, %c1
// CHECK:         call @cblas_sgemm(%c101_i32, %c111_i32, %c111_i32, %[[M]],
func.func @dynamic(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// One row or one column is a product of a matrix and a vector.
// CHECK-LABEL: func.func @row(
// CHECK:         call @cblas_sgemv(%c101_i32, %c112_i32, %c8_i32, %c16_i32, %{{.*}}, %{{.*}}, %c16_i32, %{{.*}}, %c1_i32, %{{.*}}, %{{.*}}, %c1_i32)
func.func @row(%a: memref<1x8xf32>, %b: memref<8x16xf32>, %c: memref<1x16xf32>) {
  linalg.matmul ins(%a, %b : memref<1x8xf32>, memref<8x16xf32>) outs(%c : memref<1x16xf32>)
  return
}

// CHECK-LABEL: func.func @column(
// CHECK:         call @cblas_sgemv(%c101_i32, %c111_i32, %c4_i32, %c8_i32, %{{.*}}, %{{.*}}, %c8_i32, %{{.*}}, %c1_i32, %{{.*}}, %{{.*}}, %c1_i32)
func.func @column(%a: memref<4x8xf32>, %b: memref<8x1xf32>, %c: memref<4x1xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x1xf32>) outs(%c : memref<4x1xf32>)
  return
}

// The operations on vectors; a dot product is added to what the output holds.
// CHECK-LABEL: func.func @vectors(
// CHECK:         call @cblas_sgemv(%c101_i32, %c111_i32, %c4_i32, %c8_i32,
// CHECK:         call @cblas_sgemv(%c101_i32, %c112_i32, %c4_i32, %c8_i32,
// CHECK:         %[[SUM:.*]] = call @cblas_sdot(%c8_i32, %{{.*}}, %c1_i32, %{{.*}}, %c1_i32)
// CHECK:         %[[OLD:.*]] = llvm.load
// CHECK:         %[[NEW:.*]] = arith.addf %[[OLD]], %[[SUM]]
// CHECK:         llvm.store %[[NEW]]
func.func @vectors(%m: memref<4x8xf32>, %v: memref<8xf32>, %w: memref<4xf32>, %r: memref<4xf32>, %s: memref<8xf32>, %d: memref<f32>) {
  linalg.matvec ins(%m, %v : memref<4x8xf32>, memref<8xf32>) outs(%r : memref<4xf32>)
  linalg.vecmat ins(%w, %m : memref<4xf32>, memref<4x8xf32>) outs(%s : memref<8xf32>)
  linalg.dot ins(%v, %s : memref<8xf32>, memref<8xf32>) outs(%d : memref<f32>)
  return
}

// A batch is a loop around the call, also one that the output sums over.
// CHECK-LABEL: func.func @batches(
// CHECK:         scf.for %{{.*}} = %c0 to %{{.*}} step %c1 {
// CHECK:           call @cblas_sgemm(
// CHECK:         scf.for %{{.*}} = %c0 to %{{.*}} step %c1 {
// CHECK:           call @cblas_sgemm(
// REMARK: 'linalg.batch_reduce_matmul' becomes cblas_sgemm
func.func @batches(%a: memref<?x4x8xf32>, %b: memref<?x8x16xf32>, %c: memref<?x4x16xf32>, %d: memref<4x16xf32>) {
  linalg.batch_matmul ins(%a, %b : memref<?x4x8xf32>, memref<?x8x16xf32>) outs(%c : memref<?x4x16xf32>)
  linalg.batch_reduce_matmul ins(%a, %b : memref<?x4x8xf32>, memref<?x8x16xf32>) outs(%d : memref<4x16xf32>)
  return
}

// An input that has no rows is used for each row of the output.
// CHECK-LABEL: func.func @broadcast(
// CHECK:         scf.for %{{.*}} = %c0 to %c4 step %c1 {
// CHECK:           call @cblas_sgemv(
func.func @broadcast(%a: memref<8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  linalg.matmul indexing_maps = [#Ab, #B, #C] ins(%a, %b : memref<8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
  return
}

// A generic that multiplies and adds is one as well, whatever the order; its output here is transposed.
// CHECK-LABEL: func.func @generic(
// CHECK:         call @cblas_sgemm(%c101_i32, %c112_i32, %c112_i32, %c16_i32, %c4_i32, %c8_i32,
func.func @generic(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<16x4xf32>) {
  linalg.generic {indexing_maps = [#A, #B, #Ct], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<16x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %y, %x : f32
    %1 = arith.addf %0, %z : f32
    linalg.yield %1 : f32
  }
  return
}

// What CBLAS has no routine for stays, and a remark says why.
// CHECK-LABEL: func.func @integers(
// CHECK:         linalg.matmul
// REMARK: remark: [Missed] tinymlir-blas {{.*}}Function=integers {{.*}}'linalg.matmul' is left for loops: its body is not a floating-point multiply-add
func.func @integers(%a: memref<4x8xi32>, %b: memref<8x16xi32>, %c: memref<4x16xi32>) {
  linalg.matmul ins(%a, %b : memref<4x8xi32>, memref<8x16xi32>) outs(%c : memref<4x16xi32>)
  return
}

// CHECK-LABEL: func.func @half(
// CHECK:         linalg.matmul
// REMARK: Function=half {{.*}}'linalg.matmul' is left for loops: CBLAS has no routine for f16
func.func @half(%a: memref<4x8xf16>, %b: memref<8x16xf16>, %c: memref<4x16xf16>) {
  linalg.matmul ins(%a, %b : memref<4x8xf16>, memref<8x16xf16>) outs(%c : memref<4x16xf16>)
  return
}

// CHECK-LABEL: func.func @mixed(
// CHECK:         linalg.matmul
// REMARK: Function=mixed {{.*}}'linalg.matmul' is left for loops: its operands differ in element type: f32, f32, f64
func.func @mixed(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf64>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf64>)
  return
}

// BLAS wants neighbours along one dimension.
// CHECK-LABEL: func.func @strided_both(
// CHECK:         linalg.matmul
// REMARK: Function=strided_both {{.*}}'linalg.matmul' is left for loops: operand 0 has no dimension whose stride is known to be 1
func.func @strided_both(%a: memref<4x8xf32, strided<[32, 2]>>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32, strided<[32, 2]>>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
  return
}

// Maps of a product with another body are no product, and no remark is wanted.
// CHECK-LABEL: func.func @not_a_product(
// CHECK:         linalg.generic
// REMARK-NOT: not_a_product
func.func @not_a_product(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  linalg.generic {indexing_maps = [#A, #B, #C], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.addf %y, %x : f32
    %1 = arith.maximumf %0, %z : f32
    linalg.yield %1 : f32
  }
  return
}
