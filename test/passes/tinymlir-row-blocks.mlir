// RUN: tinymlir-opt %s --tinymlir-row-blocks | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-row-blocks --remarks-filter=tinymlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#back = affine_map<(i, j) -> (63 - i, j)>
#wide = affine_map<(i, j, k) -> (i, j, k)>
#sums = affine_map<(i, j, k) -> (i, j)>
#one = affine_map<(i) -> (i)>

// A sum and what divides by it: a row is one block. The sums are one element on the stack.
// CHECK-LABEL: func.func @mean(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<64x768xf32>, %[[Y:[a-z0-9]*]]: memref<768xf32>) -> memref<64x768xf32>
// CHECK:         %[[OUT:.*]] = memref.alloc() : memref<64x768xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.forall (%[[I:.*]]) in (64) {
// CHECK-DAG:       %[[SUM:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1xf32>
// CHECK-DAG:       %[[XS:.*]] = memref.subview %[[X]][%[[I]], 0] [1, 768] [1, 1]
// CHECK-DAG:       %[[OUTS:.*]] = memref.subview %[[OUT]][%[[I]], 0] [1, 768] [1, 1]
// CHECK:           linalg.fill ins(%{{.*}}) outs(%[[SUM]] : memref<1xf32>)
// CHECK:           linalg.generic {{.*}}"reduction"]} ins(%[[XS]] : {{.*}}) outs(%[[SUM]] : memref<1xf32>)
// CHECK:           linalg.generic {{.*}} ins(%[[XS]], %[[SUM]], %[[Y]] : {{.*}}) outs(%[[OUTS]] :
// CHECK-NOT:     memref.dealloc
// CHECK:         return %[[OUT]]
// REMARK: remark: [Passed] {{.*}}'scf.forall' computes 3 operations, a row at a time, a buffer on the stack: linalg.fill, linalg.generic, linalg.generic
func.func @mean(%x: memref<64x768xf32>, %y: memref<768xf32>) -> memref<64x768xf32> {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64xf32>
  %out = memref.alloc() : memref<64x768xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<64x768xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %y : memref<64x768xf32>, memref<64xf32>, memref<768xf32>) outs(%out : memref<64x768xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %s : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %sum : memref<64xf32>
  return %out : memref<64x768xf32>
}

// Rows of two dimensions; several short ones are a block. A named operation, another element type, a column's place by index:
// only a row's place moves with the block.
// CHECK-LABEL: func.func @masked(
// CHECK:         scf.forall (%[[I:.*]], %[[J:.*]]) = (0, 0) to (3, 128) step (1, 8) {
// CHECK:           linalg.generic
// CHECK:             %[[IN:.*]] = linalg.index 1 : index
// CHECK-NEXT:        %[[PLACE:.*]] = arith.addi %[[IN]], %[[J]] : index
// CHECK-NEXT:        %[[COLUMN:.*]] = linalg.index 2 : index
// CHECK-NEXT:        arith.cmpi ule, %[[COLUMN]], %[[PLACE]]
// CHECK:           linalg.add ins({{.*}} : memref<1x8x64xi16>, {{.*}}) outs({{.*}} : memref<1x8x64xi16, strided<[8192, 64, 1], offset: ?>>)
func.func @masked(%x: memref<3x128x64xi16>) -> memref<3x128x64xi16> {
  %low = arith.constant -1 : i16
  %kept = memref.alloc() : memref<3x128x64xi16>
  %out = memref.alloc() : memref<3x128x64xi16>
  linalg.generic {indexing_maps = [#wide, #wide], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<3x128x64xi16>) outs(%kept : memref<3x128x64xi16>) {
  ^bb0(%a: i16, %o: i16):
    %row = linalg.index 1 : index
    %column = linalg.index 2 : index
    %keeps = arith.cmpi ule, %column, %row : index
    %0 = arith.select %keeps, %a, %low : i16
    linalg.yield %0 : i16
  }
  linalg.add ins(%kept, %x : memref<3x128x64xi16>, memref<3x128x64xi16>) outs(%out : memref<3x128x64xi16>)
  memref.dealloc %kept : memref<3x128x64xi16>
  return %out : memref<3x128x64xi16>
}

// As many rows as an argument has, in blocks of which the last one is shorter. A view between the operations stays before them.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?x100xf32>
// CHECK:         %[[OUT:.*]] = memref.alloc(
// CHECK:         memref.expand_shape %[[OUT]]
// CHECK:         %[[N:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK:         scf.forall (%[[I:.*]]) = (0) to (%[[N]]) step (6) {
// CHECK:           %[[LEFT:.*]] = arith.subi %[[N]], %[[I]]
// CHECK:           %[[FEW:.*]] = arith.minsi %[[LEFT]], %c6
// CHECK-DAG:       memref.subview %[[X]][%[[I]], 0] [%[[FEW]], 100] [1, 1]
// CHECK-DAG:       %[[T:.*]] = memref.alloca() {alignment = 64 : i64} : memref<6x100xf32>
// CHECK-DAG:       memref.subview %[[T]][0, 0] [%[[FEW]], 100] [1, 1] : memref<6x100xf32> to memref<?x100xf32, strided<[100, 1]>>
func.func @dynamic(%x: memref<?x100xf32>) -> memref<?x10x10xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x100xf32>
  %t = memref.alloc(%n) : memref<?x100xf32>
  linalg.exp ins(%x : memref<?x100xf32>) outs(%t : memref<?x100xf32>)
  %out = memref.alloc(%n) : memref<?x100xf32>
  %view = memref.expand_shape %out [[0], [1, 2]] output_shape [%n, 10, 10] : memref<?x100xf32> into memref<?x10x10xf32>
  linalg.sub ins(%t, %x : memref<?x100xf32>, memref<?x100xf32>) outs(%out : memref<?x100xf32>)
  memref.dealloc %t : memref<?x100xf32>
  return %view : memref<?x10x10xf32>
}

// Columns of unknown number: the buffer stays whole.
// CHECK-LABEL: func.func @columns(
// CHECK:         %[[T:.*]] = memref.alloc(
// CHECK:         scf.forall
// CHECK-NOT:       memref.alloca
// CHECK:           memref.subview %[[T]]
func.func @columns(%x: memref<64x?xf32>, %n: index) -> memref<64x?xf32> {
  %t = memref.alloc(%n) : memref<64x?xf32>
  %out = memref.alloc(%n) : memref<64x?xf32>
  linalg.exp ins(%x : memref<64x?xf32>) outs(%t : memref<64x?xf32>)
  linalg.sub ins(%t, %x : memref<64x?xf32>, memref<64x?xf32>) outs(%out : memref<64x?xf32>)
  memref.dealloc %t : memref<64x?xf32>
  return %out : memref<64x?xf32>
}

// What is updated in place element by element is its own row's.
// CHECK-LABEL: func.func @in_place(
// CHECK:         scf.forall
// CHECK-COUNT-2:   linalg.exp
func.func @in_place(%x: memref<64x768xf32>) -> memref<64x768xf32> {
  %out = memref.alloc() : memref<64x768xf32>
  linalg.exp ins(%x : memref<64x768xf32>) outs(%out : memref<64x768xf32>)
  linalg.exp ins(%out : memref<64x768xf32>) outs(%out : memref<64x768xf32>)
  return %out : memref<64x768xf32>
}

// A table that the run does not write is read anywhere, through a transposed view of it as well.
// CHECK-LABEL: func.func @table(
// CHECK-SAME:    %[[IDS:[a-z0-9]*]]: memref<64xindex>, %[[TABLE:[a-z0-9]*]]: memref<1000x768xf32>, %[[Y:[a-z0-9]*]]: memref<768x64xf32>
// CHECK:         scf.forall (%[[I:.*]]) in (64)
// CHECK-DAG:       memref.subview %[[IDS]][%[[I]]] [1] [1]
// CHECK-DAG:       memref.subview %[[Y]][0, %[[I]]] [768, 1] [1, 1]
// CHECK:           memref.load %[[TABLE]]
func.func @table(%ids: memref<64xindex>, %table: memref<1000x768xf32>, %y: memref<768x64xf32>) -> memref<64x768xf32> {
  %t = memref.alloc() : memref<64x768xf32>
  %out = memref.alloc() : memref<64x768xf32>
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : memref<64xindex>) outs(%t : memref<64x768xf32>) {
  ^bb0(%id: index, %o: f32):
    %column = linalg.index 1 : index
    %0 = memref.load %table[%id, %column] : memref<1000x768xf32>
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #swap, #id], iterator_types = ["parallel", "parallel"]} ins(%t, %y : memref<64x768xf32>, memref<768x64xf32>) outs(%out : memref<64x768xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<64x768xf32>
  return %out : memref<64x768xf32>
}

// Rows in reverse order are other rows.
// CHECK-LABEL: func.func @reversed(
// CHECK-NOT:     scf.forall
// REMARK: remark: [Missed] {{.*}}'linalg.generic' ends a run over the same rows: no parallel loop indexes the first dimension of all that it writes
func.func @reversed(%x: memref<64x64xf32>) -> memref<64x64xf32> {
  %t = memref.alloc() : memref<64x64xf32>
  %out = memref.alloc() : memref<64x64xf32>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%t : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<64x64xf32>) outs(%out : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return %out : memref<64x64xf32>
}

// So are columns that are read as rows.
// CHECK-LABEL: func.func @transposed(
// CHECK-NOT:     scf.forall
// REMARK: remark: [Missed] {{.*}}'linalg.generic' ends a run over the same rows: it takes what the run writes at other rows
func.func @transposed(%x: memref<64x64xf32>) -> memref<64x64xf32> {
  %t = memref.alloc() : memref<64x64xf32>
  %out = memref.alloc() : memref<64x64xf32>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%t : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<64x64xf32>) outs(%out : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return %out : memref<64x64xf32>
}

// A sum over the rows needs all of them.
// CHECK-LABEL: func.func @over_rows(
// CHECK-NOT:     scf.forall
// REMARK: remark: [Missed] {{.*}}'linalg.generic' ends a run over the same rows: it takes what the run writes at other rows
func.func @over_rows(%x: memref<64x64xf32>, %sum: memref<64xf32>) {
  %t = memref.alloc() : memref<64x64xf32>
  %s = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%t : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%t : memref<64x64xf32>) outs(%s : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// What the run writes may not be read from anywhere else in a body.
// CHECK-LABEL: func.func @gathered(
// CHECK-NOT:     scf.forall
// REMARK: remark: [Missed] {{.*}}'linalg.generic' ends a run over the same rows: it takes what the run writes at other rows
func.func @gathered(%x: memref<64xf32>, %ids: memref<64xindex>) -> memref<64xf32> {
  %t = memref.alloc() : memref<64xf32>
  %out = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%t : memref<64xf32>)
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%ids : memref<64xindex>) outs(%out : memref<64xf32>) {
  ^bb0(%id: index, %o: f32):
    %0 = memref.load %t[%id] : memref<64xf32>
    linalg.yield %0 : f32
  }
  return %out : memref<64xf32>
}

// Two views of one buffer, a row apart.
// CHECK-LABEL: func.func @shifted(
// CHECK-NOT:     scf.forall
// REMARK: remark: [Missed] {{.*}}'linalg.exp' ends a run over the same rows: two of its views may share memory
func.func @shifted(%x: memref<64x64xf32>) -> memref<64x64xf32> {
  %t = memref.alloc() : memref<65x64xf32>
  %out = memref.alloc() : memref<64x64xf32>
  %upper = memref.subview %t[0, 0] [64, 64] [1, 1] : memref<65x64xf32> to memref<64x64xf32, strided<[64, 1]>>
  %lower = memref.subview %t[1, 0] [64, 64] [1, 1] : memref<65x64xf32> to memref<64x64xf32, strided<[64, 1], offset: 64>>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%upper : memref<64x64xf32, strided<[64, 1]>>)
  linalg.exp ins(%lower : memref<64x64xf32, strided<[64, 1], offset: 64>>) outs(%out : memref<64x64xf32>)
  return %out : memref<64x64xf32>
}

// Another shape of a buffer has the same rows where only what is inside of them differs.
// CHECK-LABEL: func.func @heads(
// CHECK:         scf.forall (%[[I:.*]]) in (64) {
// CHECK-DAG:       memref.subview %{{.*}}[%[[I]], 0] [1, 768] [1, 1]
// CHECK-DAG:       memref.subview %{{.*}}[%[[I]], 0, 0] [1, 12, 64] [1, 1, 1]
// CHECK-COUNT-2:   linalg.exp
func.func @heads(%x: memref<64x768xf32>) -> memref<64x12x64xf32> {
  %t = memref.alloc() : memref<64x768xf32>
  %out = memref.alloc() : memref<64x12x64xf32>
  %heads = memref.expand_shape %t [[0], [1, 2]] output_shape [64, 12, 64] : memref<64x768xf32> into memref<64x12x64xf32>
  linalg.exp ins(%x : memref<64x768xf32>) outs(%t : memref<64x768xf32>)
  linalg.exp ins(%heads : memref<64x12x64xf32>) outs(%out : memref<64x12x64xf32>)
  return %out : memref<64x12x64xf32>
}

// Ones do not count.
// CHECK-LABEL: func.func @ones(
// CHECK:         scf.forall ({{.*}}) in (64) {
// CHECK-COUNT-2:   linalg.exp
func.func @ones(%x: memref<64x768xf32>) -> memref<64x1x768xf32> {
  %t = memref.alloc() : memref<64x768xf32>
  %out = memref.alloc() : memref<64x1x768xf32>
  %batch = memref.expand_shape %t [[0, 1], [2]] output_shape [64, 1, 768] : memref<64x768xf32> into memref<64x1x768xf32>
  linalg.exp ins(%x : memref<64x768xf32>) outs(%t : memref<64x768xf32>)
  linalg.exp ins(%batch : memref<64x1x768xf32>) outs(%out : memref<64x1x768xf32>)
  return %out : memref<64x1x768xf32>
}

// Reshapes that cut dimensions anew are not followed.
// CHECK-LABEL: func.func @reshaped(
// CHECK-NOT:     scf.forall
// REMARK: remark: [Missed] {{.*}}'linalg.exp' ends a run over the same rows: it takes what the run writes at other rows
func.func @reshaped(%x: memref<64x12x64xf32>) -> memref<64x768xf32> {
  %t = memref.alloc() : memref<64x12x64xf32>
  %out = memref.alloc() : memref<64x768xf32>
  %flat = memref.collapse_shape %t [[0, 1, 2]] : memref<64x12x64xf32> into memref<49152xf32>
  %rows = memref.expand_shape %flat [[0, 1]] output_shape [64, 768] : memref<49152xf32> into memref<64x768xf32>
  linalg.exp ins(%x : memref<64x12x64xf32>) outs(%t : memref<64x12x64xf32>)
  linalg.exp ins(%rows : memref<64x768xf32>) outs(%out : memref<64x768xf32>)
  return %out : memref<64x768xf32>
}

// A caller may pass memory that overlaps.
// CHECK-LABEL: func.func @arguments(
// CHECK-NOT:     scf.forall
func.func @arguments(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  linalg.exp ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>)
  linalg.exp ins(%y : memref<64x64xf32>) outs(%y : memref<64x64xf32>)
  return
}

// Sizes that are not known to be equal; a run may start with the operation that ended another.
// CHECK-LABEL: func.func @sizes(
// CHECK:         linalg.exp
// CHECK:         scf.forall
// CHECK-COUNT-2:   linalg.exp
// REMARK: remark: [Missed] {{.*}}'linalg.exp' ends a run over the same rows: its rows are not known to be as many
func.func @sizes(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index, %m: index) -> (memref<?x64xf32>, memref<?x64xf32>) {
  %t = memref.alloc(%n) : memref<?x64xf32>
  %u = memref.alloc(%m) : memref<?x64xf32>
  linalg.exp ins(%x : memref<?x64xf32>) outs(%t : memref<?x64xf32>)
  linalg.exp ins(%y : memref<?x64xf32>) outs(%u : memref<?x64xf32>)
  linalg.exp ins(%u : memref<?x64xf32>) outs(%u : memref<?x64xf32>)
  return %t, %u : memref<?x64xf32>, memref<?x64xf32>
}

// A single row of many columns would be one thread's.
// CHECK-LABEL: func.func @one_row(
// CHECK-NOT:     scf.forall
// REMARK: remark: [Missed] {{.*}}'linalg.generic' ends a run over the same rows: the rows common to all are too few and long to be shared among threads
func.func @one_row(%x: memref<1x100000xf32>) -> memref<1xf32> {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<1xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<1x100000xf32>) outs(%sum : memref<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  return %sum : memref<1xf32>
}

// A short one is soon done: no buffers, one loop.
// CHECK-LABEL: func.func @short_row(
// CHECK:         scf.forall ({{.*}}) in (1) {
// CHECK:           memref.alloca() {{.*}} : memref<1x768xf32>
func.func @short_row(%x: memref<1x768xf32>) -> memref<1xf32> {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<1x768xf32>
  %sum = memref.alloc() : memref<1xf32>
  linalg.exp ins(%x : memref<1x768xf32>) outs(%t : memref<1x768xf32>)
  linalg.fill ins(%zero : f32) outs(%sum : memref<1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : memref<1x768xf32>) outs(%sum : memref<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<1x768xf32>
  return %sum : memref<1xf32>
}

// Products stay, whoever computes them; so does a single operation.
// CHECK-LABEL: func.func @product(
// CHECK-NOT:     scf.forall
func.func @product(%x: memref<64x64xf32>, %y: memref<64x64xf32>) -> memref<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %out = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%out : memref<64x64xf32>)
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%out : memref<64x64xf32>)
  linalg.exp ins(%out : memref<64x64xf32>) outs(%out : memref<64x64xf32>)
  return %out : memref<64x64xf32>
}

// Which of two checks fails first would show.
// CHECK-LABEL: func.func @checks(
// CHECK-NOT:     scf.forall
// REMARK: remark: [Missed] {{.*}}'linalg.generic' ends a run over the same rows: another operation checks something too
func.func @checks(%x: memref<64xi32>) -> memref<64xi32> {
  %zero = arith.constant 0 : i32
  %t = memref.alloc() : memref<64xi32>
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<64xi32>) outs(%t : memref<64xi32>) {
  ^bb0(%a: i32, %o: i32):
    %ok = arith.cmpi sge, %a, %zero : i32
    cf.assert %ok, "negative"
    linalg.yield %a : i32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%t : memref<64xi32>) outs(%t : memref<64xi32>) {
  ^bb0(%a: i32, %o: i32):
    %ok = arith.cmpi ne, %a, %zero : i32
    cf.assert %ok, "zero"
    linalg.yield %a : i32
  }
  return %t : memref<64xi32>
}

// Nothing has rows without elements, and no view of them verifies.
// CHECK-LABEL: func.func @empty(
// CHECK-NOT:     scf.forall
func.func @empty(%a: memref<4x6xi8>, %b: memref<6x0xi8>, %r: memref<4x0xi32>) {
  %c0 = arith.constant 0 : i32
  linalg.fill ins(%c0 : i32) outs(%r : memref<4x0xi32>)
  linalg.quantized_matmul ins(%a, %b, %c0, %c0 : memref<4x6xi8>, memref<6x0xi8>, i32, i32) outs(%r : memref<4x0xi32>)
  return
}
