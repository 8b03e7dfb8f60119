// RUN: tinymlir-opt %s --tinymlir-decompose | FileCheck %s --implicit-check-not=linalg.softmax --implicit-check-not=pack --implicit-check-not=tosa.

// Softmax is a maximum, an exponential of the difference, a sum and a quotient.
// CHECK-LABEL: func.func @softmax(
// CHECK:         arith.maxnumf
// CHECK:         arith.subf
// CHECK:         math.exp
// CHECK:         arith.addf
// CHECK:         arith.divf
func.func @softmax(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// Packing pads, splits the dimensions and transposes.
// CHECK-LABEL: func.func @{{.*}}(
// CHECK:         tensor.pad
// CHECK:         tensor.expand_shape
// CHECK:         linalg.transpose
func.func @tiles(%x: tensor<5x4xf32>) -> tensor<2x2x4x2xf32> {
  %p = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x4x2xf32>
  %r = linalg.pack %x padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<5x4xf32> -> tensor<2x2x4x2xf32>
  return %r : tensor<2x2x4x2xf32>
}

// CHECK-LABEL: func.func @{{.*}}(
// CHECK:         linalg.transpose
// CHECK:         tensor.collapse_shape
// CHECK:         tensor.extract_slice
func.func @whole(%x: tensor<2x2x4x2xf32>) -> tensor<5x4xf32> {
  %e = tensor.empty() : tensor<5x4xf32>
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<2x2x4x2xf32> -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// TOSA's product keeps its name.
// CHECK-LABEL: func.func @t(
// CHECK:         linalg.batch_matmul
// CHECK:         linalg.reduce
func.func @t(%a: tensor<1x2x3xf32>, %b: tensor<1x3x2xf32>) -> tensor<1x2x1xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %m = tosa.matmul %a, %b, %zp, %zp : (tensor<1x2x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  %r = tosa.reduce_max %m {axis = 2 : i32} : (tensor<1x2x2xf32>) -> tensor<1x2x1xf32>
  return %r : tensor<1x2x1xf32>
}

// A gather reads element by element; the slice may keep the gathered dimension with size 1.
// CHECK-LABEL: func.func @rows(
// CHECK:         tensor.generate
// CHECK:           %[[I:.*]] = tensor.extract %{{.*}} : tensor<2x1xindex>
// CHECK:           tensor.extract %{{.*}} : tensor<4x3xf32>
func.func @rows(%x: tensor<4x3xf32>, %i: tensor<2x1xindex>) -> tensor<2x1x3xf32> {
  %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<4x3xf32>, tensor<2x1xindex>) -> tensor<2x1x3xf32>
  return %g : tensor<2x1x3xf32>
}

// A scatter writes element by element.
// CHECK-LABEL: func.func @back(
// CHECK-COUNT-3: scf.for
// CHECK:           tensor.insert
func.func @back(%x: tensor<4x3xf32>, %i: tensor<2x1xi32>, %s: tensor<2x1x3xf32>) -> tensor<4x3xf32> {
  %g = tensor.scatter %s into %x[%i] scatter_dims([0]) unique : (tensor<2x1x3xf32>, tensor<4x3xf32>, tensor<2x1xi32>) -> tensor<4x3xf32>
  return %g : tensor<4x3xf32>
}

// The shape of a tensor is a tensor of its sizes.
// CHECK-LABEL: func.func @sizes(
// CHECK:         tensor.dim
// CHECK:         tensor.from_elements
func.func @sizes(%x: tensor<?x3xf32>) -> tensor<2xindex> {
  %s = shape.shape_of %x : tensor<?x3xf32> -> tensor<2xindex>
  return %s : tensor<2xindex>
}

// What is known to be empty is left out: an empty slice at the end of a result does not verify on memrefs.
// CHECK-LABEL: func.func @concat_with_nothing(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>, %{{.*}}: tensor<0x3xf32>, %[[Z:.*]]: tensor<1x3xf32>
// CHECK:         tensor.concat dim(0) %[[X]], %[[Z]] : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
func.func @concat_with_nothing(%x: tensor<2x3xf32>, %y: tensor<0x3xf32>, %z: tensor<1x3xf32>) -> tensor<3x3xf32> {
  %r = tensor.concat dim(0) %x, %y, %z : (tensor<2x3xf32>, tensor<0x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// CHECK-LABEL: func.func @concat_nothing(
// CHECK-NOT:     tensor.concat
// CHECK:         tensor.empty() : tensor<0x5xf32>
func.func @concat_nothing(%x: tensor<0x3xf32>, %y: tensor<0x2xf32>) -> tensor<0x5xf32> {
  %r = tensor.concat dim(1) %x, %y : (tensor<0x3xf32>, tensor<0x2xf32>) -> tensor<0x5xf32>
  return %r : tensor<0x5xf32>
}

// CHECK-LABEL: func.func @pad_nothing(
// CHECK-NOT:     tensor.pad
// CHECK:         tensor.splat %{{.*}} : tensor<2x4xf32>
func.func @pad_nothing(%x: tensor<0x3xf32>) -> tensor<2x4xf32> {
  %r = tensor.pad %x low[2, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    %z = arith.constant 3.0 : f32
    tensor.yield %z : f32
  } : tensor<0x3xf32> to tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// A body that is one sum is the instruction for it, whichever way round.
// CHECK-LABEL: func.func @atomic_sum(
// CHECK-SAME:    %[[M:.*]]: memref<3xf32>, %[[V:.*]]: f32, %[[I:.*]]: index
// CHECK:         memref.atomic_rmw addf %[[V]], %[[M]][%[[I]]] : (f32, memref<3xf32>) -> f32
func.func @atomic_sum(%m: memref<3xf32>, %v: f32, %i: index) {
  %o = memref.generic_atomic_rmw %m[%i] : memref<3xf32> {
  ^bb0(%old: f32):
    %new = arith.addf %v, %old : f32
    memref.atomic_yield %new : f32
  }
  return
}
