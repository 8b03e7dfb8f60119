// RUN: tinymlir-opt %s --tinymlir-attention=chip=sm_90 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-attention="chip=sm_90 reductions=atomic" | FileCheck %s --check-prefix=ATOMIC
// RUN: tinymlir-opt %s --tinymlir-attention=chip=sm_80 | FileCheck %s --check-prefix=OLDER
// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" | FileCheck %s --check-prefix=KERNEL

// What the projection reads of a matrix that nothing writes stands before the wait for the kernel's predecessor, and so does the
// cluster's first meeting; the queries come after it.
// KERNEL: gpu.func @attention_row_product_f32(
// KERNEL: nvvm.griddepcontrol launch_dependents
// KERNEL: nvvm.cluster.arrive.relaxed
// KERNEL: vector.load {{.*}} memref<?x?xf32, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
// KERNEL-NOT: vector.load
// KERNEL: nvvm.cluster.wait
// KERNEL: nvvm.griddepcontrol wait
// KERNEL: vector.load
// KERNEL: nvvm.mapa
// KERNEL: nvvm.cluster.arrive
// KERNEL: nvvm.cluster.wait
// KERNEL: gpu.return
// KERNEL: gpu.launch_func {{.*}}@kernels::@attention_row_product_f32 clusters in (%{{.*}}, %{{.*}}, %{{.*}}) blocks in

// OLDER-NOT: attention_row_product

#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#qi = affine_map<(b, i, j, k) -> (b, i, k)>
#kj = affine_map<(b, i, j, k) -> (b, j, k)>
#ij = affine_map<(b, i, j, k) -> (b, i, j)>
#all = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>

// The heads' products are parts, in memory of their own, which one operation adds to the residual in their order.
// CHECK-LABEL: func.func @both
// CHECK: %[[W:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?xf32>
// CHECK-NOT: linalg.batch_matmul
// CHECK: call @attention_row_product_f32({{.*}}) {tinymlir.writes = array<i64: 4>}
// CHECK: %[[P0:.*]] = memref.reinterpret_cast {{.*}} to offset: [0], sizes: [64], strides: [1]
// CHECK: %[[P1:.*]] = memref.reinterpret_cast {{.*}} to offset: [64], sizes: [64], strides: [1]
// CHECK: linalg.generic {{.*}} ins(%[[P0]], %[[P1]], %{{.*}} : {{.*}}) outs(%arg5 : memref<1x64xf32>) attrs = {tinymlir.parts}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[X:.*]]: f32, %{{.*}}: f32)
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[S]]
// CHECK-NEXT: linalg.yield %[[Y]]
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: memref.dealloc %[[W]]
// The residual of the first function is added to an argument, which may not be zeroed.
// ATOMIC-LABEL: func.func @both
// ATOMIC: call @attention_row_f32(
// OLDER-LABEL: func.func @both
// OLDER: call @attention_row_f32(
// OLDER: linalg.matmul
func.func @both(%q: memref<2x1x32xf32>, %k: memref<2x40x32xf32>, %v: memref<2x40x32xf32>, %w: memref<64x64xf32>, %x: memref<1x64xf32>, %y: memref<1x64xf32>, %sums: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%q : memref<2x1x32xf32>)
  linalg.fill ins(%zero : f32) outs(%k : memref<2x40x32xf32>)
  linalg.fill ins(%zero : f32) outs(%v : memref<2x40x32xf32>)
  %low = arith.constant 0xFF800000 : f32
  %s = memref.alloc() : memref<2x1x40xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<2x1x40xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<2x1x32xf32>, memref<2x40x32xf32>) outs(%s : memref<2x1x40xf32>)
  %max = memref.alloc() : memref<2x1xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<2x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<2x1x40xf32>) outs(%max : memref<2x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.maximumf %a, %out : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<2x1x40xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : memref<2x1x40xf32>, memref<2x1xf32>) outs(%e : memref<2x1x40xf32>) {
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
  memref.dealloc %e : memref<2x1x40xf32>
  memref.dealloc %p : memref<2x1x40xf32>
  memref.dealloc %max : memref<2x1xf32>
  memref.dealloc %sum : memref<2x1xf32>
  memref.dealloc %o : memref<2x1x32xf32>
  memref.dealloc %product : memref<1x64xf32>
  return
}

// Without a norm behind it nothing would add the parts on the way.
// CHECK-LABEL: func.func @no_norm
// CHECK: call @attention_row_f32(
// CHECK: linalg.matmul
func.func @no_norm(%q: memref<2x1x32xf32>, %k: memref<2x40x32xf32>, %v: memref<2x40x32xf32>, %w: memref<64x64xf32>, %x: memref<1x64xf32>, %y: memref<1x64xf32>, %sums: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%q : memref<2x1x32xf32>)
  linalg.fill ins(%zero : f32) outs(%k : memref<2x40x32xf32>)
  linalg.fill ins(%zero : f32) outs(%v : memref<2x40x32xf32>)
  %low = arith.constant 0xFF800000 : f32
  %s = memref.alloc() : memref<2x1x40xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<2x1x40xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<2x1x32xf32>, memref<2x40x32xf32>) outs(%s : memref<2x1x40xf32>)
  %max = memref.alloc() : memref<2x1xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<2x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<2x1x40xf32>) outs(%max : memref<2x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.maximumf %a, %out : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<2x1x40xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : memref<2x1x40xf32>, memref<2x1xf32>) outs(%e : memref<2x1x40xf32>) {
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
  memref.dealloc %s : memref<2x1x40xf32>
  memref.dealloc %e : memref<2x1x40xf32>
  memref.dealloc %p : memref<2x1x40xf32>
  memref.dealloc %max : memref<2x1xf32>
  memref.dealloc %sum : memref<2x1xf32>
  memref.dealloc %o : memref<2x1x32xf32>
  memref.dealloc %product : memref<1x64xf32>
  return
}

// Eight blocks do not divide 72 columns into groups of four.
// CHECK-LABEL: func.func @columns
// CHECK: call @attention_row_f32(
// CHECK: linalg.matmul
func.func @columns(%q: memref<2x1x32xf32>, %k: memref<2x40x32xf32>, %v: memref<2x40x32xf32>, %w: memref<64x72xf32>, %x: memref<1x72xf32>, %y: memref<1x72xf32>, %sums: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%q : memref<2x1x32xf32>)
  linalg.fill ins(%zero : f32) outs(%k : memref<2x40x32xf32>)
  linalg.fill ins(%zero : f32) outs(%v : memref<2x40x32xf32>)
  %low = arith.constant 0xFF800000 : f32
  %s = memref.alloc() : memref<2x1x40xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<2x1x40xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<2x1x32xf32>, memref<2x40x32xf32>) outs(%s : memref<2x1x40xf32>)
  %max = memref.alloc() : memref<2x1xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<2x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<2x1x40xf32>) outs(%max : memref<2x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.maximumf %a, %out : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<2x1x40xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : memref<2x1x40xf32>, memref<2x1xf32>) outs(%e : memref<2x1x40xf32>) {
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
  %product = memref.alloc() : memref<1x72xf32>
  linalg.fill ins(%zero : f32) outs(%product : memref<1x72xf32>)
  linalg.matmul ins(%heads, %w : memref<1x64xf32>, memref<64x72xf32>) outs(%product : memref<1x72xf32>)
  linalg.add ins(%x, %product : memref<1x72xf32>, memref<1x72xf32>) outs(%y : memref<1x72xf32>)
  linalg.fill ins(%zero : f32) outs(%sums : memref<1xf32>)
  linalg.generic {indexing_maps = [#all, #first], iterator_types = ["parallel", "reduction"]} ins(%y : memref<1x72xf32>) outs(%sums : memref<1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.addf %a, %out : f32
    linalg.yield %m : f32
  }
  memref.dealloc %s : memref<2x1x40xf32>
  memref.dealloc %e : memref<2x1x40xf32>
  memref.dealloc %p : memref<2x1x40xf32>
  memref.dealloc %max : memref<2x1xf32>
  memref.dealloc %sum : memref<2x1xf32>
  memref.dealloc %o : memref<2x1x32xf32>
  memref.dealloc %product : memref<1x72xf32>
  return
}

// The heads' rows are read by something else, too.
// CHECK-LABEL: func.func @read_twice
// CHECK: call @attention_row_f32(
// CHECK: memref.copy
// CHECK: linalg.matmul
func.func @read_twice(%q: memref<2x1x32xf32>, %k: memref<2x40x32xf32>, %v: memref<2x40x32xf32>, %w: memref<64x64xf32>, %x: memref<1x64xf32>, %y: memref<1x64xf32>, %sums: memref<1xf32>, %copy: memref<2x1x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%q : memref<2x1x32xf32>)
  linalg.fill ins(%zero : f32) outs(%k : memref<2x40x32xf32>)
  linalg.fill ins(%zero : f32) outs(%v : memref<2x40x32xf32>)
  %low = arith.constant 0xFF800000 : f32
  %s = memref.alloc() : memref<2x1x40xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<2x1x40xf32>)
  linalg.batch_matmul indexing_maps = [#qi, #kj, #ij] ins(%q, %k : memref<2x1x32xf32>, memref<2x40x32xf32>) outs(%s : memref<2x1x40xf32>)
  %max = memref.alloc() : memref<2x1xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<2x1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<2x1x40xf32>) outs(%max : memref<2x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.maximumf %a, %out : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<2x1x40xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : memref<2x1x40xf32>, memref<2x1xf32>) outs(%e : memref<2x1x40xf32>) {
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
  memref.copy %o, %copy : memref<2x1x32xf32> to memref<2x1x32xf32>
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
  memref.dealloc %e : memref<2x1x40xf32>
  memref.dealloc %p : memref<2x1x40xf32>
  memref.dealloc %max : memref<2x1xf32>
  memref.dealloc %sum : memref<2x1xf32>
  memref.dealloc %o : memref<2x1x32xf32>
  memref.dealloc %product : memref<1x64xf32>
  return
}
