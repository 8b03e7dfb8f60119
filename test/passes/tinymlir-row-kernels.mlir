// RUN: tinymlir-opt %s --tinymlir-row-kernels | FileCheck %s

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// A loop without operands may stand before a row's operation; it is no fill.
// CHECK-LABEL: func.func @behind_a_loop(
// CHECK:         scf.forall
// CHECK:         linalg.generic
func.func @behind_a_loop(%x: memref<4x32xf32>, %y: memref<7xf32>) -> memref<4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc() : memref<4x32xf32>
  %r = memref.alloc() : memref<4x32xf32>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x32xf32>) outs(%e : memref<4x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  scf.forall (%i) in (7) {
    memref.store %zero, %y[%i] : memref<7xf32>
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%e : memref<4x32xf32>) outs(%r : memref<4x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %e : memref<4x32xf32>
  return %r : memref<4x32xf32>
}

// Integers too: the first place of a row that holds its largest element, with elements and places of different types. The
// fill with the largest integer is part of the kernel.
// CHECK-LABEL: func.func @first_place
// CHECK-NOT: linalg.
// CHECK: call @rows_minsi_4x50_i32(
// CHECK-NOT: linalg.
func.func @first_place(%x: memref<4x50xf32>, %largest: memref<4xf32>, %r: memref<4xi32>) {
  %most = arith.constant 2147483647 : i32
  linalg.fill ins(%most : i32) outs(%r : memref<4xi32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %largest : memref<4x50xf32>, memref<4xf32>) outs(%r : memref<4xi32>) {
  ^bb0(%a: f32, %b: f32, %o: i32):
    %j = linalg.index 1 : index
    %place = arith.index_cast %j : index to i32
    %same = arith.cmpf oeq, %a, %b : f32
    %here = arith.select %same, %place, %most : i32
    %least = arith.minsi %here, %o : i32
    linalg.yield %least : i32
  }
  return
}

// A softmax is one kernel; the buffers between are gone.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: linalg
// CHECK-NOT: memref.alloc
// CHECK: call @rows_maximum_add_64x512_f32(%arg0, %arg1)
// CHECK-NEXT: return
func.func @softmax(%x: memref<64x512xf32>, %y: memref<64x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %max = memref.alloc() : memref<64xf32>
  %sum = memref.alloc() : memref<64xf32>
  %e = memref.alloc() : memref<64x512xf32>
  linalg.fill ins(%low : f32) outs(%max : memref<64xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x512xf32>) outs(%max : memref<64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.maximumf %a, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<64x512xf32>, memref<64xf32>) outs(%e : memref<64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<64x512xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<64x512xf32>, memref<64xf32>) outs(%y : memref<64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %max : memref<64xf32>
  memref.dealloc %sum : memref<64xf32>
  memref.dealloc %e : memref<64x512xf32>
  return
}

// What is read later is written, also a value between: here the scaled elements. What the group does not touch stays where
// it is.
// CHECK-LABEL: func.func @between
// CHECK: call @rows_add_8x100_f32(
// CHECK: memref.store
// CHECK: memref.load
func.func @between(%x: memref<8x100xf32>, %g: memref<100xf32>, %sums: memref<8xf32>, %other: memref<1xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %scaled = memref.alloc() : memref<8x100xf32>
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g : memref<8x100xf32>, memref<100xf32>) outs(%scaled : memref<8x100xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  memref.store %zero, %other[%c0] : memref<1xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<8xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%scaled : memref<8x100xf32>) outs(%sums : memref<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  }
  %first = memref.load %scaled[%c0, %c0] : memref<8x100xf32>
  return %first : f32
}

// No group: a reduction over rows reads no neighbours, and a chain without a reduction is for the loop path.
// CHECK-LABEL: func.func @no_group
// CHECK-NOT: call
// CHECK-COUNT-2: linalg.generic
func.func @no_group(%x: memref<8x100xf32>, %sums: memref<100xf32>, %y: memref<8x100xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x100xf32>) outs(%sums : memref<100xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x100xf32>) outs(%y : memref<8x100xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  return
}

// What rounds a row to bf16 joins, and the row in f32 is not written where nothing reads it; sums of bf16 do not join.
// CHECK-LABEL: func.func @rounds
// CHECK-NOT: linalg.copy
// CHECK: call @rows_add_16x256_bf16(%arg0, %arg1)
// CHECK: linalg.generic
func.func @rounds(%x: memref<16x256xf32>, %y: memref<16x256xbf16>, %narrow: memref<16xbf16>) {
  %sums = memref.alloc() : memref<16xf32>
  %scaled = memref.alloc() : memref<16x256xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sums : memref<16xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<16x256xf32>) outs(%sums : memref<16xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : memref<16x256xf32>, memref<16xf32>) outs(%scaled : memref<16x256xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  linalg.copy ins(%scaled : memref<16x256xf32>) outs(%y : memref<16x256xbf16>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<16x256xbf16>) outs(%narrow : memref<16xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %0 = arith.addf %a, %out : bf16
    linalg.yield %0 : bf16
  }
  memref.dealloc %scaled : memref<16x256xf32>
  memref.dealloc %sums : memref<16xf32>
  return
}

// The kernel of the softmax: every element is read once and written once, each in 16 bytes, and the two reductions of a
// block meet in workgroup memory of their own.
// CHECK: gpu.func @rows_maximum_add_64x512_f32(%[[X:.*]]: memref<64x512xf32>, %[[Y:.*]]: memref<64x512xf32>) workgroup({{.*}} : memref<4xf32, {{.*}}> {llvm.align = 16 : i64}, {{.*}} : memref<4xf32, {{.*}}> {llvm.align = 16 : i64})
// CHECK-COUNT-1: vector.load %[[X]]
// CHECK-NOT: vector.load
// CHECK: math.exp
// CHECK-COUNT-1: vector.store {{.*}}, %[[Y]]
// CHECK-NOT: vector.store
// CHECK: gpu.return
