// RUN: tinymlir-opt %s --tinymlir-gpu-outline | FileCheck %s --implicit-check-not=memref.alloc{{[^a]}} --implicit-check-not=scf.parallel

// A buffer on the stack of a parallel loop is each thread's own.
// CHECK:       gpu.func @{{.*}}_64_i32(
// CHECK-NOT:   memref<4xi32>) kernel
// CHECK:         memref.alloca() : memref<4xi32>
// CHECK:       func.func @private(
// CHECK-NOT:     gpu.alloc
// CHECK:         gpu.launch_func
func.func @private(%x: memref<64xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %t = memref.alloca() : memref<4xi32>
    %v = memref.load %x[%i] : memref<64xi32>
    memref.store %v, %t[%n] : memref<4xi32>
    %u = memref.load %t[%c1] : memref<4xi32>
    %w = arith.addi %u, %v : i32
    memref.store %w, %x[%i] : memref<64xi32>
    scf.reduce
  }
  return
}

// Functions on tensors and on memrefs in one module. A sum over everything is a kernel too, of one thread that works.
// CHECK-LABEL: func.func @tensors(
// CHECK-SAME:  %{{.*}}: memref<8x8xf32>{{.*}}) -> memref<f32>
// CHECK:         gpu.launch_func async {{.*}} @kernels::@fill_f32
// CHECK:         gpu.launch_func async {{.*}} @kernels::@add_f32 blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
func.func @tensors(%x: tensor<8x8xf32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8x8xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  return %r : tensor<f32>
}

// Five parallel dimensions make a grid of one or two.
// CHECK-LABEL: func.func @five(
// CHECK:         gpu.launch_func async {{.*}} blocks in (%{{.*}}, %c1, %c1) threads in (%c32, %c1, %c1)
func.func @five(%x: memref<2x3x2x5x3xf32>, %y: memref<3x2x5x2x3xf32>) {
  linalg.transpose ins(%x : memref<2x3x2x5x3xf32>) outs(%y : memref<3x2x5x2x3xf32>) permutation = [1, 0, 3, 2, 4]
  return
}

// The middle of three dimensions is summed inside a thread, 20,000 columns along x.
// CHECK-LABEL: func.func @middle(
// CHECK:         gpu.launch_func async {{.*}} @kernels::@add_4x20000_f32 blocks in (%c313, %c1, %c1) threads in (%c256, %c1, %c1)
func.func @middle(%x: memref<4x3x20000xf32>, %y: memref<4x20000xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<4x3x20000xf32>) outs(%y : memref<4x20000xf32>) dimensions = [1]
  return
}

// A dynamic size may be zero: the launch is made, the runtime skips an empty grid.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[N:.*]] = memref.dim %arg0
// CHECK:         gpu.launch_func async
func.func @dynamic(%x: memref<?xf32>) {
  linalg.exp ins(%x : memref<?xf32>) outs(%x : memref<?xf32>)
  return
}

// Between launches the host decides; each branch waits at its end.
// CHECK-LABEL: func.func @branch(
// CHECK:         scf.if
// CHECK:           gpu.launch_func async
// CHECK:           gpu.wait [
// CHECK:         } else {
// CHECK:           gpu.launch_func async
// CHECK:           gpu.wait [
// CHECK:         }
func.func @branch(%c: i1, %x: memref<64xf32>) {
  scf.if %c {
    linalg.exp ins(%x : memref<64xf32>) outs(%x : memref<64xf32>)
  } else {
    linalg.log ins(%x : memref<64xf32>) outs(%x : memref<64xf32>)
  }
  return
}

// What a launch calls its clusters' sizes are those sizes: upstream would make the number of clusters of it.
// CHECK-LABEL: func.func @clusters(
// CHECK-SAME:  %[[X:.*]]: memref<4xindex>, %[[N:.*]]: index)
// CHECK:         gpu.launch_func async {{.*}} clusters in (%[[N]], %c1, %c1) blocks in {{.*}} args(%[[N]] : index, %[[X]] : memref<4xindex>)
func.func @clusters(%x: memref<4xindex>, %n: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch clusters(%cx, %cy, %cz) in (%nx = %n, %ny = %c1, %nz = %c1) blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%mx = %c1, %my = %c1, %mz = %c1) {
    memref.store %nx, %x[%bx] : memref<4xindex>
    gpu.terminator
  }
  return
}
