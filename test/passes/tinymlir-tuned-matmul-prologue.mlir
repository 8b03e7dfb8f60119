// RUN: tinymlir-opt %s --tinymlir-gpu-outline="schedule=fast chip=sm_90" --split-input-file | FileCheck %s

// An RMS norm of one row is computed by each of the products that read it, in every block, and by nothing else. Its gain, a
// constant like the matrix, is read before the kernel waits for its predecessor; the row, which a kernel writes, after.
// CHECK-LABEL: gpu.func @matmul_skinny_f32_1_prologue(
// CHECK:         vector.load {{.*}}, vector<4xf32>
// CHECK:         vector.load %[[GAIN:.*]][{{.*}}] {alignment = 8 : i64} : memref<256xf32>, vector<2xf32>
// CHECK:         nvvm.griddepcontrol {{ *}}wait
// CHECK-NEXT:    vector.load %{{.*}}[%{{.*}}] {alignment = 8 : i64} : memref<1x256xf32>
// CHECK:         gpu.shuffle
// CHECK:         math.rsqrt
// CHECK:         vector.store {{.*}}#gpu.address_space<workgroup>
// CHECK:         gpu.barrier
// CHECK:         memref.load {{.*}} : memref<1x256xf32, #gpu.address_space<workgroup>>
// CHECK-LABEL: func.func @norm
// CHECK-COUNT-3: gpu.launch_func
// CHECK-NOT: gpu.launch_func
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @norm(%y: memref<1x256xf32>, %gain: memref<256xf32>, %wq: memref<256x512xf32>, %wk: memref<256x128xf32>, %q: memref<1x512xf32>, %k: memref<1x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 256.0 : f32
  %x = memref.alloc() : memref<1x256xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : memref<1x256xf32>) outs(%x : memref<1x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  %s = memref.alloc() : memref<1xf32>
  %h = memref.alloc() : memref<1x256xf32>
  memref.copy %x, %y : memref<1x256xf32> to memref<1x256xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : memref<1x256xf32>) outs(%s : memref<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s, %gain : memref<1x256xf32>, memref<1xf32>, memref<256xf32>) outs(%h : memref<1x256xf32>) {
  ^bb0(%a: f32, %b: f32, %g: f32, %o: f32):
    %0 = arith.divf %b, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %2, %g : f32
    linalg.yield %3 : f32
  }
  linalg.fill ins(%zero : f32) outs(%q : memref<1x512xf32>)
  linalg.matmul ins(%h, %wq : memref<1x256xf32>, memref<256x512xf32>) outs(%q : memref<1x512xf32>)
  linalg.fill ins(%zero : f32) outs(%k : memref<1x128xf32>)
  linalg.matmul ins(%h, %wk : memref<1x256xf32>, memref<256x128xf32>) outs(%k : memref<1x128xf32>)
  memref.dealloc %x : memref<1x256xf32>
  memref.dealloc %s : memref<1xf32>
  memref.dealloc %h : memref<1x256xf32>
  return
}

// -----

// What something else reads as well keeps its kernel beside the prologue; a product that writes what the norm reads has none.
// CHECK-LABEL: func.func @kept
// CHECK: gpu.launch_func {{.*}}@rows_add_4x256_f32
// CHECK: gpu.launch_func {{.*}}@matmul_skinny_f32_4_prologue
// CHECK: gpu.launch_func {{.*}}@matmul_skinny_f32_4 
// CHECK-NOT: gpu.launch_func
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @kept(%x: memref<4x256xf32>, %h: memref<4x256xf32>, %w: memref<256x256xf32>, %q: memref<4x256xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %s = memref.alloc() : memref<4xf32>
  %m = memref.alloc() : memref<4x256xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x256xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<4x256xf32>, memref<4xf32>) outs(%m : memref<4x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  linalg.fill ins(%zero : f32) outs(%q : memref<4x256xf32>)
  linalg.matmul ins(%m, %w : memref<4x256xf32>, memref<256x256xf32>) outs(%q : memref<4x256xf32>)
  linalg.fill ins(%zero : f32) outs(%x : memref<4x256xf32>)
  linalg.matmul ins(%m, %w : memref<4x256xf32>, memref<256x256xf32>) outs(%x : memref<4x256xf32>)
  %first = memref.load %m[%c0, %c0] : memref<4x256xf32>
  memref.dealloc %s : memref<4xf32>
  memref.dealloc %m : memref<4x256xf32>
  return %first : f32
}

// -----

// Where B lies along the sum, blocks that all run at the same time take turns. What a warp reads first of its four rows is asked for
// before the kernel waits; then a block makes all rows of A at the same time, by 64 threads each where there are three. A row of so many columns that its norm would
// leave registers for few blocks has a kernel of its own.
// CHECK-LABEL: gpu.func @matmul_skinny_nt_f32_3_prologue(
// CHECK-SAME:    memref<3x256xf32, #gpu.address_space<workgroup>>
// CHECK-SAME:    nvvm.minctasm = 2 : i32
// CHECK-COUNT-4: vector.load {{.*}}#gpu.address_space<global>>, vector<4xf32>
// CHECK-NOT:     vector.load
// CHECK:         nvvm.bar.warp.sync
// CHECK:         vector.load %{{.*}} : memref<256xf32>, vector<4xf32>
// CHECK:         nvvm.griddepcontrol {{ *}}wait
// CHECK-NEXT:    vector.load %{{.*}} : memref<3x256xf32>, vector<4xf32>
// CHECK-COUNT-5: gpu.shuffle
// CHECK:         gpu.barrier
// CHECK:         math.rsqrt
// CHECK:         vector.store {{.*}} : memref<3x256xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK:         scf.for {{.*}} = %c0_i32 to %c3_i32
// CHECK:           scf.for
// CHECK-COUNT-3:     vector.load {{.*}} : memref<3x256xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-4:     vector.load {{.*}}#gpu.address_space<global>>, vector<4xf32>
// CHECK:             nvvm.bar.warp.sync
// CHECK:           memref.store
// CHECK-LABEL: func.func @rows_nt
// CHECK:         gpu.launch_func {{.*}}@matmul_skinny_nt_f32_3_prologue blocks in (%c209,
// CHECK-NOT:     gpu.launch_func
// CHECK-LABEL: func.func @wide_nt
// CHECK:         gpu.launch_func {{.*}}@rows_add_1x4096_f32
// CHECK:         gpu.launch_func {{.*}}@matmul_skinny_nt_f32_1 blocks
// CHECK-NOT:     gpu.launch_func
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @rows_nt(%v: memref<3x256xf32>, %x: memref<3x256xf32>, %gain: memref<256xf32>, %w: memref<20001x256xf32>, %q: memref<3x20001xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 256.0 : f32
  memref.copy %v, %x : memref<3x256xf32> to memref<3x256xf32>
  %s = memref.alloc() : memref<3xf32>
  %h = memref.alloc() : memref<3x256xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<3xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<3x256xf32>) outs(%s : memref<3xf32>) {
  ^bb0(%0: f32, %o: f32):
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %gain : memref<3x256xf32>, memref<3xf32>, memref<256xf32>) outs(%h : memref<3x256xf32>) {
  ^bb0(%0: f32, %1: f32, %g: f32, %o: f32):
    %2 = arith.divf %1, %n : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.mulf %0, %3 : f32
    %5 = arith.mulf %4, %g : f32
    linalg.yield %5 : f32
  }
  linalg.fill ins(%zero : f32) outs(%q : memref<3x20001xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %w : memref<3x256xf32>, memref<20001x256xf32>) outs(%q : memref<3x20001xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  }
  memref.dealloc %s : memref<3xf32>
  memref.dealloc %h : memref<3x256xf32>
  return
}
func.func @wide_nt(%v: memref<1x4096xf32>, %x: memref<1x4096xf32>, %gain: memref<4096xf32>, %w: memref<100x4096xf32>, %q: memref<1x100xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  memref.copy %v, %x : memref<1x4096xf32> to memref<1x4096xf32>
  %s = memref.alloc() : memref<1xf32>
  %h = memref.alloc() : memref<1x4096xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<1xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<1x4096xf32>) outs(%s : memref<1xf32>) {
  ^bb0(%0: f32, %o: f32):
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %gain : memref<1x4096xf32>, memref<1xf32>, memref<4096xf32>) outs(%h : memref<1x4096xf32>) {
  ^bb0(%0: f32, %1: f32, %g: f32, %o: f32):
    %2 = arith.divf %1, %n : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.mulf %0, %3 : f32
    %5 = arith.mulf %4, %g : f32
    linalg.yield %5 : f32
  }
  linalg.fill ins(%zero : f32) outs(%q : memref<1x100xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %w : memref<1x4096xf32>, memref<100x4096xf32>) outs(%q : memref<1x100xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  }
  memref.dealloc %s : memref<1xf32>
  memref.dealloc %h : memref<1x4096xf32>
  return
}
