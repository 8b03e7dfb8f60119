// RUN: tinymlir-opt %s --tinymlir-attention=precision=tf32 | FileCheck %s --check-prefix=TF32
// RUN: tinymlir-opt %s --tinymlir-attention=precision=bf16 | FileCheck %s --check-prefix=BF16
// RUN: tinymlir-opt %s --tinymlir-attention="precision=bf16 chip=sm_75" | FileCheck %s --check-prefix=OLD
// RUN: %fails tinymlir-opt %s --tinymlir-attention=precision=fp8 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}cannot choose kernels: a precision is fp32, tf32 or bf16, not `fp8`

// The kernel is that of the precision; a chip without such products has the strict one.
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>
#swapped = affine_map<(i, b, j) -> (b, i, j)>
#swapped_row = affine_map<(i, b, j) -> (b, i)>
#swapped_id = affine_map<(i, b, j) -> (i, b, j)>

// A copy that rounds the result is part of bf16's kernel, also behind another form of the result.
// TF32-LABEL: func.func @rounded
// TF32: call @attention_causal_tf32({{.*}}, memref<?x?x?xf32, strided<[64, 768, 1], offset: ?>>, memref<f32>) -> ()
// TF32: linalg.copy
// BF16-LABEL: func.func @rounded
// BF16-NOT: memref.alloc
// BF16: call @attention_causal_bf16({{.*}}, memref<?x?x?xbf16, strided<[64, 768, 1], offset: ?>>, memref<f32>) -> ()
// BF16-NOT: linalg
// BF16: return
// OLD-LABEL: func.func @rounded
// OLD: call @attention_causal_f32(
// OLD: linalg.copy
func.func @rounded(%q: memref<12x100x64xf32>, %k: memref<12x100x64xf32>, %v: memref<12x100x64xf32>, %w: memref<100x768xbf16>) {
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
  %r = memref.alloc() : memref<100x12x64xf32>
  %o = memref.alloc() : memref<12x100x64xf32>
  linalg.fill ins(%zero : f32) outs(%o : memref<12x100x64xf32>)
  linalg.batch_matmul ins(%e, %v : memref<12x100x100xf32>, memref<12x100x64xf32>) outs(%o : memref<12x100x64xf32>)
  linalg.generic {indexing_maps = [#swapped, #swapped_row, #swapped_id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o, %sum : memref<12x100x64xf32>, memref<12x100xf32>) outs(%r : memref<100x12x64xf32>) {
  ^bb0(%x: f32, %l: f32, %out: f32):
    %y = arith.divf %x, %l : f32
    linalg.yield %y : f32
  }
  %flat = memref.collapse_shape %r [[0], [1, 2]] : memref<100x12x64xf32> into memref<100x768xf32>
  linalg.copy ins(%flat : memref<100x768xf32>) outs(%w : memref<100x768xbf16>)
  return
}

// The result in f32 is wanted too.
// BF16-LABEL: func.func @wanted
// BF16: call @attention_causal_bf16_0({{.*}}, memref<?x?x?xf32, strided<[64, 768, 1], offset: ?>>, memref<f32>) -> ()
// BF16: linalg.copy
func.func @wanted(%q: memref<12x100x64xf32>, %k: memref<12x100x64xf32>, %v: memref<12x100x64xf32>, %r: memref<100x12x64xf32>, %w: memref<100x768xbf16>) {
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
  %flat = memref.collapse_shape %r [[0], [1, 2]] : memref<100x12x64xf32> into memref<100x768xf32>
  linalg.copy ins(%flat : memref<100x768xf32>) outs(%w : memref<100x768xbf16>)
  return
}

// Few rows are not rounded. Few keys have a kernel of their own.
// TF32-LABEL: func.func @few
// TF32: call @attention_keys32_causal_f32(
// BF16-LABEL: func.func @few
// BF16: call @attention_keys32_causal_f32(
func.func @few(%q: memref<12x32x64xf32>, %k: memref<12x32x64xf32>, %v: memref<12x32x64xf32>, %r: memref<32x12x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %s = memref.alloc() : memref<12x32x32xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<12x32x32xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<12x32x64xf32>, memref<12x32x64xf32>) outs(%s : memref<12x32x32xf32>)
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%s : memref<12x32x32xf32>) {
  ^bb0(%x: f32):
    %row = linalg.index 1 : index
    %column = linalg.index 2 : index
    %keeps = arith.cmpi ule, %column, %row : index
    %scaled = arith.mulf %x, %scale : f32
    %score = arith.select %keeps, %scaled, %low : f32
    linalg.yield %score : f32
  }
  %max = memref.alloc() : memref<12x32xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<12x32xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<12x32x32xf32>) outs(%max : memref<12x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.maximumf %x, %out : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<12x32x32xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : memref<12x32x32xf32>, memref<12x32xf32>) outs(%e : memref<12x32x32xf32>) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %d = arith.subf %x, %m : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  }
  %sum = memref.alloc() : memref<12x32xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<12x32xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : memref<12x32x32xf32>) outs(%sum : memref<12x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.addf %x, %out : f32
    linalg.yield %m : f32
  }
  %o = memref.alloc() : memref<12x32x64xf32>
  linalg.fill ins(%zero : f32) outs(%o : memref<12x32x64xf32>)
  linalg.batch_matmul ins(%e, %v : memref<12x32x32xf32>, memref<12x32x64xf32>) outs(%o : memref<12x32x64xf32>)
  linalg.generic {indexing_maps = [#swapped, #swapped_row, #swapped_id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o, %sum : memref<12x32x64xf32>, memref<12x32xf32>) outs(%r : memref<32x12x64xf32>) {
  ^bb0(%x: f32, %l: f32, %out: f32):
    %y = arith.divf %x, %l : f32
    linalg.yield %y : f32
  }
  return
}

// The scaling, 0.125, is part of what makes powers of two of products, at once with the maximum.
// TF32: gpu.func @attention_tf32(
// TF32: arith.constant 0.180336878 : f32
// TF32: nvgpu.mma.sync{{.*}} {mmaShape = [16, 8, 8], tf32Enabled}
// BF16: gpu.func @attention_half(
// BF16: arith.constant 0.180336878 : f32
// BF16: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>
// BF16: arith.truncf {{.*}} : vector<2xf32> to vector<2xbf16>
// BF16: gpu.func @attention_keys32_f32(
