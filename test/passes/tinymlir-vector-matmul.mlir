// RUN: tinymlir-opt %s --tinymlir-vector-matmul=vector-bits=512 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-vector-matmul=vector-bits=128 | FileCheck %s --check-prefix=NARROW
// RUN: tinymlir-opt %s --tinymlir-vector-matmul --remarks-filter=tinymlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#At = affine_map<(m, n, k) -> (k, m)>
#Bt = affine_map<(m, n, k) -> (n, k)>
#C = affine_map<(m, n, k) -> (m, n)>
#Ct = affine_map<(m, n, k) -> (n, m)>
#A = affine_map<(m, n, k) -> (m, k)>

// Two blocks of seven rows and six; the fill goes. 100 columns are two strips of 48, and a part of one under masks.
// CHECK-LABEL: func.func @product(
// CHECK-NOT:     linalg.fill
// CHECK:         call @[[PRODUCT:matmul[_0-9]*]](%arg0, %arg1, %arg2)
// CHECK-NEXT:    return
// REMARK: remark: [Passed] {{.*}}becomes tiles of 5 x 16 in registers
func.func @product(%a: memref<13x200xf32>, %b: memref<200x100xf32>, %c: memref<13x100xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<13x100xf32>)
  linalg.matmul ins(%a, %b : memref<13x200xf32>, memref<200x100xf32>) outs(%c : memref<13x100xf32>)
  return
}

// An equal product that adds to what is there is another function.
// CHECK-LABEL: func.func @adds(
// CHECK-NEXT:    call @[[ADDS:matmul[_0-9]*]](%arg0, %arg1, %arg2)
func.func @adds(%a: memref<13x200xf32>, %b: memref<200x96xf32>, %c: memref<13x96xf32>) {
  linalg.matmul ins(%a, %b : memref<13x200xf32>, memref<200x96xf32>) outs(%c : memref<13x96xf32>)
  return
}

// Few columns whose neighbours are rows, with the matrix on the left.
// CHECK-LABEL: func.func @turned(
// CHECK-NEXT:    call @[[TURNED:matmul[_0-9]*]](%arg0, %arg1, %arg2)
func.func @turned(%a: memref<200x96xbf16>, %b: memref<4x200xf32>, %c: memref<4x96xf32>) {
  linalg.matmul indexing_maps = [#At, #Bt, #Ct] ins(%a, %b : memref<200x96xbf16>, memref<4x200xf32>) outs(%c : memref<4x96xf32>)
  return
}

// CHECK-LABEL: func.func @left(
// CHECK-COUNT-7: linalg.{{(batch_)?}}matmul
// REMARK: remark: [Missed] {{.*}}is no product for registers: more than 1024 rows, or an unknown number
// REMARK: remark: [Missed] {{.*}}is no product for registers: more than 1024 rows, or an unknown number
// REMARK: remark: [Missed] {{.*}}is no product for registers: the columns of the matrix or the output are not known to lie side by side
// REMARK: remark: [Missed] {{.*}}is no product for registers: it adds up 40000 elements, more than a cache has for it
// REMARK: remark: [Missed] {{.*}}is no product for registers: the matrix has less than 16384 elements
// REMARK: remark: [Missed] {{.*}}is no product for registers: it has batches
// REMARK: remark: [Missed] {{.*}}is no product for registers: it has 0, 1 and 1 dimensions of rows, columns and sums
func.func @left(%a: memref<1500x60xf32>, %b: memref<60x300xf32>, %c: memref<1500x300xf32>, %d: memref<?x60xf32>, %e: memref<?x300xf32>,
                %f: memref<8x60xf32>, %g: memref<300x60xf32>, %h: memref<8x300xf32>, %i: memref<2x8x60xf32>, %j: memref<2x60x300xf32>,
                %k: memref<2x8x300xf32>, %l: memref<1x60xf32>, %m: memref<1x300xf32>, %n: memref<60x30xf32>, %o: memref<8x30xf32>, %p: memref<16x40000xf32>, %q: memref<40000x300xf32>, %r: memref<16x300xf32>) {
  linalg.matmul ins(%a, %b : memref<1500x60xf32>, memref<60x300xf32>) outs(%c : memref<1500x300xf32>)
  linalg.matmul ins(%d, %b : memref<?x60xf32>, memref<60x300xf32>) outs(%e : memref<?x300xf32>)
  linalg.matmul indexing_maps = [#A, #Bt, #C] ins(%f, %g : memref<8x60xf32>, memref<300x60xf32>) outs(%h : memref<8x300xf32>)
  linalg.matmul ins(%p, %q : memref<16x40000xf32>, memref<40000x300xf32>) outs(%r : memref<16x300xf32>)
  linalg.matmul ins(%f, %n : memref<8x60xf32>, memref<60x30xf32>) outs(%o : memref<8x30xf32>)
  linalg.batch_matmul ins(%i, %j : memref<2x8x60xf32>, memref<2x60x300xf32>) outs(%k : memref<2x8x300xf32>)
  linalg.matmul ins(%l, %b : memref<1x60xf32>, memref<60x300xf32>) outs(%m : memref<1x300xf32>)
  return
}

// No rows, no loop.
// CHECK-LABEL: func.func @no_rows(
// CHECK:         linalg.matmul
func.func @no_rows(%a: memref<0x3072xf32>, %b: memref<3072x20xbf16>, %c: memref<0x20xf32>) {
  linalg.matmul ins(%a, %b : memref<0x3072xf32>, memref<3072x20xbf16>) outs(%c : memref<0x20xf32>)
  return
}

// CHECK:         func.func private @[[PRODUCT]]_range(
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK:               scf.for {{.*}} iter_args(%{{[^)]*}}) -> (vector<16xf32>
// CHECK-COUNT-3:         vector.load %{{.*}} : memref<200x100xf32>, vector<16xf32>
// CHECK-COUNT-3:         memref.prefetch
// CHECK-COUNT-7:         vector.broadcast
// CHECK:               vector.store
// CHECK-COUNT-6:       vector.broadcast
// CHECK:             else
// CHECK-COUNT-3:       vector.create_mask
// CHECK:               vector.maskedload
// CHECK:               vector.maskedstore
// CHECK:         func.func private @[[ADDS]]_range(
// CHECK-NOT:       vector.maskedload
// CHECK:           vector.load %{{.*}} : memref<13x96xf32>, vector<16xf32>
// CHECK:           vector.store
// CHECK:         func.func private @[[TURNED]]_range(
// CHECK:           vector.load %{{.*}} : memref<200x96xbf16>, vector<16xbf16>
// CHECK:           arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>

// Registers of 128 bits: there are sixteen.
// NARROW:        func.func private @matmul_range(
// NARROW:          vector.load %{{.*}} : memref<200x100xf32>, vector<4xf32>
// NARROW-COUNT-5:  vector.broadcast
// NARROW:          scf.yield
