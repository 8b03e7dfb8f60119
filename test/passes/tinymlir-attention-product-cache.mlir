// Keys and values that a function writes but one row of, at the position, are read before the kernel's predecessor ends, all but that row; where
// another row may be written, behind the wait: at a number that is cast in another way, on another axis, two rows at once, the whole of it, a
// number that is written before, another number than the one that keeps keys, or through a buffer that may be another.
// RUN: tinymlir-opt %s --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=AT
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" | FileCheck %s --check-prefix=WAIT
// RUN: sed 's/%at = arith.index_cast %number/%at = arith.index_castui %number/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// RUN: sed 's/\[%h, %at, %c\]/[%h, %c, %at]/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// RUN: sed 's/\[1, 1, 1\] \[1, 1, 1\] : memref<2x40x32xf32> to memref<1x1x1xf32/[1, 2, 1] [1, 1, 1] : memref<2x40x32xf32> to memref<1x2x1xf32/; s/memref.copy.*/memref.store %zero, %view[%c0, %c0, %c0] : memref<1x2x1xf32, strided<[1280, 32, 1], offset: ?>>/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// RUN: sed 's/^  \/\/ another writer$/  linalg.fill ins(%zero : f32) outs(%v : memref<2x40x32xf32>)/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// RUN: sed 's/^  \/\/ another writer$/  memref.store %one, %cell[%c0] : memref<1xi32>/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// RUN: sed 's/memref.load %cell\[%c0\] : memref<1xi32>  \/\/ the row/memref.load %other[%c0] : memref<1xi32>/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// RUN: sed 's/^  \/\/ another writer$/  %either = arith.select %which, %k, %v : memref<2x40x32xf32>\n  linalg.fill ins(%zero : f32) outs(%either : memref<2x40x32xf32>)/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// RUN: sed 's/^  \/\/ another writer$/  %base, %offset, %many:3, %far:3 = memref.extract_strided_metadata %v : memref<2x40x32xf32> -> memref<f32>, index, index, index, index, index, index, index\n  memref.store %zero, %base[] : memref<f32>/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// RUN: sed 's/^  \/\/ another writer$/  %base, %offset, %many, %far = memref.extract_strided_metadata %cell : memref<1xi32> -> memref<i32>, index, index, index\n  memref.store %one, %base[] : memref<i32>/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// RUN: sed 's/^  \/\/ another writer$/  %aligned = memref.assume_alignment %v, 64 : memref<2x40x32xf32>\n  linalg.fill ins(%zero : f32) outs(%aligned : memref<2x40x32xf32>)/' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NOT
// Nothing written at all: all rows but the first, which is read behind the wait, as the one written else.
// RUN: sed '/^  scf.forall/,/^  }/d' %s | tinymlir-opt --tinymlir-attention=chip=sm_90 | FileCheck %s --check-prefix=NONE

// AT: gpu.func @attention_row_product(
// AT: nvvm.cluster.arrive.relaxed
// AT: %[[AT:.*]] = memref.load %{{.*}} : memref<?xi32
// AT: arith.index_cast %[[AT]] : i32 to index
// AT: scf.if
// AT-NEXT: vector.load {{.*}} {alignment = 16 : i64, tinymlir.unwritten}
// AT: nvvm.cluster.wait
// AT-NOT: tinymlir.unwritten
// AT: gpu.return

// WAIT: gpu.func @attention_row_product_f32(
// WAIT-COUNT-2: vector.load {{.*}}tinymlir.unwritten
// WAIT-NOT: tinymlir.unwritten
// WAIT: nvvm.griddepcontrol wait
// WAIT: vector.load %arg1
// WAIT: vector.load %arg2
// WAIT: nvvm.bar.warp.sync

// NOT: gpu.func @attention_row_product(
// NOT-NOT: tinymlir.unwritten
// NOT: gpu.return

// NONE: gpu.func @attention_row_product(
// NONE: scf.if
// NONE-NEXT: vector.load {{.*}} {alignment = 16 : i64, tinymlir.unwritten}
// NONE: nvvm.cluster.wait
// NONE: gpu.return

#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>
#all = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>
#one = affine_map<(b, i, j) -> (0)>

func.func @step(%q: memref<2x1x32xf32>, %k: memref<2x40x32xf32>, %v: memref<2x40x32xf32>, %w: memref<64x64xf32>, %x: memref<1x64xf32>, %y: memref<1x64xf32>, %cell: memref<1xi32>, %other: memref<1xi32>, %new: memref<2x1x32xf32>, %sums: memref<1xf32>, %which: i1) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  scf.forall (%h, %c) in (2, 32) {
    %number = memref.load %cell[%c0] : memref<1xi32>  // the row
    %at = arith.index_cast %number : i32 to index
    %from = memref.subview %new[%h, 0, %c] [1, 1, 1] [1, 1, 1] : memref<2x1x32xf32> to memref<1x1x1xf32, strided<[32, 32, 1], offset: ?>>
    %view = memref.subview %k[%h, %at, %c] [1, 1, 1] [1, 1, 1] : memref<2x40x32xf32> to memref<1x1x1xf32, strided<[1280, 32, 1], offset: ?>>
    memref.copy %from, %view : memref<1x1x1xf32, strided<[32, 32, 1], offset: ?>> to memref<1x1x1xf32, strided<[1280, 32, 1], offset: ?>>
  }
  scf.forall (%h, %c) in (2, 32) {
    %number = memref.load %cell[%c0] : memref<1xi32>  // the row
    %at = arith.index_cast %number : i32 to index
    %from = memref.subview %new[%h, 0, %c] [1, 1, 1] [1, 1, 1] : memref<2x1x32xf32> to memref<1x1x1xf32, strided<[32, 32, 1], offset: ?>>
    %view = memref.subview %v[%h, %at, %c] [1, 1, 1] [1, 1, 1] : memref<2x40x32xf32> to memref<1x1x1xf32, strided<[1280, 32, 1], offset: ?>>
    memref.copy %from, %view : memref<1x1x1xf32, strided<[32, 32, 1], offset: ?>> to memref<1x1x1xf32, strided<[1280, 32, 1], offset: ?>>
  }
  // another writer
  %low = arith.constant 0xFF800000 : f32
  %s = memref.alloc() : memref<2x1x40xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<2x1x40xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<2x1x32xf32>, memref<2x40x32xf32>) outs(%s : memref<2x1x40xf32>)
  %masked = memref.alloc() : memref<2x1x40xf32>
  linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %cell : memref<2x1x40xf32>, memref<1xi32>) outs(%masked : memref<2x1x40xf32>) {
  ^bb0(%a: f32, %p: i32, %out: f32):
    %0 = linalg.index 2 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.cmpi sle, %1, %p : i32
    %3 = arith.select %2, %a, %low : f32
    linalg.yield %3 : f32
  }
  %max = memref.alloc() : memref<2x1xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<2x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%masked : memref<2x1x40xf32>) outs(%max : memref<2x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.maximumf %a, %out : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<2x1x40xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%masked, %max : memref<2x1x40xf32>, memref<2x1xf32>) outs(%e : memref<2x1x40xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %d = arith.subf %a, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  }
  %sum = memref.alloc() : memref<2x1xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<2x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : memref<2x1x40xf32>) outs(%sum : memref<2x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.addf %a, %out : f32
    linalg.yield %m : f32
  }
  %p = memref.alloc() : memref<2x1x40xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %sum : memref<2x1x40xf32>, memref<2x1xf32>) outs(%p : memref<2x1x40xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  }
  %o = memref.alloc() : memref<2x1x32xf32>
  linalg.fill ins(%zero : f32) outs(%o : memref<2x1x32xf32>)
  linalg.batch_matmul ins(%p, %v : memref<2x1x40xf32>, memref<2x40x32xf32>) outs(%o : memref<2x1x32xf32>)
  %flat = memref.collapse_shape %o [[0, 1, 2]] : memref<2x1x32xf32> into memref<64xf32>
  %heads = memref.expand_shape %flat [[0, 1]] output_shape [1, 64] : memref<64xf32> into memref<1x64xf32>
  %product = memref.alloc() : memref<1x64xf32>
  linalg.fill ins(%zero : f32) outs(%product : memref<1x64xf32>)
  linalg.matmul ins(%heads, %w : memref<1x64xf32>, memref<64x64xf32>) outs(%product : memref<1x64xf32>)
  linalg.add ins(%x, %product : memref<1x64xf32>, memref<1x64xf32>) outs(%y : memref<1x64xf32>)
  linalg.fill ins(%zero : f32) outs(%sums : memref<1xf32>)
  linalg.generic {indexing_maps = [#all, #first], iterator_types = ["parallel", "reduction"]} ins(%y : memref<1x64xf32>) outs(%sums : memref<1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.addf %a, %out : f32
    linalg.yield %m : f32
  }
  memref.dealloc %s : memref<2x1x40xf32>
  memref.dealloc %masked : memref<2x1x40xf32>
  memref.dealloc %e : memref<2x1x40xf32>
  memref.dealloc %p : memref<2x1x40xf32>
  memref.dealloc %max : memref<2x1xf32>
  memref.dealloc %sum : memref<2x1xf32>
  memref.dealloc %o : memref<2x1x32xf32>
  memref.dealloc %product : memref<1x64xf32>
  return
}
