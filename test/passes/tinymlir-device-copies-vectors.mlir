// RUN: tinymlir-opt %s --tinymlir-device-copies=vectors=true | FileCheck %s

// Contiguous parts of buffers that begin at multiples of 16 bytes: four elements an iteration.
// CHECK-LABEL: func.func @part(
// CHECK:         %[[FROM:.*]] = memref.reinterpret_cast %{{.*}} to offset: [2048], sizes: [2048], strides: [1]
// CHECK:         %[[TO:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [2048], strides: [1]
// CHECK:         scf.parallel {{.*}} to (%c8, %c64)
// CHECK:         %[[V:.*]] = vector.load %[[FROM]]{{.*}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK:         vector.store %[[V]], %[[TO]]{{.*}} {alignment = 16 : i64}
func.func @part(%x: memref<2x4x512xf32>, %y: memref<4x512xf32>) {
  %half = memref.subview %x[1, 0, 0] [1, 4, 512] [1, 1, 1] : memref<2x4x512xf32> to memref<4x512xf32, strided<[512, 1], offset: 2048>>
  memref.copy %half, %y : memref<4x512xf32, strided<[512, 1], offset: 2048>> to memref<4x512xf32>
  return
}

// Eight halves are 16 bytes.
// CHECK-LABEL: func.func @halves(
// CHECK:         vector.load {{.*}} vector<8xbf16>
func.func @halves(%x: memref<2x4x512xbf16>, %y: memref<4x512xbf16>) {
  %half = memref.subview %x[1, 0, 0] [1, 4, 512] [1, 1, 1] : memref<2x4x512xbf16> to memref<4x512xbf16, strided<[512, 1], offset: 2048>>
  memref.copy %half, %y : memref<4x512xbf16, strided<[512, 1], offset: 2048>> to memref<4x512xbf16>
  return
}

// Rows with gaps, a part that begins between two multiples, and one that is no multiple: element by element.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     vector.load
// CHECK-COUNT-3: linalg.generic
func.func @others(%x: memref<8x512xf32>, %y: memref<8x256xf32>, %z: memref<2048xf32>, %w: memref<1000xf32>) {
  %gaps = memref.subview %x[0, 0] [8, 256] [1, 1] : memref<8x512xf32> to memref<8x256xf32, strided<[512, 1]>>
  memref.copy %gaps, %y : memref<8x256xf32, strided<[512, 1]>> to memref<8x256xf32>
  %flat = memref.collapse_shape %x [[0, 1]] : memref<8x512xf32> into memref<4096xf32>
  %odd = memref.subview %flat[1] [2048] [1] : memref<4096xf32> to memref<2048xf32, strided<[1], offset: 1>>
  memref.copy %odd, %z : memref<2048xf32, strided<[1], offset: 1>> to memref<2048xf32>
  %few = memref.subview %flat[4] [1000] [1] : memref<4096xf32> to memref<1000xf32, strided<[1], offset: 4>>
  memref.copy %few, %w : memref<1000xf32, strided<[1], offset: 4>> to memref<1000xf32>
  return
}
