// REQUIRES: ptxas
// RUN: tinymlir-opt %s --tinymlir-gpu-outline=schedule=fast --tinymlir-lower-gpu=chip=sm_80 | %python %root/test/inputs/ptxas.py sm_80 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_75" --tinymlir-lower-gpu=chip=sm_75 | %python %root/test/inputs/ptxas.py sm_75 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" --tinymlir-lower-gpu=chip=sm_90 | %python %root/test/inputs/ptxas.py sm_90 | FileCheck %s

// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast precision=tf32" --tinymlir-lower-gpu=chip=sm_80 | %python %root/test/inputs/ptxas.py sm_80 | FileCheck %s --check-prefix=TF32
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90 precision=tf32" --tinymlir-lower-gpu=chip=sm_90 | %python %root/test/inputs/ptxas.py sm_90 | FileCheck %s --check-prefix=TF32
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast precision=bf16" --tinymlir-lower-gpu=chip=sm_80 | %python %root/test/inputs/ptxas.py sm_80 | FileCheck %s --check-prefix=BF16
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90 precision=bf16" --tinymlir-lower-gpu=chip=sm_90 | %python %root/test/inputs/ptxas.py sm_90 | FileCheck %s --check-prefix=BF16

// RUN: sed -e "s/x100x/x30x/g; s/x100x/x30x/g; s/<100x/<30x/g" %s | tinymlir-opt --tinymlir-gpu-outline=schedule=fast --tinymlir-lower-gpu=chip=sm_80 | %python %root/test/inputs/ptxas.py sm_80 | FileCheck %s --check-prefix=FEW
// FEW: attention_keys32_causal_f32: {{[1-9][0-9]}} registers, 0 bytes spilled

// Two blocks of the one kernel fit on a multiprocessor, three before sm_80: no register is spilled.
// CHECK: attention_causal_f32: {{[12][0-9][0-9]}} registers, 0 bytes spilled
// CHECK-NOT: registers

// Of 256 threads one block.
// TF32: attention_causal_tf32: {{[12][0-9][0-9]}} registers, 0 bytes spilled
// BF16: attention_causal_bf16: {{[12][0-9][0-9]}} registers, 0 bytes spilled

#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>
#swapped = affine_map<(i, b, j) -> (b, i, j)>
#swapped_row = affine_map<(i, b, j) -> (b, i)>
#swapped_id = affine_map<(i, b, j) -> (i, b, j)>

func.func @late(%q: memref<12x100x64xf32>, %k: memref<12x100x64xf32>, %v: memref<12x100x64xf32>, %r: memref<100x12x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %s = memref.alloc() : memref<12x100x100xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<12x100x100xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<12x100x64xf32>, memref<12x100x64xf32>) outs(%s : memref<12x100x100xf32>)
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%s : memref<12x100x100xf32>) {
  ^bb0(%x: f32):
    %row = linalg.index 1 : index
    %column = linalg.index 2 : index
    %keeps = arith.cmpi ule, %column, %row : index
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.select %keeps, %scaled, %low : f32
    linalg.yield %score : f32
  }
  %max = memref.alloc() : memref<12x100xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<12x100xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<12x100x100xf32>) outs(%max : memref<12x100xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.maximumf %x, %out : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<12x100x100xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : memref<12x100x100xf32>, memref<12x100xf32>) outs(%e : memref<12x100x100xf32>) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %d = arith.subf %x, %m : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  }
  %sum = memref.alloc() : memref<12x100xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<12x100xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : memref<12x100x100xf32>) outs(%sum : memref<12x100xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.addf %x, %out : f32
    linalg.yield %m : f32
  }
  %o = memref.alloc() : memref<12x100x64xf32>
  linalg.fill ins(%zero : f32) outs(%o : memref<12x100x64xf32>)
  linalg.batch_matmul ins(%e, %v : memref<12x100x100xf32>, memref<12x100x64xf32>) outs(%o : memref<12x100x64xf32>)
  linalg.generic {indexing_maps = [#swapped, #swapped_row, #swapped_id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o, %sum : memref<12x100x64xf32>, memref<12x100xf32>) outs(%r : memref<100x12x64xf32>) {
  ^bb0(%x: f32, %l: f32, %out: f32):
    %y = arith.divf %x, %l : f32
    linalg.yield %y : f32
  }
  return
}
