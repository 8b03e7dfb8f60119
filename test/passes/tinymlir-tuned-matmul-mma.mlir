// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90 memory=device" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_80" | FileCheck %s --check-prefix=SM80
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_100" | FileCheck %s --check-prefix=SM80
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_75" | FileCheck %s --check-prefix=SM75

// Products of halves on tensor cores from sm_80 on, warp by warp where warpgroups are not there.
// CHECK-DAG: gpu.func @matmul_mma_bf16_128x256_epilogue({{.*}}memref<?x?x?x?xbf16
// CHECK-DAG: gpu.func @matmul_mma_f16_{{[0-9x]+}}(
// CHECK-DAG: gpu.func @matmul_mma_f16_{{[0-9x]+}}_nt{{.*}}(
// CHECK-DAG: gpu.func @matmul_mma_bf16_{{[0-9x]+}}(
// CHECK-DAG: gpu.func @split_sum_f32(

// No kernel has a function left to call, and no conversion between equal types.
// CHECK-NOT: func.call
// CHECK-NOT: builtin.unrealized_conversion_cast {{.*}} : f32 to f32

// Of B as K x N matrices are transposed on their way to registers, of N x K they are not.
// SM80-DAG: nvgpu.ldmatrix {{.*}} transpose = true
// SM80-DAG: nvgpu.ldmatrix {{.*}} transpose = false
// SM80: nvgpu.device_async_copy {{.*}}, 8, %{{.*}} {bypassL1}
// SM80-NOT: wgmma
// Before sm_80 the simple kernel takes them.
// SM75-NOT: mma

#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#both = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// The bias and the rounding to bf16 join the store: one launch, no buffer between.
// CHECK-LABEL: func.func @f(
// CHECK-NOT: gpu.alloc
// CHECK: gpu.launch_func{{.*}}@matmul_mma_bf16_128x256_epilogue{{.*}}dynamic_shared_memory_size
// CHECK-NOT: gpu.launch_func
// CHECK: return
func.func @f(%a: memref<4096x768xbf16>, %b: memref<768x4096xbf16>, %bias: memref<4096xf32>, %d: memref<4096x4096xbf16>) {
  %c = memref.alloc() : memref<4096x4096xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4096x4096xf32>)
  linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
   ins(%a, %b : memref<4096x768xbf16>, memref<768x4096xbf16>) outs(%c : memref<4096x4096xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %xe = arith.extf %x : bf16 to f32
    %ye = arith.extf %y : bf16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#both, #column, #both], iterator_types = ["parallel", "parallel"]}
   ins(%c, %bias : memref<4096x4096xf32>, memref<4096xf32>) outs(%d : memref<4096x4096xbf16>) {
  ^bb0(%x: f32, %y: f32, %o: bf16):
    %s = arith.addf %x, %y : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  }
  memref.dealloc %c : memref<4096x4096xf32>
  return
}
// N x K, an odd number of columns: elements are stored one by one, each of a pair by itself.
// CHECK-LABEL: func.func @g(
// CHECK: gpu.launch_func{{.*}}@matmul_mma_f16{{.*}}_nt
func.func @g(%a: memref<100x72xf16>, %b: memref<257x72xf16>, %c: memref<100x257xf16>) {
  %zero = arith.constant 0.0 : f16
  linalg.fill ins(%zero : f16) outs(%c : memref<100x257xf16>)
  linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
   ins(%a, %b : memref<100x72xf16>, memref<257x72xf16>) outs(%c : memref<100x257xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %o, %p : f16
    linalg.yield %s : f16
  }
  return
}
// CHECK-LABEL: func.func @h(
// CHECK: gpu.launch_func{{.*}}@matmul_mma_f16
func.func @h(%a: memref<2x65x72xf16>, %b: memref<2x72x40xf16>, %c: memref<2x65x40xf16>) {
  %zero = arith.constant 0.0 : f16
  linalg.fill ins(%zero : f16) outs(%c : memref<2x65x40xf16>)
  linalg.batch_matmul ins(%a, %b : memref<2x65x72xf16>, memref<2x72x40xf16>) outs(%c : memref<2x65x40xf16>)
  return
}
// A small grid splits K; the sum is added to C.
// CHECK-LABEL: func.func @s(
// CHECK: gpu.launch_func{{.*}}@matmul_mma_bf16
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
// Rows that do not begin at multiples of 16 bytes have no such kernel.
// CHECK-LABEL: func.func @n(
// CHECK: gpu.launch_func{{.*}}@matmul_2d_bf16
func.func @n(%a: memref<64x60xbf16>, %b: memref<60x64xbf16>, %c: memref<64x64xbf16>) {
  linalg.matmul ins(%a, %b : memref<64x60xbf16>, memref<60x64xbf16>) outs(%c : memref<64x64xbf16>)
  return
}
