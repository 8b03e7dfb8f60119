// RUN: tinymlir-opt %s --tinymlir-host-math | FileCheck %s

// Near zero a polynomial, elsewhere the exponential, and the sign last: -0 stays -0.
// CHECK-LABEL: func.func @tanh(
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK:         %[[A:.*]] = math.absf %[[X]]
// CHECK-NOT:     math.exp
// CHECK:         %[[SMALL:.*]] = arith.cmpf olt, %[[A]]
// CHECK:         %[[R:.*]] = arith.select %[[SMALL]]
// CHECK:         math.copysign %[[R]], %[[X]]
func.func @tanh(%x: f32) -> f32 {
  %r = math.tanh %x : f32
  return %r : f32
}

// Arithmetic alone: a rounded sum holds the exponent, and NaN passes both comparisons.
// CHECK-LABEL: func.func @exp(
// CHECK-SAME:    %[[X:.*]]: vector<4xf32>
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant dense<-1.040000e+02> : vector<4xf32>
// CHECK-DAG:     %[[ROUNDED:.*]] = arith.constant dense<1262485504> : vector<4xi32>
// CHECK:         %[[UNDER:.*]] = arith.cmpf olt, %[[X]], %[[LEAST]]
// CHECK:         arith.select %[[UNDER]], %[[LEAST]], %[[X]]
// CHECK:         %[[BITS:.*]] = arith.bitcast %{{.*}} : vector<4xf32> to vector<4xi32>
// CHECK:         arith.subi %[[BITS]], %[[ROUNDED]]
// CHECK-NOT:     math.exp
// CHECK:         return
func.func @exp(%x: vector<4xf32>) -> vector<4xf32> {
  %r = math.exp %x : vector<4xf32>
  return %r : vector<4xf32>
}

// Double precision has libm's.
// CHECK-LABEL: func.func @tanh64(
// CHECK-NEXT:    math.tanh
func.func @tanh64(%x: f64) -> f64 {
  %r = math.tanh %x : f64
  return %r : f64
}

// A vector is a call for each element.
// CHECK-LABEL: func.func @expm1(
// CHECK:         %[[E:.*]]:2 = vector.to_elements
// CHECK:         %[[A:.*]] = call @expm1f(%[[E]]#0)
// CHECK:         %[[B:.*]] = call @expm1f(%[[E]]#1)
// CHECK:         vector.from_elements %[[A]], %[[B]]
func.func @expm1(%x: vector<2xf32>) -> vector<2xf32> {
  %r = math.expm1 %x : vector<2xf32>
  return %r : vector<2xf32>
}

// CHECK-LABEL: func.func @fpowi(
// CHECK-DAG:     arith.sitofp %{{.*}} : i32 to f64
// CHECK-DAG:     arith.extf %{{.*}} : f32 to f64
// CHECK:         math.powf %{{.*}} : f64
// CHECK:         arith.truncf %{{.*}} : f64 to f32
func.func @fpowi(%x: f32, %n: i32) -> f32 {
  %r = math.fpowi %x, %n : f32, i32
  return %r : f32
}

// CHECK-LABEL: func.func @kinds(
// CHECK:         arith.cmpf oeq
// CHECK:         arith.cmpf olt
// CHECK:         arith.cmpf uno
func.func @kinds(%x: f32) -> (i1, i1, i1) {
  %0 = math.isinf %x : f32
  %1 = math.isfinite %x : f32
  %2 = math.isnan %x : f32
  return %0, %1, %2 : i1, i1, i1
}

// Rounding to bf16 adds half of the last place, less one where that place is even, and cuts off.
// CHECK-LABEL: func.func @round(
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK-DAG:     %[[HALF:.*]] = arith.constant 32767 : i32
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK:         %[[UP:.*]] = arith.addi %{{.*}}, %[[HALF]]
// CHECK:         arith.addi %[[BITS]], %[[UP]]
// CHECK-NOT:     arith.truncf
func.func @round(%x: f32) -> bf16 {
  %r = arith.truncf %x : f32 to bf16
  return %r : bf16
}

// A kernel has its own math.
// CHECK-LABEL: gpu.func @kernel(
// CHECK:         math.tanh
gpu.module @kernels {
  gpu.func @kernel(%m: memref<1xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %r = math.tanh %x : f32
    memref.store %r, %m[%c0] : memref<1xf32>
    gpu.return
  }
}

// Upstream's extension of narrow types would let LLVM keep what is rounded in between.
// CHECK-LABEL: func.func @rounds(
// CHECK:         arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT:    arith.extf %{{.*}} : f16 to f32
func.func @rounds(%x: f32) -> f32 {
  %h = arith.truncf %x fastmath<contract> : f32 to f16
  %r = arith.extf %h fastmath<contract> : f16 to f32
  return %r : f32
}

// An index is an exponent too.
// CHECK-LABEL: func.func @powers(
// CHECK:         arith.index_cast %{{.*}} : index to i64
func.func @powers(%x: f64, %n: index) -> f64 {
  %r = math.fpowi %x, %n : f64, index
  return %r : f64
}

// Tensors are left to the pass that makes loops of them.
// CHECK-LABEL: func.func @tensors(
// CHECK-NEXT:    math.tanh %{{.*}} : tensor<4xf32>
// CHECK-NEXT:    return
func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.tanh %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

// The body of a named operation is what the name says.
// CHECK-LABEL: func.func @named
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : memref<2x3xbf16>, memref<3x4xbf16>)
func.func @named(%a: memref<2x3xbf16>, %b: memref<3x4xbf16>, %c: memref<2x4xf32>) {
  linalg.matmul ins(%a, %b : memref<2x3xbf16>, memref<3x4xbf16>) outs(%c : memref<2x4xf32>)
  return
}
