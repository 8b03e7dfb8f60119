// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-attention | FileCheck %s --check-prefix=CALL
// RUN: tinymlir-opt %s --tinymlir-gpu-outline=schedule=fast --tinymlir-lower-gpu=chip=sm_80 | %python %root/test/inputs/ptxas.py sm_80 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_75" --tinymlir-lower-gpu=chip=sm_75 | %python %root/test/inputs/ptxas.py sm_75 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" --tinymlir-lower-gpu=chip=sm_90 | %python %root/test/inputs/ptxas.py sm_90 | FileCheck %s

#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#key = affine_map<(b, i, j) -> (j)>
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>

// One row a head against all keys of a cache, those that the mask leaves out unread: one kernel, which splits the keys. The
// mask comes from memory. Two blocks of the kernel fit on a multiprocessor.
// CALL-LABEL: func.func @step
// CALL-NOT: linalg
// CALL: %[[W:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?xf32>
// CALL: memref.cast %arg3 : memref<1024xi1> to memref<?xi1, strided<[?], offset: ?>>
// CALL: call @attention_row_f32(
// CALL-NOT: linalg
// CALL: memref.dealloc %[[W]]
// CHECK: attention_row_f32: {{([0-9]?[0-9]|1[0-2][0-9])}} registers, 0 bytes spilled
// CHECK-NOT: registers
func.func @step(%q: memref<12x1x64xf32>, %k: memref<12x1024x64xf32>, %v: memref<12x1024x64xf32>, %mask: memref<1024xi1>, %r: memref<12x1x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %s = memref.alloc() : memref<12x1x1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<12x1x1024xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<12x1x64xf32>, memref<12x1024x64xf32>) outs(%s : memref<12x1x1024xf32>)
  linalg.generic {indexing_maps = [#key, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask : memref<1024xi1>) outs(%s : memref<12x1x1024xf32>) {
  ^bb0(%keeps: i1, %x: f32):
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.select %keeps, %scaled, %low : f32
    linalg.yield %score : f32
  }
  %max = memref.alloc() : memref<12x1xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<12x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<12x1x1024xf32>) outs(%max : memref<12x1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.maximumf %x, %out : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<12x1x1024xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : memref<12x1x1024xf32>, memref<12x1xf32>) outs(%e : memref<12x1x1024xf32>) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %d = arith.subf %x, %m : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  }
  %sum = memref.alloc() : memref<12x1xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<12x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : memref<12x1x1024xf32>) outs(%sum : memref<12x1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.addf %x, %out : f32
    linalg.yield %m : f32
  }
  %o = memref.alloc() : memref<12x1x64xf32>
  linalg.fill ins(%zero : f32) outs(%o : memref<12x1x64xf32>)
  linalg.batch_matmul ins(%e, %v : memref<12x1x1024xf32>, memref<12x1024x64xf32>) outs(%o : memref<12x1x64xf32>)
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o, %sum : memref<12x1x64xf32>, memref<12x1xf32>) outs(%r : memref<12x1x64xf32>) {
  ^bb0(%x: f32, %l: f32, %out: f32):
    %y = arith.divf %x, %l : f32
    linalg.yield %y : f32
  }
  return
}
