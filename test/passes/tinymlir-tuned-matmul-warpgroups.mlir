// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90a precision=tf32 memory=device" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90 precision=tf32" | FileCheck %s --check-prefix=PORTABLE
// RUN: %if ptxas %{ tinymlir-opt %t.mlir --tinymlir-lower-gpu="format=bin chip=sm_90a" -o /dev/null %}
// RUN: %if ptxas %{ tinymlir-opt %t.mlir --tinymlir-lower-gpu=chip=sm_90a | FileCheck %s --check-prefix=LOWERED %}

// Products on the tensor cores of sm_90a: halves with any layout, f32 as tf32, which reads B as N x K.
// CHECK-DAG: gpu.func @matmul_wgmma_bf16_{{[0-9x]+}}_epilogue({{.*}}memref<?x?x?x?xbf16
// CHECK-DAG: gpu.func @matmul_wgmma_tf32_{{[0-9x]+}}_nt(
// CHECK-DAG: gpu.func @matmul_wgmma_f16_{{[0-9x]+}}(
// CHECK-DAG: gpu.func @matmul_wgmma_bf16_{{[0-9x]+}}(
// CHECK-DAG: gpu.func @split_sum_f32(

// No kernel has a function left to call, and no conversion between equal types.
// CHECK-NOT: func.call
// CHECK-NOT: builtin.unrealized_conversion_cast {{.*}} : f32 to f32

// Any other chip than sm_90a has none.
// PORTABLE-NOT: wgmma

// LOWERED: gpu.binary @kernels
// LOWERED: wgmma.mma_async.sync.aligned.m64n
// LOWERED: llvm.call @mgpuTensorMapEncodeTiledMemref

#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#both = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// The bias and the rounding to bf16 join the store: one launch, no buffer between.
// CHECK-LABEL: func.func @f(
// CHECK-NOT: gpu.alloc
// CHECK-COUNT-2: nvgpu.tma.create.descriptor
// CHECK: gpu.launch_func{{.*}}@matmul_wgmma_bf16{{.*}}_epilogue{{.*}}dynamic_shared_memory_size
// CHECK-NOT: gpu.launch_func
// CHECK: return
func.func @f(%a: memref<1024x768xbf16>, %b: memref<768x3072xbf16>, %bias: memref<3072xf32>, %d: memref<1024x3072xbf16>) {
  %c = memref.alloc() : memref<1024x3072xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<1024x3072xf32>)
  linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
   ins(%a, %b : memref<1024x768xbf16>, memref<768x3072xbf16>) outs(%c : memref<1024x3072xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#both, #column, #both], iterator_types = ["parallel", "parallel"]}
   ins(%c, %bias : memref<1024x3072xf32>, memref<3072xf32>) outs(%d : memref<1024x3072xbf16>) {
  ^bb0(%x: f32, %y: f32, %o: bf16):
    %s = arith.addf %x, %y : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  }
  memref.dealloc %c : memref<1024x3072xf32>
  return
}
// An odd number of columns: elements are stored one by one.
// CHECK-LABEL: func.func @g(
// CHECK: gpu.launch_func{{.*}}@matmul_wgmma_tf32{{.*}}_nt
func.func @g(%a: memref<100x72xf32>, %b: memref<257x72xf32>, %c: memref<100x257xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<100x257xf32>)
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
   ins(%a, %b : memref<100x72xf32>, memref<257x72xf32>) outs(%c : memref<100x257xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
// CHECK-LABEL: func.func @h(
// CHECK: gpu.launch_func{{.*}}@matmul_wgmma_f16
func.func @h(%a: memref<2x65x72xf16>, %b: memref<2x72x40xf16>, %c: memref<2x65x40xf16>) {
  %zero = arith.constant 0.0 : f16
  linalg.fill ins(%zero : f16) outs(%c : memref<2x65x40xf16>)
  linalg.batch_matmul ins(%a, %b : memref<2x65x72xf16>, memref<2x72x40xf16>) outs(%c : memref<2x65x40xf16>)
  return
}
// A small grid splits K; the sum is added to C.
// CHECK-LABEL: func.func @s(
// CHECK: gpu.launch_func{{.*}}@matmul_wgmma_bf16
// CHECK: gpu.launch_func{{.*}}@split_sum_f32
func.func @s(%a: memref<128x4096xbf16>, %b: memref<4096x128xbf16>, %c: memref<128x128xf32>) {
  linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
   ins(%a, %b : memref<128x4096xbf16>, memref<4096x128xbf16>) outs(%c : memref<128x128xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
// B of f32 lies K x N: it is transposed to a workspace first, rounded to tf32, and the product reads it there.
// CHECK-LABEL: func.func @t(
// CHECK: %[[SPACE:.*]], %{{.*}} = gpu.alloc async {{.*}} memref<530448xf32>
// CHECK: memref.reinterpret_cast %[[SPACE]] to offset: [0], sizes: [1, 1028, 516], strides: [530448, 516, 1]
// CHECK: gpu.launch_func{{.*}}@transpose_tf32
// CHECK: memref.reinterpret_cast %[[SPACE]] to offset: [0], sizes: [1, 1028, 514], strides: [530448, 516, 1]
// CHECK: gpu.launch_func{{.*}}@matmul_wgmma_tf32_{{[0-9x]+}}_nt
func.func @t(%a: memref<2000x514xf32, strided<[516, 1]>>, %b: memref<514x1028xf32>, %c: memref<2000x1028xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2000x1028xf32>)
  linalg.matmul ins(%a, %b : memref<2000x514xf32, strided<[516, 1]>>, memref<514x1028xf32>) outs(%c : memref<2000x1028xf32>)
  return
}
// Too few rows for it: by mma.sync.
// CHECK-LABEL: func.func @few(
// CHECK-NOT: transpose
// CHECK: gpu.launch_func{{.*}}@matmul_tf32_128x128
func.func @few(%a: memref<64x512xf32>, %b: memref<512x260xf32>, %c: memref<64x260xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x260xf32>)
  linalg.matmul ins(%a, %b : memref<64x512xf32>, memref<512x260xf32>) outs(%c : memref<64x260xf32>)
  return
}
