// RUN: tinymlir-opt %s --tinymlir-host-attention | FileCheck %s

#id = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
#col = affine_map<(b, m, n) -> (n)>
#q = affine_map<(b, m, n, k) -> (b, m, k)>
#kt = affine_map<(b, m, n, k) -> (b, n, k)>
#s = affine_map<(b, m, n, k) -> (b, m, n)>

// One row of two heads over 50 keys under a mask: a loop over the heads, and nothing of the chain is left.
// CHECK-LABEL: func.func @row(
// CHECK-NOT:     linalg.batch_matmul
// CHECK:         call @[[LOOP:attention_row]](
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg
// CHECK:         return
func.func @row(%q: memref<2x1x8xf32>, %k: memref<2x50x8xf32>, %v: memref<2x50x8xf32>, %mask: memref<50xi1>, %o: memref<2x1x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %half = arith.constant 0.5 : f32
  %products = memref.alloc() : memref<2x1x50xf32>
  linalg.fill ins(%zero : f32) outs(%products : memref<2x1x50xf32>)
  linalg.batch_matmul indexing_maps = [#q, #kt, #s] ins(%q, %k : memref<2x1x8xf32>, memref<2x50x8xf32>) outs(%products : memref<2x1x50xf32>)
  %scores = memref.alloc() : memref<2x1x50xf32>
  linalg.generic {indexing_maps = [#col, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask, %products : memref<50xi1>, memref<2x1x50xf32>) outs(%scores : memref<2x1x50xf32>) {
  ^bb0(%keep: i1, %p: f32, %out: f32):
    %0 = arith.mulf %p, %half : f32
    %1 = arith.select %keep, %0, %low : f32
    linalg.yield %1 : f32
  }
  %max = memref.alloc() : memref<2x1xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<2x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : memref<2x1x50xf32>) outs(%max : memref<2x1xf32>) {
  ^bb0(%x: f32, %m: f32):
    %0 = arith.maximumf %x, %m : f32
    linalg.yield %0 : f32
  }
  %exp = memref.alloc() : memref<2x1x50xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : memref<2x1x50xf32>, memref<2x1xf32>) outs(%exp : memref<2x1x50xf32>) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %0 = arith.subf %x, %m : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  %context = memref.alloc() : memref<2x1x8xf32>
  linalg.fill ins(%zero : f32) outs(%context : memref<2x1x8xf32>)
  linalg.batch_matmul ins(%exp, %v : memref<2x1x50xf32>, memref<2x50x8xf32>) outs(%context : memref<2x1x8xf32>)
  %sum = memref.alloc() : memref<2x1xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<2x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exp : memref<2x1x50xf32>) outs(%sum : memref<2x1xf32>) {
  ^bb0(%x: f32, %m: f32):
    %0 = arith.addf %x, %m : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%context, %sum : memref<2x1x8xf32>, memref<2x1xf32>) outs(%o : memref<2x1x8xf32>) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %0 = arith.divf %x, %m : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %products : memref<2x1x50xf32>
  memref.dealloc %scores : memref<2x1x50xf32>
  memref.dealloc %max : memref<2x1xf32>
  memref.dealloc %exp : memref<2x1x50xf32>
  memref.dealloc %context : memref<2x1x8xf32>
  memref.dealloc %sum : memref<2x1xf32>
  return
}

// The score is scaled and the mask asked by functions that hold the body's operations; a masked key is not loaded.
// CHECK:         func.func private @[[LOOP]]_score(
// CHECK:           arith.mulf
// CHECK:         func.func private @[[LOOP]]_keep(
// CHECK:           memref.load %{{.*}} : memref<?xi1, strided<[?], offset: ?>>
// CHECK:         func.func private @[[LOOP]](
// CHECK:           call @tinymlirParallelFor(
// CHECK:         func.func private @[[LOOP]]_range(
// CHECK:           %[[KEEP:.*]] = func.call @[[LOOP]]_keep(
// CHECK-NEXT:      scf.if %[[KEEP]]
// CHECK:             memref.load %{{.*}} : memref<2x50x8xf32
// CHECK:           math.exp
